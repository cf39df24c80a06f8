"""Reading what lm-eval writes."""

import gzip
import json

import pandas as pd
import pytest
from lm_eval_layout import BETA, SMALL, make_puzzle, make_sample, make_samples, write_run
from refusals import refused
from stored import cases

from cogniload_analysis import accuracy_by_attempts, read_samples
from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.report.examples import pick_responses
from cogniload_analysis.report.part import run_table
from cogniload_gen import score
from cogniload_gen.answers.files import read_lines
from cogniload_gen.cogniload.score import Outcome


@pytest.fixture
def results(tmp_path):
    write_run(tmp_path, "org/first", make_samples(BETA, 2, 1, grid=SMALL))
    write_run(tmp_path, "org/second", make_samples(BETA, 1, 2, grid=SMALL))
    return tmp_path


def samples_file(folder):
    return next(folder.rglob("samples_*"))


def one_sample(**changes):
    counts = {"prompt_tokens": 100, "response_tokens": 50}
    sample = make_sample(make_puzzle(1, 20, 5), "A response.", "wrong_other", **counts)
    return sample | changes


def test_the_frame_has_a_row_a_response_and_rho_as_a_fraction(results):
    frame = read_samples(results)
    assert frame.groupby("model", observed=True).size().to_dict() == {
        "org/first": 2 * len(SMALL),
        "org/second": len(SMALL),
    }
    assert sorted(frame["rho"].unique()) == [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]
    assert frame["correct"].dtype == bool
    assert frame["outcome"].str.startswith("correct").eq(frame["correct"]).all()
    assert tuple(frame["outcome"].cat.categories) == tuple(Outcome)
    row = frame.iloc[0]
    assert (row["task"], row["generator_version"], row["lm_eval_version"]) == (
        "cogniload",
        "1.0",
        "0.4.13",
    )
    assert row["prompt_tokens"] == 60 + 14 * 20 + 20


def test_paths_may_be_several_a_file_or_gzipped(results):
    both = read_samples(results)
    file = samples_file(results / "org__first")
    assert len(read_samples(file)) == 2 * len(SMALL)
    assert len(read_samples([str(results / "org__first"), results, file])) == len(both)
    file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    zipped = read_samples(results)
    pd.testing.assert_frame_equal(zipped.drop(columns="file"), both.drop(columns="file"))
    (sample,) = read_lines(zipped["file"][3], [zipped["offset"][3]])
    assert sample.id == zipped["id"][3]


def test_a_single_file_as_output_path_and_a_missing_results_file(tmp_path):
    """lm-eval's --output_path results/run.json writes run_DATE.json beside the samples."""
    run = write_run(tmp_path, "org/first", [one_sample()])
    results_file = next(run.glob("results_*"))
    results_file.rename(results_file.with_name(results_file.name.replace("results", "run")))
    assert set(read_samples(tmp_path)["model"]) == {"org/first"}
    next(run.glob("run_*")).unlink()
    assert set(read_samples(tmp_path)["model"]) == {"org__first"}


def test_samples_of_other_tasks_are_left_aside(results):
    other = {"doc": {"question": "2 + 2"}, "filter": "none", "acc": 1.0}
    write_run(results, "org/first", [other], task="gsm8k")
    write_run(results, "org/first", [one_sample()], task="my_own_cogniload")
    assert set(read_samples(results)["task"]) == {"cogniload", "my_own_cogniload"}


def test_each_attempt_of_a_task_with_repeats_is_scored(tmp_path):
    """lm-eval scores the first one alone, and keeps the texts of the others."""
    texts = [f"Ann is wearing {color} socks." for color in ("blue", "red", "blue", "green")]
    puzzles = [make_puzzle(1, 20, 5, index) for index in range(3)]
    samples = [
        make_sample(doc, texts[0], "correct_valid", prompt_tokens=100, response_tokens=6)
        | {"resps": [texts], "filtered_resps": texts[:1], "spent_response_tokens": 28}
        for doc in puzzles
    ]
    write_run(tmp_path, "m", samples)
    frame = read_samples(tmp_path, text=True)
    assert frame["id"].tolist() == [doc["id"] for doc in puzzles for _ in texts]
    assert frame["attempt"].tolist() == [1, 2, 3, 4] * 3
    assert frame["response"].tolist() == texts * 3
    scored = [score(text, doc).outcome.value for doc in puzzles for text in texts]
    assert frame["outcome"].tolist() == scored
    assert scored[:3] == ["correct_valid", "wrong_logic", "correct_valid"]
    spent = run_table(frame, COGNILOAD.loads).iloc[0]
    assert (spent["spent_prompt_tokens"], spent["spent_response_tokens"]) == (3 * 400, 3 * 28)
    table = accuracy_by_attempts(frame).set_index("k")
    assert table["any"].to_dict() == pytest.approx({1: 1 / 2, 2: 5 / 6, 4: 1})
    wrong = pick_responses(frame[frame["outcome"] == "wrong_logic"], COGNILOAD, 1)
    assert "".join(text for text, _ in wrong[0]["parts"]) in texts[1::2]


def test_token_counts_and_the_seed_may_be_missing(tmp_path):
    """As in splits that others have published."""
    without = one_sample(doc=make_puzzle(1, 20, 5) | {"seed": None})
    del without["prompt_tokens"], without["response_tokens"]
    write_run(tmp_path, "m", [without, one_sample(prompt_tokens=None, doc=without["doc"])])
    frame = read_samples(tmp_path)
    assert frame[["seed", "prompt_tokens"]].isna().all(axis=None)
    assert frame["response_tokens"].fillna(0).tolist() == [0, 50]
    assert run_table(frame, COGNILOAD.loads)["seed"].tolist() == [""]
    write_run(tmp_path, "m", [one_sample(doc=make_puzzle(1, 20, 5) | {"seed": 12345678901})])
    assert run_table(read_samples(tmp_path), COGNILOAD.loads)["seed"].tolist() == ["12345678901"]


@pytest.mark.parametrize(("tasks", "cause"), cases(__file__)["no_responses"])
def test_what_holds_no_responses_says_what_was_looked_for_and_where(tmp_path, tasks, cause):
    (tmp_path / "results").mkdir()
    for task in tasks:
        other = [{"doc": {"question": "?"}, "filter": "none"}] * (task == "gsm8k")
        run = write_run(tmp_path / "results", "m", other, task=task)
    with refused(cause):
        read_samples(tmp_path / "results")
    if tasks:
        samples_file(run).unlink()
        with refused("run lm_eval with --output_path and --log_samples"):
            read_samples(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no such file or folder: .*nowhere"):
        read_samples(tmp_path / "nowhere")


def test_a_folder_without_samples_beside_another_is_named(results, caplog):
    (results / "empty").mkdir()
    read_samples([results / "org__first", results / "empty"])
    assert f"no samples in {results / 'empty'}" in caplog.text


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (json.dumps(one_sample(outcome="fine")), "outcome must be one of .* got 'fine'"),
        (json.dumps(one_sample(doc={"d": 1})), "no field 'id'"),
        (json.dumps(one_sample(doc=make_puzzle(1, 20, 500))), r"rho in \(0, 100\], got .* 500"),
    ],
)
def test_a_broken_line_is_named_by_file_and_number(tmp_path, line, cause):
    run = write_run(tmp_path, "m", [one_sample()])
    with samples_file(run).open("a", encoding="utf-8") as lines:
        lines.write(line + "\n")
    with refused(f"samples_cogniload_.*jsonl line 2.*{cause}", most=10_000):
        read_samples(tmp_path)


def test_a_broken_file_of_another_task_does_not_stop_the_reading(results):
    whole = gzip.compress(b'{"doc": {}}\n' * 100)
    name = "samples_other_2026-11-21T08-26-58.1.jsonl.gz"
    (next(results.iterdir()) / name).write_bytes(whole[: len(whole) // 2])
    assert set(read_samples(results)["task"]) == {"cogniload"}


@pytest.mark.parametrize("content", [b"{", b"[]", b"3"])
def test_a_broken_results_file_is_named(results, content):
    broken = next(results.rglob("results_*.json"))
    broken.write_bytes(content)
    with refused(f"{broken.name} is no results file of lm-eval: "):
        read_samples(results)


@pytest.mark.parametrize(
    "other",
    [[], None, {"cogniload": 3}, {"cogniload": {"metadata": [1], "generation_kwargs": "hot"}}],
)
def test_what_a_results_file_says_otherwise_is_left_aside(tmp_path, other):
    file = next(write_run(tmp_path, "org/first", [one_sample()]).glob("results_*"))
    file.write_text(json.dumps(json.loads(file.read_text()) | {"configs": other}))
    row = read_samples(tmp_path).iloc[0]
    assert (row["model"], row["generator_version"], row["decoding"]) == ("org/first", "", "")
