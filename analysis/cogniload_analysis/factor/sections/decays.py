"""The decay of accuracy with N: each model's fits in numbers and words, and its curves."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display.figures import (
    FAINT,
    Figure,
    Panel,
    Series,
    Values,
    shorten_name,
)
from cogniload_analysis.display.tables import (
    MISSING,
    Columns,
    Table,
    interval,
    number,
    percent,
    set_number,
    text,
)
from cogniload_analysis.factor.decay import (
    ACCURACY_RANGES,
    CONDITION,
    ComplexityDecay,
    Condition,
    Method,
    by_condition,
    fit_complexity_decay,
)
from cogniload_analysis.factor.loads import (
    COMPLEXITY,
    CONDITIONS,
    UNITS,
    describe_condition,
    label_context,
)
from cogniload_analysis.stats import wilson_interval

Decays = Mapping[Condition, ComplexityDecay]
TICKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1)


def fit_decays(
    frame: pd.DataFrame,
    method: Method = "likelihood",
    *,
    accuracy_range: tuple[float, float] = ACCURACY_RANGES["pretrained"],
) -> Decays:
    """Fit the decay of every (model, suite, context, noise), and return the fits by these."""
    return {
        condition: fit_complexity_decay(rows, method, accuracy_range=accuracy_range)
        for condition, rows in by_condition(frame)
    }


def decay_table(decays: Decays) -> pd.DataFrame:
    """Return each fit with its 95 % intervals, and the mean accuracy over its N (Figure 1b)."""
    rows = []
    for condition, decay in decays.items():
        row: dict[str, Any] = dict(zip(CONDITION, condition, strict=True))
        row["mean_accuracy"] = decay.points["accuracy"].mean()
        ends = decay.conf_int()
        for name, value in (("CDF", decay.cdf), ("CDO", decay.cdo), ("N_eff", decay.n_eff)):
            low, high = ends.loc[name]
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        N, used = decay.points["N"], decay.points["N"][decay.points["used"]]
        rows.append(
            row
            | {"method": decay.method, "rsquared": decay.rsquared, "N_used": len(used)}
            | {"first_N": used.min(), "last_N": used.max()}
            | {"floor": decay.floor, "lapses": decay.lapses}
            | {"N_tested": len(N), "min_N": N.min(), "max_N": N.max()}
            | {"problem": decay.problems.get("CDF", "")}
            | {"N_eff_problem": decay.problems.get("N_eff", ""), "note": decay.note}
        )
    return pd.DataFrame(rows)


# --- The fits in print ---------------------------------------------------------------------------


def mark_n_eff(n_eff: float, cdo: float) -> str:
    """Set an N_eff, with a dagger if it has no meaning, as the paper prints it all the same."""
    return set_number(n_eff, 2) + "†" * (cdo <= 0 and not math.isnan(n_eff))


def mark_flat(value: str, note: Any) -> str:
    """Mark a value with a double dagger where `note` warns that the line is too flat."""
    return value + "‡" * bool(text(note))


def percent_of_fit(share: float, cdf: float) -> str:
    """Set a share that a fit knows in percent; a dash where there is no fit."""
    return MISSING if math.isnan(cdf) else percent(share)


N_EFF: Columns = {"N_eff, CDO": ("Neff", mark_n_eff)}
NOTE: Columns = {"problem": "Note"}
ESTIMATES: Columns = {
    **CONDITIONS,
    "mean_accuracy": ("Mean acc", number(3)),
    "CDF": ("CDF", number(4)),
    "CDF_low, CDF_high": ("CDF, 95 %", interval(4)),
    "CDO": ("CDO", number(3)),
    "CDO_low, CDO_high": ("CDO, 95 %", interval(3)),
    **N_EFF,
    "N_eff_low, N_eff_high": ("Neff, 95 %", interval(2)),
}


def tabulate_fits(fits: pd.DataFrame, least_squares: pd.DataFrame) -> list[Table]:
    """Return the tables of the fits by both methods."""
    return [
        Table(
            "factor_decay",
            fits,
            "Complexity decay by the likelihood: ln(accuracy) = CDF × N + CDO over a window of N, "
            "without what is guessed (the floor) or lost at any N (lapses), with 95 % intervals; "
            "unbounded: the data leave that end open. † No meaning, as the CDO is not positive.",
            {
                **ESTIMATES,
                "N_used, first_N, last_N": (
                    "Window",
                    lambda used, first, last: f"{first:g}–{last:g}" if used else MISSING,
                ),
                "floor, CDF": ("Floor [%]", percent_of_fit),
                "lapses, CDF": ("Lapses [%]", percent_of_fit),
                "problem, note": ("Note", lambda problem, note: text(problem) or text(note)),
            },
        ),
        Table(
            "factor_least_squares",
            least_squares,
            "The same by least squares, the paper's method, for its tables. ‡ Some N between those "
            "used have accuracies below the range: the line is too flat.",
            {
                **ESTIMATES,
                "rsquared": ("R²", number(3)),
                "N_used, N_tested, note": (
                    "N used",
                    lambda used, tested, note: mark_flat(f"{used} of {tested}", note),
                ),
                **NOTE,
            },
        ),
    ]


# --- The fits in words ---------------------------------------------------------------------------


def say_capacity(row: Mapping[Any, Any]) -> str:
    """Say in a headline what a model carries, by a row of `decay_table`."""
    where, unit = describe_condition(row), UNITS[row["suite"]]
    if problem := row["problem"] or row["N_eff_problem"]:
        return f"{where}, Neff is not determined, as {problem}."
    carries = f"it carries {row['N_eff']:.1f} {unit}s before accuracy falls"
    return f"{where}, {carries}: Neff{_say_ends(row)}."


def say_decay(row: Mapping[Any, Any]) -> str:
    """Say a row of `decay_table` in words."""
    where, unit = describe_condition(row), UNITS[row["suite"]]
    if row["problem"]:
        return f"{where}: no decay can be fitted, as {row['problem']}."
    percent = 100 * math.expm1(row["CDF"])
    start = ""
    if row["CDF"] < 0:
        if row["CDO"] <= 0:
            start = f", from the outset: the line begins at {100 * math.exp(row['CDO']):.0f} %"
        elif not row["N_eff_problem"]:
            start = f", from about {row['N_eff']:.1f} {unit}s on (Neff{_say_ends(row)})"
        start += (
            f". The window is N = {row['first_N']:g} to {row['last_N']:g}; "
            f"{100 * row['floor']:.1f} % are taken for guessed, {100 * row['lapses']:.1f} % for "
            "lapses"
        )
    careful = f". Careful: {row['note']}" if row["note"] else ""
    return (
        f"{where}: accuracy {'falls' if percent < 0 else 'rises'} by {abs(percent):.1f} % with "
        f"each further {unit} (CDF {row['CDF']:.4f}, 95 % interval {row['CDF_low']:.4f} to "
        f"{row['CDF_high']:.4f}){start}{careful}."
    )


def _say_ends(row: Mapping[Any, Any]) -> str:
    low, high = row["N_eff_low"], row["N_eff_high"]
    known = not math.isnan(low) and math.isfinite(high)
    # a lower end below 0 has no meaning
    return f", 95 % interval {max(low, 0):.1f} to {high:.1f}" if known else ""


# --- The paper's figures 1, 3 and 4 --------------------------------------------------------------


def draw_model(decays: Decays, name: str) -> Figure:
    """Draw the accuracies of one model in one suite by N, one series per context, and the fits.

    Figures 1a and 1c.
    """
    model, suite = next(iter(decays))[:2]
    labels = {condition: label_context(*condition[2:]) for condition in decays}
    caption = f"Accuracy of {model} by N ({suite} suite), by context; and the fits."
    return Figure(name, caption, [accuracy_panel(decays, labels), log_panel(decays, labels)])


def draw_suite(suite: str, decays: Decays, fits: pd.DataFrame) -> list[Figure]:
    """Draw the paper's figures of one suite, from its fits and its rows of `decay_table`."""
    shortest = _shortest(decays)
    models = {condition: condition[0] for condition in shortest}
    drawn = [
        draw_mean_accuracy(fits),
        Figure(
            f"factor_figure_1c_{suite}",
            f"Models at their shortest context ({suite} suite): accuracy by N, and the fits.",
            [accuracy_panel(shortest, models), log_panel(shortest, models)],
        ),
        draw_two_phases(decays),
    ]
    return [*drawn, draw_realistic(decays, fits)] if suite == "realistic" else drawn


def draw_mean_accuracy(fits: pd.DataFrame) -> Figure:
    """Draw the accuracy of each model averaged over N, by context; the best first. Figure 1b.

    `fits` are `decay_table`'s rows of one suite.
    """
    suite = fits["suite"].iloc[0]
    best = fits.groupby("model")["mean_accuracy"].max().sort_values()
    places = pd.Series(range(len(best)), best.index)
    series = [
        Series(
            label_context(context, noise),
            rows["mean_accuracy"],
            places[rows["model"]],
            joined=False,
        )
        for (context, noise), rows in fits.groupby(["context", "noise"])
    ]

    def finish(axes: Any) -> None:
        axes.set_yticks(places, best.index.map(shorten_name))
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.7, len(best) - 0.3))

    panel = Panel(series, "Accuracy, mean over N", "", finish=finish)
    caption = f"Accuracy averaged over N ({suite} suite), by context."
    return Figure(f"factor_figure_1b_{suite}", caption, [panel], height=1.1 + 0.22 * len(best))


def draw_two_phases(decays: Decays) -> Figure:
    """Draw the two phases of up to three models at their shortest context. Figure 3.

    The points, the curve min(1, exp(CDF N + CDO)) and, where it has a meaning, N_eff between the
    phases. The models with the most N_eff come first; `decays` holds one suite.
    """
    shortest = _shortest(decays)
    order = sorted(shortest.items(), key=lambda item: -np.nan_to_num(item[1].n_eff, nan=-np.inf))
    panels = []
    for (model, suite, *_), decay in order[:3]:
        points = decay.points
        ends = wilson_interval(points["accuracy"] * points["responses"], points["responses"])
        line = _line(decay, points["N"]) or ([], [])
        series = Series("measured, and the fit", points["N"], points["accuracy"], *ends, line)
        finish = partial(_mark_phases, decay=decay)
        panels.append(Panel([series], COMPLEXITY[suite], "Accuracy", shorten_name(model), finish))
    caption = (
        f"The two phases ({suite} suite): accuracy with its 95 % interval, the fit, and Neff where "
        "it has a meaning. Thin lines: the window's borders, and the floor."
    )
    return Figure(f"factor_figure_3_{suite}", caption, panels)


def _mark_phases(axes: Any, decay: ComplexityDecay) -> None:
    """Draw N_eff, and the borders of the window and the floor of a fit as thin lines."""
    set_accuracy(axes)
    if "CDF" not in decay.problems and decay.method == "likelihood":
        used = decay.points["N"][decay.points["used"]]
        for border in (used.min(), used.max()):
            axes.axvline(border, color=FAINT, linewidth=0.6)
        axes.axhline(decay.floor, color=FAINT, linewidth=0.6)
    if "N_eff" not in decay.problems:
        axes.axvline(decay.n_eff, color="#777777", linestyle=":")
        label, at = f"$N_{{\\mathrm{{eff}}}}$ {decay.n_eff:.1f}", (decay.n_eff, 0.02)
        axes.annotate(label, at, xytext=(3, 0), textcoords="offset points", parse_math=True)


def draw_realistic(decays: Decays, fits: pd.DataFrame) -> Figure:
    """Draw the realistic suite: models, then the best one by context and by noise. Figure 4.

    The best is the most accurate of those with the most kinds of noise.
    """
    seen = fits.groupby("model").agg(noises=("noise", "nunique"), best=("mean_accuracy", "max"))
    model = seen.sort_values(["noises", "best"], ascending=False, kind="stable").index[0]
    mine = {condition: decay for condition, decay in decays.items() if condition[0] == model}
    noises = sorted({noise for *_, noise in mine} - {"none"})
    one_noise = {"none", *noises[:1]}
    shortest, labels = _shortest(decays), {about: label_context(*about[2:]) for about in mine}
    panels = [
        log_panel(shortest, {about: about[0] for about in shortest}, "Models, shortest context"),
        accuracy_panel(
            {about: decay for about, decay in mine.items() if about[3] in one_noise},
            labels,
            "By context",
        ),
    ]
    if len(noises) > 1:
        noisy = {about: decay for about, decay in mine.items() if about[3] != "none"}
        panels.append(accuracy_panel(noisy, labels, "By noise"))
    caption = (
        f"The realistic suite: models at their shortest context; and {model} by context and, where "
        "it had several kinds, by noise."
    )
    return Figure("factor_figure_4", caption, panels, legends="inside")


def accuracy_panel(decays: Decays, labels: Mapping[Condition, str], title: str = "") -> Panel:
    """Return the panel of the accuracies of one suite by N."""
    series = [
        Series(labels[condition], decay.points["N"], decay.points["accuracy"])
        for condition, decay in decays.items()
    ]
    return Panel(series, COMPLEXITY[next(iter(decays))[1]], "Accuracy", title, set_accuracy)


def log_panel(decays: Decays, labels: Mapping[Condition, str], title: str = "") -> Panel:
    """Return the panel of the fitted accuracies, on a logarithmic axis, with their lines."""
    series = []
    for condition, decay in decays.items():
        used = decay.points[decay.points["used"]]
        used = used[used["accuracy"] > 0]  # on a logarithmic axis
        line = _line(decay, used["N"]) if len(used) else None
        series.append(Series(labels[condition], used["N"], used["accuracy"], line=line))
    lowest = min(decay.accuracy_range[0] for decay in decays.values())
    tested = pd.concat([decay.points["N"] for decay in decays.values()])
    if not any(len(line.x) for line in series):
        title = "no accuracy lies in the range"

    def finish(axes: Any) -> None:
        axes.locator_params(axis="x", integer=True, min_n_ticks=1)
        axes.set_yscale("log")
        ticks = [tick for tick in TICKS if tick >= lowest]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set(xlim=(tested.min() - 1, tested.max() + 1), ylim=(0.9 * lowest, 1.1))

    suite = next(iter(decays))[1]
    return Panel(series, COMPLEXITY[suite], "Accuracy in the fit (log scale)", title, finish)


def set_accuracy(axes: Any) -> None:
    """Set the axes of shares by N."""
    axes.locator_params(axis="x", integer=True, min_n_ticks=1)
    axes.set_ylim(-0.03, 1.03)


def _line(decay: ComplexityDecay, N: pd.Series) -> tuple[Values, Values] | None:
    """Return the line of a fit between the least and the greatest of some N; None without one."""
    if "CDF" in decay.problems:
        return None
    grid = np.linspace(N.min(), N.max(), 200)
    return grid, decay.predict(grid)


def _shortest(decays: Decays) -> Decays:
    """Return each model's fit at its shortest context."""
    shortest: dict[str, tuple[Condition, ComplexityDecay]] = {}
    for condition, decay in sorted(decays.items(), key=lambda pair: pair[0][2]):
        shortest.setdefault(condition[0], (condition, decay))
    return dict(sorted(shortest.values(), key=lambda pair: pair[0]))
