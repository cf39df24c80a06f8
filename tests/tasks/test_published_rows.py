"""lm-eval on a published split: its rows, checked, since they may be anyone's."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cogniload_gen import benchmarks, generate_puzzles
from cogniload_gen.task_puzzles import published_puzzles

COGNILOAD = benchmarks.named("cogniload")
GRID = {"d": [1, 3], "N": [5], "rho": [50.0]}
ROWS = generate_puzzles(**GRID, num_puzzles=2, seed=7)


@pytest.fixture
def theirs(tmp_path):
    (tmp_path / "theirs").mkdir()
    return tmp_path / "theirs"


def published(folder, change, **options):
    """The rows that are taken of changed ones."""
    pq.write_table(change(ROWS), folder / "test.parquet")
    return published_puzzles(COGNILOAD, str(folder), **options)


def test_one_of_several_splits_is_named(theirs):
    other = generate_puzzles(**GRID, num_puzzles=2, seed=8)
    pq.write_table(other, theirs / "validation.parquet")
    assert published(theirs, lambda table: table, split="test").equals(ROWS)
    for split in (None, ["test"]):
        with pytest.raises(
            ValueError, match=r"split of .* must be one of .*valid.*got .*"
        ) as error:
            published_puzzles(COGNILOAD, str(theirs), split=split)
        assert str(error.value).endswith(f"got {split}")


def replaced(column, values):
    values = pa.array(values)
    return lambda table: table.set_column(table.column_names.index(column), column, values)


@pytest.mark.parametrize(("change", "message"), [
    (lambda table: table.drop_columns("poi"), "poi of .* must have a value in every row"),
    (replaced("answer", ["x", None, "x", "x"]), "answer of .* must have a value in every row"),
    (replaced("N", [1.5, 1, 1, 1]), "N of .* must be int64: .*"),
    (replaced("options", ["x", "y", "z", "w"]), "options of .* must be list.*: "),
    (replaced("id", ["a", "b", "a", "c"]), "id of .* must differ in every row"),
])  # fmt: skip
def test_rows_that_can_t_be_run_are_refused(theirs, change, message):
    with pytest.raises(ValueError, match=message) as raised:
        published(theirs, change)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500


def test_types_of_other_writers_are_taken(theirs):
    """Large strings, 32-bit numbers, other columns, and no seed, index or people."""

    def change(table):
        large = {name: table[name].cast(pa.large_string()) for name in ("id", "puzzle")}
        small = {name: table[name].cast(pa.int32()) for name in ("d", "N", "rho")}
        table = table.drop_columns([*large, *small, "seed", "index", "people"])
        return pa.table({**{name: table[name] for name in table.column_names}, **large, **small,
                         "note": ["x"] * len(table)})  # fmt: skip

    found = published(theirs, change)
    nulls = {"seed", "index", "people"}
    assert found.schema.equals(ROWS.schema)
    kept = [name for name in ROWS.column_names if name not in nulls]
    assert found.select(kept).equals(ROWS.select(kept))
    assert all(found[name].null_count == len(found) for name in nulls)
