"""Adaptive runs: one for each model and context."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive import replay
from cogniload_analysis.adaptive.design import Interval, describe_interval
from cogniload_analysis.adaptive.replay import Replay, batch_table
from cogniload_analysis.adaptive.section import ASKED, BATCHES, RUNS, runs_section
from cogniload_analysis.display.figures import Panel
from cogniload_analysis.display.page import Section, name_file
from cogniload_analysis.display.tables import ACCURACY, Table, thousands
from cogniload_analysis.factor.decay import CONDITION, by_condition
from cogniload_analysis.factor.decay_design import PARAMETERS, DecayDesign
from cogniload_analysis.factor.loads import COMPLEXITY, CONDITIONS, show_context


def adaptive_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section on adaptive runs, if there are any."""
    runs = find_replays(frame)
    if not runs:
        return []
    names = [name_file(number, run.about["model"]) for number, run in enumerate(runs, start=1)]
    section, _ = runs_section(
        runs,
        tabulate_runs(runs),
        [f"factor_adaptive_{name}" for name in names],
        run_panels,
        say_run,
        id="adaptive-runs",
        along="by N",
        title=lambda row: (
            f"{row['model']}, {row['suite']} suite, context {show_context(row['context'])}"
        ),
    )
    return [section]


def find_replays(frame: pd.DataFrame) -> list[Replay]:
    """Return the replay of each condition whose responses are of an adaptive run."""
    replays = []
    for condition, rows in by_condition(frame):
        about = dict(zip(CONDITION, condition, strict=True))
        kinds = {"published": partial(DecayDesign, suite=condition[1])}
        if run := replay.find_replay(rows, about, kinds):
            replays.append(run)
    return replays


def tabulate_runs(runs: list[Replay]) -> list[Table]:
    """Return the tables of the runs, their batches, their N and their curves."""
    return [
        Table(
            "factor_adaptive",
            run_table(runs),
            "Adaptive runs: what was asked for, and half the width of its 95 % interval.",
            {**CONDITIONS, **RUNS},
        ),
        Table(
            "factor_adaptive_batches",
            batch_table(runs),
            "What was known before each batch, replayed: median and 95 % of the posterior.",
            {**CONDITIONS, "n": ("Answers", thousands), "goal": "Goal", **BATCHES},
        ),
        Table(
            "factor_adaptive_cells",
            asked_table(runs),
            "The N that adaptive runs asked.",
            {**CONDITIONS, "N": "N", **ASKED},
        ),
        Table(
            "factor_adaptive_curve",
            curve_table(runs),
            "Accuracy by N in adaptive runs: median and 95 % of the posterior.",
            {**CONDITIONS, "N": "N", **ACCURACY},
        ),
    ]


def run_table(runs: Iterable[Replay]) -> pd.DataFrame:
    """Return what the page says of each adaptive run, one row per condition.

    Columns: those of `run_row`; N_eff, CDF, CDO, cap and floor, each with _low and
    _high; and no_phase_1.
    """
    rows = []
    for run in runs:
        row = replay.run_row(run) | {"no_phase_1": run.estimate.no_phase_1}
        for name in PARAMETERS:
            at = getattr(run.estimate, name)
            row |= {name: at.value, f"{name}_low": at.low, f"{name}_high": at.high}
        rows.append(row)
    return pd.DataFrame(rows)


def asked_table(runs: Iterable[Replay]) -> pd.DataFrame:
    """Return how many puzzles each N had, and how many the model solved.

    Columns: model, suite, context, noise, N, puzzles and correct.
    """
    answers = pd.DataFrame(
        {**run.about, "N": puzzle.N, "correct": answer.correct}
        for run in runs
        for puzzle, answer in run.design.told.items()
    )
    right = answers.groupby([*CONDITION, "N"])["correct"]
    return right.agg(puzzles="size", correct="sum").reset_index()


def curve_table(runs: Iterable[Replay]) -> pd.DataFrame:
    """Return the curve of each run: median and ends of 95 % of the posterior.

    Columns: model, suite, context, noise, N, accuracy, low and high.
    """
    tables = [run.estimate.over_N.assign(**run.about) for run in runs]
    return pd.concat(tables, ignore_index=True)[[*CONDITION, "N", "accuracy", "low", "high"]]


def say_run(row: Mapping[Any, Any]) -> list[str]:
    """Say a row of `run_table` in words, a sentence a finding."""
    tested = {"N_eff": (row["smallest_N"], row["largest_N"])}
    at = {
        name: describe_interval(
            Interval(row[name], row[f"{name}_low"], row[f"{name}_high"]),
            tested.get(name, (-np.inf, np.inf)),
        )
        for name in PARAMETERS
    }
    own = [
        f"N_eff is {at['N_eff']}, CDF {at['CDF']}, CDO {at['CDO']}; in "
        f"{100 * row['no_phase_1']:.0f} % of the posterior there is no phase without errors.",
        "The cap, the accuracy that complexity leaves to easy puzzles, is "
        f"{at['cap']}; the floor, what is guessed, is {at['floor']}.",
        "The fits below read the same answers over a window of N and without a prior, so their "
        "numbers differ a little.",
    ]
    return replay.say_run(row, own)


def run_panels(cells: pd.DataFrame, curve: pd.DataFrame) -> list[Panel]:
    """Return the panel of one run: its curve over the measured accuracy.

    The frames are its rows of `asked_table` and `curve_table`.
    """
    points, label = replay.level_table(cells, "N"), COMPLEXITY[cells["suite"].iloc[0]]
    curve = curve.rename(columns={"N": "level"})
    return [replay.curve_panel(points, curve, label, _set_whole)]


def _set_whole(axes: Any) -> None:
    axes.locator_params(axis="x", integer=True, min_n_ticks=1)
