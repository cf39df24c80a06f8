"""load_dataset("factor", ...) by the real `datasets`, and the same puzzles without it."""

from itertools import islice, product

import datasets
import pytest
from grids import factor_grid, factor_source

from cogniload_dataset import load_dataset
from cogniload_gen import generate_factor, solve
from cogniload_gen.factor.training import select_training_set

SYMBOLIC = {"suite": "symbolic", "N": [1, 4, 9], "context": [0, 300], "num_puzzles": 7}
REALISTIC = {"suite": "realistic", "op": [2, 5], "context": [0, 900], "num_puzzles": 7}
REALISTIC["noise"] = ["close", "general"]
SUITES = pytest.mark.parametrize("grid", [SYMBOLIC, REALISTIC], ids=["symbolic", "realistic"])


@SUITES
@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_all_ways_give_the_rows_of_the_generator(grid, split):
    expected = generate_factor(**grid, split=split).to_pylist()
    assert all(solve(row["puzzle"]) == row["answer"] for row in expected)
    assert list(load_dataset("factor", **grid, split=split)) == expected
    assert list(load_dataset("factor", **grid, split=split, streaming=True)) == expected
    again = {"num_proc": 2, "download_mode": "force_redownload"}
    assert list(datasets.load_dataset("factor", **grid, splits=[split], **again)[split]) == expected


@SUITES
def test_rows_do_not_depend_on_their_company(grid):
    source = factor_source(factor_grid(**grid))
    expected = {row["id"]: row for row in generate_factor(**grid).to_pylist()}
    starts = reversed(range(len(source.selection)))
    tables = [table for start in starts for table in source.tables(start, start + 1)]
    alone = [row for table in tables for row in table.to_pylist()]
    assert len(expected) == len(alone) == len(source.selection)
    assert {row["id"]: row for row in alone} == expected


@SUITES
def test_seeds_splits_and_indices_give_other_puzzles(grid):
    tables = [
        generate_factor(**grid | {"num_puzzles": 3}, seed=seed, split=split, first_index=first)
        for seed, split, first in product((0, 1), ("train", "test"), (0, 3))
    ]
    ids = [name for table in tables for name in table["id"].to_pylist()]
    assert len(set(ids)) == len(ids)
    # one variable alone has eleven values and few targets: such puzzles may be alike
    texts = [row["puzzle"] for table in tables for row in table.to_pylist() if row.get("N", 9) > 3]
    assert len(set(texts)) == len(texts)


def test_the_paper_s_grids_are_the_defaults():
    symbolic = load_dataset("factor", split="test")
    assert len(symbolic) == 39 * 50
    assert set(symbolic["N"]) == set(range(1, 40))
    assert set(symbolic["context"]) == {0}
    realistic = load_dataset("factor", suite="realistic", split="test", streaming=True)
    first = list(realistic.take(19))
    assert [row["op"] for row in first] == list(range(2, 21))


def test_the_tokenizer_sizes_the_filler_and_nothing_else():
    given = {"suite": "symbolic", "N": 5, "context": 500, "num_puzzles": 2, "split": "test"}
    mine = load_dataset("factor", **given, tokenizer=lambda text: len(text.split()))
    estimated = load_dataset("factor", **given)
    assert mine["answer"] == estimated["answer"]
    assert mine["solution"] == estimated["solution"]
    assert mine["puzzle"] != estimated["puzzle"]


def test_training_sets_are_splits():
    """Appendix D: N and the filler are drawn; the sizes are the paper's."""
    assert len(select_training_set("pretrain")) == 3_000_000
    stream = load_dataset("factor", split="pretrain", streaming=True)
    rows = list(islice(stream, 200))
    assert len({row["N"] for row in rows}) > 10
    assert {row["N"] for row in rows} <= set(range(1, 30))
    assert max(row["context"] for row in rows) <= 900
    assert all(solve(row["puzzle"]) == row["answer"] for row in rows)
    fewer = load_dataset("factor", split="course_16", num_puzzles=10)
    assert len(fewer) == 10


@pytest.mark.parametrize(("given", "message"), [
    ({"suite": "tragic"}, "suite must be one of symbolic, realistic, got 'tragic'"),
    ({"N": 0}, r"N must be an integer in 1\.\..*, got 0"),
    ({"suite": "realistic", "op": 1}, r"op must be an integer in 2\.\..*, got 1"),
    ({"op": 5}, "op is not for the symbolic suite, got 5"),
    ({"suite": "realistic", "noise": "loud"},
     "noise must be one of close, general, none, got 'loud'"),
    ({"context": -1}, r"context must be an integer in 0\.\..*, got -1"),
    ({"N": 39, "context": 5, "num_puzzles": 1}, "context .*5"),
    ({"suite": "realistic", "op": 20, "context": 50, "num_puzzles": 1}, "context .*50"),
    ({"tokenizer": "no/such"}, "tokenizer .*no/such"),
    ({"splits": ["pretrain"], "N": 5}, "N is drawn in pretrain, got 5"),
    ({"splits": ["full"], "context": [0, 9]}, r"context is drawn in full, got \[0, 9\]"),
    ({"splits": ["pretrain"], "suite": "realistic"}, "splits must be one of train, .*'pretrain'"),
    ({"splits": ["course_3"]}, "splits must be one of train, .*got 'course_3'"),
])  # fmt: skip
def test_a_wrong_parameter_is_named(given, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        made = datasets.load_dataset("factor", **given, streaming=True)
        list(made[given.get("splits", ["test"])[0]])
