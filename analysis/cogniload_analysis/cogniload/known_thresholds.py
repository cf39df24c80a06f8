"""Which thresholds of a model are known, in its report and wherever else they are printed.

A threshold is the level of a load at which half of the puzzles are solved. It is known only if its
load matters to the model (`cogniload_analysis.matters`), and never at chance.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from cogniload_analysis.cogniload.capacity.curve import Capacity, Link
from cogniload_analysis.cogniload.capacity.design import estimate_capacity
from cogniload_analysis.cogniload.capacity.goodness_of_fit import covers_grid
from cogniload_analysis.cogniload.glm import LoadGLM, fit_soundly
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.cogniload.thresholds import UNKNOWN, LoadMeans, Threshold, Thresholds
from cogniload_analysis.matters import is_at_chance, load_effects

LOAD_OF = {"ECL50": "N", "NT50": "rho", "ID50": "d"}
"""Which load each threshold is a level of."""

AT_CHANCE = "it solves no more puzzles than guesses would"
RISES = "accuracy rises with"


def fit_run(frame: pd.DataFrame, capacity: Capacity | None = None) -> tuple[LoadGLM, Capacity]:
    """Return the GLM and the capacity of one model's responses, with what is known of them alone.

    `frame` has one row per response: d, N, rho (a fraction) and correct; and if it is there, the
    puzzle's id and the chance of a guess. An adaptive run has a `capacity` of its own.
    """
    if "id" not in frame:
        frame = frame.assign(id=range(len(frame)))
    own = capacity or estimate_capacity(frame)
    glm = replace(fit_soundly(frame), unknown=explain_unknown(frame))
    if capacity is None and frame["id"].is_unique:
        glm = replace(glm, correlation=own.correlation)
    return glm, hide_unknown_crossings(own, glm.unknown)


def explain_unknown(frame: pd.DataFrame) -> dict[str, str]:
    """Return why each threshold is unknown, by name; those whose load matters are left out."""
    if "chance" not in frame:
        frame = frame.assign(chance=Link(floor=1).bottom(frame["d"].to_numpy()))
    if is_at_chance(frame, LOADS):
        return dict.fromkeys(LOAD_OF, AT_CHANCE)
    effects = load_effects(frame, LOADS)
    matter = {effect.load.name for effect in effects if effect.matters}
    rising = {effect.load.name for effect in effects if effect.rises}
    return {
        name: f"{RISES if load in rising else 'accuracy is not known to change with'} {load}"
        for name, load in LOAD_OF.items()
        if load not in matter
    }


def projections(glm: LoadGLM, means: LoadMeans | None = None) -> Thresholds:
    """Return what is known of a GLM's thresholds; nothing if its cells are no grid.

    A few lines through the loads are no grid, and have no projection. `means` as for
    `LoadGLM.thresholds`; where these can't be taken, the note says why.
    """
    if not covers_grid(glm.cells):
        return Thresholds(*3 * [Threshold(note="the cells are no grid")])
    try:
        return Thresholds(**hide_unknown(vars(glm.thresholds(means)), glm.unknown))
    except ValueError as error:
        return Thresholds(*3 * [Threshold(note=str(error))])


def hide_unknown(
    thresholds: Mapping[str, Threshold], unknown: Mapping[str, str]
) -> dict[str, Threshold]:
    """Return thresholds by name, without the values of the `unknown` ones."""
    return {
        name: Threshold(status=UNKNOWN, note=unknown[name])
        if name in unknown and not math.isnan(at.value)
        else at
        for name, at in thresholds.items()
    }


def hide_unknown_crossings(capacity: Capacity, unknown: Mapping[str, str]) -> Capacity:
    """Return a capacity without the crossings that are unknown.

    Those whose interval passes both ends of the tested loads, and the `unknown` ones, unless they
    lie beyond one end, which a load that doesn't matter allows.
    """
    hidden: dict[str, Any] = {}
    for name in (*LOAD_OF, "ECL80", "ECL90"):
        at, (least, most) = getattr(capacity, name), tested_ends(capacity, name)
        why = unknown.get(name if name in LOAD_OF else "ECL50", "")
        passes, inside = at.low < least and at.high > most, least <= at.value <= most
        if passes or why.startswith((AT_CHANCE, RISES)) or (why and inside):
            hidden[name] = Threshold(status=UNKNOWN)
    return replace(capacity, **hidden)


def tested_ends(capacity: Capacity, threshold: str) -> tuple[float, float]:
    """Return the least and the largest load that a design can ask, where a crossing is known."""
    ends = {"ID50": capacity.asked_d, "NT50": (0, 1)}
    return ends.get(threshold, capacity.asked_N)


def inside_crossings(capacity: Capacity) -> dict[str, Threshold]:
    """Return the crossings by name, for numbers without a sign: those beyond the loads are none."""
    crossings = {}
    for name in LOAD_OF:
        (least, most), at = tested_ends(capacity, name), getattr(capacity, name)
        beyond = not math.isnan(at.value) and not least <= at.value <= most
        outside = Threshold(status=UNKNOWN, note=f"beyond the {least:g} to {most:g} of the puzzles")
        crossings[name] = outside if beyond else at
    return crossings
