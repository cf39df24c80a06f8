"""What is known of one model: every page, terminal, comparison and harness asks the same object.

A threshold is the level of a load at which half of the puzzles are solved. It is known only if its
load matters to the model (`cogniload_analysis.matters`), and never at chance: where accuracy falls
with no load by more than chance explains, a fit still crosses one half somewhere, by luck. A length
such as ECL50 also takes enough puzzles and an interval that is not too wide (`Fitted.show_length`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from cogniload_analysis.adaptive.design import flag_drift
from cogniload_analysis.cogniload import glm_thresholds as th
from cogniload_analysis.cogniload.capacity.capacity_design import (
    believe,
    tell_capacity,
    tested_loads,
)
from cogniload_analysis.cogniload.capacity.curve import Belief, Capacity, Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import covers_grid
from cogniload_analysis.cogniload.glm import LoadGLM, fit_load_glm
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.matters import LoadEffect, is_at_chance, load_effects
from cogniload_analysis.samples.stop_reasons import ending_table
from cogniload_analysis.stats import beyond, half_width
from cogniload_analysis.words import say

PROJECTION, CROSSING = "projection", "crossing"
"""The two meanings of a threshold (docs/glm_fit.md): the paper's GLM's, and the model's own."""

LOAD_OF = {"ECL50": "N", "NT50": "rho", "ID50": "d"}
"""Which load each threshold is a level of."""

ENOUGH, WIDEST = 100, 1.0
"""A length takes so many puzzles, and an interval of at most ±100 %: times or over 2."""

REACH = 4
"""How far beyond the N of the puzzles, as a factor, a projection is printed."""

_AT_CHANCE = "it solves no more puzzles than guesses would"
_RISES = "accuracy rises with"


@dataclass(eq=False)
class Fitted:
    """One model's responses, and what follows from them, each computed once, when it is asked for.

    `responses` has one row per response: d, N, rho (a fraction) and correct; and if they are known,
    the puzzle's id and the chance of a guess. An adaptive run has an `estimate` of its own. Raises
    ValueError as `fit_load_glm` does.
    """

    responses: pd.DataFrame
    estimate: Capacity | None = None

    def __post_init__(self) -> None:
        if "id" not in self.responses:
            self.responses = self.responses.assign(id=range(len(self.responses)))
        if "chance" not in self.responses:
            chance = Link(floor=1).bottom(self.responses["d"].to_numpy())
            self.responses = self.responses.assign(chance=chance)

    @cached_property
    def effects(self) -> list[LoadEffect]:
        """What each load that varies does to accuracy."""
        return load_effects(self.responses, LOADS)

    @cached_property
    def at_chance(self) -> bool:
        """Whether it solves no more puzzles than guesses would."""
        return is_at_chance(self.responses, LOADS)

    @cached_property
    def unknown(self) -> dict[str, str]:
        """Why each threshold is unknown, by name; those whose load matters are left out."""
        if self.at_chance:
            return dict.fromkeys(LOAD_OF, _AT_CHANCE)
        matter = {effect.load.name for effect in self.effects if effect.matters}
        rising = {effect.load.name for effect in self.effects if effect.rises}
        return {
            name: f"{_RISES if load in rising else 'accuracy is not known to change with'} {load}"
            for name, load in LOAD_OF.items()
            if load not in matter
        }

    @cached_property
    def endings(self) -> "pd.Series[Any]":
        """How the responses ended: the row of `ending_table`."""
        return ending_table(self.responses).iloc[0]

    def show_length(self, at: th.Threshold, least: float, most: float) -> th.Threshold:
        """Return a length such as ECL50, without its value if the puzzles leave it open.

        It is known if there are ENOUGH puzzles and its interval is no wider than WIDEST, or if the
        whole interval lies beyond an end of the N that are printed, `least` and `most`. An adaptive
        run measures to the target that was set, so its own estimate holds whatever the target.
        """
        puzzles = self.responses["id"].nunique()
        if self.estimate or math.isnan(at.value) or at.low > most or at.high < least:
            return at
        if puzzles >= ENOUGH and half_width(at.low, at.high) <= WIDEST:
            return at
        low, high = (beyond(end, least, most) or f"{end:.0f}" for end in (at.low, at.high))
        note = say("too_wide", puzzles=puzzles, low=low, high=high)
        return th.Threshold(status=th.UNKNOWN, note=note)

    @property
    def printed_N(self) -> tuple[float, float]:
        """Between which N a projection is printed."""
        return self.responses["N"].min() / REACH, self.responses["N"].max() * REACH

    @cached_property
    def likeliest(self) -> LoadGLM:
        """The GLM by maximum likelihood, whose errors take responses as independent."""
        return fit_load_glm(self.responses)

    @cached_property
    def glm(self) -> LoadGLM:
        """The GLM in the way that the responses allow.

        Standard errors are clustered if puzzles repeat, and the fit is penalised if right and wrong
        answers are separated. Of single answers, thresholds allow for those of a cell being alike.
        Its `unknown` thresholds are those of `Fitted.unknown`, and an ECL50 that is left open.
        """
        puzzles, responses = self.responses["id"].nunique(), len(self.responses)
        glm = self.likeliest
        if 1 < puzzles < responses:
            glm = fit_load_glm(self.responses, clustered=True)
        if "beta_0" in glm.problems:
            penalised = fit_load_glm(self.responses, penalised=True)
            glm = glm if "beta_0" in penalised.problems else penalised
        alike = self.estimate is None and puzzles == responses
        glm = replace(glm, correlation=self.belief.correlation if alike else 0.0)
        at = self.show_length(project(glm).ECL50, *self.printed_N)
        left_open = {"ECL50": at.note} if at.status == th.UNKNOWN else {}
        return replace(glm, unknown=left_open | self.unknown)

    @cached_property
    def belief(self) -> Belief:
        """What the responses say of the curve."""
        return believe(self.responses)

    @cached_property
    def capacity(self) -> Capacity:
        """The capacity, without the crossings that are unknown.

        These are those whose interval passes both ends of the tested loads, and those that are
        `unknown`, unless they surely lie beyond one end, which a load that doesn't matter allows.
        """
        capacity = self.estimate or tell_capacity(self.belief)
        hidden: dict[str, Any] = {}
        for name in (*LOAD_OF, "ECL80", "ECL90"):
            at, (least, most) = getattr(capacity, name), tested_ends(capacity, name)
            why = self.unknown.get(name if name in LOAD_OF else "ECL50", "")
            passes, touches = at.low < least and at.high > most, at.low <= most and at.high >= least
            if passes or why.startswith((_AT_CHANCE, _RISES)) or (why and touches):
                hidden[name] = th.Threshold(status=th.UNKNOWN)
            elif name not in ("NT50", "ID50"):
                hidden[name] = self.show_length(at, least, most)
        return replace(capacity, **hidden)

    @cached_property
    def is_projected(self) -> bool:
        """Whether its thresholds are projections; of lines, and at loads of its own, crossings."""
        at = self.estimate.at if self.estimate else tested_loads(self.belief.answers)[2]
        return covers_grid(self.likeliest.cells) and at == th.PAPER_MEANS

    @cached_property
    def meaning(self) -> str:
        """Which ECL50 is reported: the projection, or the crossing without one."""
        known = self.is_projected and not math.isnan(self.projections.ECL50.value)
        return PROJECTION if known else CROSSING

    @property
    def thresholds(self) -> dict[str, th.Threshold]:
        """The thresholds that headlines, comparisons and harnesses report, by name."""
        ECL50 = self.projections if self.meaning == PROJECTION else self.capacity
        others = self.projections if self.is_projected else self.capacity
        return {name: getattr(ECL50 if name == "ECL50" else others, name) for name in LOAD_OF}

    @cached_property
    def projections(self) -> th.Thresholds:
        """The known thresholds of the GLM, at the means of the loads."""
        return project(self.glm)

    @cached_property
    def flags(self) -> list[str]:
        """What a reader of the estimates should know; an adaptive run says it elsewhere."""
        rows = self.responses
        if self.estimate or not rows["id"].is_unique:
            return []
        loads = [load.name for load in LOADS]
        return [*self.capacity.flags, *flag_drift(rows[loads], rows["correct"])]


def project(glm: LoadGLM, means: th.LoadMeans | None = None) -> th.Thresholds:
    """Return what is known of a GLM's thresholds; nothing if its cells are no grid.

    A few lines through the loads are no grid, and have no projection. `means` as for
    `LoadGLM.thresholds`; where these can't be taken, the note says why.
    """
    if not covers_grid(glm.cells):
        return th.Thresholds(*3 * [th.Threshold(note="the cells are no grid")])
    try:
        return th.Thresholds(**hide_unknown(vars(glm.thresholds(means)), glm.unknown))
    except ValueError as error:
        return th.Thresholds(*3 * [th.Threshold(note=str(error))])


def hide_unknown(
    thresholds: Mapping[str, th.Threshold], unknown: Mapping[str, str]
) -> dict[str, th.Threshold]:
    """Return thresholds by name, without the values of the `unknown` ones."""
    return {
        name: th.Threshold(status=th.UNKNOWN, note=unknown[name])
        if name in unknown and not math.isnan(at.value)
        else at
        for name, at in thresholds.items()
    }


def tested_ends(capacity: Capacity, threshold: str) -> tuple[float, float]:
    """Return the least and the largest load that a design can ask, where a crossing is known."""
    ends = {"ID50": capacity.asked_d, "NT50": (0, 1)}
    return ends.get(threshold, capacity.asked_N)
