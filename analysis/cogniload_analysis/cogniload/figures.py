"""Stage 5: the paper's figures 1 and 3 to 7, a model's fitted curves, and the ranking.

Every function takes frames and returns a matplotlib figure. rho is drawn in percent, as in the
paper.
"""

from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogniload_analysis.adaptive.replay import curve_panel, level_table
from cogniload_analysis.cogniload.glm import LoadGLM
from cogniload_analysis.display import figures as house
from cogniload_analysis.display.figures import Panel, Series, draw_panels, series_by_model
from cogniload_analysis.display.print import accuracy_table
from cogniload_analysis.stats import CONFIDENCE

Values = TypeVar("Values", np.ndarray, "pd.Series[float]")

LABELS = {
    "d": "Intrinsic difficulty d",
    "N": "Task length N (statements)",
    "rho": "Needle-to-hay ratio ρ (%)",
}
PANEL_HEIGHT = 2.6
MOST_PANELS = 12
MOST_TICKS = 7
N_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)


def draw_accuracy(frame: pd.DataFrame) -> Figure:
    """Draw accuracy by d, N and rho, each averaged over the other two. Figure 1."""
    panels = [_accuracy_panel(frame, load) for load in varying(frame)]
    return draw_panels(panels, height=PANEL_HEIGHT, share_y=True)


def varying(frame: pd.DataFrame) -> list[str]:
    """Return the loads with several levels among the puzzles; all of them for a single cell."""
    return [load for load in LABELS if frame[load].nunique() > 1] or [*LABELS]


def draw_rho_by(frame: pd.DataFrame, load: str) -> Figure:
    """Draw accuracy by rho at the lowest, middle and highest level of d (figure 3) or N (4)."""
    levels = sorted(frame[load].unique())
    chosen = sorted({levels[0], levels[len(levels) // 2], levels[-1]})
    panels = [
        _accuracy_panel(frame[frame[load] == level], "rho", f"{load} = {level}") for level in chosen
    ]
    return draw_panels(panels, height=PANEL_HEIGHT, share_y=True)


def draw_accuracy_by(frame: pd.DataFrame, load: str) -> Figure:
    """Draw accuracy by one load with Wilson's 90 % intervals. Figures 5 (d), 6 (rho), 7 (N)."""
    return draw_panels([_accuracy_panel(frame, load, intervals=True)], height=4.2)


def draw_fit(frame: pd.DataFrame, glm: LoadGLM) -> Figure:
    """Draw one model's accuracy by d, N and rho, and the fitted GLM through the points.

    Points and curve are averages over the other loads; the intervals are Wilson's, 95 %.
    """
    panels = [_fit_panel(frame, glm, load) for load in varying(frame)]
    return draw_panels(panels, height=PANEL_HEIGHT, share_y=True)


def draw_breaks(survival: pd.DataFrame, predictions: pd.DataFrame) -> Figure:
    """Draw one model's survival by statement, and the accuracy that is predicted by N and by d.

    The frames are its rows of `survival_table` and of `prediction_table`. A load with one level,
    and all of them without a prediction, have no panel.
    """
    steps = survival.loc[survival.index.repeat(2)]
    tracked = Series("tracking still right", _step_x(survival), steps["share"], marked=False)
    finish = partial(_finish_survival, survival=survival)
    panels = [Panel([tracked], "Statement", "Share of responses", finish=finish)]
    for load in ("N", "d"):
        rows = predictions[predictions["load"] == load]
        if len(rows) < 2 or rows[["predicted", "glm"]].isna().all(axis=None):
            continue
        level = rows["level"]
        predicted = Series("step hazard", level, rows["predicted"])
        fitted = Series("GLM", level, rows["glm"])
        series = [_measured(level, rows), predicted, fitted]
        panels.append(_panel(pd.DataFrame({load: level}), load, series))
    return draw_panels(panels, height=PANEL_HEIGHT)


def draw_run(cells: pd.DataFrame, curve: pd.DataFrame) -> Figure:
    """Draw one adaptive run: its curve along each load, over the measured accuracy.

    The frames are its rows of `asked_table` and `curve_table`.
    """
    panels = []
    for load, label in LABELS.items():
        points = level_table(cells[cells["axis"] == load], load)
        rows = curve[curve["load"] == load]
        points, rows = (rows.assign(level=_scale(rows["level"], load)) for rows in (points, rows))
        finish = partial(_finish_run, level=rows["level"], logarithmic=load == "N")
        panels.append(curve_panel(points, rows, label, finish))
    return draw_panels(panels, height=PANEL_HEIGHT)


def _finish_run(axes: Axes, level: pd.Series, *, logarithmic: bool) -> None:
    """Set the axis of a load, and mark an accuracy of a half."""
    axes.axhline(0.5, color=house.FAINT, linewidth=0.8, linestyle=":")
    if logarithmic and len(level):
        axes.set_xscale("log")
        ticks = [tick for tick in N_TICKS if level.min() <= tick <= level.max()]
        ticks = ticks if len(ticks) < MOST_TICKS else ticks[::2]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()


def _step_x(survival: pd.DataFrame) -> np.ndarray:
    """Return where each share begins and ends: at its statement, and at the next one's."""
    begins = survival["statement"].to_numpy()
    return np.stack([begins, np.append(begins[1:], begins[-1])], axis=1).ravel()


def _finish_survival(axes: Axes, survival: pd.DataFrame) -> None:
    low, high = (np.repeat(survival[end].to_numpy(float), 2) for end in ("low", "high"))
    axes.fill_between(_step_x(survival), low, high, color=house.COLOURS[0], alpha=0.15, linewidth=0)
    axes.set_ylim(-0.03, 1.03)


def draw_ranking(ranking: pd.DataFrame) -> Figure:
    """Draw both meanings of ECL50 of the published and the new models, with 95 % intervals.

    A model has its crossing, a hollow mark, below its projection. Those without a rank are left
    out: their puzzles don't tell it.
    """
    known = ranking[ranking[["rank", "crossing_rank"]].notna().any(axis=1)].iloc[::-1]
    known = known.reset_index(drop=True)
    with rc_context(house.STYLE):
        figure = Figure(figsize=(4.6, 1.3 + 0.22 * len(known)), dpi=house.DPI)
        grid = figure.subplots(squeeze=False)
        (axes,) = grid.flat
        new = known["source"] == "this report"
        values = ["ECL50", "low", "high", "crossing", "crossing_low", "crossing_high"]
        # Below one statement the axis ends: the paper prints 0.0 there.
        drawn = known[values].clip(lower=1, upper=1e4)
        for meaning, at, fill in ((values[:3], 0.15, None), (values[3:], -0.15, "white")):
            value, low, high = (drawn[name] for name in meaning)
            for chosen, colour, marker in ((~new, "#777777", "o"), (new, house.COLOURS[2], "D")):
                style = {"color": colour, "markerfacecolor": fill or colour, "zorder": 3}
                axes.plot(value[chosen], known.index[chosen] + at, marker, **style)
            bounded = new & low.notna()
            whole = low[bounded], high[bounded]
            axes.hlines(known.index[bounded] + at, *whole, color=house.COLOURS[2])
        axes.set_yticks(known.index, known["model"].map(house.shorten_name))
        for label, is_new in zip(axes.get_yticklabels(), new, strict=True):
            label.set(color="#000000" if is_new else "#666666")
        axes.set_ylim(-0.7, len(known) - 0.3)
        axes.set_xscale("log")
        axes.set_xlim(0.9, max(1000, 1.1 * np.nanmax(drawn.to_numpy(float))))
        axes.xaxis.set_major_formatter("{x:g}")
        ends = "at 1: one or fewer; at 10000: that or more"
        axes.set_xlabel(f"ECL50 (statements): ● projection, ○ crossing\n{ends}")
        house.place_panels(figure, grid)
    return figure


def draw_outcomes(frame: pd.DataFrame) -> Figure:
    """Draw the share of each wrong outcome by N, a panel a model, of twelve at most."""
    wrong = [name for name in frame["outcome"].cat.categories if name.startswith("wrong")]
    panels = []
    for model, rows in list(frame.groupby("model", observed=True))[:MOST_PANELS]:
        shares = pd.crosstab(rows["N"], rows["outcome"], normalize="index")
        shares = shares.reindex(columns=wrong, fill_value=0.0)
        series = [Series(name, shares.index.to_numpy(float), shares[name]) for name in wrong]
        panel = _panel(rows, "N", series, house.shorten_name(str(model)))
        panels.append(replace(panel, ylabel="Share of responses"))
    return draw_panels(panels, height=PANEL_HEIGHT, share_y=True)


def draw_tokens(frame: pd.DataFrame) -> Figure:
    """Draw the mean tokens of a response by d, N and rho, each averaged over the other two."""
    known = frame.dropna(subset="response_tokens")
    panels = []
    for load in varying(known):
        groups = known.groupby(["model", load], observed=True)["response_tokens"]
        means = groups.mean().reset_index()
        means["level"] = _scale(means[load], load)
        series = series_by_model(means, "level", "response_tokens")
        levels = np.sort(_scale(known[load].unique(), load))
        finish = partial(_set_x_axis, levels=levels, logarithmic=load == "N")
        panels.append(Panel(series, LABELS[load], "Tokens of a response", "", finish))
    return draw_panels(panels, height=PANEL_HEIGHT, share_y=True)


def draw_budgets(curves: pd.DataFrame) -> Figure:
    """Draw each model's accuracy and ECL50 by the response budget: rows of `budget_curve`."""
    ECL50 = ["ECL50", "ECL50_low", "ECL50_high"]
    drawn = curves.assign(**curves[ECL50].clip(1, curves["max_tested"].max()))
    panels = []
    for names, label in (
        (["accuracy", "low", "high"], "Accuracy"),
        (ECL50, "ECL50 (statements)"),
    ):
        if drawn[names[0]].notna().any():
            series = series_by_model(drawn, "budget", *names)
            finish = partial(_finish_budgets, budgets=drawn["budget"], logarithmic=names == ECL50)
            panels.append(Panel(series, "Response budget (tokens)", label, "", finish))
    return draw_panels(panels, height=PANEL_HEIGHT)


def _finish_budgets(axes: Axes, budgets: pd.Series, *, logarithmic: bool) -> None:
    axes.set_xscale("log")
    last = int(budgets.max())
    ticks = [*(256 * 4**power for power in range(12) if 256 * 4**power < 0.6 * last), last]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    if logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def _accuracy_panel(
    frame: pd.DataFrame, load: str, title: str = "", *, intervals: bool = False
) -> Panel:
    """Return the panel of accuracy by a load, a series a model."""
    table = accuracy_table(frame, load)
    ends = ("low", "high") if intervals else ()
    series = series_by_model(
        table.assign(level=_scale(table[load], load)), "level", "accuracy", *ends
    )
    return _panel(frame, load, [*series, *_chance(frame, load)], title)


def _measured(level: pd.Series, table: pd.DataFrame) -> Series:
    """Return the points of `accuracy_table` with their intervals."""
    ends = table["low"], table["high"]
    return Series("measured, 95 % interval", level, table["accuracy"], *ends, joined=False)


def _chance(frame: pd.DataFrame, load: str) -> list[Series]:
    """Return the accuracy of guesses among the options by a load; nothing where none are known."""
    if "chance" not in frame or frame["chance"].isna().all():
        return []
    by_level = frame.groupby(load)["chance"].mean()
    level = _scale(by_level.index.to_numpy(dtype=float), load)
    return [Series("chance", level, by_level, marked=False, faint=True, dashed=True)]


def _fit_panel(frame: pd.DataFrame, glm: LoadGLM, load: str) -> Panel:
    """Return the panel of one model's accuracy by a load, and the fit where there is one."""
    table = accuracy_table(frame, load, confidence=CONFIDENCE)
    points = _measured(_scale(table[load], load), table)
    if "beta_0" in glm.problems:
        return _panel(frame, load, [points, *_chance(frame, load)])
    loads, accuracy = _average_prediction(glm, load)
    curve = Series(f"GLM, {glm.estimator}", _scale(loads, load), accuracy, marked=False)
    return _panel(frame, load, [points, curve, *_chance(frame, load)])


def _panel(frame: pd.DataFrame, load: str, series: list[Series], title: str = "") -> Panel:
    levels = np.sort(_scale(frame[load].unique(), load))
    finish = partial(_set_axes, levels=levels, logarithmic=load == "N")
    return Panel(series, LABELS[load], "Accuracy", title, finish)


def _set_axes(axes: Axes, levels: np.ndarray, *, logarithmic: bool) -> None:
    axes.set_ylim(-0.03, 1.03)
    _set_x_axis(axes, levels, logarithmic=logarithmic)


def _set_x_axis(axes: Axes, levels: np.ndarray, *, logarithmic: bool) -> None:
    if logarithmic:
        axes.set_xscale("log")
    axes.set_xticks(levels, label_ticks(levels, np.log(levels) if logarithmic else levels))
    axes.minorticks_off()


def label_ticks(levels: np.ndarray, positions: np.ndarray) -> list[str]:
    """Return the label of each level, blank where it would touch the one on its left."""
    labels, last = [], -np.inf
    for level, position in zip(levels, positions, strict=True):
        room = position - last > 0.07 * np.ptp(positions)
        labels.append(f"{level:g}" if room else "")
        last = position if room else last
    return labels


def _average_prediction(glm: LoadGLM, load: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the GLM's prediction along a load, averaged over the cells that were tested."""
    cells, tested = glm.cells, glm.cells[load]
    space = np.geomspace if load == "N" else np.linspace
    levels = space(tested.min(), tested.max(), 60)
    at = {other: np.tile(cells[other], len(levels)) for other in LABELS}
    accuracy = glm.predict(**(at | {load: np.repeat(levels, len(cells))}))
    weights = cells["successes"] + cells["failures"]
    return levels, np.average(accuracy.reshape(len(levels), -1), axis=1, weights=weights)


def _scale(levels: Values, load: str) -> Values:
    return 100 * levels if load == "rho" else levels
