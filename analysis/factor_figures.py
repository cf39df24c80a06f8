"""FACTOR, stage 6: the paper's figures 1, 3, 4, 5 and 6, and a model's accuracies with their fits.

Every function takes the tables of `factor_tables` and returns a matplotlib figure. `columns` is the
number of panels side by side: 3 on paper, 1 on a phone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, NullLocator
from statsmodels.stats.proportion import proportion_confint

from cogniload_analysis.decay import ComplexityDecay
from cogniload_analysis.factor_tables import HERE, Decays, context_series
from cogniload_analysis.figures import STYLE, add_legend, series_style, shorten_name
from cogniload_analysis.published import published_table
from cogniload_analysis.tables import print_context

COMPLEXITY = {
    "symbolic": "Complexity N (variables)",
    "realistic": "Complexity N (operations)",
}
# The models that section 4.2 names for its failure modes.
NAMED_MODELS = (
    "Llama-3.1-70B-Instruct",
    "GPT-4o-mini-2024-07-18",
    "Mistral-Large-Instruct-2407",
)
LARGEST_PANELS = 3


@dataclass(frozen=True, eq=False)
class Series:
    """Points of one label, with the ends of their intervals and a line, where there are any."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    line: tuple[Sequence[float], Sequence[float]] | None = None
    faint: bool = False


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel: its series, and how its axes are set."""

    series: list[Series]
    xlabel: str
    ylabel: str
    title: str = ""
    finish: Callable[[Axes], None] = field(default=lambda axes: None)


def draw_by_context(decays: Decays, columns: int = 3) -> Figure:
    """Draw one model's accuracy by N, a series a context, and its logarithm with the fits.

    `decays` holds one model and one suite. Figures 1a and 1c.
    """
    labels = {condition: _label_context(*condition[2:]) for condition in decays}
    return draw_panels(_accuracy_panels(decays, labels), columns)


def draw_by_model(decays: Decays, columns: int = 3) -> Figure:
    """Draw the models' accuracy by N at their shortest context, and its logarithm with the fits.

    `decays` holds one suite. Figures 1c and 4a.
    """
    shortest = _shortest(decays)
    return draw_panels(
        _accuracy_panels(shortest, {condition: condition[0] for condition in shortest}), columns
    )


def draw_mean_accuracy(table: pd.DataFrame, columns: int = 3) -> Figure:
    """Draw the accuracy of each model averaged over N, by context; the best first. Figure 1b.

    `table` is `decay_table`'s rows of one suite.
    """
    best = table.groupby("model")["mean_accuracy"].max().sort_values()
    places = pd.Series(range(len(best)), best.index)
    conditions = table[["context", "noise"]].drop_duplicates().sort_values(["context", "noise"])
    series = [
        Series(
            _label_context(context, noise),
            rows["mean_accuracy"],
            places[rows["model"]],
        )
        for context, noise in conditions.itertuples(index=False)
        for rows in [table[(table["context"] == context) & (table["noise"] == noise)]]
    ]

    def finish(axes: Axes) -> None:
        axes.set_yticks(places, best.index.map(shorten_name))
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.7, len(best) - 0.3))

    panel = Panel(series, "Accuracy, mean over N", "", finish=finish)
    return draw_panels([panel], columns, line="none", panel_height=1.1 + 0.22 * len(best))


def draw_two_phases(decays: Decays, columns: int = 3) -> Figure:
    """Draw the two phases of up to three models at their shortest context. Figure 3.

    The points, the curve min(1, exp(CDF N + CDO)) and, where it has a meaning, N_eff between the
    phases. The models with the most N_eff come first; `decays` holds one suite.
    """
    shortest = _shortest(decays)
    order = sorted(
        shortest,
        key=lambda condition: -np.nan_to_num(shortest[condition].n_eff, nan=-np.inf),
    )
    panels = []
    for condition in order[:LARGEST_PANELS]:
        decay = shortest[condition]

        def finish(axes: Axes, decay: ComplexityDecay = decay) -> None:
            _set_accuracy(axes)
            if "N_eff" not in decay.problems:
                axes.axvline(decay.n_eff, color="#777777", linestyle=":")
                axes.annotate(
                    f"$N_{{\\mathrm{{eff}}}}$ {decay.n_eff:.1f}",
                    (decay.n_eff, 0.02),
                    xytext=(3, 0),
                    textcoords="offset points",
                    parse_math=True,
                )

        series = _accuracy_series(decay, "measured, and the fit")
        title = shorten_name(condition[0])
        panels.append(Panel([series], COMPLEXITY[condition[1]], "Accuracy", title, finish))
    return draw_panels(panels, columns)


def draw_realistic(decays: Decays, model: str, columns: int = 3) -> Figure:
    """Draw the realistic suite: models, then `model` by context and, if it had several, by noise.

    `decays` holds the realistic suite alone. Figure 4.
    """
    mine = {condition: decay for condition, decay in decays.items() if condition[0] == model}
    noises = sorted({noise for *_, noise in mine} - {"none"})
    by_context = {each: decay for each, decay in mine.items() if each[3] in {"none", *noises[:1]}}
    by_noise = {each: decay for each, decay in mine.items() if each[3] != "none"}
    shortest = _shortest(decays)
    labels = {each: _label_context(*each[2:]) for each in mine}
    panels = [
        _log_panel(shortest, {each: each[0] for each in shortest}, "Models, shortest context"),
        _accuracy_panel(by_context, labels, "By context"),
    ]
    if len(noises) > 1:
        panels.append(_accuracy_panel(by_noise, labels, "By noise"))
    return draw_panels(panels, columns, legend_each=True)


def draw_cdf_cdo(table: pd.DataFrame, columns: int = 3) -> Figure:
    """Draw CDF and CDO by context with 95 % intervals, beside three published models. Figure 5.

    `table` is `decay_table`'s rows of one suite; the published models are of the symbolic one.
    """
    measured = list(context_series(table))
    suite = table["suite"].iloc[0]
    published = published_table("factor_by_context")
    noises = len({noise for (_, _, noise), _ in measured}) > 1
    panels = []
    for name, scale in (("CDF", 100), ("CDO", 1)):
        series = [
            Series(
                model + f", {noise}" * noises,
                rows["context"],
                scale * rows[name],
                scale * rows[f"{name}_low"],
                scale * rows[f"{name}_high"],
            )
            for (model, _, noise), rows in measured
        ]
        series += [
            Series(f"{model} (published)", rows["context"], scale * rows[name], faint=True)
            for model in NAMED_MODELS * (suite == "symbolic")
            for rows in [published[published["model"] == model]]
        ]
        contexts = sorted(set().union(*(each.x for each in series)))

        def finish(axes: Axes, contexts: Sequence[float] = contexts) -> None:
            # One thousand tokens stand for the puzzle's own text, so that 0 has a place.
            axes.set_xscale("function", functions=(_to_doublings, _from_doublings))
            axes.xaxis.set_major_locator(FixedLocator(contexts))
            axes.set_xticks(contexts, map(print_context, contexts))
            axes.xaxis.set_minor_locator(NullLocator())

        label = "CDF × 100" if scale == 100 else name
        panels.append(Panel(series, "Context (tokens)", label, finish=finish))
    return draw_panels(panels, columns)


def draw_attempts(attempts: pd.DataFrame, sampling: pd.DataFrame, columns: int = 3) -> Figure:
    """Draw N_eff and the gap to the clean context's by the number of attempts t. Figure 6.

    `attempts` and `sampling` are those tables of one suite; the lines of the gap are the fits.
    """
    keys = ["model", "context", "noise"]
    fits = sampling[sampling["source"] == HERE].set_index(keys)
    several = attempts["model"].nunique() > 1
    by_t, gaps = [], []
    for (model, context, noise), rows in attempts.groupby(keys, observed=True):
        label = _label_context(context, noise)
        label = f"{model}, {label}" if several else label
        by_t.append(Series(label, rows["t"], rows["N_eff"], rows["low"], rows["high"]))
        fit = fits.loc[(model, context, noise)]
        gap = fit["N_clean"] - rows["N_eff"]
        line = rows["t"], np.exp(fit["b"]) * rows["t"].astype(float) ** fit["k"]
        gaps.append(Series(label, rows["t"], gap.where(gap > 0), line=line))

    def finish(axes: Axes, log_y: bool = False) -> None:
        axes.set_xscale("log", base=2)
        levels = sorted(attempts["t"].unique())
        axes.set_xticks(levels, [f"{t:g}" for t in levels])
        if log_y:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter(NullFormatter())

    panels = [Panel(by_t, "Attempts t", "Neff", finish=finish)]
    if fits["k"].notna().any():
        panels.append(
            Panel(gaps, "Attempts t", "Nclean − Neff", finish=lambda axes: finish(axes, log_y=True))
        )
    return draw_panels(panels, columns)


def draw_panels(
    panels: Sequence[Panel],
    columns: int,
    *,
    line: str = "",
    panel_height: float = 3.0,
    legend_each: bool = False,
) -> Figure:
    """Draw panels in `columns` columns, with one legend below, or one in each panel."""
    labels = list(dict.fromkeys(series.label for panel in panels for series in panel.series))
    across = min(columns, len(panels))
    down = math.ceil(len(panels) / across)
    per_row = 2 if columns == 1 else 3 if across == 1 else 4
    width = 4.2 if columns == 1 else 6.5 if across == 1 else 9.5
    height = panel_height * down + 0.19 * math.ceil(len(labels) / per_row) * (not legend_each) + 0.3
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False).flat
        styles = {}
        for axes, panel in zip(grid, panels, strict=False):
            if legend_each:
                styles = {}
            for series in panel.series:
                faint = {"color": "#999999"} if series.faint else {}
                style = styles.setdefault(
                    series.label, series_style(len(styles), line or "-") | faint
                )
                _draw_series(axes, series, style)
            axes.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
            panel.finish(axes)
            if legend_each:
                axes.legend(handles=_handles(styles), fontsize=7)
        for axes in list(grid)[len(panels) :]:
            axes.set_visible(False)
        if not legend_each and len(labels) > 0:
            add_legend(figure, _handles(styles), per_row)
    return figure


def _draw_series(axes: Axes, series: Series, style: dict[str, str]) -> None:
    x, y = np.asarray(series.x, dtype=float), np.asarray(series.y, dtype=float)
    style = style | ({"linestyle": "none"} if series.line is not None else {})
    if series.low is not None:
        ends = np.asarray(series.low, dtype=float), np.asarray(series.high, dtype=float)
        margins = np.nan_to_num(np.clip([y - ends[0], ends[1] - y], 0, None))
        axes.errorbar(x, y, margins, elinewidth=0.7, capsize=1.5, **style)
    else:
        axes.plot(x, y, **style)
    if series.line is not None:
        axes.plot(*series.line, color=style["color"])


def _handles(styles: dict[str, dict[str, str]]) -> list[Line2D]:
    return [Line2D([], [], label=shorten_name(label), **style) for label, style in styles.items()]


def _accuracy_panels(decays: Decays, labels: dict[tuple, str]) -> list[Panel]:
    return [_accuracy_panel(decays, labels), _log_panel(decays, labels)]


def _accuracy_panel(decays: Decays, labels: dict[tuple, str], title: str = "") -> Panel:
    series = [
        Series(labels[condition], decay.points["N"], decay.points["accuracy"])
        for condition, decay in decays.items()
    ]
    suite = next(iter(decays))[1]
    return Panel(series, COMPLEXITY[suite], "Accuracy", title, _set_accuracy)


def _log_panel(decays: Decays, labels: dict[tuple, str], title: str = "") -> Panel:
    """The accuracies that are fitted, on a logarithmic axis, and their lines."""
    series = []
    for condition, decay in decays.items():
        used = decay.points[decay.points["used"]]
        ends = np.array([used["N"].min(), used["N"].max()])
        line = (ends, np.exp(decay.cdf * ends + decay.cdo)) if len(used) else None
        series.append(Series(labels[condition], used["N"], used["accuracy"], line=line))
    lowest = min(decay.accuracy_range[0] for decay in decays.values())
    tested = pd.concat([decay.points["N"] for decay in decays.values()])
    if not any(len(each.x) for each in series):
        title = "no accuracy lies in the range"

    def finish(axes: Axes) -> None:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        axes.set_yscale("log")
        ticks = [tick for tick in (0.02, 0.05, 0.1, 0.2, 0.5, 1) if tick >= lowest]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set(xlim=(tested.min() - 1, tested.max() + 1), ylim=(0.9 * lowest, 1.1))

    suite = next(iter(decays))[1]
    return Panel(series, COMPLEXITY[suite], "Accuracy in the fit (log scale)", title, finish)


def _accuracy_series(decay: ComplexityDecay, label: str) -> Series:
    points = decay.points
    right = points["accuracy"] * points["responses"]
    low, high = proportion_confint(right, points["responses"], alpha=0.1, method="wilson")
    N = np.linspace(points["N"].min(), points["N"].max(), 200)
    line = (N, decay.predict(N)) if "CDF" not in decay.problems else ([], [])
    return Series(label, points["N"], points["accuracy"], low, high, line)


def _label_context(context: int, noise: str) -> str:
    """Label a context, with the kind of its noise where there are several kinds."""
    return print_context(context) + f" {noise}" * (noise in {"close", "general"})


def _set_accuracy(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_ylim(-0.03, 1.03)


def _shortest(decays: Decays) -> Decays:
    """Each model's fit at its shortest context."""
    shortest = {}
    for condition, decay in sorted(decays.items(), key=lambda each: each[0][2]):
        shortest.setdefault(condition[0], (condition, decay))
    return dict(sorted(shortest.values(), key=lambda each: each[0]))


def _to_doublings(tokens: np.ndarray) -> np.ndarray:
    return np.log2(1000 + np.maximum(tokens, -999))


def _from_doublings(doublings: np.ndarray) -> np.ndarray:
    return np.exp2(doublings) - 1000
