"""CogniLoad's adaptive runs in the report: whose they are, their cells and their curves."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive import replay as adaptive_run
from cogniload_analysis.adaptive.replay import (
    Replay,
    find_replay,
    format_band,
    format_counts,
    run_row,
)
from cogniload_analysis.cogniload.capacity.next_puzzles import (
    MEAN_N,
    MEAN_RHO,
    CapacityPlan,
    CapacitySettings,
    Puzzle,
)
from cogniload_analysis.cogniload.capacity.prior import PUBLISHED, VAGUE, find_prior


def find_replays(responses: Mapping[str, pd.DataFrame]) -> dict[str, Replay]:
    """Return the replay of each model whose responses are of an adaptive run, by model."""
    found = {}
    for model, rows in responses.items():
        in_percent = rows.assign(rho=(100 * rows["rho"]).round(9))
        if run := find_replay(in_percent, {"model": model}, make_plans, Puzzle):
            found[model] = run
    return found


def make_plans(given: Mapping[str, Any]) -> dict[str, CapacityPlan]:
    """Return the plans of the settings in the results; ValueError or TypeError for none."""
    settings = adaptive_run.set_up(CapacitySettings, given)
    return {name: CapacityPlan(settings, find_prior(name)) for name in (PUBLISHED, VAGUE)}


# --- Raw numbers -----------------------------------------------------------------------------


def run_table(replays: Iterable[Replay]) -> pd.DataFrame:
    """Return what the page says of each adaptive run, a row a model.

    Columns: those of `adaptive_run.run_row`, slope and glm_ECL50.
    """
    return pd.DataFrame(
        run_row(run) | {"slope": run.estimate.slope, "glm_ECL50": run.estimate.glm_ECL50}
        for run in replays
    )


def asked_table(replays: Iterable[Replay]) -> pd.DataFrame:
    """Return how many puzzles of each cell were asked, and how many solved.

    Columns: model, axis ("N", "d" or "rho": the load that varies along it), d, N, rho (a fraction),
    puzzles and correct.
    """
    tables = []
    for run in replays:
        rows = [(*puzzle[:3], answer.correct) for puzzle, answer in run.told.items()]
        frame = pd.DataFrame(rows, columns=["d", "N", "percent", "correct"])
        counts = frame.groupby(["d", "N", "percent"])["correct"].agg(puzzles="size", correct="sum")
        cells = counts.reset_index()
        axis = np.select(
            [cells["percent"] != MEAN_RHO, cells["N"] == MEAN_N], ["rho", "d"], default="N"
        )
        cells = cells.assign(**run.about, axis=axis, rho=cells["percent"] / 100)
        tables.append(cells[["model", "axis", "d", "N", "rho", "puzzles", "correct"]])
    return pd.concat(tables, ignore_index=True)


def curve_table(replays: Iterable[Replay]) -> pd.DataFrame:
    """Return the curve of each run along each load: median and ends of 95 % of the draws.

    Columns: model, load, level (rho as a fraction), accuracy, low and high. The curve over N goes
    beyond what can be asked, and that over d stops at what can be.
    """
    tables = []
    for run in replays:
        for load in ("N", "d", "rho"):
            band = getattr(run.estimate, f"over_{load}")
            columns = {"accuracy": band.accuracy, "low": band.low, "high": band.high}
            table = pd.DataFrame({**run.about, "load": load, "level": band.load, **columns})
            tables.append(table[(load != "d") | table["level"].between(1, 10)])
    return pd.concat(tables, ignore_index=True)


# --- In print --------------------------------------------------------------------------------


def format_run(table: pd.DataFrame) -> pd.DataFrame:
    """Set `run_table` in print."""
    return pd.DataFrame({"Model": table["model"], **adaptive_run.format_run(table)})


def format_batches(table: pd.DataFrame) -> pd.DataFrame:
    """Set `adaptive_run.batch_table` in print."""
    shown = adaptive_run.format_batches(table).assign(Goal=table["goal"] + " (crossing)")
    return pd.DataFrame({"Model": table["model"], **shown})


def format_asked(table: pd.DataFrame) -> pd.DataFrame:
    """Set `asked_table` in print."""
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Axis": table["axis"].replace("rho", "ρ"),
            "d": table["d"],
            "N": table["N"],
            "ρ [%]": (100 * table["rho"]).map("{:g}".format),
            **format_counts(table),
        }
    ).astype(str)


def format_curve(table: pd.DataFrame) -> pd.DataFrame:
    """Set `curve_table` in print, in percent."""
    percent = table["load"] == "rho"
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Load": table["load"].replace("rho", "ρ [%]"),
            "Level": table["level"].where(~percent, 100 * table["level"]).map("{:.3g}".format),
            **format_band(table),
        }
    ).astype(str)
