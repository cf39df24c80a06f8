"""lm-eval on a published split: its rows, checked, since they may be anyone's."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from grids import cogniload_grid
from harness import manager
from lm_eval import simple_evaluate

from cogniload_gen import benchmarks, generate_puzzles
from cogniload_gen.hub.push import push
from cogniload_gen.task_puzzles import published_puzzles

COGNILOAD = benchmarks.named("cogniload")
GRID = {"d": [1, 3], "N": [5], "rho": [50.0]}
ROWS = generate_puzzles(**GRID, num_puzzles=2, seed=7)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    push(cogniload_grid(**GRID, num_puzzles=2, seed=7), "me/p", dry_run=tmp_path / "folder")
    return tmp_path / "folder"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A function that writes rows, changed, to a folder of their own; and its path."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))

    def written(change):
        (tmp_path / "theirs").mkdir()
        pq.write_table(change(ROWS), tmp_path / "theirs" / "test.parquet")
        return str(tmp_path / "theirs")

    return written


def test_the_published_rows_are_evaluated(folder):
    puzzles = {"path": str(folder), "context_budget": 4096}
    found = simple_evaluate(
        "dummy",
        tasks=["cogniload_mini"],
        task_manager=manager(cogniload=puzzles),
        bootstrap_iters=1,
    )
    documents = [sample["doc"] for sample in found["samples"]["cogniload_mini"]]
    assert sorted(documents, key=lambda doc: doc["id"]) == sorted(
        (row | {"context_budget": 4096} for row in ROWS.to_pylist()), key=lambda doc: doc["id"]
    )


def test_one_of_several_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    for split, seed in (("test", 7), ("validation", 8)):
        (tmp_path / "two").mkdir(exist_ok=True)
        pq.write_table(
            generate_puzzles(**GRID, num_puzzles=2, seed=seed),
            tmp_path / "two" / f"{split}.parquet",
        )
    with pytest.raises(ValueError, match=r"split of .*two' must be one of .*validation.*got None"):
        published_puzzles(COGNILOAD, str(tmp_path / "two"))
    with pytest.raises(ValueError, match=r"split of .*two' must be one of .*; got \['test'\]"):
        published_puzzles(COGNILOAD, str(tmp_path / "two"), split=["test"])
    assert published_puzzles(COGNILOAD, str(tmp_path / "two"), split="test").equals(ROWS)


@pytest.mark.parametrize(
    ("puzzles", "message"),
    [
        ({"path": "x", "d": 3}, "takes path, name, split, context_budget; got 'd'"),
        ({"path": "no/such/folder"}, "path 'no/such/folder' can't be loaded: "),
        ({"path": 3}, "path 3 can't be loaded: "),
        ({"path": "x", "context_budget": 1}, "context_budget must be"),
    ],
)  # fmt: skip
def test_wrong_parameters(puzzles, message):
    with pytest.raises(ValueError, match=message):
        manager(cogniload=puzzles).load(["cogniload_mini"])


@pytest.mark.parametrize("given", [3, "d", ["d"]])
def test_parameters_are_an_object(given):
    with pytest.raises(ValueError, match="cogniload metadata must be an object, got"):
        manager(cogniload=given).load(["cogniload_mini"])


def test_a_broken_file_says_what_is_wrong_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "test.parquet").write_bytes(b"PAR1 " * 9)
    with pytest.raises(ValueError, match=r"path .* can't be loaded: .*[Pp]arquet") as raised:
        published_puzzles(COGNILOAD, str(tmp_path / "broken"))
    assert "\n" not in str(raised.value)


def replaced(column, values):
    def change(table):
        return table.set_column(table.column_names.index(column), column, pa.array(values))

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop_columns("poi"), "poi of .* must have a value in every row"),
        (replaced("answer", ["x", None, "x", "x"]), "answer of .* must have a value in every row"),
        (replaced("answer", ["x"] * 4), "answer of .* must be one of .*options, got 'x' in row 0"),
        (replaced("d", ["1", "1", "3", "3"]), "d of .* must be int64, got string"),
        (replaced("N", [1.5, 1, 1, 1]), "N of .* must be int64: .*"),
        (replaced("options", ["x", "y", "z", "w"]), "options of .* must be list.*got string"),
        (replaced("options", [["x"], ["x", None], [], []]), "options .* must be texts, got .*None"),
        (replaced("id", ["a", "b", "a", "c"]), "id of .* must differ in every row, got 'a'"),
        (replaced("d", [1, 0, 3, 3]), "d of .* must be at least 1, got 0 in row 1"),
        (replaced("N", [1, 1, 3, -3]), "N of .* must be at least 1, got -3 in row 3"),
        (replaced("rho", [1, 1, 101, 1]), "rho of .* must be a percentage .*got 101.0 in row 2"),
        (replaced("rho", [1, float("nan"), 1, 1]), "rho of .* must be a .*got nan in row 1"),
        (replaced("category", ["hair", "x" * 999, "hair", "hair"]), "category of .* got 'xxx"),
    ],
)  # fmt: skip
def test_rows_that_can_t_be_run_are_refused(write, change, message):
    with pytest.raises(ValueError, match=message) as raised:
        published_puzzles(COGNILOAD, write(change))
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500


def test_types_of_other_writers_are_taken(write):
    """Large strings, 32-bit numbers, other columns, and no seed, index or people."""

    def change(table):
        large = {name: table[name].cast(pa.large_string()) for name in ("id", "puzzle")}
        small = {name: table[name].cast(pa.int32()) for name in ("d", "N", "rho")}
        table = table.drop_columns([*large, *small, "seed", "index", "people"])
        return pa.table({**{name: table[name] for name in table.column_names}, **large, **small,
                         "note": ["x"] * len(table)})  # fmt: skip

    found = published_puzzles(COGNILOAD, write(change))
    nulls = {"seed", "index", "people"}
    assert found.schema.equals(ROWS.schema)
    kept = [name for name in ROWS.column_names if name not in nulls]
    assert found.select(kept).equals(ROWS.select(kept))
    assert all(found[name].null_count == len(found) for name in nulls)


def test_json_lines_are_taken(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "lines").mkdir()
    lines = [json.dumps(row) + "\n" for row in ROWS.to_pylist()]
    (tmp_path / "lines" / "test.jsonl").write_text("".join(lines), "utf-8")
    assert published_puzzles(COGNILOAD, str(tmp_path / "lines")).equals(ROWS)
