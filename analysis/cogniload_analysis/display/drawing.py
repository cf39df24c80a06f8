"""Figures drawn in the house style with matplotlib: for paper, and narrow for a phone."""

import base64
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib import figure as mpl
from matplotlib import rc_context, rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.font_manager import FontEntry, fontManager
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from cogniload_analysis.display.figures import COLOURS, Figure, Panel, Series, shorten_name

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
_DASHES = ("-", "--", "-.", ":")

# Of each font, a PDF holds what it shows; to cut matplotlib's own down to that took longer than
# drawing. This is a part of it, and what it lacks is taken from there.
DATA = Path(str(files("cogniload_analysis"))) / "data"
_FONT = FontEntry(fname=str(DATA / "DejaVuSansPart.ttf"), name="DejaVu Sans Part")
fontManager.ttflist.append(_FONT)

# The house style of matplotlib.
_STYLE = rc_params_from_file(DATA / "report.mplstyle", use_default_template=False)

# Panels side by side on paper.
_ACROSS = 3

# Inches.
_WIDTH, _NARROW_WIDTH = 9.5, 5.0
_LEGEND_LINE, _LEGEND_MARK, _LEGEND_LETTER = 0.19, 0.5, 0.068

# How a series is drawn: matplotlib's color, marker and linestyle.
_Style = dict[str, Any]


@dataclass(frozen=True)
class _Picture:
    """A figure as its files: for paper, and as an SVG for a phone, with one panel a row.

    There is a PDF if one was asked for.
    """

    svg: bytes
    narrow_svg: bytes
    pdf: bytes | None

    def uri(self, narrow: bool = False) -> str:
        """Return the figure as an address that holds it."""
        content = self.narrow_svg if narrow else self.svg
        return "data:image/svg+xml;base64," + base64.b64encode(content).decode()


def render(figure: Figure, *, pdf: bool = False) -> _Picture:
    """Return the files of a figure, the same for the same figure."""
    whole = draw(figure)
    svg = save_figure(whole, "svg")
    narrow = svg if len(figure.panels) == 1 else save_figure(draw(figure, across=1), "svg")
    return _Picture(svg, narrow, save_figure(whole, "pdf") if pdf else None)


def draw(figure: Figure, across: int = _ACROSS) -> mpl.Figure:
    """Draw a figure, with so many panels side by side at most."""
    panels, below = figure.panels, figure.legends == "below"
    across = min(across, len(panels))
    down = math.ceil(len(panels) / across)
    width = _NARROW_WIDTH if across == 1 else _WIDTH
    with rc_context(_STYLE):
        drawn = mpl.Figure(figsize=(width, figure.height * down))
        grid = drawn.subplots(down, across, sharey=figure.share_y, squeeze=False)
        styles: dict[str, _Style] = {}
        for axes, panel in zip(grid.flat, panels, strict=False):
            styles = styles if below else {}
            _draw_panel(axes, panel, styles)
            if figure.share_y and not axes.get_subplotspec().is_first_col():
                axes.set_ylabel("")
            if not below:
                axes.legend(handles=_handles(styles), fontsize=7)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        if below and (handles := _handles(styles)):
            longest = max(len(shorten_name(label)) for label in styles)
            per_row = int(width / (_LEGEND_MARK + _LEGEND_LETTER * longest))
            rows = math.ceil(len(handles) / max(1, per_row))
            drawn.set_figheight(figure.height * down + _LEGEND_LINE * rows + 0.1)
            columns = math.ceil(len(handles) / rows)
            drawn.legend(handles=handles, loc="outside lower left", ncols=columns)
        ConstrainedLayoutEngine().execute(drawn)  # of its own, each file would lay it out again
    return drawn


def save_figure(drawn: mpl.Figure, kind: Literal["svg", "pdf"]) -> bytes:
    """Return a figure as the bytes of an "svg" or a "pdf", the same for the same figure."""
    content = io.BytesIO()
    with rc_context(_STYLE):
        drawn.savefig(
            content, format=kind, metadata={"Date" if kind == "svg" else "CreationDate": None}
        )
    return content.getvalue()


def _draw_panel(axes: Axes, panel: Panel, styles: dict[str, _Style]) -> None:
    """Draw the series of a panel; new labels get a style, which is added to `styles`."""
    for series in panel.series:
        if series.label not in styles:
            number = len(styles)
            styles[series.label] = {
                "color": COLOURS[number % len(COLOURS)],
                "marker": _MARKERS[number % len(_MARKERS)],
                "linestyle": _DASHES[number % len(_DASHES)],
                **series.style,
            }
        _draw_series(axes, series, styles[series.label])
    axes.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
    panel.finish(axes)


def _draw_series(axes: Axes, series: Series, style: _Style) -> None:
    x, y = np.asarray(series.x, dtype=float), np.asarray(series.y, dtype=float)
    points = style if series.line is None else style | {"linestyle": "none"}
    if series.low is None:
        axes.plot(x, y, **points)
    else:
        ends = np.asarray(series.low, dtype=float), np.asarray(series.high, dtype=float)
        # Rounding may leave a margin of -1e-17, and an interval may be missing.
        margins = np.nan_to_num(np.clip([y - ends[0], ends[1] - y], 0, None))
        axes.errorbar(x, y, margins, elinewidth=0.8, capsize=2, **points)
    if series.line is not None:
        axes.plot(*series.line, color=style["color"])


def _handles(styles: Mapping[str, _Style]) -> list[Line2D]:
    return [Line2D([], [], label=shorten_name(label), **style) for label, style in styles.items()]
