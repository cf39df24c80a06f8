"""CogniLoad's adaptive runs in the report: whose they are, their cells and their curves."""

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive import replay
from cogniload_analysis.adaptive.replay import Replay, batch_table
from cogniload_analysis.cogniload.capacity.design import MEAN_N, MEAN_RHO, AdaptiveDesign
from cogniload_analysis.cogniload.capacity.prior import NAMED
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.display.tables import load_columns, read_tables


def find_replays(responses: Mapping[str, pd.DataFrame]) -> dict[str, Replay]:
    """Return the replay of each model whose responses are of an adaptive run, by model."""
    replays = {}
    for model, rows in responses.items():
        in_percent = rows.assign(rho=(100 * rows["rho"]).round(9))
        kinds = {prior: partial(AdaptiveDesign, prior=prior) for prior in NAMED}
        if run := replay.find_replay(in_percent, {"model": model}, kinds):
            replays[model] = run
    return replays


def run_table(replays: Iterable[Replay]) -> pd.DataFrame:
    """Return what the page says of each adaptive run, a row a model.

    Columns: those of `run_row`, slope and glm_ECL50.
    """
    return pd.DataFrame(
        replay.run_row(run) | {"slope": run.estimate.slope, "glm_ECL50": run.estimate.glm_ECL50}
        for run in replays
    )


def asked_table(replays: Iterable[Replay]) -> pd.DataFrame:
    """Return how many puzzles each cell had, and how many the model solved.

    Columns: model, axis ("N", "d" or "rho": the load that varies along it), d, N, rho (a fraction),
    puzzles and correct.
    """
    answers = pd.DataFrame(
        {**run.about, **puzzle._asdict(), "correct": answer.correct}
        for run in replays
        for puzzle, answer in run.design.told.items()
    )
    counts = answers.groupby(["model", "d", "N", "rho"])["correct"]
    cells = counts.agg(puzzles="size", correct="sum").reset_index()
    places = [cells["rho"] != MEAN_RHO, cells["N"] == MEAN_N]
    cells.insert(1, "axis", np.select(places, ["rho", "d"], default="N"))
    return cells.assign(rho=cells["rho"] / 100)


def curve_table(replays: Iterable[Replay]) -> pd.DataFrame:
    """Return the curve of each run along each load: median and ends of 95 % of the draws.

    Columns: model, load, level (rho as a fraction), accuracy, low and high. The curve over N goes
    beyond the N of puzzles, and that over d ends where they do.
    """
    tables = []
    for run in replays:
        for load in ("N", "d", "rho"):
            band = getattr(run.estimate, f"over_{load}")
            columns = {"accuracy": band.accuracy, "low": band.low, "high": band.high}
            table = pd.DataFrame({**run.about, "load": load, "level": band.load, **columns})
            tables.append(table[(load != "d") | table["level"].between(1, 10)])
    return pd.concat(tables, ignore_index=True)


def show_level(load: str, level: float) -> str:
    """Set a level of a load."""
    return f"{100 * level if load == 'rho' else level:.3g}"


def show_load(load: str) -> str:
    """Set the name of a load, in percent where its levels are."""
    return load.replace("rho", "ρ [%]")


def show_axis(load: str) -> str:
    """Set the name of the load that varies."""
    return load.replace("rho", "ρ")


TABLES = read_tables(
    "cogniload_adaptive", *replay.SHOWS, show_axis, show_load, show_level, loads=load_columns(LOADS)
)
SPECS = dict(zip(TABLES.values(), (run_table, batch_table, asked_table, curve_table), strict=True))
"""The tables on adaptive runs, and the functions that compute them."""
