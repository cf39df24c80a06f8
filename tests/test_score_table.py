"""`cogniload score --dataset`: any table of responses, scored as lm-eval's tasks score."""

import json
import re
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from command_line import IN_2_GIB, refusal, run_python

from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.samples.read import read_benchmarks
from cogniload_cli import main
from cogniload_gen import generate_factor, generate_puzzles, score
from cogniload_gen.files import parquet
from cogniload_gen.files.parquet import join_row_groups, open_parquet, read_groups
from cogniload_gen.files.response_tables import read_table
from lm_eval_tasks.score_responses import score_responses

SAMPLES = "samples_any_2026-11-22T08-00-00.jsonl"


def answer(row, place):
    """A right answer, a wrong one, one cut off by its limit, or an empty one."""
    said = f"So in the end, {row.get('poi', 'it')} is {row['answer']}. The answer: {row['answer']}."
    return [
        {"id": row["id"], "response": said, "finish_reason": "stop"},
        {"id": row["id"], "response": "I can't tell, it is 3.", "prompt_tokens": 99},
        {"id": row["id"], "response": said, "finish_reason": "length"}
        | {"prompt_tokens": 100, "response_tokens": 50, "response_limit": 50},
        {"id": row["id"], "response": ""},
    ][place % 4]


def expected(row, answered):
    budget = None
    if "response_limit" in answered:
        budget = answered["prompt_tokens"] + answered["response_limit"]
    counts = {name: answered.get(name) for name in ("prompt_tokens", "response_tokens")}
    return score(answered["response"], row, **counts, context_budget=budget)


def write(path, rows):
    path, columns = Path(path), dict.fromkeys(key for each in rows for key in each)
    table = pa.Table.from_pylist([columns | row for row in rows])
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=max(3, len(rows) // 20))
    elif path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


MADE = {
    "CogniLoad": lambda: generate_puzzles([1, 3], 5, 50, num_puzzles=6),
    "FACTOR": lambda: generate_factor("symbolic", N=[3, 5], num_puzzles=6),
}


@pytest.mark.parametrize("benchmark", MADE)
@pytest.mark.parametrize("dataset", ["rows.parquet", "rows.jsonl", "split"])
@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
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
    write(f"given.{kind}", given)
    out = folder / "model" / SAMPLES
    assert main(["score", "--dataset", dataset, f"given.{kind}", "--out", str(out)]) == 0
    samples = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    by_id = {row["id"]: row for row in rows}
    assert [sample["doc"]["id"] for sample in samples] == [each["id"] for each in given]
    for sample, answered in zip(samples, given, strict=True):
        wanted = expected(by_id[answered["id"]], answered)
        assert sample["outcome"] == wanted.outcome.value
        assert sample["acc"] == wanted.correct
        assert sample["answer_read"]["explanation"] == wanted.explanation
        assert sample["doc"] == by_id[answered["id"]]
    assert len({sample["outcome"] for sample in samples}) >= 3
    frame = read_benchmarks(out, ANALYSES)[benchmark]
    assert frame["id"].tolist() == [each["id"] for each in given]
    assert frame["outcome"].tolist() == [sample["outcome"] for sample in samples]
    assert set(frame["model"]) == {"model"}
    assert set(frame["ending"]) >= {"ended", "unknown"}
    assert main(["score", str(out)]) == 0


def test_the_accuracy_its_standard_error_and_what_is_missing_are_printed(folder, capsys):
    rows = MADE["CogniLoad"]().to_pylist()
    write("rows.parquet", rows)
    write("given.jsonl", [answer(row, place) for place, row in enumerate(rows[:8])])
    assert main(["score", "--dataset", "rows.parquet", "given.jsonl"]) == 0
    first, *_ = capsys.readouterr().out.splitlines()
    said = "8 responses, 2 correct (25.00%), standard error 16.37%, 4 puzzles without a response"
    assert first == said  # the sample's deviation over the root of 8, as lm-eval's


ROW = {"id": "no", "response": ""}


def test_a_count_that_is_missing_is_no_number_to_pandas(tmp_path):
    file = write(tmp_path / "given.jsonl", [ROW | {"prompt_tokens": float("nan")}])
    assert [row.prompt_tokens for row in read_table(file)] == [None]


@pytest.mark.parametrize(("given", "said"), [
    ([ROW, ROW | {"id": "x"}], r"2 responses have an id that no puzzle in rows\.parquet has, "
     r"first 'no' \(given\.jsonl line 1\)"),
    ([0, 0, 1, 0], "2 responses have an id that another response has, first 'cognil.*line 2"),
    ([0, 0, ROW], "1 response has .* no puzzle in .*; 1 response has an id that another"),
    ([{"response": ""}], "given.jsonl line 1 must have id and response, got response"),
    ([ROW | {"id": 3}], "line 1: id must be a text, got 3"),
    ([ROW | {"response": 3}], "line 1: response must be a text, got 3"),
    ([ROW | {"prompt_tokens": "x"}], "prompt_tokens must be a number of tokens, got 'x'"),
    ([ROW | {"prompt_tokens": 10**400}], "prompt_tokens must be a number of tokens, got 1000"),
    ([ROW | {"response_tokens": 10**400}], "response_tokens must be a number of tokens, got"),
    ([ROW | {"response_limit": 10**400}], "response_limit must be a number of tokens, got 10"),
    ([ROW | {"response": "x" * (1 << 24) + "x"}], "response must have at most 16777216 char"),
    ([ROW | {"response_tokens": -1}], "response_tokens must be a number of tokens, got -1"),
    ([ROW | {"response_limit": 0}], "response_limit must be at least 1, got 0"),
    ([ROW | {"response_limit": 50, "response_tokens": 51}],
     "response_tokens must be at most response_limit, 50, got 51"),
    ([ROW | {"finish_reason": "zzz"}], "finish_reason must be one of stop, length, .*'zzz'"),
    ([3], "given.jsonl line 1 must be an object, got 3"),
    ([], "given.jsonl must hold at least one response"),
])  # fmt: skip
def test_what_is_wrong_is_one_line_and_nothing_is_written(folder, capsys, given, said):
    rows = MADE["CogniLoad"]().to_pylist()
    write("rows.parquet", rows)
    right = [answer(row, 0) for row in rows]
    given = [right[each] if each in (0, 1) else each for each in given]
    Path("given.jsonl").write_text("".join(json.dumps(each) + "\n" for each in given))
    command = ["score", "--dataset", "rows.parquet", "given.jsonl", "--out", "out.jsonl"]
    assert main(command) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("cogniload score: error: ")
    assert re.search(said, error), error
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize(("dataset", "said"), [
    ("empty", "empty must hold Parquet files of puzzles, got none"),
    ("rows.csv", r"rows.csv must be a folder of Parquet files, or a file that ends in \.parq"),
    ("twice", "twice must hold every puzzle once: 12 ids are there more than once"),
    ("others.parquet", "others.parquet must have the columns of puzzles, got id, response"),
    ("broken.parquet", "broken.parquet must be a Parquet file: "),
    ("empty.parquet", "empty.parquet must hold at least one puzzle, got none"),
    ("broken.jsonl", "broken.jsonl line 1 must be a puzzle, got b'no"),
    ("no.parquet", "no.parquet: No such file"),
    ("rows.jsonl", "rows.jsonl line 2 must be a puzzle, got .*'answer'"),
    ("view.parquet", "view.parquet must hold puzzles: .*string_view"),
])  # fmt: skip
def test_a_dataset_that_is_none_is_one_line(folder, capsys, dataset, said):
    rows = MADE["CogniLoad"]().to_pylist()
    Path("empty").mkdir()
    Path("twice").mkdir()
    Path("rows.csv").touch()
    for name in ("twice/a.parquet", "twice/b.parquet"):
        write(name, rows)
    for name in ("broken.parquet", "broken.jsonl"):
        Path(name).write_text("no")
    unanswered = {name: value for name, value in rows[1].items() if name != "answer"}
    write("rows.jsonl", [rows[0], unanswered])
    write("others.parquet", [ROW])
    table = pa.Table.from_pylist(rows)
    pq.write_table(table.slice(0, 0), "empty.parquet")
    pq.write_table(table.append_column("view", table["id"].cast("string_view")), "view.parquet")
    write("given.jsonl", [answer(row, 0) for row in rows])
    assert re.search(said, refusal(capsys, "score", "--dataset", dataset, "given.jsonl"))


def test_folders_that_are_named_as_tables_are_none_and_an_empty_table_holds_no_response(
    folder, capsys
):
    rows = MADE["CogniLoad"]().to_pylist()
    Path("split/other.parquet").mkdir(parents=True)
    write("split/rows.parquet", rows)
    Path("tables/other.parquet").mkdir(parents=True)
    write("tables/given.jsonl", [answer(row, 0) for row in rows])
    assert main(["score", "--dataset", "split", "tables"]) == 0
    Path("empty.csv").touch()
    error = refusal(capsys, "score", "--dataset", "split", "empty.csv")
    assert error == "empty.csv must hold at least one response, got none"


@pytest.mark.parametrize("name", ["given.csv", "given.parquet"])
def test_a_column_that_is_there_twice_is_one_line(folder, capsys, name):
    rows = MADE["CogniLoad"]().to_pylist()
    write("rows.parquet", rows)
    columns = [pa.array(["a"])] * 3
    table = pa.Table.from_arrays(columns, ["id", "id", "response"])
    (pyarrow.csv.write_csv if name.endswith("csv") else pq.write_table)(table, name)
    error = refusal(capsys, "score", "--dataset", "rows.parquet", name)
    assert error == f"{name} must have each column once, got id, id, response"


def repeated(count, length, row):
    """A table of a row whose last column has one long text, which a file holds once."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * count), pa.array(["x" * length]))
    *columns, last = row
    ids = {"id": [f"{row['id']}{'x' * (place > 0)}{place or ''}" for place in range(count)]}
    others = {name: [row[name]] * count for name in columns if name != "id"}
    return pa.table(ids | others | {last: texts})


@pytest.mark.parametrize(("count", "length", "said"), [
    (256, 40_000_000, "must have at most"),
    (1, 300_000_000, "a row group must have at most"),
])  # fmt: skip
@pytest.mark.parametrize("side", ["puzzles", "responses"])
def test_a_small_file_of_large_cells_is_read_within_bounds(folder, side, count, length, said):
    """A process that may have 2 GiB refuses it in a line."""
    (row,) = MADE["CogniLoad"]().slice(0, 1).to_pylist()
    last = row.pop("puzzle")
    tables = {
        "puzzles": repeated(count if side == "puzzles" else 1, length, row | {"puzzle": last}),
        "responses": repeated(count, length, {"id": row["id"], "response": ""}),
    }
    if side == "puzzles":
        tables["responses"] = pa.table({"id": tables["puzzles"]["id"], "response": ["x"] * count})
    else:
        write("puzzles.parquet", [row])
        del tables["puzzles"]
    for name, table in tables.items():
        once = {"dictionary_pagesize_limit": 1 << 30, "store_schema": False, "compression": "zstd"}
        pq.write_table(table, f"{name}.parquet", **once)
    assert Path(f"{side}.parquet").stat().st_size < 100_000
    command = ["score", "--dataset", "puzzles.parquet", "responses.parquet", "--out", "out.jsonl"]
    ran = run_python(IN_2_GIB, *command, check=False)
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert said in ran.stderr


@pytest.mark.parametrize("out", ["rows.jsonl", "given.jsonl"])
def test_what_is_read_is_not_written(folder, capsys, out):
    rows = MADE["CogniLoad"]().to_pylist()
    write("rows.jsonl", rows)
    write("given.jsonl", [answer(row, 0) for row in rows])
    before = Path(out).read_bytes()
    command = ["score", "--dataset", "rows.jsonl", "given.jsonl", "--out", out, "--force"]
    assert refusal(capsys, *command) == f"{out} is read: name another file to write"
    assert Path(out).read_bytes() == before


def test_a_file_that_is_small_as_its_text_repeats_itself_is_read(tmp_path):
    path = tmp_path / "rows.parquet"
    table = pa.table({"id": ["x" * 10_000_000]})
    pq.write_table(table, path, compression="zstd", write_statistics=False)
    assert path.stat().st_size * parquet.EXPANSION < 10_000_000
    with open_parquet(path) as file:
        assert file.metadata.num_rows == 1


def test_small_row_groups_are_read_together(tmp_path):
    """Each read opens the file, and looks at all of its row groups."""
    path, rows = tmp_path / "rows.parquet", pa.table({"id": list("abcdefgh"), "n": range(8)})
    pq.write_table(rows, path, row_group_size=2)
    with open_parquet(path) as file:
        assert join_row_groups(file) == [range(4)]
        size = file.metadata.row_group(0).total_byte_size
    for most, parts in ((1, 4), (2 * size, 2), (3 * size, 2), (4 * size, 1)):
        with pytest.MonkeyPatch.context() as patch, open_parquet(path) as file:
            patch.setattr(parquet, "JOINED", most)
            joined = join_row_groups(file)
        assert len(joined) == parts
        assert [group for groups in joined for group in groups] == [0, 1, 2, 3]
        read = [read_groups(path, groups, ["id", "n"]) for groups in joined]
        assert pa.concat_tables(read).equals(rows)


def test_a_file_without_row_groups_has_none(tmp_path):
    pq.ParquetWriter(tmp_path / "rows.parquet", pa.schema([("id", pa.string())])).close()
    with open_parquet(tmp_path / "rows.parquet") as file:
        assert join_row_groups(file) == []


def test_memory_is_that_of_a_batch(folder):
    rows = generate_puzzles(1, 5, 50, num_puzzles=3000).to_pylist()
    write("rows.parquet", rows)
    write("given.jsonl", [answer(row, 0) | {"response": "x" * 30_000} for row in rows])
    tracemalloc.start()
    outcomes, missing = score_responses(Path("rows.parquet"), [Path("given.jsonl")])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (outcomes.total(), missing) == (3000, 0)
    assert most < 40e6  # of 90 MB of responses
