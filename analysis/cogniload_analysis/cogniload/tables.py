"""Stage 4: the paper's tables: the raw numbers of each, and how it is set in print."""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity import goodness_of_fit
from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.goodness_of_fit import covers_grid
from cogniload_analysis.cogniload.glm import (
    INTERACTIONS,
    TERMS,
    InteractionGLM,
    LoadGLM,
    RhoComparison,
)
from cogniload_analysis.cogniload.known_thresholds import LOAD_OF, projections, tested_ends
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.cogniload.ranking import CROSSING, PROJECTION, show_ranks
from cogniload_analysis.cogniload.thresholds import (
    PAPER_MEANS,
    Threshold,
    Thresholds,
)
from cogniload_analysis.display import cells
from cogniload_analysis.display.print import accuracy_columns, count_outcomes, describe_tokens
from cogniload_analysis.display.tables import load_columns, read_tables
from cogniload_gen.cogniload.score import Outcome

TESTED = ("min_tested", "max_tested")
DECIMALS = {"ECL50": 1, "NT50": 2, "ID50": 2}
# The columns of Tables 4 and 5, in the paper's order.
WRONG_OUTCOMES = {
    "ctx": Outcome.WRONG_MAX_CONTEXT,
    "valid_logic": Outcome.WRONG_LOGIC,
    "poi_logic": Outcome.WRONG_LOGIC_POI,
    "last_logic": Outcome.WRONG_LOGIC_LAST_SENTENCE,
    "other": Outcome.WRONG_OTHER,
}
SYMBOLS = {"χ²": r"$\chi^2$", "ρ²": r"$\rho^2$", "ρ": r"$\rho$"}
"""What LaTeX sets for symbols anywhere."""


def show_threshold(meaning: str, name: str, value: float, least: float, most: float) -> str:
    """Set a threshold: a crossing is known within a range, a projection goes as far as its line."""
    if meaning == PROJECTION:
        return cells.set_number(value, DECIMALS[name])
    return cells.within(value, DECIMALS[name], least, most)


def show_ends(meaning: str, name: str, low: float, high: float, least: float, most: float) -> str:
    """Set the interval of a threshold."""
    if math.isnan(low):
        return cells.MISSING
    return " to ".join(show_threshold(meaning, name, end, least, most) for end in (low, high))


def show_estimate(*values: Any) -> str:
    """Set a threshold, or its status where it is missing."""
    *threshold, status = values
    shown = show_threshold(*threshold)
    return status if shown == cells.MISSING else shown


def show_method(value: float, method: Any) -> str:
    """Set how the interval of a threshold was computed."""
    return cells.MISSING if math.isnan(value) else cells.words(method)


def show_NT50(value: float, status: str) -> str:
    """Set the projection of NT50; a missing one has the side of 50 % that it stays on."""
    side = re.match("always (above|below)", status)
    return f"{cells.MISSING} ({side[1]})" if side else cells.set_number(value, DECIMALS["NT50"])


def show_tokens(*counts: float) -> str:
    """Set mean and 90th percentile of the tokens of prompts and of responses."""
    return f"P{cells.tokens(*counts[:2])} | O{cells.tokens(*counts[2:])}"


def show_p_LR(p: float) -> str:
    """Set the p of a likelihood ratio, with its stars."""
    return cells.form("{:.3g}")(p) + cells.stars(p)


def show_d(d: float) -> str:
    """Set the heading of a level of d."""
    return f"d = {d:g}"


def outcome_table(frame: pd.DataFrame, knob: str) -> pd.DataFrame:
    """Return the count of each wrong outcome by model and level of `knob`, "d" or "N".

    The columns are those of the published Tables 4 and 5; the accuracy is not rounded. Appendix E.
    """
    counts = count_outcomes(frame, "model", knob)
    samples = counts.sum(axis=1)
    wrong = counts[list(WRONG_OUTCOMES.values())].set_axis(list(WRONG_OUTCOMES), axis=1)
    # The product comes first: a half is then exact, and rounds to even as in the paper.
    accuracy = 100 * (samples - wrong.sum(axis=1)) / samples
    columns = {"samples": samples, "accuracy_percent": accuracy}
    return pd.concat([pd.DataFrame(columns), wrong], axis=1).reset_index()


def token_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return mean and 90th percentile of prompt and response tokens by model, N and d.

    Cells without any counts are left out. Appendix H.
    """
    return describe_tokens(frame, "model", "N", "d").dropna(how="all").reset_index()


def glm_table(glms: dict[str, LoadGLM]) -> pd.DataFrame:
    """Return the coefficients and thresholds of each model's `LoadGLM`, by model. Table 2.

    The thresholds are projections: NaN where the cells are no grid.
    """
    rows = []
    for model, glm in glms.items():
        coefficients = {"": glm.params, "_se": glm.bse, "_p": glm.pvalues}
        coefficients |= {f"_{end}": values for end, values in glm.conf_int().items()}
        row = {"model": model, "estimator": glm.estimator, "responses": glm.nobs, "AIC": glm.aic}
        row |= {"cells": len(glm.cells), "cells_all_right": glm.cells["failures"].eq(0).sum()}
        row |= {"cells_all_wrong": glm.cells["successes"].eq(0).sum()}
        for term in TERMS:
            row |= {term + suffix: values[term] for suffix, values in coefficients.items()}
        thresholds = projections(glm)
        row |= {name: getattr(thresholds, name).value for name in LOAD_OF}
        row |= {"NT50_status": thresholds.NT50.status}
        rows.append(row | {"problems": "; ".join(dict.fromkeys(glm.problems.values()))})
    return pd.DataFrame(rows)


def threshold_table(
    glms: Mapping[str, LoadGLM], capacities: Mapping[str, Capacity]
) -> pd.DataFrame:
    """Return each model's projections and crossings, with interval, method and note, a row each.

    Models whose cells are no grid have no projections. The other loads are at the means of the
    cells for a projection, and at those of the paper's grid for a crossing.
    """
    rows = []
    for model, glm in glms.items():
        known = capacities[model]
        meanings: dict[str, Thresholds | Capacity] = {CROSSING: known}
        if covers_grid(glm.cells):
            meanings = {PROJECTION: projections(glm), CROSSING: known}
        for meaning, at in meanings.items():
            for name, load in LOAD_OF.items():
                levels = glm.cells[load]
                projected = meaning == PROJECTION
                ends = (levels.min(), levels.max()) if projected else tested_ends(known, name)
                row = {"model": model, "threshold": name, "meaning": meaning}
                row |= vars(getattr(at, name))
                rows.append(row | dict(zip(TESTED, ends, strict=True)))
    return pd.DataFrame(rows)


def name_ends(name: str, threshold: Threshold) -> dict[str, float]:
    """Return a threshold and the ends of its interval, in columns that begin with a name."""
    ends = {f"{name}_low": threshold.low, f"{name}_high": threshold.high}
    return {name: threshold.value} | ends


def meaning_table(glms: Mapping[str, LoadGLM], capacities: Mapping[str, Capacity]) -> pd.DataFrame:
    """Return both meanings of each model's thresholds at the means of the paper's grid.

    Columns: model, threshold, crossing, crossing_low, crossing_high, projection, projection_low,
    projection_high, min_tested and max_tested (between which a crossing is known), difference (of
    the crossing from the projection: a share of ECL50, else in the threshold's unit),
    difference_low, difference_high and note (why there is no projection). NaN where there is none;
    a crossing outside has no difference. The interval of the difference takes both thresholds for
    independent (Donner and Zou 2012), so it is too wide rather than too narrow: the same answers
    give both.
    """
    rows = []
    for model, glm in glms.items():
        thresholds = projections(glm, PAPER_MEANS)
        for name in LOAD_OF:
            crossing, projection = (getattr(of, name) for of in (capacities[model], thresholds))
            row: dict[str, float | str] = {"model": model, "threshold": name}
            row |= name_ends(CROSSING, crossing) | name_ends(PROJECTION, projection)
            low, high = tested_ends(capacities[model], name)
            inside = low <= crossing.value <= high
            names = "difference", "difference_low", "difference_high"
            apart = (
                subtract(crossing, projection, ratio=name == "ECL50") if inside else 3 * [np.nan]
            )
            row |= {"min_tested": low, "max_tested": high} | dict(zip(names, apart, strict=True))
            rows.append(row | {"note": "" if covers_grid(glm.cells) else "no grid"})
    return pd.DataFrame(rows)


def subtract(first: Threshold, second: Threshold, *, ratio: bool) -> list[float]:
    """Return the first threshold less the second, and the ends of the 95 % interval, by its own.

    A `ratio` is the first over the second, less one. NaN where a threshold or an end is missing.
    """
    ends = np.array([[at.value, at.low, at.high] for at in (first, second)])
    with np.errstate(all="ignore"):
        (value, low, high), (other, other_low, other_high) = np.log(ends) if ratio else ends
        down = np.hypot(value - low, other_high - other)
        up = np.hypot(high - value, other - other_low)
        differences = value - other + np.array([0, -down, up])
        differences = np.expm1(differences) if ratio else differences
    return np.where(np.isfinite(differences), differences, np.nan).tolist()


def show_difference(threshold: str, difference: float) -> str:
    """Set the difference of the crossing from the projection, with its sign."""
    if threshold == "ECL50":
        return cells.signed_percent(difference)
    return cells.MISSING if math.isnan(difference) else f"{difference:+.2f}"


def show_difference_ends(threshold: str, low: float, high: float) -> str:
    """Set the interval of a difference."""
    ends = [show_difference(threshold, end) for end in (low, high)]
    return cells.MISSING if math.isnan(low) and math.isnan(high) else " to ".join(ends)


def fit_table(glms: Mapping[str, LoadGLM]) -> pd.DataFrame:
    """Return how well each model's GLM fits, by model.

    Columns: model, miss (points), where, sampling_error (points), and those of `compare_fits`.
    """
    rows = []
    for model, glm in glms.items():
        fit = goodness_of_fit.goodness_of_fit(glm)
        row = {name: getattr(fit, name) for name in ("miss", "where", "sampling_error")}
        rows.append({"model": model} | row | goodness_of_fit.compare_fits(glm))
    return pd.DataFrame(rows)


def aic_table(comparisons: dict[str, RhoComparison]) -> pd.DataFrame:
    """Return each model's `RhoComparison`, by model. Table 6."""
    return pd.DataFrame([{"model": model} | vars(fits) for model, fits in comparisons.items()])


def interaction_table(interactions: dict[str, InteractionGLM]) -> pd.DataFrame:
    """Return each model's `InteractionGLM`, by model. Table 3."""
    rows = []
    for model, fit in interactions.items():
        row = {"model": model}
        for term in INTERACTIONS:
            row |= {term: fit.params[term], term.replace("beta", "p"): fit.p_LR[term]}
        rows.append(row | {"problem": fit.problem})
    return pd.DataFrame(rows)


TABLES = read_tables(
    "cogniload",
    *(show_threshold, show_ends, show_estimate, show_method, show_NT50, show_tokens, show_d),
    *(show_ranks, show_difference, show_difference_ends, show_p_LR),
    loads=load_columns(LOADS),
    accuracy=accuracy_columns(LOADS),
)
