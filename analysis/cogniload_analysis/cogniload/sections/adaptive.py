"""Adaptive runs: whose they are, their cells and their curves."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive import replay
from cogniload_analysis.adaptive.replay import Replay, batch_table
from cogniload_analysis.adaptive.section import ASKED, BATCHES, RUNS, runs_section
from cogniload_analysis.cogniload.capacity.design import MEAN_N, MEAN_RHO, AdaptiveDesign
from cogniload_analysis.cogniload.capacity.prior import NAMED
from cogniload_analysis.cogniload.loads import LABELS, LOADS, drawn_levels
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.figures import FAINT, Figure, Panel
from cogniload_analysis.display.page import Section

N_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
MOST_TICKS = 7


def adaptive_section(
    replays: Mapping[str, Replay], names: Mapping[str, str]
) -> tuple[list[Section], dict[str, Figure]]:
    """Return the section on adaptive runs, if there are any, and the figures of their curves.

    `replays` are by model, and `names` the ends of its figures' names.
    """
    if not replays:
        return [], {}
    runs = list(replays.values())
    section, figures = runs_section(
        runs,
        tabulate_runs(runs),
        [f"adaptive_{names[model]}" for model in replays],
        run_panels,
        say_run,
        id="adaptive-runs",
        along="along each load",
        goal="{} (crossing)",
    )
    return [section], dict(zip(replays, figures, strict=True))


def tabulate_runs(runs: Sequence[Replay]) -> list[tb.Table]:
    """Return the tables of the runs, their batches, their cells and their curves."""
    return [
        tb.Table(
            "adaptive",
            run_table(runs),
            "Adaptive runs: what was asked for, and half the width of its 95 % interval.",
            {**tb.MODEL, **RUNS},
        ),
        tb.Table(
            "adaptive_batches",
            batch_table(runs),
            "What was known before each batch, replayed: median and 95 % of the posterior draws.",
            {
                **tb.MODEL,
                "n": ("Answers", tb.thousands),
                "goal": ("Goal", tb.form("{} (crossing)")),
                **BATCHES,
            },
        ),
        tb.Table(
            "adaptive_cells",
            asked_table(runs),
            "The cells that adaptive runs asked from, by the load that varies.",
            {
                **tb.MODEL,
                "axis": ("Axis", lambda load: load.replace("rho", "ρ")),
                **tb.load_columns(LOADS),
                **ASKED,
            },
        ),
        tb.Table(
            "adaptive_curve",
            curve_table(runs),
            "Accuracy along each load: median and 95 % of the posterior draws.",
            {
                **tb.MODEL,
                "load": ("Load", lambda load: load.replace("rho", "ρ [%]")),
                "load, level": (
                    "Level",
                    lambda load, level: f"{100 * level if load == 'rho' else level:.3g}",
                ),
                **tb.ACCURACY,
            },
        ),
    ]


def find_replays(responses: Mapping[str, pd.DataFrame]) -> dict[str, Replay]:
    """Return the replay of each model whose responses are of an adaptive run, by model."""
    replays = {}
    for model, rows in responses.items():
        in_percent = rows.assign(rho=(100 * rows["rho"]).round(9))
        kinds = {prior: partial(AdaptiveDesign, prior=prior) for prior in NAMED}
        if run := replay.find_replay(in_percent, {"model": model}, kinds):
            replays[model] = run
    return replays


def run_table(runs: Iterable[Replay]) -> pd.DataFrame:
    """Return what the page says of each adaptive run, one row per model.

    Columns: those of `run_row`, slope and glm_ECL50.
    """
    return pd.DataFrame(
        replay.run_row(run) | {"slope": run.estimate.slope, "glm_ECL50": run.estimate.glm_ECL50}
        for run in runs
    )


def asked_table(runs: Iterable[Replay]) -> pd.DataFrame:
    """Return how many puzzles each cell had, and how many the model solved.

    Columns: model, axis ("N", "d" or "rho": the load that varies along it), d, N, rho (a fraction),
    puzzles and correct.
    """
    answers = pd.DataFrame(
        {**run.about, **puzzle._asdict(), "correct": answer.correct}
        for run in runs
        for puzzle, answer in run.design.told.items()
    )
    counts = answers.groupby(["model", "d", "N", "rho"])["correct"]
    cells = counts.agg(puzzles="size", correct="sum").reset_index()
    places = [cells["rho"] != MEAN_RHO, cells["N"] == MEAN_N]
    cells.insert(1, "axis", np.select(places, ["rho", "d"], default="N"))
    return cells.assign(rho=cells["rho"] / 100)


def curve_table(runs: Iterable[Replay]) -> pd.DataFrame:
    """Return the curve of each run along each load: median and ends of 95 % of the draws.

    Columns: model, load, level (rho as a fraction), accuracy, low and high. The curve over N goes
    beyond the N of puzzles, and that over d ends where they do.
    """
    tables = []
    for run in runs:
        for load in ("N", "d", "rho"):
            band = getattr(run.estimate, f"over_{load}")
            columns = {"accuracy": band.accuracy, "low": band.low, "high": band.high}
            table = pd.DataFrame({**run.about, "load": load, "level": band.load, **columns})
            tables.append(table[(load != "d") | table["level"].between(1, 10)])
    return pd.concat(tables, ignore_index=True)


def say_run(row: Mapping[Any, Any]) -> list[str]:
    """Say a row of `run_table` in words, a sentence for each finding."""
    own = [
        "Its thresholds are crossings: the loads at which the model itself solves half of the "
        "puzzles, with the other loads at the means of the paper's grid. The paper's projection "
        "takes a whole grid."
    ]
    if np.isfinite(slope := row["slope"]):
        moves = f"{'falls' if slope < 0 else 'rises'} by {abs(slope):.1f}"
        own.append(f"At ECL50, the logit of accuracy {moves} as N grows tenfold.")
    return replay.say_run(row, own)


def run_panels(cells: pd.DataFrame, curve: pd.DataFrame) -> list[Panel]:
    """Return the panels of one run: its curve along each load, over the measured accuracy.

    The frames are its rows of `asked_table` and `curve_table`.
    """
    panels = []
    for load, label in LABELS.items():
        points = replay.level_table(cells[cells["axis"] == load], load)
        rows = curve[curve["load"] == load]
        points, rows = (
            table.assign(level=drawn_levels(table["level"], load)) for table in (points, rows)
        )
        finish = _mark_half if load != "N" else partial(_finish_N, level=rows["level"])
        panels.append(replay.curve_panel(points, rows, label, finish))
    return panels


def _mark_half(axes: Any) -> None:
    axes.axhline(0.5, color=FAINT, linewidth=0.8, linestyle=":")


def _finish_N(axes: Any, level: pd.Series) -> None:
    _mark_half(axes)
    if len(level):
        axes.set_xscale("log")
        ticks = [tick for tick in N_TICKS if level.min() <= tick <= level.max()]
        ticks = ticks if len(ticks) < MOST_TICKS else ticks[::2]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
