"""A third benchmark goes the whole way by its records alone: a folder in each room."""

from pathlib import Path

import pytest
import toy
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from toy.gen import TOY

import cogniload_gen
from cogniload_dataset import load_dataset
from cogniload_gen import benchmarks

FOLDER = Path(toy.__file__).parent


@pytest.fixture(autouse=True)
def known(monkeypatch, tmp_path):
    """List the toy's records, as CONTRIBUTING.md says."""
    monkeypatch.setattr(benchmarks, "BENCHMARKS", (*benchmarks.BENCHMARKS, TOY))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))


def test_it_is_loaded_solved_and_scored():
    puzzles = load_dataset("toy", n=[2, 4], num_puzzles=3, split="validation")
    assert puzzles["n"] == [2, 4] * 3
    for row in puzzles:
        answer = cogniload_gen.solve(row["puzzle"])
        assert answer == row["answer"]
        assert cogniload_gen.score(f"It is {answer}", row).correct
        assert not cogniload_gen.score("It is 1000", row).correct
        assert cogniload_gen.score(None, row).value is None
    with pytest.raises(ValueError, match=r"^n must be an integer in 1\.\.9"):
        load_dataset("toy", n=10)


def test_the_real_harness_runs_it():
    """What a report shows of it is in tests/analysis/test_record.py."""
    manager = TaskManager(include_path=str(FOLDER / "tasks"), include_defaults=False)
    found = simple_evaluate("dummy", tasks=["toy"], task_manager=manager, bootstrap_iters=1)
    assert [sample["outcome"] for sample in found["samples"]["toy"]] == ["mute"] * 10
