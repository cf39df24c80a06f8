"""load_dataset("factor", ...) by the real `datasets`, and the same puzzles without it."""

from itertools import islice

import datasets
import pytest
from stored import cases

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


@pytest.mark.parametrize(("dataset", "given", "message"), cases(__file__)["datasets"])
def test_a_wrong_parameter_is_named(dataset, given, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        made = datasets.load_dataset(dataset, **given, streaming=True)
        list(made[given.get("splits", ["test"])[0]])
