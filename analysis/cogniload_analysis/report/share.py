"""A run's accuracy, or what an adaptive run found, as a model's page on the Hub shows it."""

import math
from pathlib import Path

import pandas as pd
import yaml

from cogniload_analysis import analyses
from cogniload_analysis.adaptive.design import describe_interval
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.compare.why import TWINS_ALONE, is_twin
from cogniload_analysis.frame import adaptive_models
from cogniload_analysis.report.write import write_files
from cogniload_analysis.samples.read import Paths, read_benchmarks
from cogniload_analysis.stats import clustered_interval
from cogniload_gen.hub import REPOSITORY


def share_results(
    paths: Paths, out: Path, dataset: str, *, task_id: str | None = None, force: bool = False
) -> list[Path]:
    """Write `.eval_results/TASK.yaml` for each task of a model's results; return the files.

    `dataset` is the Hub's repository of the puzzles, "user/name", and `task_id` the task in its
    eval.yaml, by default the run's own name of it. Twins of puzzles count for nothing. The files
    depend on the results alone. A threshold such as ECL50, where it is known, has a file and a task
    of its own name; an adaptive run has that alone, and no accuracy. Raises ValueError and
    FileNotFoundError as `read_benchmarks`, ValueError for several models or settings, and for an
    adaptive run that found nothing; FileExistsError where a file would be overwritten, unless
    `force`.
    """
    if not REPOSITORY.fullmatch(dataset):
        raise ValueError(f"dataset must be user/name, got {dataset!r:.99}")
    analyses_by = {each.name: each for each in analyses.COMPARED}
    files: dict[str, bytes] = {}
    for name, frame in read_benchmarks(paths, analyses.COMPARED).items():
        rows = frame[~is_twin(frame["id"])]
        if rows.empty:
            raise ValueError(f"{name}: {TWINS_ALONE}")
        if (models := rows["model"].nunique()) != 1:
            raise ValueError(f"{name}: results of one model are shared at a time, got {models}")
        for task, of_task in rows.groupby("task", sort=False, observed=True):
            described = _describe_runs(analyses_by[name], of_task)
            described = described or _describe_grid(analyses_by[name], of_task)
            for of, about in described.items():
                beside = of if "" in described else ""  # an accuracy, whose task it is
                at = {"id": dataset, "task_id": f"{task_id}{beside}" if task_id else f"{task}{of}"}
                entry = {"dataset": at, **about, "date": str(of_task["date"].iloc[0])[:10]}
                text = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True)
                files[f".eval_results/{task}{of}.yaml"] = text.encode()
    write_files(out, files, force=force)
    return [out / name for name in files]


def _describe_grid(analysis: Analysis, rows: pd.DataFrame) -> dict[str, dict[str, object]]:
    """Return the accuracy of a run that no design chose, and its threshold if it is known."""
    described = {"": _describe(rows)}
    if found := analysis.find_threshold(rows):
        name, value, said = found
        notes = [f"{name}, {said}, a 95 % interval", f"{rows['id'].nunique()} puzzles"]
        about = {"value": float(f"{value:.3g}"), "notes": _note(rows, notes)}
        described[f"_{name}"] = about
    return described


def _describe(rows: pd.DataFrame) -> dict[str, object]:
    """Return the accuracy of a run, in percent; a puzzle's attempts are one cluster."""
    shares = rows["correct"].astype(float).groupby(rows["id"], observed=True).mean().to_numpy()
    low, high = (100 * end for end in clustered_interval(shares))
    notes = [f"{len(shares)} puzzles", f"95 % interval {low:.1f} to {high:.1f}"]
    return {"value": round(100 * float(shares.mean()), 2), "notes": _note(rows, notes)}


def _describe_runs(analysis: Analysis, rows: pd.DataFrame) -> dict[str, dict[str, object]]:
    """Return what each adaptive run found, by the end of a file's name; {} without one."""
    if not adaptive_models(rows):
        return {}
    found = {}
    for run in analysis.find_runs(rows):
        goal, design = run.goal, run.design
        known = describe_interval(goal, design.extents[design.goal])
        if not math.isfinite(goal.value) or known.startswith(("<", ">", "not")):
            raise ValueError(f"{design.goal} is not known: {known}, so there is nothing to share")
        notes = [f"{design.wanted}: {known}, a 95 % interval", f"{run.estimate.n} puzzles"]
        value = float(f"{goal.value:.3g}")
        found[f"_{design.goal}"] = {"value": value, "notes": _note(rows, notes)}
    if not found:
        raise ValueError("an adaptive run can't be shared: its design is not that of its samples")
    return found


def _note(rows: pd.DataFrame, notes: list[str]) -> str:
    settings = map(str, rows[["setting", "decoding"]].iloc[0])
    return "; ".join(filter(None, [*notes, *settings]))
