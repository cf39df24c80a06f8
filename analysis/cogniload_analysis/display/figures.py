"""Figures as they are described: panels of series. `drawing` draws them.

Nothing here loads matplotlib, which takes long, so that a section's numbers can be had without it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

# Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow, which
# fades in print. With 7 colours, 11 markers and 4 dashes, 308 models differ.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
FAINT = "#999999"

# Of more models, intervals would hide one another, and nobody looks through a figure each.
MOST_WITH_ENDS = 12

# Styles of series: points alone, a bare curve, and one that is no measurement.
POINTS = {"linestyle": "none"}
CURVE = {"marker": "", "linestyle": "-"}
DASHED = {"marker": "", "linestyle": "--"}

Values = Sequence[float] | np.ndarray | pd.Series


@dataclass(frozen=True, eq=False)
class Series:
    """Points of one label, with the ends of their intervals and a fitted line, if there are any.

    The points are joined, unless there is a line. Series of one label share a style, of which
    `style` is what is not usual, in matplotlib's words.
    """

    label: str
    x: Values
    y: Values
    low: Values | None = None
    high: Values | None = None
    line: tuple[Values, Values] | None = None
    style: Mapping[str, str] = field(default_factory=dict)


def series_by_model(
    table: pd.DataFrame, x: str, y: str, low: str = "", high: str = ""
) -> list[Series]:
    """Return a series for each model of a table, whose columns x, y, low and high name."""
    return [
        Series(str(model), rows[x], rows[y], rows.get(low), rows.get(high))
        for model, rows in table.groupby("model", observed=True)
    ]


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel: its series, and how its axes, matplotlib's, are set or drawn on besides."""

    series: Sequence[Series]
    xlabel: str
    ylabel: str
    title: str = ""
    finish: Callable[[Any], None] = field(default=lambda axes: None)


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of the report.

    Attributes:
        name: Names its files and its anchor.
        caption: What it shows.
        panels: Up to three stand side by side.
        height: Of a panel, in inches.
        share_y: Whether all panels have the same y axis, labelled once a row.
        legends: Whether the legend is below the panels, or one inside each.
    """

    name: str
    caption: str
    panels: Sequence[Panel]
    height: float = 2.6
    share_y: bool = False
    legends: Literal["below", "inside"] = "below"

    kind: ClassVar = "figure"


def set_whole(axes: Any) -> None:
    """Have ticks along x at whole numbers alone."""
    axes.locator_params(axis="x", integer=True, min_n_ticks=1)


def shorten_name(model: str) -> str:
    """Return a model's name, shortened in the middle where it is long."""
    return model if len(model) <= 30 else model[:14] + "…" + model[-15:]
