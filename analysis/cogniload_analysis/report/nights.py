"""A picture of the nights of a watch: what each lost, and the evidence that something was."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cogniload_analysis.compare.paired import compare_means
from cogniload_analysis.compare.watch import ALARM, Watch
from cogniload_analysis.display.drawing import draw, save_figure
from cogniload_analysis.display.figures import DASHED, POINTS, Figure, Panel, Series, set_whole

_CONFIDENCE, _UNKNOWN = 0.9, (np.nan, np.nan, np.nan)


def draw_nights(nights: Sequence[np.ndarray], found: Watch) -> bytes:
    """Return an SVG of the nights of which `watch` found something.

    A night's difference is that of the puzzles that were answered, with its 90 % interval.
    """
    numbers = range(found.first, found.first + len(nights))
    apart = [night[~np.isnan(night).any(axis=1)] @ [-1.0, 1.0] for night in nights]
    ends = [compare_means(each, _CONFIDENCE)[:3] if len(each) else _UNKNOWN for each in apart]
    values, low, high = 100 * np.array(ends).T

    def line(label: str, value: float) -> Series:
        return Series(label, [numbers[0], numbers[-1]], [value, value], style=DASHED)

    def finish_evidence(axes: Any) -> None:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:,g}")
        set_whole(axes)

    differences = Series("new less base, 90 % interval", numbers, values, low, high, style=POINTS)
    panels = [
        Panel(
            [differences, line("dead zone", -found.dead_zone)],
            "night",
            "difference (points)",
            finish=set_whole,
        ),
        Panel(
            [Series("evidence of a loss", numbers, found.by_night), line("alarm", ALARM)],
            "night",
            "evidence",
            finish=finish_evidence,
        ),
    ]
    return save_figure(draw(Figure("nights", "", panels)), "svg")
