"""Training streams: without end, shared by workers, resumed at once, apart from test splits."""

from functools import cache
from itertools import islice

import datasets
import pytest
import torch

from cogniload_dataset import load_dataset
from cogniload_gen import generate_puzzles

GRID = {"d": [2, 5], "N": [3, 6], "rho": 50}


@cache
def expected_rows():
    return generate_puzzles(**GRID, num_puzzles=300, split="train", trace=True)


@cache
def expected_ids():
    return expected_rows()["id"].to_pylist()


def endless(**given):
    asked = {"streaming": True, "num_puzzles": None} | GRID | given
    return load_dataset("cogniload", split="train", **asked)


def ids(stream, count):
    return [row["id"] for row in islice(stream, count)]


def test_it_is_the_train_split_and_goes_on():
    stream = endless(trace=True)
    assert list(islice(stream, 300)) == expected_rows().to_pylist()[:300]
    assert list(stream.take(3)) == list(stream.take(3)) == expected_rows().to_pylist()[:3]
    asked = {"streaming": True, "num_puzzles": None, "splits": ["train"]}
    plain = datasets.load_dataset("cogniload", **asked, **GRID)
    assert ids(plain["train"], len(expected_ids())) == expected_ids()


def test_it_has_more_rows_than_anyone_reads():
    stream = endless(first_index=2**62 - 1000)
    assert ids(stream, 1)[0].endswith(f"-{2**62 - 1000}")
    state = stream.state_dict()
    state["examples_iterable"]["shard_example_idx"] = 10**12
    stream = endless()
    stream.load_state_dict(state)
    assert next(iter(stream))["index"] == 10**12 // 4


VIEWS = {
    "rows": lambda made: made,
    "arrow": lambda made: made.with_format("arrow"),
    "shard": lambda made: made.shard(2, 0),
    "mapped": lambda made: made.map(lambda row: {"n": row["N"]}).filter(lambda row: row["d"] == 2),
    "batched": lambda made: made.batch(7),
}


@pytest.mark.parametrize("view", VIEWS)
def test_stopped_at_row_k_it_resumes_with_row_k_plus_1(view):
    def stream():
        return VIEWS[view](endless())

    expected = list(islice(stream(), 100))
    for k in (1, 63, 64, 65, 90):
        stopped = stream()
        assert len(list(islice(stopped, k))) == k
        resumed = stream()
        resumed.load_state_dict(stopped.state_dict())
        assert list(islice(resumed, 3)) == expected[k : k + 3]


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_workers_together_read_the_beginning_of_one_stream(workers):
    stream = endless().select_columns(["id", "d", "N"])
    loader = torch.utils.data.DataLoader(stream, batch_size=4, num_workers=workers)
    batches = list(islice(loader, 20))
    assert sorted(id_ for batch in batches for id_ in batch["id"]) == sorted(expected_ids()[:80])
    assert all(len(set(zip(b["d"].tolist(), b["N"].tolist(), strict=True))) == 4 for b in batches)


def test_shards_of_shards_and_shuffling_lose_and_repeat_nothing():
    quarters = [endless().shard(2, i).shard(2, j) for i in (0, 1) for j in (0, 1)]
    assert sorted(id_ for part in quarters for id_ in ids(part, 40)) == sorted(expected_ids()[:160])
    assert {*ids(quarters[2], 40)} < {*ids(endless().shard(2, 1), 80)}
    shuffled = ids(endless().shuffle(seed=3, buffer_size=30), 100)
    assert len(set(shuffled)) == 100
    assert set(shuffled) <= set(expected_ids()[:130])
    assert shuffled != sorted(shuffled, key=expected_ids().index)


def test_it_is_never_written_to_disk_and_never_a_test():
    with pytest.raises(ValueError, match=r"^num_puzzles=None .* it takes streaming=True"):
        load_dataset("cogniload", split="train", num_puzzles=None, **GRID)
    for split in ("test", "validation", "train+test"):
        with pytest.raises(ValueError, match=r"^num_puzzles=None is for the train split alone"):
            load_dataset("cogniload", split=split, streaming=True, num_puzzles=None, **GRID)
    with pytest.raises(ValueError, match=r"^num_puzzles must be an integer"):
        generate_puzzles(1, 3, 50, num_puzzles=None)
    with pytest.raises(ValueError, match=r"^first_index must be an integer in 0"):
        endless(first_index=-1)
