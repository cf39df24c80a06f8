"""A third benchmark goes the whole way by its records alone: a folder in each room."""

from pathlib import Path

import pytest
import toy
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from toy.analysis import TOY as TOY_ANALYSIS
from toy.gen import TOY

import cogniload_gen
from cogniload_analysis import analyses
from cogniload_analysis.report.write import write_report
from cogniload_cli import main
from cogniload_dataset import load_dataset
from cogniload_gen import benchmarks

FOLDER = Path(toy.__file__).parent


@pytest.fixture(autouse=True)
def known(monkeypatch, tmp_path):
    """List the toy's records, as CONTRIBUTING.md says."""
    monkeypatch.setattr(benchmarks, "BENCHMARKS", (*benchmarks.BENCHMARKS, TOY))
    monkeypatch.setattr(analyses, "ANALYSES", (*analyses.ANALYSES, TOY_ANALYSIS))
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


def test_it_is_published_and_verified(tmp_path, capsys):
    from cogniload_gen.hub import push

    push("me/toy", "toy", num_puzzles=2, dry_run=tmp_path / "folder")
    assert main(["verify", str(tmp_path / "folder")]) == 0
    assert "4 made again, the same, and solved" in capsys.readouterr().out


def test_the_real_harness_runs_it_and_the_report_shows_it(tmp_path):
    manager = TaskManager(include_path=str(FOLDER / "tasks"), include_defaults=False)
    tracker = EvaluationTracker(output_path=str(tmp_path / "results"))
    found = simple_evaluate(
        "dummy", tasks=["toy"], task_manager=manager, evaluation_tracker=tracker, bootstrap_iters=1
    )
    samples = found["samples"]["toy"]
    assert [sample["outcome"] for sample in samples] == ["mute"] * 10
    tracker.save_results_aggregated(results=found, samples=found["samples"])
    tracker.save_results_samples(task_name="toy", samples=samples)
    page = write_report(tmp_path / "results", tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    assert "Toy report" in text
    assert "Expected: " in text  # failures are shown
    counts = (tmp_path / "report" / "tables" / "toy_cells.csv").read_text(encoding="utf-8")
    assert counts.splitlines()[0] == "model,n,right,off,mute"
