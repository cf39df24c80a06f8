"""A picture of the nights of a watch: what each lost, and the evidence that something was."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cogniload_analysis.compare.paired import compare_means
from cogniload_analysis.compare.watch import ALARM, watch
from cogniload_analysis.display.drawing import draw, save_figure
from cogniload_analysis.display.figures import POINTS, Figure, Panel, Series, set_whole

_CONFIDENCE, _UNKNOWN = 0.9, (np.nan, np.nan, np.nan)


def draw_nights(nights: Sequence[np.ndarray], least: float, unstable: Sequence[str] = ()) -> bytes:
    """Return an SVG of nights as `watch` takes them, with `least` and `unstable` as there.

    A night's difference is that of the puzzles that were answered, with its 90 % interval.
    """
    numbers = range(1, len(nights) + 1)
    apart = [night[~np.isnan(night).any(axis=1)] @ [-1.0, 1.0] for night in nights]
    ends = [compare_means(each, _CONFIDENCE)[:3] if len(each) else _UNKNOWN for each in apart]
    values, low, high = 100 * np.array(ends).T
    evidence = [watch(nights[:count], least, unstable[:count]).evidence for count in numbers]

    def finish_differences(axes: Any) -> None:
        axes.axhline(-100 * least, linestyle=":", color="gray")
        set_whole(axes)

    def finish_evidence(axes: Any) -> None:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.axhline(ALARM, linestyle=":", color="gray")
        set_whole(axes)

    panels = [
        Panel(
            [Series("new less base", numbers, values, low, high, style=POINTS)],
            "night",
            "difference (points)",
            finish=finish_differences,
        ),
        Panel([Series("evidence", numbers, evidence)], "night", "evidence", finish=finish_evidence),
    ]
    return save_figure(draw(Figure("nights", "", panels, legends="inside")), "svg")
