"""`cogniload score --dataset`: any table of responses, scored as lm-eval's tasks score."""

import re
from pathlib import Path

import pandas as pd
import pytest
from command_line import main
from stored import cases, read_lines, write_lines

from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.samples.read import read_benchmarks
from cogniload_gen import generate_factor, generate_puzzles, read_steps, score
from cogniload_gen.answers import Sample
from cogniload_gen.answers.rescore import rescore, score_responses


def answer(row, place):
    """A right answer, a wrong one, one cut off by its limit, or an empty one."""
    said = f"So in the end, {row.get('poi', 'it')} is {row['answer']}. The answer: {row['answer']}."
    return [
        {"id": row["id"], "response": said, "finish_reason": "eos_token", "unknown": place},
        {"id": row["id"], "response": "I can't tell, it is 3.", "prompt_tokens": 99},
        {"id": row["id"], "response": said, "finish_reason": "length"}
        | {"prompt_tokens": 100, "response_tokens": 50, "response_limit": 50},
        {"id": row["id"], "response": None},
    ][place % 4]


def expected(row, answered):
    budget = None
    if "response_limit" in answered:
        budget = answered["prompt_tokens"] + answered["response_limit"]
    counts = {name: answered.get(name) for name in ("prompt_tokens", "response_tokens")}
    return score(answered["response"], row, **counts, context_budget=budget)


def write(path, rows):
    """Write rows as pandas does, with counts as 12.0 and missing values as NaN."""
    path = Path(path)
    if path.suffix == ".jsonl":
        write_lines(path, rows)
    elif path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False, encoding="utf-8-sig")
    else:
        pd.DataFrame(rows).to_parquet(path, row_group_size=max(3, len(rows) // 20))
    return path


MADE = {
    "CogniLoad": lambda: generate_puzzles([1, 3], 5, 50, num_puzzles=6),
    "FACTOR": lambda: generate_factor("symbolic", N=[3, 5], num_puzzles=6),
}


@pytest.fixture
def rows(folder):
    made = MADE["CogniLoad"]().to_pylist()
    write("rows.parquet", made)
    return made


@pytest.mark.parametrize("benchmark", MADE)
@pytest.mark.parametrize(("dataset", "kind"), [
    ("rows.parquet", "parquet"), ("rows.jsonl", "csv"), ("split", "jsonl"), ("split", "folder"),
])  # fmt: skip
def test_every_table_and_dataset_gives_the_scores_of_score(folder, benchmark, dataset, kind):
    """In another order than the dataset's, over parts of files; and a report reads the samples."""
    rows = MADE[benchmark]().to_pylist()
    if dataset == "split":
        for place, name in ((0, "split/data/test-1.parquet"), (1, "split/other/test.parquet")):
            Path(name).parent.mkdir(parents=True)
            write(name, rows[place::2])
    else:
        write(dataset, rows)
    given = [answer(row, place) for place, row in enumerate(rows)][::-1]
    tables = Path(f"given.{kind}")
    if kind == "folder":
        tables.mkdir()
        write(tables / "a.csv", given[:5])
        write(tables / "b.jsonl", given[5:])
    else:
        write(tables, given)
    scored = score_responses(Path(dataset), [tables], "runs/model-1.7b/")
    samples = read_lines(scored.out)
    by_id = {row["id"]: row for row in rows}
    assert [sample["doc"]["id"] for sample in samples] == [each["id"] for each in given]
    for sample, answered in zip(samples, given, strict=True):
        row, wanted = by_id[answered["id"]], expected(by_id[answered["id"]], answered)
        assert sample["outcome"] == wanted.outcome.value
        assert sample["acc"] == wanted.correct
        assert sample["answer_read"]["explanation"] == wanted.explanation
        assert sample["doc"] == row
        assert Sample(sample).limit == answered.get("response_limit")
        steps = read_steps(answered["response"], row)
        assert sample["steps_read"]["first_error"] == steps.first_error
    assert len({sample["outcome"] for sample in samples}) >= 3
    frame = read_benchmarks("runs", ANALYSES)[benchmark]  # it finds the file by its name
    assert frame["id"].tolist() == [each["id"] for each in given]
    assert frame["outcome"].tolist() == [sample["outcome"] for sample in samples]
    assert set(frame["model"]) == {"model-1.7b"}
    again = rescore(scored.out)
    assert (again.outcomes, again.changed) == (scored.outcomes, 0)


def test_the_accuracy_and_what_is_missing_are_printed(rows, capsys):
    write("given.jsonl", [answer(row, place) for place, row in enumerate(rows[:8])])
    assert main(["score", "--dataset", "rows.parquet", "given.jsonl"]) == 0
    first, *_ = capsys.readouterr().out.splitlines()
    said = "8 responses, 2 correct (25.00%), 4 puzzles without a response"
    assert first == said


ROW = {"id": "no", "response": ""}


@pytest.mark.parametrize(("given", "said"), [
    ([0, ROW], r"given.jsonl line 2: no puzzle in rows.parquet has the id 'no'"),
    ([0, 1, 1], "given.jsonl line 3: another response in rows.parquet has the id 'cognil"),
    ([{"response": ""}], "given.jsonl line 1 must have id and response, got response"),
    ([3], "given.jsonl line 1 must be an object of JSON, .* got '3'"),
    ([], "given.jsonl must hold at least one response"),
])  # fmt: skip
def test_what_is_wrong_is_named_and_nothing_is_written(rows, given, said):
    right = [answer(row, 0) for row in rows]
    write("given.jsonl", [right[each] if each in (0, 1) else each for each in given])
    with pytest.raises(ValueError, match=said):
        score_responses(Path("rows.parquet"), [Path("given.jsonl")], "out.jsonl")
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize(("dataset", "said"), cases(__file__)["no_dataset"])
def test_a_dataset_that_is_none_is_named(rows, dataset, said):
    Path("empty").mkdir()
    write("given.jsonl", [answer(row, 0) for row in rows])
    with pytest.raises((ValueError, OSError)) as raised:
        score_responses(Path(dataset), [Path("given.jsonl")])
    assert re.search(said, str(raised.value))
