"""Figures in the house style: panels of series, with a legend, for paper and for a phone."""

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from jinja2 import Template
from matplotlib import rc_context, rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, fontManager
from matplotlib.lines import Line2D
from tqdm import tqdm

from cogniload_analysis.display.content import Picture

# Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow, which
# fades in print. With 7 colours, 11 markers and 4 dashes, 308 models differ.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
DASHES = ("-", "--", "-.", ":")
FAINT = "#999999"

# Of each font, a PDF holds what it shows; to cut matplotlib's own down to that took longer than
# drawing. This is a part of it, and what it lacks is taken from there.
FONT = "DejaVu Sans Part"
DATA = Path(str(files("cogniload_analysis"))) / "data"
fontManager.ttflist.append(FontEntry(fname=str(DATA / "DejaVuSansPart.ttf"), name=FONT))

STACKED = Template((DATA / "stacked.svg").read_text("utf-8"), trim_blocks=True)
"""The SVG of windows onto another, by rows."""

STYLE = rc_params_from_file(DATA / "report.mplstyle", use_default_template=False)
"""The house style of matplotlib."""

# Panels side by side.
ACROSS = 3

# Inches. matplotlib's own layout measures every text several times, and takes longer than drawing.
DPI = 72
LINE, TICK, MARGIN = 0.19, 0.14, 0.2
LEGEND_MARK, LEGEND_LETTER = 0.5, 0.068

Values = Sequence[float] | np.ndarray | pd.Series

Style = dict[str, Any]
"""How a series is drawn: matplotlib's color, marker and linestyle."""

Drawing = tuple[str, Callable[[], Figure]]
"""A caption, and a function that draws the figure."""


@dataclass(frozen=True, eq=False)
class Series:
    """Points of one label, with the ends of their intervals and a fitted line, if there are any.

    The points are joined, unless there is a line or `joined` says otherwise. A series that is not
    `marked` is a bare curve. Series of one label share a style; a `faint` one stays in the
    background, and a `dashed` one is no measurement.
    """

    label: str
    x: Values
    y: Values
    low: Values | None = None
    high: Values | None = None
    line: tuple[Values, Values] | None = None
    joined: bool = True
    marked: bool = True
    faint: bool = False
    dashed: bool = False


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
    """One panel: its series, and how its axes are set."""

    series: Sequence[Series]
    xlabel: str
    ylabel: str
    title: str = ""
    finish: Callable[[Axes], None] = field(default=lambda axes: None)


def draw_panels(
    panels: Sequence[Panel],
    *,
    height: float = 3.0,
    share_y: bool = False,
    legends: Literal["below", "inside"] = "below",
) -> Figure:
    """Draw panels of a `height` in inches, up to three side by side.

    With `share_y`, all have the same y axis, labelled once a row. The legend is below the panels,
    one for each of its columns, or inside each panel.
    """
    labels = {series.label for panel in panels for series in panel.series}
    below = legends == "below"
    across = min(ACROSS, len(panels))
    down = math.ceil(len(panels) / across)
    per_row, width = (3, 5.0) if across == 1 else (4, 9.5)
    longest = max((len(shorten_name(label)) for label in labels), default=0)
    per_row = max(1, min(per_row, int(width / (LEGEND_MARK + LEGEND_LETTER * longest))))
    lines = math.ceil(len(labels) / per_row) if below else 0
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height * down + LINE * lines + 0.3), dpi=DPI)
        grid = figure.subplots(down, across, sharey=share_y, squeeze=False)
        styles: dict[str, Style] = {}
        for axes, panel in zip(grid.flat, panels, strict=False):
            styles = styles if below else {}
            _draw_panel(axes, panel, styles)
            if share_y and not axes.get_subplotspec().is_first_col():
                axes.set_ylabel("")
            if not below:
                axes.legend(handles=_handles(styles), fontsize=7)
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        handles = _handles(styles) if below else []
        for place in range(0, len(handles), max(lines, 1)):
            left = place / lines / math.ceil(len(handles) / lines)
            figure.legend(
                handles=handles[place : place + lines],
                loc="upper left",
                bbox_to_anchor=(left, (LINE * lines + MARGIN) / figure.get_figheight()),
            )
        place_panels(figure, grid, LINE * lines + MARGIN if below else 0)
    return figure


def place_panels(figure: Figure, grid: np.ndarray, bottom: float = 0) -> None:
    """Give each axes of a grid the same room beside its labels; `bottom` inches below stay free."""
    width, height = figure.get_size_inches()
    down, across = grid.shape
    above = MARGIN + LINE * any(axes.get_title() for axes in grid.flat)
    lines = max(1 + axes.get_xlabel().count("\n") for axes in grid.flat)
    below = TICK + LINE * (1 + lines)
    tall = (height - bottom) / down - above - below
    # How many ticks there are depends on the height, and how wide their labels are on the ticks.
    for axes in grid.flat:
        axes.set_position((0, 0, 1, tall / height))
    renderer = FigureCanvasAgg(figure).get_renderer()
    ticks = np.array([max(_measure_ticks(axes, renderer) for axes in column) for column in grid.T])
    named = [any(axes.get_ylabel() for axes in column) for column in grid.T]
    left = TICK + ticks + LINE * np.array(named)
    wide = (width - left.sum() - MARGIN * across) / across
    starts = np.cumsum(left) + (wide + MARGIN) * np.arange(across)
    for (row, column), axes in np.ndenumerate(grid):
        base = bottom + below + (down - 1 - row) * (above + tall + below)
        axes.set_position((starts[column] / width, base / height, wide / width, tall / height))
        axes.xaxis.set_label_coords(0.5, -(TICK + LINE) / tall)
        axes.yaxis.set_label_coords(-(TICK + ticks[column]) / wide, 0.5)


def _measure_ticks(axes: Axes, renderer: Any) -> float:
    """Return the width of the widest tick label of the y axis, in inches."""
    labels = [label for label in axes.get_yticklabels() if label.get_visible()]
    return max((label.get_window_extent(renderer).width / DPI for label in labels), default=0.0)


def series_style(index: int) -> Style:
    """Return colour, marker and dash of the series with an index, unlike all others'."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
    }


def shorten_name(model: str) -> str:
    """Return a model's name, shortened in the middle where it is long."""
    return model if len(model) <= 30 else model[:14] + "…" + model[-15:]


def save_figure(figure: Figure, kind: Literal["svg", "pdf"]) -> bytes:
    """Return a figure as the bytes of an "svg" or a "pdf", the same for the same figure."""
    content = io.BytesIO()
    with rc_context(STYLE):
        if kind == "svg":
            FigureCanvasSVG(figure).print_svg(content, metadata={"Date": None})
        else:
            FigureCanvasPdf(figure).print_pdf(content, metadata={"CreationDate": None})
    return content.getvalue()


def draw_all(drawings: Mapping[str, Drawing]) -> dict[str, Picture]:
    """Draw every figure for paper and for a phone, and return the pictures by name."""
    pictures = {}
    for name, (caption, draw) in tqdm(drawings.items(), "drawing", unit="figure", disable=None):
        figure = draw()
        svg, pdf = save_figure(figure, "svg"), save_figure(figure, "pdf")
        pictures[name] = Picture(name, caption, svg, pdf, stack_panels(figure, svg))
    return pictures


def stack_panels(figure: Figure, svg: bytes) -> bytes:
    """Return the SVG of a figure with its panels, and then its legends, one below the other.

    Each is a window onto the same drawing. A panel whose y axis is labelled in the first one of its
    row has that label beside it.
    """
    panels = [axes for axes in figure.axes if axes.get_visible()]
    if len(panels) == 1:
        return svg
    width, height = DPI * figure.get_size_inches()
    below = [legend.get_bbox_to_anchor() for legend in figure.legends]
    bottom = below[0].y0 if below else 0.0
    tall = (height - bottom) / math.ceil(len(panels) / ACROSS)
    windows: list[tuple[float, float, list[tuple[float, float]]]] = []
    for number, axes in enumerate(panels):
        row, column = divmod(number, ACROSS)
        first, end = panels[number - column], axes.bbox.x1 + DPI * MARGIN
        begin = panels[number - 1].bbox.x1 + DPI * MARGIN if column else 0.0
        shared = axes.get_shared_y_axes().joined(axes, first)
        spans = [(0.0, first.bbox.x0), (axes.bbox.x0, end)] if shared else [(begin, end)]
        windows.append((row * tall, tall, spans))
    wide = max(sum(end - begin for begin, end in spans) for *_, spans in windows)
    for at in below:
        windows.append((height - bottom, bottom, [(at.x0, at.x0 + min(width / len(below), wide))]))
    high = sum(size for _, size, _ in windows)
    drawn = svg[svg.index(b"<svg ") :].decode()
    about = {"svg": drawn, "width": width, "height": height, "wide": wide, "high": high}
    return STACKED.render(windows=windows, **about).encode()


def _draw_panel(axes: Axes, panel: Panel, styles: dict[str, Style]) -> None:
    """Draw the series of a panel; new labels get a style, which is added to `styles`."""
    for series in panel.series:
        if series.label not in styles:
            styles[series.label] = series_style(len(styles)) | _own_style(series)
        fitted = {} if series.line is None else {"linestyle": "none"}
        _draw_series(axes, series, styles[series.label] | fitted)
    axes.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
    panel.finish(axes)


def _own_style(series: Series) -> Style:
    """Return what sets a series' style apart from that of its place in the order."""
    own: Style = {"color": FAINT} if series.faint else {}
    if not series.marked:
        return own | {"marker": "", "linestyle": "--" if series.dashed else "-"}
    return own if series.joined else own | {"linestyle": "none"}


def _draw_series(axes: Axes, series: Series, style: Style) -> None:
    x, y = np.asarray(series.x, dtype=float), np.asarray(series.y, dtype=float)
    if series.low is not None:
        ends = np.asarray(series.low, dtype=float), np.asarray(series.high, dtype=float)
        # Rounding may leave a margin of -1e-17, and an interval may be missing.
        margins = np.nan_to_num(np.clip([y - ends[0], ends[1] - y], 0, None))
        axes.errorbar(x, y, margins, elinewidth=0.8, capsize=2, **style)
    else:
        axes.plot(x, y, **style)
    if series.line is not None:
        axes.plot(*series.line, color=style["color"])


def _handles(styles: Mapping[str, Style]) -> list[Line2D]:
    return [Line2D([], [], label=shorten_name(label), **style) for label, style in styles.items()]
