"""The rules of the adaptive design: which puzzles tell most about a model's capacity.

All cells lie on three axes through the paper's mean loads, since there no interaction of the loads
can bias a threshold. The steps: (1) candidates on the axes; (2) a prior over curves; (3) their
posterior given the answers; (4) a pilot, and then the batch that narrows the goals most;
(5) batches that grow; (6) a stop; (7) the estimate; (8) flags. Steps 2, 3 and 7 are in `curve` and
`prior`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby
from numbers import Real
from reprlib import repr as brief
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.stats import binom

from cogniload_analysis.adaptive import design
from cogniload_analysis.adaptive.design import (
    Answer,
    Batch,
    Goal,
    Interval,
    Plan,
    describe_interval,
)
from cogniload_analysis.cogniload.capacity import curve
from cogniload_analysis.cogniload.capacity.curve import Answers, Belief, Capacity, Prior
from cogniload_analysis.cogniload.capacity.prior import PriorChoice, find_prior
from cogniload_analysis.cogniload.fits.thresholds import PAPER_MEANS, Threshold
from cogniload_analysis.sentences import Sentences
from cogniload_gen.checks import check_integer

say = Sentences("capacity")

MEAN_D, OTHER_D, OTHER_D_EVERY = 5, 6, 5
"""Four puzzles of d = 5 to one of d = 6 stand for the paper's mean d of 5.2."""

MEAN_N, MEAN_RHO = 71, 50.0
ASKED_D = tuple(range(1, 11))
ASKED_RHO = tuple(float(rho) for rho in range(5, 100, 10))
ASKED_N_COUNT = 20

PILOT_SHARES = {"N": 0.6, "d": 0.2, "rho": 0.2}
PROBE_SHARE = 0.06
DESIGN_DRAWS = 64
WEIGHTS = {"ECL50": 1.0, "ID50": 0.25, "rho": 0.15}
CROSSINGS_APART = 0.10
SMOOTHED, FLAT = 3, 0.25
SURPRISE = 0.01
GUESSED = 0.05
"""Above this p, right answers are taken for guesses."""
NEAR, EASY = 2.0, 4.0
"""Failures count as near ECL50 within a factor of 2; what is 4 times shorter is easy."""


class Puzzle(NamedTuple):
    """A puzzle's place in the generator: d, N, rho (percent) and index, for one seed."""

    d: int
    N: int
    rho: float
    index: int  # type: ignore[assignment]  # the column's name in a split, not the tuple's method


Known: TypeAlias = Mapping[Puzzle, Answer]
"""Answers by puzzle."""


class Candidate(NamedTuple):
    """A place on an axis from whose cells a design takes puzzles."""

    axis: Literal["N", "d", "rho"]
    d: float
    N: int
    rho: float


@dataclass(frozen=True, eq=False)
class CapacityPlan(Plan):
    """What decides, with the answers, which puzzles a design asks.

    The target is a share of ECL50, or in units of d for ID50. `seed` is that of the draws by which
    the design weighs what it does not know yet. The others are those of `Plan`.
    """

    VERSION = "3"
    GOALS = (Goal("ECL50", relative=True), Goal("ID50", relative=False, example="±1"))
    STOP_AFTER = 192

    goal: str = "ECL50"
    target: float = 0.20
    budget: int = 1500
    N: tuple[int, int] = (10, 400)
    seed: int = 42
    prior: Prior = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("seed", self.seed, low=0, high=design.MAX_SEED)

    @property
    def extent(self) -> tuple[float, float]:
        """The range of N, or of d."""
        return self.N if self.goal == "ECL50" else (ASKED_D[0], ASKED_D[-1])

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """The places from which the design takes puzzles, but for those of dropped cells."""
        every = make_candidates(self.N)
        return tuple(place for place in every if self.dropped.isdisjoint(candidate_cells(place)))

    @cached_property
    def loads(self) -> np.ndarray:
        """The loads of the three curves, and after them those of the candidates."""
        d, N, rho = (np.array(column) for column in list(zip(*self.candidates, strict=True))[1:])
        loads = curve.make_loads(d, N, rho / 100)
        return np.concatenate([curve.curve_loads(self.N), loads])

    @cached_property
    def cells(self) -> frozenset[tuple[int, int, float]]:
        """The cells that the design can ask from."""
        return frozenset(chain.from_iterable(map(candidate_cells, self.candidates)))

    @property
    def prior_values(self) -> np.ndarray:
        """The mean and the covariance of each line, and the link that it is for."""
        return np.concatenate(
            [
                [link.floor, link.ceiling, *line.mean, *line.covariance.ravel()]
                for link, line in zip(curve.LINKS, self.prior.lines, strict=True)
            ]
        )

    @property
    def longest(self) -> tuple[Puzzle, ...]:
        """A puzzle with the largest N, and one with the largest d."""
        largest_N, largest_d = (OTHER_D, self.N[1]), (ASKED_D[-1], MEAN_N)
        return Puzzle(*largest_N, MEAN_RHO, 0), Puzzle(*largest_d, MEAN_RHO, 0)

    def asks(self, puzzle: Puzzle) -> bool:
        """Whether a puzzle is one of a cell that the design can ask from."""
        return puzzle[:3] in self.cells

    def check(self, puzzle: Sequence[float]) -> Puzzle:
        """Return a puzzle with plain numbers; ValueError for anything else."""
        try:
            d, N, rho, index = puzzle
        except (TypeError, ValueError):
            raise ValueError(f"a puzzle must be (d, N, rho, index), got {brief(puzzle)}") from None
        d = check_integer("d", d, low=1, high=12)
        N = check_integer("N", N, low=1, high=design.MAX_N)
        if not (isinstance(rho, Real) and 0 < rho <= 100):
            raise ValueError(f"rho must be a percentage above 0 and up to 100, got {brief(rho)}")
        return Puzzle(d, N, float(rho), check_integer("index", index, low=0, high=design.MAX_INDEX))

    def believe(self, answers: Known) -> Belief:
        """Return the posterior at the curves and the candidates (step 3)."""
        return curve.believe(count_cells(answers), self.loads, self.prior)

    def find_goal(self, belief: Belief) -> Interval:
        """Return the interval of ECL50 or ID50."""
        if self.goal == "ID50":
            over_d = curve.draw_accuracy(belief, curve.OVER_D)
            return curve.summarize(curve.last_crossing(curve.CURVE_D, over_d))
        over_N = curve.draw_accuracy(belief, curve.OVER_N)
        interval = curve.summarize(curve.crossings_N(over_N, self.N))
        return curve.widen(interval, belief.posteriors[0].answers)

    def choose(
        self, belief: Belief, size: int, known: int, earlier: Sequence[Puzzle]
    ) -> list[Puzzle]:
        """Return the pilot, or the puzzles that narrow the goals most (step 4)."""
        counts = (
            choose_counts(belief, self, size, known)
            if known
            else pilot_counts(self.candidates, size)
        )
        return number_puzzles(self.candidates, counts, earlier)

    def describe(self, answers: Known, batches: Sequence[Batch]) -> Capacity:
        """Return the `Capacity` that answers say, with flags and reason to stop (steps 7 and 8)."""
        capacity = curve.describe_capacity(
            count_cells(answers), self.prior, self.N, (ASKED_D[0], ASKED_D[-1])
        )
        flags = find_flags(capacity, batches, answers, self)
        return replace(capacity, flags=tuple(flags), stopped=batches[-1].stopped)

    def say(self, estimate: Capacity) -> list[str]:
        """Return ECL50, ID50 and NT50 in words, and with which probability there is an NT50."""
        NT50 = f"{describe_interval(estimate.NT50, (0, 1))}, if there is one"
        share = estimate.NT50_share
        if np.isnan(estimate.NT50.value):
            NT50 = f"none: accuracy is {estimate.NT50.status}, whatever rho"
            share = 1 - share
        return [
            f"ECL50 {describe_interval(estimate.ECL50, estimate.asked_N, ' statements')}",
            f"ID50  {describe_interval(estimate.ID50, estimate.asked_d)}",
            f"NT50  {NT50} (probability {share:.0%})",
        ]


def make_candidates(N: tuple[int, int]) -> tuple[Candidate, ...]:
    """Return the places from which a design takes puzzles, on three axes (step 1).

    The axes go through the mean loads: about 20 N from the smallest to the largest in equal ratios,
    d from 1 to 10, and rho from 5 to 95 %.
    """
    statements = sorted({round(n) for n in np.geomspace(*N, ASKED_N_COUNT)})
    return (
        *(Candidate("N", PAPER_MEANS.d, n, MEAN_RHO) for n in statements),
        *(Candidate("d", d, MEAN_N, MEAN_RHO) for d in ASKED_D),
        *(Candidate("rho", PAPER_MEANS.d, MEAN_N, rho) for rho in ASKED_RHO),
    )


def candidate_cells(candidate: Candidate) -> tuple[tuple[int, int, float], ...]:
    """Return the cells of a candidate: its own, or those of the two d that average to the mean."""
    of_d = (candidate.d,) if candidate.axis == "d" else (MEAN_D, OTHER_D)
    return tuple((int(d), candidate.N, candidate.rho) for d in of_d)


def count_cells(answers: Known) -> Answers:
    """Count answers by cell, in an order that does not depend on that of telling."""
    columns = np.array([(*puzzle[:3], answer.correct) for puzzle, answer in answers.items()])
    cells, place = np.unique(columns.reshape(-1, 4)[:, :3], axis=0, return_inverse=True)
    right = np.bincount(place.ravel(), columns.reshape(-1, 4)[:, 3], len(cells))
    loads = curve.make_loads(cells[:, 0], cells[:, 1], cells[:, 2] / 100)
    return Answers(loads, right, np.bincount(place.ravel(), minlength=len(cells)).astype(float))


def pilot_counts(candidates: Sequence[Candidate], size: int) -> np.ndarray:
    """Return how many puzzles of each candidate the pilot has, spread evenly on each axis."""
    axes = [candidate.axis for candidate in candidates]
    left, counts = size, []
    for axis, members in groupby(axes):
        share = left if axis == axes[-1] else round(size * PILOT_SHARES[axis])
        counts.append(design.spread(share, len(list(members))))
        left -= share
    return np.concatenate(counts)


def choose_counts(belief: Belief, plan: CapacityPlan, size: int, known: int) -> np.ndarray:
    """Return how many puzzles of each candidate narrow the goals most (step 4).

    The criterion is the sum of the goals' variances, each over its present one and weighted; a
    goal's gradient is averaged over posterior draws, and so is what an answer at a candidate tells
    of its logit. A few puzzles go to the easiest and the hardest N, as probes of what the curve
    assumes.
    """
    end = len(belief.loads)
    first = end - len(plan.candidates)
    draws = belief.draw(slice(0, end), DESIGN_DRAWS, (plan.seed, known))
    slope, accuracy = draws.slope, draws.accuracy
    information = np.mean(slope**2 / (accuracy * (1 - accuracy)), axis=0)[first:]
    whole = belief.best.covariance(np.arange(end))
    gradients = goal_gradients(whole, plan, accuracy, slope)
    counts = np.zeros(len(plan.candidates), int)
    last = sum(candidate.axis == "N" for candidate in plan.candidates) - 1
    counts[[0, last]] = design.spread(round(PROBE_SHARE * size), 2)
    left = int(size - counts.sum())
    toward = gradients @ whole[:, first:]
    return design.narrow(whole[first:, first:], toward, 1 / information, counts, left)


def goal_gradients(
    covariance: np.ndarray, plan: CapacityPlan, accuracy: np.ndarray, slope: np.ndarray
) -> np.ndarray:
    """Return how each goal moves with the logits, a row a draw, scaled so that weights are met.

    The trace of (rows @ covariance @ rows') is the criterion of step 4.
    """
    x = np.log10(curve.curve_N(plan.N))
    weights = WEIGHTS | {"ECL50": WEIGHTS["ID50"], "ID50": WEIGHTS["ECL50"]}
    weights = WEIGHTS if plan.goal == "ECL50" else weights
    rho = np.flatnonzero([candidate.axis == "rho" for candidate in plan.candidates])
    shown = np.zeros((len(rho), len(covariance)))
    places = len(covariance) - len(plan.candidates) + rho
    shown[np.arange(len(rho)), places] = np.sqrt(np.mean(slope[:, places] ** 2, axis=0))
    goals = {
        "ECL50": crossing_gradients(x, accuracy, slope, curve.OVER_N),
        "ID50": crossing_gradients(curve.CURVE_D, accuracy, slope, curve.OVER_D),
        "rho": shown,
    }
    scaled = (
        rows * np.sqrt(weights[goal] / np.sum((rows @ covariance) * rows))
        for goal, rows in goals.items()
    )
    return np.concatenate(list(scaled))


def crossing_gradients(
    load: np.ndarray, accuracy: np.ndarray, slope: np.ndarray, part: slice
) -> np.ndarray:
    """Return how the crossing of each draw moves with the logits on either side of it.

    `accuracy` and its `slope` by the logit are of all loads, `part` says which make the curve. A
    draw that crosses beyond the curve counts at its end.
    """
    along = accuracy[:, part]
    crossing = np.clip(curve.last_crossing(load, along), load[0], load[-1])
    left = np.clip(np.searchsorted(load, crossing, side="right") - 1, 0, len(load) - 2)
    share = (crossing - load[left]) / (load[left + 1] - load[left])
    before, after = np.maximum(left - SMOOTHED, 0), np.minimum(left + 1 + SMOOTHED, len(load) - 1)
    rows = np.arange(len(along))
    fall = np.abs(along[rows, before] - along[rows, after]) / (load[after] - load[before])
    # A draw that is nearly flat would outweigh all others.
    fall = np.maximum(fall, FLAT * np.median(fall))
    gradients = np.zeros_like(accuracy)
    for node, weight in ((left, 1 - share), (left + 1, share)):
        gradients[rows, part.start + node] = weight * slope[rows, part.start + node] / fall
    return gradients


def number_puzzles(
    candidates: Sequence[Candidate], counts: np.ndarray, earlier: Iterable[Puzzle]
) -> list[Puzzle]:
    """Return new puzzles of each candidate, as many as its count, one of each in turn.

    Indices continue after those of `earlier`. Every fifth puzzle at the mean d of 5.2 has d = 6.
    """
    used = Counter(puzzle[:3] for puzzle in earlier)
    puzzles = []
    for turn in range(counts.max(initial=0)):
        for place in np.flatnonzero(counts > turn).tolist():
            cells = candidate_cells(candidates[place])
            before = sum(used[cell] for cell in cells) + 2 * place
            cell = cells[-1] if before % OTHER_D_EVERY == OTHER_D_EVERY - 1 else cells[0]
            puzzles.append(Puzzle(*cell, used[cell]))
            used[cell] += 1
    return puzzles


def find_flags(
    capacity: Capacity, batches: Sequence[Batch], answers: Known, plan: CapacityPlan
) -> Iterable[str]:
    """Yield in words what a reader of an estimate should know (step 8)."""
    ECL50, (smallest, largest) = capacity.ECL50, plan.N
    if not answers:
        return
    inside = smallest <= ECL50.value <= largest
    at = float(np.clip(ECL50.value, smallest, largest))
    near = [
        answer.cut
        for puzzle, answer in answers.items()
        if not answer.correct and 1 / NEAR < puzzle.N / at < NEAR
    ]
    where = "ECL50" if inside else f"N = {at:g}, the nearest to ECL50,"
    yield from design.question_cut(near, where)
    if inside and abs(np.log(capacity.glm_ECL50 / ECL50.value)) > np.log1p(CROSSINGS_APART):
        yield say("bent", vars(capacity))
    if ECL50.value >= EASY * smallest:
        yield from question_shortest(ECL50.value, answers, plan)
    right, count = sum(answer.correct for answer in answers.values()), len(answers)
    chance = float(curve.Link(floor=1).bottom(np.array([puzzle.d for puzzle in answers])).mean())
    if binom.sf(right - 1, count, chance) > GUESSED:
        yield say("at_chance", right=right, count=count, chance=chance)
    if ECL50.low < smallest or ECL50.high > largest:
        yield say("outside", least=smallest, most=largest)
    yield from question_cells(capacity)
    yield from plan.question_run(answers, batches)


def question_cells(capacity: Capacity) -> Iterable[str]:
    """Yield a sentence if accuracy varies from cell to cell beyond chance and the curve."""
    if capacity.correlation:
        yield say("dispersed", vars(capacity))


def question_shortest(ECL50: float, answers: Known, plan: CapacityPlan) -> Iterable[str]:
    """Yield a sentence if more of the shortest puzzles fail than the curve of the longer ones says.

    The longer ones are those beyond ECL50: a curve through the others would follow the failures.
    """
    smallest = plan.N[0]
    shortest = {
        puzzle: answer
        for puzzle, answer in answers.items()
        if puzzle.N == smallest and puzzle.d in (MEAN_D, OTHER_D) and puzzle.rho == MEAN_RHO
    }
    belief = plan.believe({p: answer for p, answer in answers.items() if p.N > ECL50})
    belief = Belief(tuple(p for p in belief.posteriors if not p.correlation))
    place = int(np.searchsorted(curve.curve_N(plan.N), smallest))
    wrong = 1 - curve.draw_accuracy(belief, slice(place, place + 1))[:, 0]
    count = len(shortest)
    failed = count - sum(answer.correct for answer in shortest.values())
    if np.mean(binom.sf(failed - 1, count, wrong)) < SURPRISE:
        expected = count * float(np.mean(wrong))
        yield say("shortest_failed", failed=failed, count=count, N=smallest, expected=expected)


def estimate_capacity(
    frame: Mapping[str, np.ndarray] | pd.DataFrame, *, prior: PriorChoice = "published"
) -> Capacity:
    """Return the `Capacity` that one model's responses say, from any cells.

    `frame` has the columns d, N, rho (a fraction) and correct (0 or 1), or counted successes and
    failures; `prior` is "published", "vague" or a frame of earlier results. ECL50 is the crossing
    at the paper's mean loads; the plain GLM's of the same answers stands beside it.

    Raises ValueError for a column that is missing or holds other values, and for a frame without
    answers.
    """
    answers, N = _count_tested(frame)
    d = answers.loads[:, 0]
    ends = float(d.min()), float(d.max())
    capacity = curve.describe_capacity(answers, find_prior(prior), N, ends)
    return replace(capacity, flags=tuple(question_cells(capacity)))


def estimate_ECL50(frame: pd.DataFrame) -> Threshold:
    """Return `estimate_capacity`'s ECL50 alone, in half of its time."""
    answers, N = _count_tested(frame)
    belief = curve.believe(answers, curve.curve_loads(N), find_prior("published"))
    over_N = curve.draw_accuracy(belief, curve.OVER_N)
    return curve.find_ECL50(over_N, answers, N)


def _count_tested(
    frame: Mapping[str, np.ndarray] | pd.DataFrame,
) -> tuple[Answers, tuple[int, int]]:
    """Return the answers of a frame, and the smallest and the largest N; ValueError for none."""
    answers = curve.count_answers(frame)
    if not answers.n:
        raise ValueError("the frame must hold answers, got none")
    tested = 10 ** answers.loads[:, 1]
    return answers, (round(tested.min()), round(tested.max()))
