"""load_dataset("cogniload", ...) by the real `datasets`, at both ends of the supported range."""

from itertools import product

import datasets
import numpy as np
import pytest
from source_tree import ROOT

import cogniload_dataset
from cogniload_dataset import load_dataset
from cogniload_gen import GENERATOR_VERSION, generate_puzzles

GRID = {"d": [1, 5], "N": [3, 20], "rho": [25, 60], "num_puzzles": 6}


@pytest.fixture(autouse=True)
def empty_working_directory(tmp_path, monkeypatch):
    """`datasets` looks around in the working directory; ours must not depend on it."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def test_the_sentence_that_the_project_stands_for():
    splits = datasets.load_dataset("cogniload", d=5, N=100, rho=25)
    assert list(splits) == ["test"]
    assert list(splits["test"]) == generate_puzzles(5, 100, 25).to_pylist()
    names = ("d", "N", "rho", "num_puzzles", "context", "noise", "splits")
    assert all(f" {name}: " in load_dataset.__doc__ for name in names)


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_all_ways_give_the_rows_of_the_generator(trace, split):
    expected = generate_puzzles(**GRID, split=split, trace=trace).to_pylist()
    given = GRID | {"trace": trace, "splits": [split]}
    forced = {"download_mode": "force_redownload"}
    for more in ({}, {"streaming": True}, forced | {"num_proc": 1}, forced | {"num_proc": 2}):
        assert list(datasets.load_dataset("cogniload", **given, **more)[split]) == expected
    assert list(load_dataset("cogniload", **GRID, trace=trace, split=split)) == expected


def test_a_stream_can_be_split_among_workers_and_shuffled():
    stream = load_dataset("cogniload", **GRID, split="test", streaming=True)
    expected = sorted(generate_puzzles(**GRID)["id"].to_pylist())
    assert stream.num_shards > 2
    parts = [list(stream.shard(num_shards=2, index=index)) for index in (0, 1)]
    assert sorted(row["id"] for part in parts for row in part) == expected
    assert all(parts)
    assert sorted(row["id"] for row in stream.shuffle(seed=1, buffer_size=10)) == expected


def test_several_splits_and_slices_of_them():
    three = datasets.load_dataset("cogniload", **GRID, splits=["test", "train"])
    assert set(three) == {"test", "train"}
    assert not set(three["test"]["puzzle"]) & set(three["train"]["puzzle"])
    assert len(load_dataset("cogniload", **GRID, split="all", splits=["train", "test"])) == 2 * 48
    for load in (load_dataset, datasets.load_dataset):
        part = load("cogniload", **GRID, split="train[:10]")
        assert part["id"] == generate_puzzles(**GRID, split="train")["id"].to_pylist()[:10]
        assert len(load("cogniload", **GRID, split="train+test")) == 2 * 48
        stream = load("cogniload", **GRID, split="validation", streaming=True)
        assert sum(1 for _ in stream) == 48


def test_the_paper_grid_is_the_default():
    stream = load_dataset("cogniload", split="test", streaming=True)
    cells = {(row["d"], row["N"], row["rho"]) for row in stream.take(140)}
    rhos = (5, 10, 25, 50, 75, 90, 95)
    assert cells == {*product((1, 3, 5, 7, 10), (20, 50, 100, 250), rhos)}


def test_the_cache_is_used_again_and_holds_the_generator_version():
    first = load_dataset("cogniload", **GRID, split="test")
    again = load_dataset("cogniload", **GRID, split="test")
    assert first.cache_files == again.cache_files
    assert f"-generator-{GENERATOR_VERSION}" in first.cache_files[0]["filename"]
    other = load_dataset("cogniload", **GRID | {"seed": 1}, split="test")
    assert other.cache_files != first.cache_files


def test_equal_grids_share_a_cache():
    plain = load_dataset("cogniload", d=3, N=5, rho=50, split="test").cache_files
    for d, N, rho in (([3], (5,), 50.0), (range(3, 4), (N for N in [5]), np.array([50]))):
        assert load_dataset("cogniload", d=d, N=N, rho=rho, split="test").cache_files == plain


def test_unrelated_files_do_not_matter_and_other_datasets_load_as_before(tmp_path):
    expected = load_dataset("cogniload", **GRID, split="test")
    path = tmp_path / "work" / "data.csv"
    path.write_text("a,b\n1,2\n")
    assert load_dataset("csv", data_files=str(path), split="train")[0] == {"a": 1, "b": 2}
    (tmp_path / "work" / "train.parquet").write_bytes(b"no parquet")
    (tmp_path / "work" / "cogniload").mkdir()
    (tmp_path / "work" / "cogniload" / "test.json").write_text("{}")
    found = load_dataset("cogniload", **GRID, split="test")
    assert found.cache_files == expected.cache_files


def test_an_unknown_split_is_refused():
    for load, split in product((load_dataset, datasets.load_dataset), ("dev", "latest")):
        with pytest.raises(ValueError, match=f"split must be one of .*, got '{split}'"):
            load("cogniload", split=split, d=1, N=5, rho=50, num_puzzles=1)


@pytest.mark.parametrize("load", [load_dataset, datasets.load_dataset])
def test_a_part_of_a_split_is_no_stream(load):
    with pytest.raises(ValueError, match=r"train\[:3\]"):
        load("cogniload", split="train[:3]", streaming=True, d=1, N=5)


MAJOR = int(datasets.__version__.partition(".")[0])


@pytest.mark.skipif(MAJOR > 3, reason="datasets 3 is tried by make test-versions")
def test_it_is_a_loading_script_of_datasets_3():
    script = {"path": str(ROOT / "cogniload_dataset.py"), "trust_remote_code": True}
    found = datasets.load_dataset(**script, **GRID, trace=True)["test"]
    assert list(found) == generate_puzzles(**GRID, trace=True).to_pylist()


def test_registering_twice_wraps_once_and_another_kind_of_datasets_is_refused(monkeypatch):
    factory = datasets.load.dataset_module_factory
    cogniload_dataset.register()
    assert datasets.load.dataset_module_factory is factory
    monkeypatch.delattr(datasets.load, "dataset_module_factory")
    with pytest.raises(ImportError, match=r"needs datasets 3\.6 .*, got \d"):
        cogniload_dataset.register()
