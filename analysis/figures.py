"""Stage 5: the paper's figures 1 and 3 to 7, a model's fitted curves, and the ranking.

Every function takes frames and returns a matplotlib figure. `columns` is the number of panels
side by side: 3 on paper, 1 on a phone. rho is drawn in percent, as in the paper.
"""

import io
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cogniload_analysis.glm import LoadGLM
from cogniload_analysis.tables import accuracy_table

# Okabe and Ito's colours, which colour-blind readers tell apart, without their yellow, which
# fades in print. With 7 colours, 11 markers and 4 dashes, 308 models differ.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
DASHES = ("-", "--", "-.", ":")
STYLE = {
    "font.size": 9,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.hashsalt": "cogniload",
    "pdf.fonttype": 42,
    # A model's name may hold a dollar sign: it is a name, not mathematics.
    "text.parse_math": False,
}
LABELS = {
    "d": "Intrinsic difficulty d",
    "N": "Task length N (statements)",
    "rho": "Needle-to-hay ratio ρ (%)",
}


def draw_accuracy(frame: pd.DataFrame, columns: int = 3) -> Figure:
    """Draw accuracy by d, N and rho, each averaged over the other two. Figure 1."""
    panels = [(accuracy_table(frame, knob), knob, "") for knob in LABELS]
    return _draw_panels(panels, columns, error_bars=False)


def draw_rho_by_d(frame: pd.DataFrame, columns: int = 3) -> Figure:
    """Draw accuracy by rho at the lowest, the middle and the highest d. Figure 3."""
    return _draw_rho_by(frame, "d", columns)


def draw_rho_by_N(frame: pd.DataFrame, columns: int = 3) -> Figure:
    """Draw accuracy by rho at the lowest, the middle and the highest N. Figure 4."""
    return _draw_rho_by(frame, "N", columns)


def draw_accuracy_by(frame: pd.DataFrame, knob: str, columns: int = 3) -> Figure:
    """Draw accuracy by one knob with Wilson's 90 % intervals. Figures 5 (d), 6 (rho), 7 (N)."""
    panel = accuracy_table(frame, knob), knob, ""
    return _draw_panels([panel], columns, error_bars=True, panel_height=4.2)


def draw_fit(frame: pd.DataFrame, glm: LoadGLM, columns: int = 3) -> Figure:
    """Draw one model's accuracy by d, N and rho, and the fitted GLM through the points.

    Points and curve are averages over the other knobs; the intervals are Wilson's, 90 %.
    """
    panels = [(accuracy_table(frame, knob), knob, "") for knob in LABELS]
    figure = _draw_panels(panels, columns, error_bars=True, line="none", legend=False)
    handles = [Line2D([], [], label="measured, 90 % interval", **series_style(0, "none"))]
    with rc_context(STYLE):
        if "beta_0" not in glm.problems:
            for axes, knob in zip(figure.axes, LABELS, strict=True):
                loads, accuracy = _average_prediction(glm, knob)
                axes.plot(_scale(loads, knob), accuracy, color=COLOURS[2])
            handles.append(Line2D([], [], color=COLOURS[2], label=f"GLM, {glm.estimator}"))
        add_legend(figure, handles, 1 if columns == 1 else 2)
    return figure


def draw_ranking(ranking: pd.DataFrame) -> Figure:
    """Draw ECL50 of the published and the new models with the new ones' 95 % intervals."""
    known = ranking.dropna(subset="ECL50").iloc[::-1].reset_index(drop=True)
    with rc_context(STYLE):
        figure = Figure(figsize=(4.6, 1.1 + 0.19 * len(known)), layout="constrained")
        axes = figure.subplots()
        new = known["source"] == "this report"
        # Below one statement the axis ends: the paper prints 0.0 there.
        drawn = known[["ECL50", "low", "high"]].clip(lower=1, upper=1e4)
        for chosen, colour, marker in ((~new, "#777777", "o"), (new, COLOURS[2], "D")):
            axes.plot(drawn["ECL50"][chosen], known.index[chosen], marker, color=colour)
        bounded = known.index[new]
        axes.hlines(bounded, drawn["low"][new], drawn["high"][new], color=COLOURS[2])
        axes.set_yticks(known.index, known["model"].map(shorten_name))
        for label, is_new in zip(axes.get_yticklabels(), new, strict=True):
            label.set_fontweight("bold" if is_new else "normal")
        axes.set_ylim(-0.7, len(known) - 0.3)
        axes.set_xscale("log")
        axes.set_xlim(0.9, max(1000, 1.1 * drawn.max(axis=None)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("ECL50 (statements)\nat 1: one or fewer; at 10000: that or more")
    return figure


def save_figure(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of an "svg" or a "pdf", the same for the same figure."""
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    content = io.BytesIO()
    with rc_context(STYLE):
        figure.savefig(content, format=kind, metadata=metadata)
    return content.getvalue()


def _draw_rho_by(frame: pd.DataFrame, knob: str, columns: int) -> Figure:
    levels = sorted(frame[knob].unique())
    chosen = sorted({levels[0], levels[len(levels) // 2], levels[-1]})
    panels = [
        (accuracy_table(frame[frame[knob] == level], "rho"), "rho", f"{knob} = {level}")
        for level in chosen
    ]
    return _draw_panels(panels, columns, error_bars=False)


def _draw_panels(
    panels: Sequence[tuple[pd.DataFrame, str, str]],
    columns: int,
    error_bars: bool,
    *,
    line: str = "-",
    legend: bool = True,
    panel_height: float = 2.6,
) -> Figure:
    """Draw panels of (accuracy table, knob on the x axis, title) with one legend below."""
    models = sorted(set().union(*(table["model"] for table, _, _ in panels)))
    across = min(columns, len(panels))
    down = math.ceil(len(panels) / across)
    per_row = 2 if columns == 1 else 3 if across == 1 else 5
    width = 4.2 if columns == 1 else 6.5 if across == 1 else 9.5
    height = panel_height * down + 0.19 * math.ceil(len(models) / per_row) + 0.3
    styles = {model: series_style(index, line) for index, model in enumerate(models)}
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(down, across, sharey=True, squeeze=False)
        for axes, (table, knob, title) in zip(grid.flat, panels, strict=True):
            _draw_curves(axes, table, knob, styles, error_bars)
            axes.set(title=title, xlabel=LABELS[knob], ylim=(-0.03, 1.03))
        for axes in grid[:, 0]:
            axes.set_ylabel("Accuracy")
        if legend:
            handles = [
                Line2D([], [], label=shorten_name(model), **styles[model]) for model in models
            ]
            add_legend(figure, handles, per_row)
    return figure


def _draw_curves(
    axes: Axes,
    table: pd.DataFrame,
    knob: str,
    styles: dict[str, dict[str, str]],
    error_bars: bool,
) -> None:
    for model, rows in table.groupby("model", observed=True):
        x, y = _scale(rows[knob], knob), rows["accuracy"]
        if error_bars:
            # Rounding may leave a margin of -1e-17 where the accuracy is 0 or 1.
            margins = np.clip([y - rows["low"], rows["high"] - y], 0, 1)
            axes.errorbar(x, y, margins, elinewidth=0.8, capsize=2, **styles[model])
        else:
            axes.plot(x, y, **styles[model])
    levels = _scale(np.sort(table[knob].unique()), knob)
    if knob == "N":
        axes.set_xscale("log")
    axes.set_xticks(levels, _tick_labels(levels, np.log(levels) if knob == "N" else levels))
    axes.minorticks_off()


def _tick_labels(levels: np.ndarray, positions: np.ndarray) -> list[str]:
    """Label the levels, but for those too near to the label on their left."""
    labels, last = [], -np.inf
    for level, position in zip(levels, positions, strict=True):
        room = position - last > 0.07 * np.ptp(positions)
        labels.append(f"{level:g}" if room else "")
        last = position if room else last
    return labels


def _average_prediction(glm: LoadGLM, knob: str) -> tuple[np.ndarray, np.ndarray]:
    """The GLM's prediction along a knob, averaged over the cells that were tested."""
    cells, tested = glm.cells, glm.cells[knob]
    space = np.geomspace if knob == "N" else np.linspace
    loads = space(tested.min(), tested.max(), 60)
    at = {other: np.tile(cells[other], len(loads)) for other in LABELS}
    accuracy = glm.predict(**(at | {knob: np.repeat(loads, len(cells))}))
    weights = cells["successes"] + cells["failures"]
    return loads, np.average(accuracy.reshape(len(loads), -1), axis=1, weights=weights)


def series_style(index: int, line: str) -> dict[str, str]:
    """Return colour, marker and dash of the series with an index, unlike all others'."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)] if line == "-" else line,
    }


def add_legend(figure: Figure, handles: Sequence[Line2D], per_row: int) -> None:
    """Set a legend below the panels."""
    figure.legend(handles=handles, loc="outside lower center", ncols=min(per_row, len(handles)))


def _scale(levels: np.ndarray | pd.Series, knob: str) -> np.ndarray | pd.Series:
    return 100 * levels if knob == "rho" else levels


def shorten_name(model: str) -> str:
    """Return a model's name, shortened in the middle where it is long."""
    return model if len(model) <= 30 else model[:14] + "…" + model[-15:]
