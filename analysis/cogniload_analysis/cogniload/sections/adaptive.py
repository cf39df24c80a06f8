"""CogniLoad's adaptive runs: found, and drawn along each load."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive.design import answer_frame
from cogniload_analysis.adaptive.section import AdaptiveRun, curve_panel, find_run
from cogniload_analysis.cogniload.capacity.capacity_design import AXES, AdaptiveDesign
from cogniload_analysis.cogniload.capacity.prior import NAMED
from cogniload_analysis.cogniload.fitted import Fitted
from cogniload_analysis.cogniload.loads import LABELS, drawn_levels
from cogniload_analysis.display.figures import FAINT, Figure
from cogniload_analysis.words import say

_N_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
_MOST_TICKS = 7


def fit_models(frame: pd.DataFrame) -> tuple[dict[str, Fitted], dict[str, AdaptiveRun]]:
    """Return what is known of each model of a frame, and the adaptive runs among them, by model."""
    kinds = {prior: partial(AdaptiveDesign, prior=prior) for prior in NAMED}
    models, runs = {}, {}
    for name, rows in frame.groupby("model", observed=True):
        model, run = str(name), None
        if {"until", "index"} <= {*frame}:
            percent = rows.assign(rho=(100 * rows["rho"]).round(9))
            run = find_run(percent, {"model": model}, kinds)
        models[model] = Fitted(rows, run.estimate if run else None)
        if run:
            runs[model] = run
    return models, runs


def draw_run(name: str, run: AdaptiveRun) -> Figure:
    """Draw the curve of a run along each load, over the measured accuracy.

    The curve over N goes beyond the N of puzzles, and that over d ends where they do.
    """
    design: Any = run.design
    told = answer_frame(design.told, design.PUZZLE)
    rho, N = round(100 * design.at.rho, 9), round(10**design.at.log10_N)
    axis = np.select([told["rho"] != rho, told["N"] == N], ["rho", "d"], "N")
    told["rho"] /= 100
    panels = []
    for load in design.axes:
        label, mine = LABELS[load], told[axis == load] if design.axes == AXES else told
        points = mine.assign(level=drawn_levels(mine[load], load))
        curve = getattr(run.estimate, f"over_{load}").rename(columns={"load": "level"})
        curve = curve[(load != "d") | curve["level"].between(1, 10)]
        curve = curve.assign(level=drawn_levels(curve["level"], load))
        finish = _mark_half if load != "N" else partial(_finish_N, level=curve["level"])
        panels.append(curve_panel(points, curve, label, finish))
    return Figure(name, say("adaptive", **run.about), panels)


def _mark_half(axes: Any) -> None:
    axes.axhline(0.5, color=FAINT, linewidth=0.8, linestyle=":")


def _finish_N(axes: Any, level: pd.Series) -> None:
    _mark_half(axes)
    if len(level):
        axes.set_xscale("log")
        ticks = [tick for tick in _N_TICKS if level.min() <= tick <= level.max()]
        ticks = ticks if len(ticks) < _MOST_TICKS else ticks[::2]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
