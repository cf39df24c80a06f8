"""A run's accuracy as a model's page on the Hub shows it: `.eval_results`."""

from pathlib import Path

import pandas as pd
import yaml

from cogniload_analysis import analyses
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
    depend on the results alone. Raises ValueError and FileNotFoundError as `read_benchmarks`,
    ValueError for several models or settings, and for an adaptive run; FileExistsError where a file
    would be overwritten, unless `force`.
    """
    if not REPOSITORY.fullmatch(dataset):
        raise ValueError(f"dataset must be user/name, got {dataset!r:.99}")
    files: dict[str, bytes] = {}
    for name, frame in read_benchmarks(paths, analyses.ANALYSES).items():
        rows = frame[~is_twin(frame["id"])]
        if rows.empty:
            raise ValueError(f"{name}: {TWINS_ALONE}")
        if (models := rows["model"].nunique()) != 1:
            raise ValueError(f"{name}: results of one model are shared at a time, got {models}")
        if adaptive_models(rows):
            raise ValueError(
                f"{name}: an adaptive run can't be shared: it chose its puzzles by the answers, so "
                "its accuracy says nothing of the model"
            )
        for task, of_task in rows.groupby("task", sort=False, observed=True):
            entry = _describe(of_task, dataset, task_id or str(task))
            text = yaml.safe_dump([entry], sort_keys=False, allow_unicode=True)
            files[f".eval_results/{task}.yaml"] = text.encode()
    write_files(out, files, force=force)
    return [out / name for name in files]


def _describe(rows: pd.DataFrame, dataset: str, task_id: str) -> dict[str, object]:
    """Return the entry of a run, in percent; a puzzle's attempts are one cluster."""
    shares = rows["correct"].astype(float).groupby(rows["id"], observed=True).mean().to_numpy()
    low, high = (100 * end for end in clustered_interval(shares))
    first = rows.iloc[0]
    notes = [f"{len(shares)} puzzles", f"95 % interval {low:.1f} to {high:.1f}"]
    return {
        "dataset": {"id": dataset, "task_id": task_id},
        "value": 100 * float(shares.mean()),
        "date": str(first["date"])[:10],
        "notes": "; ".join([*notes, *filter(None, map(str, first[["setting", "decoding"]]))]),
    }
