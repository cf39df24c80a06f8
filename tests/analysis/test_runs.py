"""Runs that differ are different rows, and runs that don't are attempts, in whatever folders."""

import itertools
import json
import re

import pandas as pd
import pytest
from lm_eval_layout import make_answers, write_factor_runs, write_run
from stored import cases

from cogniload_analysis import accuracy_table, read_factor_samples, read_samples
from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.factor.analysis import FACTOR
from cogniload_analysis.frame import label_models
from cogniload_analysis.report.part import run_table
from cogniload_analysis.report.write import build_parts, build_report
from cogniload_analysis.samples.runs import read_settings, say_runs

CASES = cases(__file__)
MODEL = "org/Qwen3-8B"


def answers(right, of=20):
    """Samples of `of` puzzles, of which the first `right` are solved."""
    return make_answers(index < right for index in range(of))


@pytest.fixture
def folders(tmp_path):
    """One model in three folders: greedy with 11 of 20 right, twice at 0.6, with 2 and 4 right."""
    write_run(tmp_path / "a", MODEL, answers(2), generation={"temperature": 0.6})
    write_run(tmp_path / "b", MODEL, answers(11))
    write_run(tmp_path / "c", MODEL, answers(4), generation={"temperature": 0.6})
    return [tmp_path / name for name in "abc"]


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_settings_are_rows_and_repeats_are_attempts_in_any_order(folders, order):
    frame = read_samples([folders[place] for place in order])
    table = accuracy_table(frame).set_index("model")
    assert table.index.tolist() == [f"{MODEL}, temperature 0", f"{MODEL}, temperature 0.6"]
    assert table[["correct", "responses"]].to_numpy().tolist() == [[11, 20], [6, 40]]
    attempts = frame.groupby("model", observed=True)["attempt"].agg(["min", "max"])
    assert attempts.to_numpy().tolist() == [[1, 1], [1, 2]]
    pd.testing.assert_frame_equal(frame, read_samples(folders))


def test_the_page_says_what_counts_together(undrawn, folders):
    frame = read_samples(folders)
    (said,) = say_runs(run_table(frame, COGNILOAD.loads))
    page = build_report(build_parts({"CogniLoad": frame}))["report.html"].decode()
    assert said in page
    assert "Qwen3-8B, temperature 0.6</td>" in page


@pytest.mark.parametrize(("first", "second", "one", "other"), CASES["run_names"])
def test_a_row_is_named_by_what_differs(tmp_path, first, second, one, other):
    write_run(tmp_path / "a", MODEL, answers(11), **first)
    write_run(tmp_path / "b", MODEL, answers(2), **second)
    table = accuracy_table(read_samples(tmp_path)).set_index("model")
    assert table["correct"].to_dict() == {f"{MODEL}, {one}": 11, f"{MODEL}, {other}": 2}


@pytest.mark.parametrize(
    ("changes", "of", "names"),
    [
        (lambda doc: {"seed": 7, "id": doc["id"] + "s7"}, 20, ["seed 42", "seed 7"]),
        (lambda doc: {"N": 50}, 20, ["N 20", "N 50"]),
        (lambda doc: {"context_budget": 16384}, 20, ["budget 32768", "budget 16384"]),
        (lambda doc: {}, 4, ["20 puzzles", "4 puzzles"]),
        (lambda doc: {"id": doc["id"] + "x"}, 20, 2 * [r"puzzles [0-9a-f]{6}"]),
    ],
)
def test_runs_on_other_puzzles_are_other_rows(tmp_path, changes, of, names):
    write_run(tmp_path / "a", MODEL, answers(11))
    others = [each | {"doc": each["doc"] | changes(each["doc"])} for each in answers(2, of)]
    write_run(tmp_path / "b", MODEL, others)
    table = accuracy_table(read_samples(tmp_path)).sort_values("correct", ascending=False)
    assert table["correct"].tolist() == [11, 2]
    for name, model in zip(names, table["model"], strict=True):
        assert re.fullmatch(f"{MODEL}, {name}", model)


def test_where_and_how_fast_a_model_ran_is_no_setting(tmp_path):
    for number, changes in enumerate(CASES["no_settings"]):
        write_run(tmp_path / str(number), MODEL, answers(number), **changes)
    frame = read_samples(tmp_path)
    assert set(frame["model"]) == {MODEL}
    assert frame["attempt"].max() == 3


@pytest.mark.parametrize(
    "hold",
    [
        lambda key: {"header": {"Authorization": f"Bearer {key}", "Accept": key}},
        lambda key: {"client": {"X-Api-Key": key, "options": {"apiKey": key, "x": None}}},
        lambda key: {"endpoint": f"https://me:{key}@host/v1"},
        lambda key: {"adapters": [{"name": "a", "access_token": key}]},
    ],
)
def test_a_credential_neither_names_a_run_nor_tells_runs_apart(tmp_path, hold):
    """Wherever an argument of the model, or of the generation, holds it."""
    keys = ["sk-first0123456789abcdef", "sk-second0123456789abcdef"]
    for number, key in enumerate(keys):
        held = hold(key)
        generation = {"temperature": 0, **(held if isinstance(held, dict) else {})}
        config = {"model": "local-completions", "model_args": held}
        write_run(
            tmp_path / str(number), MODEL, answers(number), config=config, generation=generation
        )
        assert key not in str(read_settings({"config": config}, generation))
    frame = read_samples(tmp_path)
    assert frame["attempt"].max() == 2
    assert set(frame["model"]) == {MODEL}
    assert not any(key in frame.drop(columns="file").to_csv() for key in keys)


def test_runs_without_a_results_file_are_kept_apart(tmp_path):
    for name, right in (("a", 3), ("b", 5)):
        next(write_run(tmp_path / name, "m", answers(right)).glob("results_*")).unlink()
    table = accuracy_table(read_samples(tmp_path)).set_index("model")
    named = {f"m, in {tmp_path / name / 'm'}": right for name, right in (("a", 3), ("b", 5))}
    assert table["correct"].to_dict() == named


def test_labels_name_rows_and_several_runs_under_one_label_stay_apart(folders):
    a, b, c = folders
    frame = read_samples({"warm": [a, c], "greedy": b})
    correct = accuracy_table(frame).set_index("model")["correct"]
    assert correct.to_dict() == {"greedy": 11, "warm": 6}
    frame = read_samples({"both": [a, b], "": c})
    assert set(frame["model"]) == {"both, temperature 0", "both, temperature 0.6", MODEL}
    assert set(label_models(frame)) == {"both, temperature 0", "both, temperature 0.6", "Qwen3-8B"}
    write_run(a, "org/other", answers(1))
    assert set(read_samples({"all": a})["model"]) == {f"all, {MODEL}", "all, org/other"}


def test_a_label_must_be_a_name_and_a_file_has_one(folders):
    for label in ("a/b", "two\nlines", " a", 3):
        with pytest.raises(ValueError, match="a label must be words in one line, without a slash"):
            read_samples({label: folders[0]})
    with pytest.raises(ValueError, match=r"must have one label, got 'x' and 'y'"):
        read_samples({"x": folders[0], "y": folders[0]})


def test_settings_of_factor_keep_the_tasks_of_a_suite_together(tmp_path):
    decays = {("symbolic", 0): (-0.05, 0.3), ("symbolic", 4000): (-0.05, 0.1)}
    write_factor_runs(tmp_path / "a", MODEL, decays, puzzles=1)
    write_factor_runs(tmp_path / "b", MODEL, decays, puzzles=1)
    for file in (tmp_path / "b").rglob("results_*"):
        said = json.loads(file.read_text())
        said["config"]["model_args"]["enable_thinking"] = False
        file.write_text(json.dumps(said))
    frame = read_factor_samples(tmp_path)
    assert set(FACTOR.label(frame)) == {
        "Qwen3-8B, enable_thinking False",
        "Qwen3-8B, enable_thinking unset",
    }
    assert frame.groupby("model", observed=True)["attempt"].max().tolist() == [1, 1]
