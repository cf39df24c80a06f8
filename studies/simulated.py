"""What studies share: options, runs, where an adaptive run stops, and tables in Markdown."""

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pandas as pd
from tqdm import tqdm

Job = tuple[Any, str, int]
"""What answers, in which world, and the seed."""


def study_parser(about: str, worlds: Sequence[str]) -> ArgumentParser:
    """Return the options of a study in several worlds; `--seeds` is the runs of each."""
    parser = ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--worlds", nargs="+", choices=worlds, default=list(worlds))
    return parser


def run_all(run: Callable[[Job], list[dict]], jobs: Sequence[Job], processes: int) -> pd.DataFrame:
    """Return the rows of all jobs as a frame; a job's rows are those that `run` returns."""
    with ProcessPoolExecutor(processes) as pool:
        results = tqdm(pool.map(run, jobs, chunksize=4), total=len(jobs), disable=None)
        return pd.DataFrame([row for rows in results for row in rows])


def at_stop(
    rows: pd.DataFrame, targets: Sequence[float], least: int, run: Sequence[str]
) -> pd.DataFrame:
    """Return for each target the batch at which each run would have stopped, or else its last one.

    `least` is the number of puzzles before which no run stops, and `run` the columns of a run.
    `needed` is the puzzles to the target, infinite where the run never met it.
    """
    stops = []
    for target in targets:
        met = (rows["n"] >= least) & (rows["width"] <= target)
        marked = rows.assign(met=met, target=target, order=rows["n"].where(met, -rows["n"]))
        best_first = marked.sort_values(["met", "order"], ascending=[False, True])
        stops.append(best_first.groupby(list(run)).head(1).sort_index())
    found = pd.concat(stops)
    return found.assign(needed=found["n"].where(found["met"], float("inf")))


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """Print a table in Markdown, each row as soon as it is known; the first has the headings."""
    print()
    for number, row in enumerate(rows):
        print(f"| {' | '.join(row)} |", flush=True)
        if number == 0:
            print("|" + " --- |" * len(row))


def percent(share: float) -> str:
    """Return a share in per cent, with one decimal."""
    return f"{100 * share:.1f} %"
