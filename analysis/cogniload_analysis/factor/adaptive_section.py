"""FACTOR's adaptive runs in the report: one for each model and context."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cogniload_analysis.adaptive import replay
from cogniload_analysis.adaptive.design import Interval, describe_interval
from cogniload_analysis.adaptive.replay import Replay, batch_table
from cogniload_analysis.adaptive.section import ASKED, BATCHES, RUNS
from cogniload_analysis.display.figures import Panel
from cogniload_analysis.display.toml_tables import read_tables
from cogniload_analysis.factor.decay import CONDITION, Condition, by_condition
from cogniload_analysis.factor.decay_design import PARAMETERS, DecayDesign
from cogniload_analysis.factor.figures import COMPLEXITY
from cogniload_analysis.factor.tables import CONDITION_COLUMNS
from cogniload_analysis.factor.words import say


def find_replays(frame: pd.DataFrame) -> dict[Condition, Replay]:
    """Return the replay of each condition whose responses are of an adaptive run."""
    replays = {}
    for condition, rows in by_condition(frame):
        about = dict(zip(CONDITION, condition, strict=True))
        kinds = {"published": partial(DecayDesign, suite=condition[1])}
        if run := replay.find_replay(rows, about, kinds):
            replays[condition] = run
    return replays


def run_table(replays: Iterable[Replay]) -> pd.DataFrame:
    """Return what the page says of each adaptive run, a row a condition.

    Columns: those of `run_row`; N_eff, CDF, CDO, cap and floor, each with _low and
    _high; and no_phase_1.
    """
    rows = []
    for run in replays:
        row = replay.run_row(run) | {"no_phase_1": run.estimate.no_phase_1}
        for name in PARAMETERS:
            at = getattr(run.estimate, name)
            row |= {name: at.value, f"{name}_low": at.low, f"{name}_high": at.high}
        rows.append(row)
    return pd.DataFrame(rows)


def asked_table(replays: Iterable[Replay]) -> pd.DataFrame:
    """Return how many puzzles each N had, and how many the model solved.

    Columns: model, suite, context, noise, N, puzzles and correct.
    """
    answers = pd.DataFrame(
        {**run.about, "N": puzzle.N, "correct": answer.correct}
        for run in replays
        for puzzle, answer in run.design.told.items()
    )
    right = answers.groupby([*CONDITION, "N"])["correct"]
    return right.agg(puzzles="size", correct="sum").reset_index()


def curve_table(replays: Iterable[Replay]) -> pd.DataFrame:
    """Return the curve of each run: median and ends of 95 % of the posterior.

    Columns: model, suite, context, noise, N, accuracy, low and high.
    """
    tables = [run.estimate.over_N.assign(**run.about) for run in replays]
    return pd.concat(tables, ignore_index=True)[[*CONDITION, "N", "accuracy", "low", "high"]]


TABLES = read_tables(
    "factor_adaptive",
    conditions=CONDITION_COLUMNS,
    adaptive_runs=RUNS,
    adaptive_batches=BATCHES,
    counts=ASKED,
)
SPECS = list(zip(TABLES.values(), (run_table, batch_table, asked_table, curve_table), strict=True))
"""The tables on adaptive runs, and the functions that compute them."""


def say_decay_run(row: Mapping[Any, Any]) -> list[str]:
    """Say a row of `run_table` in words, a sentence a finding."""
    tested = {"N_eff": (row["smallest_N"], row["largest_N"])}
    at = {
        name: describe_interval(
            Interval(row[name], row[f"{name}_low"], row[f"{name}_high"]),
            tested.get(name, (-np.inf, np.inf)),
        )
        for name in PARAMETERS
    }
    sentences = [say(name, {**row, **at}) for name in ("run_decay", "run_cap", "run_fits")]
    return replay.say_run(row, sentences)


def run_panels(counts: pd.DataFrame, curve: pd.DataFrame) -> list[Panel]:
    """Draw one adaptive run: its curve over the measured accuracy.

    The frames are its rows of `asked_table` and `curve_table`.
    """
    points, label = replay.level_table(counts, "N"), COMPLEXITY[counts["suite"].iloc[0]]
    curve = curve.rename(columns={"N": "level"})
    return [replay.curve_panel(points, curve, label, _finish)]


def _finish(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
