"""Accuracy by the loads: tables by two of them, and the paper's figures 1 and 3 to 7."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.loads import LABELS, LOADS, drawn_levels
from cogniload_analysis.display import figures as fig
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.page import Section
from cogniload_analysis.stats import CONFIDENCE, PAPER_CONFIDENCE


def accuracy_sections(frame: pd.DataFrame, *, link: str) -> list[Section]:
    """Return the section of the tables, where a load varies; folded without a `link` to it."""
    tables = [
        tb.table(
            f"accuracy_by_{down}_and_{across}",
            tb.accuracy_table(frame, down, across, confidence=CONFIDENCE),
            {load.name: load.say for load in LOADS},
        )
        for down, across in (("d", "N"), ("N", "rho"))
        if frame[across].nunique() > 1
    ]
    section = Section("Accuracy by two loads", tables, "curves", folded=not link, link=link)
    return [section] if tables else []


def draw_paper(frame: pd.DataFrame) -> list[fig.Figure]:
    """Return the paper's figures, of the loads that vary."""
    varying = varying_loads(frame)
    few = frame["model"].nunique() <= fig.MOST_WITH_ENDS
    panels = [accuracy_panel(frame, load, confidence=few * CONFIDENCE) for load in varying]
    ends = ", with 95 % intervals" * few
    caption = f"Accuracy by each load, averaged over the others{ends}."
    figures = [fig.Figure("figure_1", caption, panels, share_y=True)]
    for number, load in ((3, "d"), (4, "N")) if "rho" in varying else ():
        levels = sorted(frame[load].unique())
        panels = [
            accuracy_panel(frame[frame[load] == level], "rho", f"{load} = {level}")
            for level in sorted({levels[0], levels[len(levels) // 2], levels[-1]})
        ]
        caption = f"Accuracy by ρ at a low, a middle and a high {load}."
        figures.append(fig.Figure(f"figure_{number}", caption, panels, share_y=True))
    over = "averaged over the two other loads, with 90 % Wilson intervals, as in the paper."
    for number, load, symbol in ((5, "d", "d"), (6, "rho", "ρ"), (7, "N", "N")):
        if load in varying:
            panel = accuracy_panel(frame, load, confidence=PAPER_CONFIDENCE)
            caption = f"Accuracy by {symbol}, {over}"
            figures.append(fig.Figure(f"figure_{number}", caption, [panel], height=4.2))
    return figures


def varying_loads(frame: pd.DataFrame) -> list[str]:
    """Return the loads with several levels among the puzzles; all of them for a single cell."""
    return [load for load in LABELS if frame[load].nunique() > 1] or [*LABELS]


def accuracy_panel(
    frame: pd.DataFrame,
    load: str,
    title: str = "",
    *,
    confidence: float = 0,
    curves: Sequence[fig.Series] = (),
) -> fig.Panel:
    """Return the panel of accuracy by a load, one series per model, and of chance.

    With a `confidence`, points have Wilson's intervals; `curves` join them.
    """
    series, table = [], tb.accuracy_table(frame, load, confidence=confidence)
    for model, rows in table.groupby("model", observed=True):
        low, high = (rows["low"], rows["high"]) if confidence else (None, None)
        at, style = drawn_levels(rows[load], load), fig.POINTS if curves else {}
        series.append(fig.Series(str(model), at, rows["accuracy"], low, high, style=style))
    series += curves
    if "chance" in frame and frame["chance"].notna().any():
        chance = frame.groupby(load)["chance"].mean()
        at = drawn_levels(chance.index, load)
        series.append(fig.Series("chance", at, chance, style=fig.DASHED | {"color": fig.FAINT}))
    levels = np.unique(drawn_levels(frame[load], load))
    positions = np.log(levels) if load == "N" else levels

    def finish(axes: Any) -> None:
        axes.set_ylim(-0.03, 1.03)
        if load == "N":
            axes.set_xscale("log")
        labels, last = [], -np.inf
        for level, position in zip(levels, positions, strict=True):
            # blank where it would touch the one on its left
            room = position - last > 0.07 * np.ptp(positions)
            labels.append(f"{level:g}" if room else "")
            last = position if room else last
        axes.set_xticks(levels, labels)
        axes.minorticks_off()

    return fig.Panel(series, LABELS[load], "Accuracy", title, finish)
