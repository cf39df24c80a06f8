"""FACTOR, stage 6: the paper's figures 1, 3, 4, 5 and 6, and a model's accuracies with their fits.

Every function takes fits or tables and returns a matplotlib figure.
"""

from collections.abc import Sequence
from functools import partial
from textwrap import wrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator, NullFormatter, NullLocator

from cogniload_analysis.display import figures as house
from cogniload_analysis.display.figures import Figure, Panel, Series, series_by_model
from cogniload_analysis.factor.decay import ComplexityDecay, Condition, by_condition
from cogniload_analysis.factor.hops import HOP_BASELINES
from cogniload_analysis.factor.loads import show_context
from cogniload_analysis.factor.modes import PUZZLE_TOKENS
from cogniload_analysis.factor.retrieval import PARTS
from cogniload_analysis.factor.tables import HERE, Decays, context_series
from cogniload_analysis.published import published_table
from cogniload_analysis.stats import wilson_interval

COMPLEXITY = {"symbolic": "Complexity N (variables)", "realistic": "Complexity N (operations)"}
# The models that section 4.2 names for its failure modes.
NAMED_MODELS = ("Llama-3.1-70B-Instruct", "GPT-4o-mini-2024-07-18", "Mistral-Large-Instruct-2407")
LARGEST_PANELS = 3


def draw_by_context(decays: Decays) -> Figure:
    """Draw one model's accuracy by N, a series a context, and its logarithm with the fits.

    `decays` holds one model and one suite. Figures 1a and 1c.
    """
    labels = {condition: _label_context(*condition[2:]) for condition in decays}
    return Figure("", "", [_accuracy_panel(decays, labels), _log_panel(decays, labels)])


def draw_by_model(decays: Decays) -> Figure:
    """Draw the models' accuracy by N at their shortest context, and its logarithm with the fits.

    `decays` holds one suite. Figures 1c and 4a.
    """
    shortest = _shortest(decays)
    labels = {condition: condition[0] for condition in shortest}
    return Figure("", "", [_accuracy_panel(shortest, labels), _log_panel(shortest, labels)])


def draw_mean_accuracy(table: pd.DataFrame) -> Figure:
    """Draw the accuracy of each model averaged over N, by context; the best first. Figure 1b.

    `table` is `decay_table`'s rows of one suite.
    """
    best = table.groupby("model")["mean_accuracy"].max().sort_values()
    places = pd.Series(range(len(best)), best.index)
    conditions = table[["context", "noise"]].drop_duplicates().sort_values(["context", "noise"])
    series = []
    for context, noise in conditions.itertuples(index=False):
        rows = table[(table["context"] == context) & (table["noise"] == noise)]
        place, label = places[rows["model"]], _label_context(context, noise)
        series.append(Series(label, rows["mean_accuracy"], place, joined=False))

    def finish(axes: Axes) -> None:
        axes.set_yticks(places, best.index.map(house.shorten_name))
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.7, len(best) - 0.3))

    panel = Panel(series, "Accuracy, mean over N", "", finish=finish)
    return Figure("", "", [panel], height=1.1 + 0.22 * len(best))


def draw_two_phases(decays: Decays) -> Figure:
    """Draw the two phases of up to three models at their shortest context. Figure 3.

    The points, the curve min(1, exp(CDF N + CDO)) and, where it has a meaning, N_eff between the
    phases. The models with the most N_eff come first; `decays` holds one suite.
    """
    shortest = _shortest(decays)
    order = sorted(shortest.items(), key=lambda item: -np.nan_to_num(item[1].n_eff, nan=-np.inf))
    panels = []
    for condition, decay in order[:LARGEST_PANELS]:
        points = decay.points
        line: tuple[house.Values, house.Values] = ([], [])
        ends = wilson_interval(points["accuracy"] * points["responses"], points["responses"])
        if "CDF" not in decay.problems:
            N = np.linspace(points["N"].min(), points["N"].max(), 200)
            line = N, decay.predict(N)
        series = Series("measured, and the fit", points["N"], points["accuracy"], *ends, line)
        title, finish = house.shorten_name(condition[0]), partial(_finish_phases, decay=decay)
        panels.append(Panel([series], COMPLEXITY[condition[1]], "Accuracy", title, finish))
    return Figure("", "", panels)


def _finish_phases(axes: Axes, decay: ComplexityDecay) -> None:
    """Draw N_eff, and the borders of the window and the floor of a fit as thin lines."""
    _set_accuracy(axes)
    if "CDF" not in decay.problems and decay.method == "likelihood":
        used = decay.points["N"][decay.points["used"]]
        for border in (used.min(), used.max()):
            axes.axvline(border, color=house.FAINT, linewidth=0.6)
        axes.axhline(decay.floor, color=house.FAINT, linewidth=0.6)
    if "N_eff" not in decay.problems:
        axes.axvline(decay.n_eff, color="#777777", linestyle=":")
        text, at = f"$N_{{\\mathrm{{eff}}}}$ {decay.n_eff:.1f}", (decay.n_eff, 0.02)
        axes.annotate(text, at, xytext=(3, 0), textcoords="offset points", parse_math=True)


def draw_realistic(decays: Decays, model: str) -> Figure:
    """Draw the realistic suite: models, then `model` by context and, if it had several, by noise.

    `decays` holds the realistic suite alone. Figure 4.
    """
    mine = {condition: decay for condition, decay in decays.items() if condition[0] == model}
    noises = sorted({noise for *_, noise in mine} - {"none"})
    one_noise = {"none", *noises[:1]}
    by_context = {about: decay for about, decay in mine.items() if about[3] in one_noise}
    by_noise = {about: decay for about, decay in mine.items() if about[3] != "none"}
    shortest = _shortest(decays)
    labels = {about: _label_context(*about[2:]) for about in mine}
    panels = [
        _log_panel(shortest, {about: about[0] for about in shortest}, "Models, shortest context"),
        _accuracy_panel(by_context, labels, "By context"),
    ]
    if len(noises) > 1:
        panels.append(_accuracy_panel(by_noise, labels, "By noise"))
    return Figure("", "", panels, legends="inside")


def draw_cdf_cdo(table: pd.DataFrame) -> Figure:
    """Draw CDF and CDO by context with 95 % intervals, beside three published models. Figure 5.

    `table` is `decay_table`'s rows of one suite; the published models are of the symbolic one.
    """
    measured = list(context_series(table))
    suite = table["suite"].iloc[0]
    published = published_table("factor_by_context")
    noises = len({noise for (_, _, noise), _ in measured}) > 1
    panels = []
    for name, scale in (("CDF", 100), ("CDO", 1)):
        series = []
        for (model, _, noise), rows in measured:
            value, low, high = (scale * rows[name + end] for end in ("", "_low", "_high"))
            label = model + f", {noise}" * noises
            series.append(Series(label, rows["context"], value, low, high))
        series += [
            Series(f"{model} (published)", rows["context"], scale * rows[name], faint=True)
            for model in NAMED_MODELS * (suite == "symbolic")
            for rows in [published[published["model"] == model]]
        ]
        contexts = sorted({float(context) for line in series for context in line.x})

        def finish(axes: Axes, contexts: Sequence[float] = contexts) -> None:
            axes.set_xscale("function", functions=(_to_doublings, _from_doublings))
            axes.xaxis.set_major_locator(FixedLocator(contexts))
            axes.set_xticks(contexts, map(show_context, contexts))
            axes.xaxis.set_minor_locator(NullLocator())

        label = "CDF × 100" if scale == 100 else name
        panels.append(Panel(series, "Context (tokens)", label, finish=finish))
    return Figure("", "", panels)


def draw_attempts(attempts: pd.DataFrame, sampling: pd.DataFrame) -> Figure:
    """Draw N_eff and the gap to the clean context's by the number of attempts t. Figure 6.

    `attempts` and `sampling` are `attempts_table` and `sampling_table` of one suite; the lines
    through the gaps are the fits.
    """
    fits = dict(by_condition(sampling[sampling["source"] == HERE]))
    several = attempts["model"].nunique() > 1
    by_t, gaps = [], []
    for condition, rows in by_condition(attempts):
        label = f"{condition[0]}, " * several + _label_context(*condition[2:])
        by_t.append(Series(label, rows["t"], rows["N_eff"], rows["low"], rows["high"]))
        fit = fits[condition].iloc[0]
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
    if sampling["k"][sampling["source"] == HERE].notna().any():
        logarithmic = partial(finish, log_y=True)
        panels.append(Panel(gaps, "Attempts t", "Nclean − Neff", finish=logarithmic))
    return Figure("", "", panels)


def _accuracy_panel(decays: Decays, labels: dict[Condition, str], title: str = "") -> Panel:
    series = [
        Series(labels[condition], decay.points["N"], decay.points["accuracy"])
        for condition, decay in decays.items()
    ]
    suite = next(iter(decays))[1]
    return Panel(series, COMPLEXITY[suite], "Accuracy", title, _set_accuracy)


def _log_panel(decays: Decays, labels: dict[Condition, str], title: str = "") -> Panel:
    """Return the panel of the fitted accuracies, on a logarithmic axis, with their lines."""
    series = []
    for condition, decay in decays.items():
        used = decay.points[decay.points["used"]]
        used = used[used["accuracy"] > 0]  # on a logarithmic axis
        line = None
        if len(used) and "CDF" not in decay.problems:
            N = np.linspace(used["N"].min(), used["N"].max(), 100)
            line = N, decay.predict(N)
        series.append(Series(labels[condition], used["N"], used["accuracy"], line=line))
    lowest = min(decay.accuracy_range[0] for decay in decays.values())
    tested = pd.concat([decay.points["N"] for decay in decays.values()])
    if not any(len(line.x) for line in series):
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


def _label_context(context: float, noise: str) -> str:
    """Label a context, with the kind of its noise where there are several kinds."""
    return show_context(context) + f" {noise}" * (noise in {"close", "general"})


def draw_by_hops(table: pd.DataFrame) -> Figure:
    """Draw each model's accuracy by hops at its shortest context; `table` is `hops_table`'s."""
    shortest = table["context"] == table.groupby("model", observed=True)["context"].transform("min")
    series = series_by_model(table[shortest], "hops", "accuracy", "low", "high")
    return Figure("", "", [Panel(series, "Hops of the deepest variable", "Accuracy")])


def draw_shortcuts(table: pd.DataFrame) -> Figure:
    """Draw accuracy by N beside the baselines; `table` has `shortcut_table`'s of one model and
    suite.
    """
    panels = []
    shown = {"measured": "accuracy", "no hop": "floor"} | {name: name for name in HOP_BASELINES}
    for (context, noise), rows in table.groupby(["context", "noise"], observed=True):
        series = [
            Series(label, rows["N"], rows[name], faint=name != "accuracy")
            for label, name in shown.items()
        ]
        panels.append(Panel(series, "Complexity N", "Accuracy", f"{context:,} tokens, {noise}"))
    return Figure("", "", panels)


def draw_retrieval(table: pd.DataFrame) -> Figure:
    """Draw the shares of what became of retrieved prompts, as stacked bars by N.

    `table` is `retrieval_table`'s by N, of one model and suite.
    """
    # bars are no series: these have no points, and stand for them in the legend
    legend = [Series(label, [], [], joined=False) for label in PARTS.values()]

    def bars(rows: pd.DataFrame, axes: Axes) -> None:
        bottom = np.zeros(len(rows))
        for index, part in enumerate(PARTS):
            share = (rows[part] / rows["responses"]).to_numpy()
            axes.bar(rows["N"], share, 0.8, bottom, color=house.COLOURS[index])
            bottom += share
        _set_accuracy(axes)

    suite = str(table["suite"].iloc[0])
    panels = []
    for _, rows in table.groupby(["context", "noise", "retrieval"], observed=True):
        context, noise, method = rows[["context", "noise", "retrieval"]].iloc[0]
        title = "\n".join(wrap(f"{_label_context(context, noise)}: {method}", 34))
        finish = partial(bars, rows)
        panels.append(Panel(legend, COMPLEXITY[suite], "Share of the responses", title, finish))
    return Figure("", "", panels)


def _set_accuracy(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.set_ylim(-0.03, 1.03)


def _shortest(decays: Decays) -> Decays:
    """Return each model's fit at its shortest context."""
    shortest: dict[str, tuple[Condition, ComplexityDecay]] = {}
    for condition, decay in sorted(decays.items(), key=lambda pair: pair[0][2]):
        shortest.setdefault(condition[0], (condition, decay))
    return dict(sorted(shortest.values(), key=lambda pair: pair[0]))


def _to_doublings(tokens: np.ndarray) -> np.ndarray:
    return np.log2(PUZZLE_TOKENS + np.maximum(tokens, 1 - PUZZLE_TOKENS))


def _from_doublings(doublings: np.ndarray) -> np.ndarray:
    return np.exp2(doublings) - PUZZLE_TOKENS
