"""The thresholds of each model: the GLM of Table 2, its fit, its rivals of Tables 3 and 6.

Thresholds have two meanings, projection and crossing (`cogniload_analysis.cogniload.fitted`).
"""

import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload import glm as stage
from cogniload_analysis.cogniload.capacity import goodness_of_fit as goodness
from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.fitted import (
    CROSSING,
    LOAD_OF,
    PROJECTION,
    Fitted,
    tested_ends,
)
from cogniload_analysis.cogniload.glm_thresholds import LoadMeans, Threshold, Thresholds
from cogniload_analysis.cogniload.loads import LABELS, drawn_levels
from cogniload_analysis.cogniload.sections.accuracy import accuracy_panel, varying_loads
from cogniload_analysis.compare.paired import Difference
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.figures import CURVE, Figure, Series
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.stats import CONFIDENCE
from cogniload_analysis.words import say

DECIMALS = {"ECL50": 1, "NT50": 2, "ID50": 2}
# Below this p, a fit counts as a misfit.
_MISFIT = 0.01


def thresholds_section(
    frame: pd.DataFrame,
    overview: tb.Table,
    models: Mapping[str, Fitted],
    figures: Mapping[str, Figure],
) -> Section:
    """Return the section on the `models` that are not at chance, with `figures` of their fits."""
    thresholds = _threshold_table(models)
    content: list[Content] = [overview]
    if len(thresholds):
        formats = {"estimate": _show_estimate, "ends": _show_ends}
        content.append(tb.table("thresholds", thresholds, formats))
    for model, fitted in models.items():
        said = [_say_fit(fitted.glm), *(f"Note: {flag}." for flag in fitted.flags)]
        drawn = [figures[model]] if model in figures else []
        content.append(Section(model, [said, *_say_problems(fitted.glm), *drawn]))
    several = len(frame[list(LABELS)].drop_duplicates()) > 1
    responses = {model: fitted.responses for model, fitted in models.items() if several}
    rivals = [
        {"model": model} | vars(stage.compare_rho_terms(own)) for model, own in responses.items()
    ]
    tables = [
        tb.table("glm", glm_table(models), {"NT50": _show_NT50}),
        tb.table("aic", pd.DataFrame(rivals)),
        tb.table("interactions", _interaction_table(responses), {"p_LR": _show_p_LR}),
    ]
    shown = [table for table in tables if len(table.data)]
    content += [Section("Fits", shown or ["A model at chance has no fits."], "fits", folded=True)]
    return Section("Thresholds of each model", content, "models", folded=True)


def _say_problems(glm: stage.LoadGLM) -> list[str]:
    """Say what could not be estimated as usual, a note each."""
    notes = []
    if "Firth" in glm.estimator:
        notes.append(say("separated", estimator=glm.estimator))
    if glm.problems:
        problems = "; ".join(dict.fromkeys(glm.problems.values()))
        notes.append(f"Not everything could be estimated: {problems}.")
    return notes


# --- The GLM (Table 2) ---------------------------------------------------------------------------


def _show_NT50(value: float, status: str) -> str:
    side = re.match("always (above|below)", status)  # the side of 50 % on which it stays
    return f"{tb.MISSING} ({side[1]})" if side else tb.set_number(value, DECIMALS["NT50"])


def glm_table(models: Mapping[str, Fitted]) -> pd.DataFrame:
    """Return the coefficients and thresholds of each model's GLM, by model. Table 2.

    The thresholds are projections: NaN where the cells are no grid.
    """
    rows = []
    for model, fitted in models.items():
        glm, thresholds = fitted.glm, fitted.projections
        coefficients = {"": glm.params, "_se": glm.bse, "_p": glm.pvalues}
        coefficients |= {f"_{end}": values for end, values in glm.conf_int().items()}
        row = {"model": model, "estimator": glm.estimator, "responses": glm.nobs, "AIC": glm.aic}
        row |= {"cells": len(glm.cells), "cells_all_right": glm.cells["failures"].eq(0).sum()}
        row |= {"cells_all_wrong": glm.cells["successes"].eq(0).sum()}
        for term in stage.TERMS:
            row |= {term + suffix: values[term] for suffix, values in coefficients.items()}
        row |= {name: getattr(thresholds, name).value for name in LOAD_OF}
        row |= {"NT50_status": thresholds.NT50.status}
        rows.append(row | {"problems": "; ".join(dict.fromkeys(glm.problems.values()))})
    return pd.DataFrame(rows)


def draw_fit(model: str, fitted: Fitted, name: str) -> Figure:
    """Draw one model's accuracy by d, N and rho, and the fitted GLM through the points.

    Points and curve are averages over the other loads; the intervals are Wilson's, 95 %.
    """
    by = "by each load, averaged over the others, and the GLM that was fitted."
    glm, panels = fitted.glm, []
    for load in varying_loads(fitted.responses):
        curves = []
        if "beta_0" not in glm.problems:
            levels, accuracy = _average_prediction(glm, load)
            at = drawn_levels(levels, load)
            curves.append(Series(f"GLM, {glm.estimator}", at, accuracy, style=CURVE))
        panels.append(accuracy_panel(fitted.responses, load, confidence=CONFIDENCE, curves=curves))
    return Figure(name, f"Accuracy of {model} {by}", panels, share_y=True)


def _average_prediction(glm: stage.LoadGLM, load: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the GLM's prediction along a load, averaged over the cells that were tested."""
    cells, tested = glm.cells, glm.cells[load]
    space = np.geomspace if load == "N" else np.linspace
    levels = space(tested.min(), tested.max(), 60)
    at = {other: np.tile(cells[other], len(levels)) for other in LABELS}
    accuracy = glm.predict(**(at | {load: np.repeat(levels, len(cells))}))
    weights = cells["successes"] + cells["failures"]
    return levels, np.average(accuracy.reshape(len(levels), -1), axis=1, weights=weights)


# --- Projections and crossings -------------------------------------------------------------------


def show_threshold(meaning: str, name: str, value: float, least: float, most: float) -> str:
    """Set a threshold: a crossing is known within a range, a projection goes as far as its line."""
    if meaning == PROJECTION:
        return tb.set_number(value, DECIMALS[name])
    return tb.within(value, DECIMALS[name], least, most)


def _show_ends(meaning: str, name: str, *ends: float) -> str:
    return tb.between(partial(show_threshold, meaning, name))(*ends)


def _show_estimate(*values: Any) -> str:
    *threshold, status = values
    shown = show_threshold(*threshold)
    return status if shown == tb.MISSING else shown


def _threshold_table(models: Mapping[str, Fitted]) -> pd.DataFrame:
    """Return each model's projections and crossings, with interval, method and note, a row each.

    Models whose cells are no grid have no projections. `loads` are the other loads, in words: the
    means of the cells for a projection, and those of the capacity for a crossing.
    """
    rows = []
    for model, fitted in models.items():
        glm, known = fitted.glm, fitted.capacity
        meanings: dict[str, tuple[Thresholds | Capacity, LoadMeans]] = {CROSSING: (known, known.at)}
        if goodness.covers_grid(glm.cells):
            meanings = {PROJECTION: (fitted.projections, glm.means), **meanings}
        for meaning, (at, held) in meanings.items():
            for name, load in LOAD_OF.items():
                levels = glm.cells[load]
                ends = levels.min(), levels.max()
                if meaning == CROSSING:
                    ends = tested_ends(known, name)
                row = {"model": model, "threshold": name, "meaning": meaning}
                row |= vars(getattr(at, name)) | {"loads": held.beside(load)}
                rows.append(row | {"min_tested": ends[0], "max_tested": ends[1]})
    return pd.DataFrame(rows)


def name_ends(name: str, threshold: Threshold | Difference) -> dict[str, Any]:
    """Return an estimate and the ends of its interval, in columns that begin with a name."""
    ends = {f"{name}_low": threshold.low, f"{name}_high": threshold.high}
    return {name: threshold.value} | ends


def _say_fit(glm: stage.LoadGLM) -> str:
    """Say in words how well a GLM fits the accuracies by d, by N and by ρ."""
    fit = goodness.goodness_of_fit(glm)
    if math.isnan(fit.chi_square):
        return "Too little is known to judge the GLM's fit."
    name = "fits" if fit.p >= _MISFIT else "misfit" if fit.p < _MISFIT else "untested"
    return say(name, **vars(fit))


# --- Its rivals (Tables 6 and 3) -----------------------------------------------------------------


def _show_p_LR(p: float) -> str:
    return tb.form("{:.3g}")(p) + tb.stars(p)


def _interaction_table(responses: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the `InteractionGLM` of each model's responses, by model. Table 3."""
    rows = []
    for model, own in responses.items():
        fit, row = stage.fit_interactions(own), {"model": model}
        for term in stage.INTERACTIONS:
            row |= {term: fit.params[term], term.replace("beta", "p"): fit.p_LR[term]}
        rows.append(row | {"problem": fit.problem})
    return pd.DataFrame(rows)
