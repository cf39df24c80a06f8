"""The decay of accuracy with N: each condition's fits in a table and a sentence, and its curves."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display import figures
from cogniload_analysis.display import tables as tb
from cogniload_analysis.factor import decay, loads
from cogniload_analysis.stats import wilson_interval

_Decays = Mapping[decay.Condition, decay.ComplexityDecay]
_TICKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1)


def fit_decays(frame: pd.DataFrame, method: decay.Method = "likelihood") -> _Decays:
    """Fit the decay of every (model, suite, context, noise), and return the fits by these."""
    return {at: decay.fit_complexity_decay(rows, method) for at, rows in decay.by_condition(frame)}


def decay_table(decays: _Decays, least_squares: _Decays) -> pd.DataFrame:
    """Return each fit with its 95 % intervals, the mean accuracy over its N (Figure 1b), and the
    CDF, CDO and N_eff of the paper's least squares."""
    rows = []
    for condition, fit in decays.items():
        row: dict[str, Any] = dict(zip(decay.CONDITION, condition, strict=True))
        row["mean_accuracy"] = fit.points["accuracy"].mean()
        ends, paper = fit.conf_int(), least_squares[condition]
        for name, value in (("CDF", fit.cdf), ("CDO", fit.cdo), ("N_eff", fit.n_eff)):
            low, high = ends.loc[name]
            row |= {name: value, f"{name}_low": low, f"{name}_high": high}
        rows.append(
            row
            | {"first_N": fit.used["N"].min(), "last_N": fit.used["N"].max()}
            | {"floor": fit.floor, "lapses": fit.lapses}
            | {"paper_CDF": paper.cdf, "paper_CDO": paper.cdo, "paper_N_eff": paper.n_eff}
            | {"problem": fit.problems.get("CDF", "")}
            | {"N_eff_problem": fit.problems.get("N_eff", ""), "note": fit.note}
        )
    return pd.DataFrame(rows)


def _mark_n_eff(n_eff: float, cdo: float) -> str:
    """Set an N_eff, with a dagger if it has no meaning, as the paper prints it all the same."""
    return tb.set_number(n_eff, 2) + "†" * (cdo <= 0 and not math.isnan(n_eff))


def _percent_of_fit(share: float, cdf: float) -> str:
    """Set a share that a fit knows in percent; a dash where there is no fit."""
    return tb.MISSING if math.isnan(cdf) else tb.percent(share)


FORMATS = {
    "N_eff": _mark_n_eff,
    "fitted": _percent_of_fit,
    "notes": lambda problem, note: tb.text(problem) or tb.text(note),
}
"""The formats of tables of fits."""


def say_decay(row: Mapping[Any, Any]) -> str:
    """Say a row of `decay_table` in words."""
    where, unit = loads.describe_condition(row), loads.UNITS[row["suite"]]
    if row["problem"]:
        return f"{where}: no decay can be fitted, as {row['problem']}."
    cdf = f"CDF {row['CDF']:.4f}, 95 % interval {row['CDF_low']:.4f} to {row['CDF_high']:.4f}"
    falls = f"by {-100 * math.expm1(row['CDF']):.1f} % with each further {unit} ({cdf})"
    if not row["N_eff_problem"]:
        low, high = row["N_eff_low"], row["N_eff_high"]
        known = not math.isnan(low) and math.isfinite(high)
        # a lower end below 0 has no meaning
        ends = f", 95 % interval {max(low, 0):.1f} to {high:.1f}" * known
        first = f"accuracy holds up to {row['N_eff']:.1f} {unit}s (Neff{ends})"
        said = f"{where}, {first}, then it falls {falls}."
    elif row["CDF"] < 0 and row["CDO"] <= 0:
        said = f"{where}, accuracy falls from the outset, so there is no Neff: {falls}."
    else:
        said = f"{where}, {row['N_eff_problem']} ({cdf}), so Neff is not determined."
    return f"{said} Careful: {row['note']}." if row["note"] else said


# --- The paper's figures 1 and 4 -----------------------------------------------------------------


def draw_model(decays: _Decays, name: str) -> figures.Figure:
    """Draw the accuracies of one model in one suite by N, one series per context, and the fits."""
    model, suite = next(iter(decays))[:2]
    labels = {condition: f"context {loads.label_context(*condition[2:])}" for condition in decays}
    caption = f"Accuracy of {model} by N ({suite} suite), by context; and the fits."
    panels = [accuracy_panel(decays, labels), _log_panel(decays, labels)]
    return figures.Figure(name, caption, panels)


def draw_suite(suite: str, decays: _Decays) -> figures.Figure:
    """Draw the accuracies of the models in one suite by N, and the fits. Figure 1c."""
    shortest: dict[str, tuple[decay.Condition, decay.ComplexityDecay]] = {}
    for condition, fit in sorted(decays.items(), key=lambda pair: pair[0][2]):
        shortest.setdefault(condition[0], (condition, fit))
    fits = dict(sorted(shortest.values(), key=lambda pair: pair[0]))
    models = {condition: condition[0] for condition in fits}
    caption = f"Models at their shortest context ({suite} suite): accuracy by N, and the fits."
    panels = [accuracy_panel(fits, models), _log_panel(fits, models)]
    return figures.Figure(f"factor_{suite}_models", caption, panels)


def accuracy_panel(decays: _Decays, labels: Mapping[decay.Condition, str]) -> figures.Panel:
    """Return the panel of the accuracies of one suite by N; of a few, with 95 % intervals."""
    series, few = [], len(decays) <= figures.MOST_WITH_ENDS
    for condition, fit in decays.items():
        N, share, total = (fit.points[name] for name in ("N", "accuracy", "responses"))
        ends = wilson_interval(share * total, total) if few else ()
        series.append(figures.Series(labels[condition], N, share, *ends))

    def finish(axes: Any) -> None:
        figures.set_whole(axes)
        axes.set_ylim(-0.03, 1.03)

    return figures.Panel(series, loads.COMPLEXITY[next(iter(decays))[1]], "Accuracy", finish=finish)


def _log_panel(decays: _Decays, labels: Mapping[decay.Condition, str]) -> figures.Panel:
    """Return the panel of the fitted accuracies, on a logarithmic axis, with their lines."""
    series = []
    for condition, fit in decays.items():
        used = fit.used[fit.used["accuracy"] > 0]  # on a logarithmic axis
        line = _line(fit, used["N"]) if len(used) else None
        series.append(figures.Series(labels[condition], used["N"], used["accuracy"], line=line))
    lowest = min(fit.accuracy_range[0] for fit in decays.values())
    tested = pd.concat([fit.points["N"] for fit in decays.values()])
    title = "" if any(len(line.x) for line in series) else "no accuracy lies in the range"

    def finish(axes: Any) -> None:
        figures.set_whole(axes)
        axes.set_yscale("log")
        ticks = [tick for tick in _TICKS if tick >= lowest]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set(xlim=(tested.min() - 1, tested.max() + 1), ylim=(0.9 * lowest, 1.1))

    label, ylabel = loads.COMPLEXITY[next(iter(decays))[1]], "Accuracy in the fit (log scale)"
    return figures.Panel(series, label, ylabel, title, finish)


def _line(fit: decay.ComplexityDecay, N: pd.Series) -> tuple[figures.Values, figures.Values] | None:
    """Return the line of a fit between the least and the greatest of some N; None without one."""
    if "CDF" in fit.problems:
        return None
    grid = np.linspace(N.min(), N.max(), 200)
    return grid, fit.predict(grid)
