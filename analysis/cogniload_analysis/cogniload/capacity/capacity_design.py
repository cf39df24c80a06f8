"""The adaptive design: it asks for the puzzles that tell most about a model's capacity.

    design = AdaptiveDesign(target=0.20, budget=1500)
    while not design.done:
        puzzles = design.ask()
        design.tell(puzzles, [solve(puzzle) for puzzle in puzzles])
    print(design.estimate().ECL50)

All cells lie on three axes through the paper's mean loads, since there no interaction of the loads
can bias a threshold; at other loads, on the axis of the goal alone. The steps: (1) candidates on
the axes; (2) a prior over curves; (3) their posterior given the answers; (4) a pilot, and then the
batch that narrows the goals most; (5) batches that grow; (6) a stop; (7) the estimate; (8) flags.
Steps 2, 3 and 7 are in `curve` and `prior`, 5 and 6 in `cogniload_analysis.adaptive.design`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from operator import itemgetter
from reprlib import repr as brief
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binom

from cogniload_analysis.adaptive import design
from cogniload_analysis.adaptive.design import describe_interval
from cogniload_analysis.cogniload.capacity import curve
from cogniload_analysis.cogniload.capacity.curve import Belief, Capacity, Prior
from cogniload_analysis.cogniload.capacity.prior import find_prior
from cogniload_analysis.cogniload.glm_thresholds import PAPER_MEANS, UNKNOWN, LoadMeans, Threshold
from cogniload_analysis.stats import Interval
from cogniload_analysis.words import say
from cogniload_gen.checks import check_choice, check_integer
from cogniload_gen.cogniload import BENCHMARK
from cogniload_gen.cogniload.traces import clean_trace
from cogniload_gen.context_budget import step_of

MEAN_D, _OTHER_D = 5, 6
"""Four puzzles of d = 5 to one of d = 6 stand for the paper's mean d of 5.2."""

ASKED_D, _MOST_D = (1, 10), 12
ASKED_RHO = tuple(float(rho) for rho in range(5, 100, 10))
# N are asked in such steps, or one by one.
_STEP = 1.05

FITTED = 20, 80
"""The N by whose tokens those of longer puzzles are told."""

MAX_SEED = 2**63 - 1

# Of 64 puzzles; whole numbers, so that both ends of an axis are among them.
_PILOT_SHARES = {"N": 38, "d": 13, "rho": 13}
AXES = ("d", "N", "rho")
# Of the puzzles, for the easiest and for the hardest N.
_PROBE_SHARES = 0.03, 0.06
_DESIGN_DRAWS = 64
# The weights of the thresholds along each load for a goal along N; for ID50, N and d change places.
_WEIGHTS = {"N": 1.0, "d": 0.15, "rho": 0.08}

_CROSSINGS_APART = 0.10
_SMOOTHED, FLAT = 3, 0.25
# Above this p, right answers are taken for guesses, and failures of short puzzles for chance.
_SURPRISE = 0.05
NEAR, EASY = 2.0, 4.0
"""Failures count as near an ECL within a factor of 2; what is 4 times shorter is easy."""


class Puzzle(NamedTuple):
    """A puzzle's place in the generator: d, N, rho (percent) and index, for one seed."""

    d: int
    N: int
    rho: float
    index: int  # type: ignore[assignment]  # the column's name in a split, not the tuple's method


class _Candidate(NamedTuple):
    """A place on an axis from whose cells a design takes puzzles."""

    axis: Literal["N", "d", "rho"]
    d: float
    N: int
    rho: float

    @property
    def cells(self) -> tuple[tuple[int, int, float], ...]:
        """Its own cell, or those of the two d that average to the mean."""
        of_d = (self.d,) if self.d == int(self.d) else (MEAN_D, _OTHER_D)
        return tuple((int(d), self.N, self.rho) for d in of_d)


def make_candidates(
    N: tuple[int, int],
    at: LoadMeans = PAPER_MEANS,
    axes: Collection[str] = AXES,
    d: tuple[int, int] = ASKED_D,
) -> tuple[_Candidate, ...]:
    """Return the places from which a design takes puzzles, on axes through loads (step 1).

    They are N from the smallest to the largest in steps of 5 %, or of one, every d, and rho from 5
    to 95 %.
    """
    count = round(np.log(N[1] / N[0]) / np.log(_STEP))
    statements = sorted({round(n) for n in np.geomspace(*N, count)})
    held_d, mean_N, rho = at.d, round(10**at.log10_N), round(100 * at.rho, 9)
    every = (
        *(_Candidate("N", held_d, n, rho) for n in statements),
        *(_Candidate("d", level, mean_N, rho) for level in range(d[0], d[1] + 1)),
        *(_Candidate("rho", held_d, mean_N, share) for share in ASKED_RHO),
    )
    return tuple(place for place in every if place.axis in axes)


class AdaptiveDesign(design.Design):
    """Asks for puzzles, takes the answers, and estimates a model's capacity.

    The `target` is a share of the goal, or in units of d for ID50. `N` and `d` hold the least and
    the most of each, d from 1 to 12. `at` holds loads by name, such as {"d": 1, "rho": 50} (rho in
    percent), others at the paper's means, or d in the middle of a range that lies beside its mean.
    With such a range, or with `at`, the load of the goal alone varies, N or for ID50 d; else all
    three do. `seed` is that of the design's own draws. `prior` is "published" or "vague";
    None is published at the paper's means, else vague. Raises ValueError for a setting that is out
    of range. The same answers, in any order, give the same puzzles. `estimate` returns a
    `Capacity`.
    """

    VERSION = "4"
    GOALS: ClassVar = dict.fromkeys(curve.ECL_GOALS, "±20%") | {"ID50": "±1"}
    STOP_AFTER = 192
    PUZZLE = Puzzle

    def __init__(
        self,
        target: float = 0.20,
        budget: int = 1500,
        N: tuple[int, int] = (10, 400),
        seed: int = 42,
        *,
        goal: Literal["ECL50", "ECL80", "ECL90", "ID50"] = "ECL50",
        prior: str | Prior | None = None,
        at: Mapping[str, float] | None = None,
        d: tuple[int, int] = ASKED_D,
    ) -> None:
        self.seed = check_integer("seed", seed, low=0, high=MAX_SEED)
        own = "d" if goal == "ID50" else "N"
        self.d: tuple[int, int] = design.check_range("d", d, _MOST_D)
        around = self.d[0] <= PAPER_MEANS.d <= self.d[1]
        if own == "N" and not around:
            at = {"d": sum(self.d) // 2, **(at or {})}
        self.prior = find_prior(prior or ("vague" if at else "published"))
        self.at = self._hold(at, own) if at else PAPER_MEANS
        """The loads through which the axes go."""
        self.axes = AXES if around and not at else (own,)
        """The loads that vary."""
        super().__init__(goal, target, budget, N)
        every = [Puzzle(*place.cells[-1], 0) for place in self.candidates]
        longest = (max(every, key=itemgetter(*by)) for by in ((1, 0), (0, 1)))
        self.longest = tuple(dict.fromkeys(longest))
        self.extents = dict.fromkeys(curve.ECL_GOALS, self.N) | {"ID50": self.d}
        known = zip(curve.LINKS, self.prior, strict=True)
        self.prior_values = np.concatenate(
            [[*link, *line.mean, *line.covariance.ravel()] for link, line in known]
        )

    def _place_candidates(self) -> None:
        self.candidates = [
            place
            for place in make_candidates(self.N, self.at, self.axes, self.d)
            if self._dropped.isdisjoint(place.cells)
        ]
        self.cells = [place.cells for place in self.candidates]
        places = np.array([place[1:] for place in self.candidates]).reshape(-1, 3)
        loads = curve.make_loads(places[:, 0], places[:, 1], places[:, 2] / 100)
        self.loads = np.concatenate([curve.curve_loads(self.N, self.at), loads])
        """The loads of the three curves, and after them those of the candidates."""

    def _hold(self, at: Mapping[str, Any], own: str) -> LoadMeans:
        """Return the named loads, others at the paper's means; the goal's `own` varies."""
        for name in at:
            check_choice("a load of at", name, [load for load in AXES if load != own])
        d, N, rho, _ = self._check(Puzzle(1, 1, 1, 0)._replace(**at))
        held = {"d": ("d", d), "N": ("log10_N", np.log10(N)), "rho": ("rho", rho / 100)}
        return replace(PAPER_MEANS, **dict(held[name] for name in at))

    def _check(self, puzzle: Puzzle) -> Puzzle:
        d = check_integer("d", puzzle.d, low=1, high=_MOST_D)
        N = check_integer("N", puzzle.N, low=1, high=design.MAX_N)
        if not (isinstance(puzzle.rho, Real) and 0 < puzzle.rho <= 100):
            raise ValueError(
                f"rho must be a percentage above 0 and up to 100, got {brief(puzzle.rho)}"
            )
        return Puzzle(d, N, float(puzzle.rho), int(puzzle.index))

    def posterior(self, answers: design.Answers) -> Belief:
        """Return the posterior at the curves and the candidates (step 3)."""
        told = design.answer_frame(answers, Puzzle)
        cells = curve.count_answers(told.assign(rho=told["rho"] / 100))
        return curve.posterior(cells, self.loads, self.prior)

    @property
    def wanted(self) -> str:
        """The goal, its target and its loads in words."""
        return f"{super().wanted} at {self.at.beside('d' if self.goal == 'ID50' else 'N')}"

    def find_goal(self, belief: Belief) -> Interval:
        """Return the interval of the goal: an ECL or ID50."""
        if self.goal == "ID50":
            return curve.summarize(curve.last_crossing(curve.CURVE_D, belief.curve(curve.OVER_D)))
        return curve.find_ECL(self.goal, belief.curve(curve.OVER_N), belief.answers, self.N)

    def _choose(self, belief: Belief, size: int, known: design.Answers) -> np.ndarray:
        """Return how many puzzles of each candidate narrow the goals most (step 4).

        The criterion is the sum of the goals' variances, each over its present one and weighted; a
        goal's gradient is averaged over posterior draws, and so is what an answer at a candidate
        tells of its logit. The likelier answers to one cell are alike, the more cells are asked. A
        few puzzles go to the easiest and the hardest N, as probes of what the curve assumes.
        """
        if not known:
            return _pilot([place.axis for place in self.candidates], size)
        end = len(self.loads)
        asked = slice(end - len(self.candidates), end)
        accuracy, slope = belief.draw(slice(0, end), _DESIGN_DRAWS, (self.seed, len(known)))
        information = np.mean(slope**2 / (accuracy * (1 - accuracy)), axis=0)[asked]
        covariance = belief.best.covariance(np.arange(end))
        counts = np.zeros(len(self.candidates), int)
        on_N = np.flatnonzero([place.axis == "N" for place in self.candidates])
        if len(on_N):
            counts[on_N[[0, -1]]] = np.round(np.multiply(_PROBE_SHARES, size))
        toward = self._goal_gradients(covariance, accuracy, slope) @ covariance[:, asked]
        before = np.array([sum(puzzle[:-1] in cells for puzzle in known) for cells in self.cells])
        # Where answers to a cell are alike, the n-th tells 1 / (1 + n alike)^2 of the first's.
        noise = (1 + belief.alike * before) ** 2 / information
        apart = covariance[asked, asked] + np.diag(belief.alike * noise)
        return design.narrow(apart, toward, noise, counts, int(size - counts.sum()))

    def _goal_gradients(
        self, covariance: np.ndarray, accuracy: np.ndarray, slope: np.ndarray
    ) -> np.ndarray:
        """Return how each goal moves with the logits, one row per draw, scaled to meet the weights.

        The trace of (rows @ covariance @ rows') is the criterion of step 4.
        """
        other = {"N": _WEIGHTS["d"], "d": _WEIGHTS["N"]}
        weights = _WEIGHTS | other if self.goal == "ID50" else _WEIGHTS
        rho = np.flatnonzero([place.axis == "rho" for place in self.candidates])
        places = len(covariance) - len(self.candidates) + rho
        shown = np.zeros((len(rho), len(covariance)))
        shown[np.arange(len(rho)), places] = np.sqrt(np.mean(slope[:, places] ** 2, axis=0))
        x, level = np.log10(curve.curve_N(self.N)), curve.level_of(self.goal)
        goals = {
            "N": _crossing_gradients(x, accuracy, slope, curve.OVER_N, level),
            "d": _crossing_gradients(curve.CURVE_D, accuracy, slope, curve.OVER_D),
            "rho": shown,
        }
        return np.concatenate(
            [
                rows * np.sqrt(weights[load] / np.sum((rows @ covariance) * rows))
                for load, rows in goals.items()
                if load in self.axes
            ]
        )

    def _describe(self, belief: Belief, flags: tuple[str, ...], stopped: str) -> Capacity:
        """Return the `Capacity` that answers say (step 7), with flags."""
        capacity = curve.describe_capacity(belief, self.N, self.d, self.at)
        flags = (*self._question(capacity, belief.answers), *flags) if self.told else ()
        of_load = {"N": curve.ECL_GOALS, "d": ("ID50",), "rho": ("NT50",)}
        held = [name for load in of_load if load not in self.axes for name in of_load[load]]
        unknown: dict[str, Any] = dict.fromkeys(held, Threshold(status=UNKNOWN))
        return replace(capacity, **unknown, flags=flags, stopped=stopped)

    def _say(self, estimate: Capacity) -> list[str]:
        """Return the thresholds in words, with their loads, and the probability of an NT50."""
        at = {load: f", at {self.at.beside(load)}" for load in AXES}
        lengths = [
            f"{goal} {describe_interval(getattr(estimate, goal), self.N, ' statements')}{at['N']}"
            for goal in curve.ECL_GOALS
        ]
        ID50 = f"ID50  {describe_interval(estimate.ID50, estimate.asked_d)}{at['d']}"
        if len(self.axes) < len(AXES):
            return [ID50] if self.goal == "ID50" else lengths
        NT50 = f"{describe_interval(estimate.NT50, (0, 1))}, if there is one"
        share = estimate.NT50_share
        if np.isnan(estimate.NT50.value):
            NT50 = f"none: accuracy is {estimate.NT50.status}, whatever rho"
            share = 1 - share
        return [*lengths, ID50, f"NT50  {NT50} (probability {share:.0%}){at['rho']}"]

    def _question(self, capacity: Capacity, answers: curve.Answers) -> Iterable[str]:
        """Yield in words what a reader of an estimate should know (step 8)."""
        goal, (smallest, largest) = self.goal.replace("ID50", "ECL50"), self.N
        ECL = getattr(capacity, goal)
        inside = smallest <= ECL.value <= largest
        at = float(np.clip(ECL.value, smallest, largest))
        near = [
            answer.cut
            for puzzle, answer in self.told.items()
            if not answer.correct and 1 / NEAR < puzzle.N / at < NEAR
        ]
        where = goal if inside else f"N = {at:g}, the nearest to {goal},"
        yield from design.flag_cut(near, where)
        apart = abs(np.log(capacity.glm_ECL50 / at)) > np.log1p(_CROSSINGS_APART)
        if goal == "ECL50" and inside and (apart or curve.find_cliff(answers)):
            yield say("bends")
        if ECL.value >= EASY * smallest:
            yield from self._flag_shortest(ECL.value)
        right, count = int(answers.successes.sum()), answers.n
        chance = float(answers.totals @ curve.Link(floor=1).bottom(answers.loads[:, 0]) / count)
        if binom.sf(right - 1, count, chance) > _SURPRISE:
            yield say("guessed", right=right, count=count, chance=100 * chance)
        if (ECL.low < smallest or ECL.high > largest) and "N" in self.axes:
            yield say("outside", goal=goal, least=smallest, most=largest, unit=" statements")
        yield from _flag_cells(capacity)

    def _flag_shortest(self, ECL: float) -> Iterable[str]:
        """Yield a sentence if more of the shortest puzzles fail than the longer ones' curve says.

        The longer ones are those beyond an ECL; a curve through the others would follow failures.
        """
        reach = curve.AROUND * self.N[0]
        held = {(d, rho) for d, _, rho in make_candidates(self.N, self.at)[0].cells}
        short = {p: a for p, a in self.told.items() if p.N <= reach and (p.d, p.rho) in held}
        belief = self.posterior({p: answer for p, answer in self.told.items() if p.N > ECL})
        alone = Belief(tuple(p for p in belief.posteriors if not p.correlation))
        place = int(np.searchsorted(curve.curve_N(self.N), reach))
        wrong = 1 - alone.curve(slice(place, place + 1))[:, 0]
        count, failed = len(short), sum(not answer.correct for answer in short.values())
        if np.mean(binom.sf(failed - 1, count, wrong)) < _SURPRISE:
            expected = count * np.mean(wrong)
            yield say("shortest", failed=failed, count=count, N=self.N[0], expected=expected)


def _pilot(axes: list[str], size: int) -> np.ndarray:
    """Return how many puzzles of each candidate the pilot has, spread evenly on each axis."""
    shares = np.cumsum([_PILOT_SHARES[axis] / axes.count(axis) for axis in axes])
    return np.diff(np.round(size * shares / shares[-1]), prepend=0).astype(int)


def _crossing_gradients(
    load: np.ndarray, accuracy: np.ndarray, slope: np.ndarray, part: slice, level: float = 0.5
) -> np.ndarray:
    """Return how the crossing of a level by each draw moves with the logits on either side of it.

    `accuracy` and its `slope` by the logit are of all loads, `part` says which make the curve. A
    draw that crosses beyond the curve counts at its end.
    """
    along = accuracy[:, part]
    crossing = np.clip(curve.last_crossing(load, along, level), load[0], load[-1])
    left = np.clip(np.searchsorted(load, crossing, side="right") - 1, 0, len(load) - 2)
    share = (crossing - load[left]) / (load[left + 1] - load[left])
    before, after = np.maximum(left - _SMOOTHED, 0), np.minimum(left + 1 + _SMOOTHED, len(load) - 1)
    rows = np.arange(len(along))
    fall = np.abs(along[rows, before] - along[rows, after]) / (load[after] - load[before])
    # A draw that is nearly flat would outweigh all others.
    fall = np.maximum(fall, FLAT * np.median(fall))
    gradients = np.zeros_like(accuracy)
    for node, weight in ((left, 1 - share), (left + 1, share)):
        gradients[rows, part.start + node] = weight * slope[rows, part.start + node] / fall
    return gradients


def _flag_cells(capacity: Capacity) -> Iterable[str]:
    """Yield a sentence if accuracy varies from cell to cell beyond chance and the curve."""
    if capacity.correlation:
        yield say("cells", correlation=capacity.correlation)


def estimate_capacity(
    frame: Mapping[str, Sequence[float]] | pd.DataFrame, *, prior: str | Prior | None = None
) -> Capacity:
    """Estimate one model's `Capacity` from its responses to any cells.

    `frame` has the columns d, N, rho (a fraction) and correct (0 or 1), or counted successes and
    failures. ECL50 is the crossing at the paper's mean loads, or at the one value of a load that
    does not vary; the plain GLM's for the same answers is `glm_ECL50`. `prior` is "published" or
    "vague"; None is published at the paper's means, else vague.

    Raises ValueError for a column that is missing or holds other values, and for a frame without
    answers.

    >>> counts = {"successes": [20, 17, 8, 2], "failures": [0, 3, 12, 18]}
    >>> cells = pd.DataFrame({"d": 5, "N": [10, 20, 40, 80], "rho": 0.5, **counts})
    >>> round(estimate_capacity(cells).ECL50.value)
    36
    """
    return tell_capacity(believe(frame, prior=prior))


def believe(
    frame: Mapping[str, Sequence[float]] | pd.DataFrame, *, prior: str | Prior | None = None
) -> Belief:
    """Return what one model's responses say of its curve; arguments as for `estimate_capacity`."""
    answers = curve.count_answers(frame)
    if not answers.n:
        raise ValueError("the frame must hold answers, got none")
    N, _, at = tested_loads(answers)
    chosen = find_prior(prior or ("published" if at == PAPER_MEANS else "vague"))
    return curve.posterior(answers, curve.curve_loads(N, at), chosen)


def tell_capacity(belief: Belief) -> Capacity:
    """Return the `Capacity` by what `believe` returned."""
    capacity = curve.describe_capacity(belief, *tested_loads(belief.answers))
    return replace(capacity, flags=tuple(_flag_cells(capacity)))


def tested_loads(
    answers: curve.Answers,
) -> tuple[tuple[int, int], tuple[float, float], LoadMeans]:
    """Return the ends of N and of d of some answers, and where their curves hold the loads."""
    d, N = answers.loads[:, 0], 10 ** answers.loads[:, 1]
    columns = zip(vars(PAPER_MEANS), answers.loads.T, strict=True)
    at = replace(PAPER_MEANS, **{name: float(its[0]) for name, its in columns if not np.ptp(its)})
    return (round(N.min()), round(N.max())), (float(d.min()), float(d.max())), at


def _longest_that_fits(design: AdaptiveDesign, count: Callable[[str], int], budget: int) -> int:
    """Return the N of the longest puzzle whose prompt and clean trace fit a budget, in two digits.

    By the wordiest of some English puzzles of two lengths, at the loads that a design holds; tokens
    grow as N.
    """
    d, _, rho = make_candidates(design.N, design.at)[0].cells[-1]
    tokens = []
    for N in FITTED:
        puzzles = BENCHMARK.puzzles(d=d, N=N, rho=rho, num_puzzles=16).table()["puzzle"].to_pylist()
        tokens.append(max(count(text) + count(clean_trace(text)) for text in puzzles))
    each = (tokens[1] - tokens[0]) / (FITTED[1] - FITTED[0])
    N = int(FITTED[0] + (budget - step_of(budget) - tokens[0]) / each)
    unit = 10 ** max(len(str(N)) - 2, 0)
    return N // unit * unit


CAPACITY = {
    BENCHMARK.name: design.Adaptive(
        ("d", "N", "rho"), AdaptiveDesign.GOALS, AdaptiveDesign, holds=True, fit=_longest_that_fits
    )
}
"""CogniLoad's adaptive design, by the benchmark's name."""
