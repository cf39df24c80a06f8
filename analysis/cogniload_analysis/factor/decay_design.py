"""FACTOR, adaptively: it asks where the decay of accuracy tells most (FACTOR, section 3.4).

    design = DecayDesign(target=0.20, suite="symbolic")
    while not design.done:
        puzzles = design.ask()
        design.tell(puzzles, [solve(puzzle) for puzzle in puzzles])
    print(design.estimate().N_eff)

It is about one model at one context. Accuracy is taken to be

    floor + (1 - floor) min(cap, exp(CDF N + CDO)),

where the floor is what guessing solves, and the cap what is lost however easy a puzzle is. The
posterior of these four is held on a grid that closes in on it, so no shape is assumed of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive import design
from cogniload_analysis.adaptive.design import Answers, describe_interval
from cogniload_analysis.factor.loads import COMPLEXITY_COLUMNS
from cogniload_analysis.published import published_table
from cogniload_analysis.stats import TAILS, Interval
from cogniload_analysis.words import WORDS, say
from cogniload_gen.checks import check_choice, check_integer
from cogniload_gen.factor import FACTOR

PUBLISHED = (*WORDS["published_decays"],)
# New models may differ from the published ones, so widen the prior by this factor.
_WIDER = 2.0

REACH = 3.0
"""The first grid of CDFs spans this many prior standard deviations on each side."""

CAPS = {1.0: 0.38, 0.98: 0.28, 0.95: 0.18, 0.88: 0.09, 0.75: 0.05, 0.5: 0.02}
FLOORS = {0.0: 0.5, 0.03: 0.35, 0.08: 0.15}
"""What the cap and the floor may be, and how likely each is before any answer."""

# How many CDF and N_eff the grid has.
_SLOPES, _PLACES = 21, 33

_ZOOMS = 3
# The grid closes in on the CDF and the N_eff that are at least so likely beside the likeliest.
_NEGLIGIBLE = 1e-4

_UNLIKELY = 1e-8

_MOST_ASKED = 40
LEAST_CHANCE = 1e-9
# What the goals that a run is not for weigh beside the one that it is for.
_OTHER_WEIGHT = 0.15

# Beyond these, a CDO's exact value plays no part in the choice of puzzles.
_LEAST_CDO, _MOST_CDO = -4.0, 12.0

# A cap is said to be low if its median is: its upper end falls below only after many answers.
_LOW_CAP = 0.95


PARAMETERS = ("N_eff", "CDF", "CDO", "cap", "floor")


class Puzzle(NamedTuple):
    """A puzzle's place in the generator, for one context and seed: its complexity and its index."""

    N: int
    index: int  # type: ignore[assignment]  # the column's name in a split, not the tuple's method


class _DecayPrior(NamedTuple):
    """What is known of a decay before any answer: little, by the published ones.

    ln(-CDF) is normal with `mean` and `deviation`; N_eff, which below 0 says how far the decay has
    gone at N = 0, is as likely anywhere from `low` to `high`.
    """

    mean: float
    deviation: float
    low: float
    high: float


@lru_cache(maxsize=1)
def published_prior() -> _DecayPrior:
    """Return the prior that reaches over all the published decays, and as far again."""
    tables = [published_table(f"factor_{name}") for name in PUBLISHED]
    published = pd.concat([table[["CDF", "CDO"]] for table in tables])
    slope, place = np.log(-published["CDF"]), -published["CDO"] / published["CDF"]
    margin = (_WIDER - 1) / 2 * (place.max() - place.min())
    ends = float(place.min() - margin), float(place.max() + margin)
    return _DecayPrior(float(slope.mean()), float(_WIDER * slope.std()), *ends)


@dataclass(frozen=True, eq=False)
class _DecayBelief:
    """The posterior on a grid: a CDF, an N_eff, a cap and a floor each, and how likely they are."""

    CDF: np.ndarray
    N_eff: np.ndarray
    cap: np.ndarray
    floor: np.ndarray
    weights: np.ndarray

    @property
    def CDO(self) -> np.ndarray:
        """The CDO of each."""
        return -self.CDF * self.N_eff

    @property
    def start(self) -> np.ndarray:
        """The N from which the accuracy of each falls: where its line passes the cap."""
        return self.N_eff + np.log(self.cap) / self.CDF

    def accuracy(self, N: np.ndarray) -> np.ndarray:
        """Return the accuracy of each at each N, a row each."""
        line = _decay(N, self.CDF[:, None], self.N_eff[:, None])
        floor = self.floor[:, None]
        return floor + (1 - floor) * np.minimum(self.cap[:, None], line)

    def interval(self, values: np.ndarray) -> Interval:
        """Return the median and the middle 95 % of a value of each."""
        low, middle, high = _weighted_quantiles(values, self.weights, (TAILS[0], 0.5, TAILS[1]))
        return Interval(middle, low, high)


@dataclass(frozen=True, eq=False)
class DecayEstimate:
    """A model's decay, estimated from its answers: medians, and the middle 95 % of the posterior.

    `n` answers. `CDF` is in ln(accuracy) a unit of N, `CDO` is ln(accuracy) at N = 0, and `N_eff`
    is where the line reaches an accuracy of 1; without meaning where the CDO is not positive, of
    which `no_phase_1` is the probability. `cap` and `floor` are accuracies. `over_N` holds N,
    accuracy, low and high. `half_width` is half the width of the goal's interval, as its target has
    it: a share, or units of the goal. `flags` are warnings in words, `stopped` the reason to stop.
    Where no answer is right, `CDF` and `CDO` would be the prior's, and are NaN.
    """

    n: int
    N_eff: Interval
    CDF: Interval
    CDO: Interval
    cap: Interval
    floor: Interval
    no_phase_1: float
    half_width: float
    over_N: pd.DataFrame
    flags: tuple[str, ...] = ()
    stopped: str = ""


class DecayDesign(design.Design):
    """Asks for puzzles of one context, takes the answers, and estimates a model's decay.

    The `target` is a share of N_eff or CDF, or in units of the CDO. `N` is the range of the
    complexity, by default the paper's of the `suite`; a puzzle is (N, index), where N is the op of
    the realistic suite. Raises ValueError for a setting that is out of range. The same answers, in
    any order, give the same puzzles. `estimate` returns a `DecayEstimate`.
    """

    VERSION = "3"
    GOALS: ClassVar = {"N_eff": "±20%", "CDF": "±20%", "CDO": "±0.2"}
    STOP_AFTER = 128
    PUZZLE = Puzzle

    def __init__(
        self,
        target: float = 0.20,
        budget: int = 1500,
        N: tuple[int, int] | None = None,
        *,
        suite: str = "symbolic",
        goal: Literal["N_eff", "CDF", "CDO"] = "N_eff",
    ) -> None:
        check_choice("suite", suite, tuple(COMPLEXITY_COLUMNS))
        knobs = {knob.name: knob for knob in FACTOR.suites[suite].knobs}
        self._knob = knobs[COMPLEXITY_COLUMNS[suite]]
        self.prior = published_prior()
        paper = min(self._knob.default), max(self._knob.default)
        super().__init__(goal, target, budget, paper if N is None else N)
        for end in self.N:
            check_integer("N", end, low=self._knob.low, high=self._knob.high)
        self.longest = (Puzzle(self.N[1], 0),)
        endless = -np.inf, np.inf
        self.extents = {"N_eff": self.N, "CDF": endless, "CDO": endless}
        discrete = [*CAPS, *CAPS.values(), *FLOORS, *FLOORS.values()]
        self.prior_values = np.array([*self.prior, *discrete])

    def _place_candidates(self) -> None:
        every = np.unique(np.round(np.linspace(*self.N, _MOST_ASKED))).astype(int)
        self.cells = [((N,),) for N in every.tolist() if (N,) not in self._dropped]
        self.candidates = np.array([N for ((N,),) in self.cells], int)
        """The N of puzzles: all of the range, or forty of them."""

    def _check(self, puzzle: Puzzle) -> Puzzle:
        N = check_integer("N", puzzle.N, low=self._knob.low, high=self._knob.high)
        return Puzzle(N, int(puzzle.index))

    def posterior(self, answers: Answers) -> _DecayBelief:
        """Return the posterior on a grid that has closed in on it."""
        by_N = design.answer_frame(answers, Puzzle).groupby("N")["correct"]
        return find_decay(by_N.agg(right="sum", total="size").reset_index(), self.prior)

    def find_goal(self, belief: _DecayBelief) -> Interval:
        """Return the interval of N_eff, CDF or CDO."""
        return belief.interval(getattr(belief, self.goal))

    def _choose(self, belief: _DecayBelief, size: int, known: Answers) -> np.ndarray:
        """Return how many puzzles of each N narrow the goal most.

        What answers would say of the goals is taken to be linear in the share of right ones (Bayes
        linear). The goals' variances are each over the present one and weighted.
        """
        if not known:  # the pilot
            return design.spread(size, len(self.candidates))
        accuracy, weights = belief.accuracy(self.candidates), belief.weights
        apart = accuracy - weights @ accuracy
        covariance = (apart * weights[:, None]).T @ apart
        noise = np.maximum(weights @ (accuracy * (1 - accuracy)), LEAST_CHANCE)
        toward = np.array(list(self._goal_covariances(belief, apart)))
        return design.narrow(covariance, toward, noise, np.zeros(len(noise), int), size)

    def _goal_covariances(self, belief: _DecayBelief, apart: np.ndarray) -> Iterable[np.ndarray]:
        """Yield the covariance of each goal with the accuracies, over its deviation, weighted.

        N_eff counts as its logarithm, and only as far as puzzles go: from half the smallest N to
        twice the largest.
        """
        smallest, largest = self.N
        values = {
            "N_eff": np.log(np.clip(belief.N_eff, smallest / 2, 2 * largest)),
            "CDF": np.log(-belief.CDF),
            "CDO": np.clip(belief.CDO, _LEAST_CDO, _MOST_CDO),
        }
        for goal, value in values.items():
            away = value - belief.weights @ value
            deviation = np.sqrt(belief.weights @ away**2)
            weight = 1.0 if goal == self.goal else _OTHER_WEIGHT
            if deviation > LEAST_CHANCE:
                yield np.sqrt(weight) * (belief.weights * away) @ apart / deviation

    def _describe(
        self, belief: _DecayBelief, flags: tuple[str, ...], stopped: str
    ) -> DecayEstimate:
        """Return the `DecayEstimate` that answers say, with flags."""
        bands = pd.DataFrame(
            map(belief.interval, belief.accuracy(self.candidates).T),
            columns=["accuracy", "low", "high"],
        )
        intervals = {name: belief.interval(getattr(belief, name)) for name in PARAMETERS}
        right = any(answer.correct for answer in self.told.values())
        unknown = {} if right else dict.fromkeys(("CDF", "CDO"), Interval(*3 * [np.nan]))
        return DecayEstimate(
            n=len(self.told),
            **intervals | unknown,
            no_phase_1=float(belief.weights @ (belief.CDO <= 0)),
            half_width=self.half_width(self.find_goal(belief)),
            over_N=pd.DataFrame({"N": self.candidates}).join(bands),
            flags=(*self._question(belief), *flags),
            stopped=stopped,
        )

    def _say(self, estimate: DecayEstimate) -> list[str]:
        """Return N_eff, CDF and CDO in words."""
        N_eff, CDF, CDO = (
            describe_interval(getattr(estimate, goal), extent)
            for goal, extent in self.extents.items()
        )
        return [
            f"N_eff {N_eff}, no phase without errors in {estimate.no_phase_1:.0%} of the posterior",
            f"CDF   {CDF}",
            f"CDO   {CDO}",
        ]

    def _question(self, belief: _DecayBelief) -> Iterable[str]:
        """Yield in words what a reader of an estimate should know.

        N_eff, where the line reaches an accuracy of 1, lies before the N from which accuracy falls
        where the cap is below 1.
        """
        if not self.told:
            return
        N_eff, CDF, cap = map(belief.interval, (belief.N_eff, belief.CDF, belief.cap))
        half = N_eff.value + np.log(0.5) / CDF.value
        near = [a.cut for puzzle, a in self.told.items() if not a.correct and half >= puzzle.N]
        yield from design.flag_cut(near, "N_eff")
        smallest, largest = self.N
        if cap.value < _LOW_CAP:
            start = describe_interval(belief.interval(belief.start), self.N)
            yield say("cap", share=100 * (1 - cap.value), start=start)
        if N_eff.low < smallest or N_eff.high > largest:
            yield f"N_eff may lie outside the reach of the design, {smallest} to {largest}"


def _decay(N: np.ndarray, CDF: np.ndarray, N_eff: np.ndarray) -> np.ndarray:
    """Return the accuracy on the line CDF (N - N_eff), which is CDF N + CDO."""
    return np.exp(np.minimum(CDF * (N - N_eff), 0))


def find_decay(counts: pd.DataFrame, prior: _DecayPrior) -> _DecayBelief:
    """Return the posterior, given right answers and answers in all by N.

    The first grid reaches over the whole prior; each further one over those CDF and N_eff that the
    one before has found to be likely at all.
    """
    reach = REACH * prior.deviation
    slopes, places = (prior.mean - reach, prior.mean + reach), (prior.low, prior.high)
    for _ in range(_ZOOMS):
        slope, place = np.linspace(*slopes, _SLOPES), np.linspace(*places, _PLACES)
        weights = _weigh(counts, prior, slope, place)
        slopes = _likely_range(slope, weights.sum(axis=(1, 2, 3)))
        places = _likely_range(place, weights.sum(axis=(0, 2, 3)))
    kept = weights > _UNLIKELY * weights.max()
    grid = np.meshgrid(-np.exp(slope), place, list(CAPS), list(FLOORS), indexing="ij")
    CDF, N_eff, cap, floor = (axis[kept] for axis in grid)
    return _DecayBelief(CDF, N_eff, cap, floor, weights[kept] / weights[kept].sum())


def _weigh(
    counts: pd.DataFrame, prior: _DecayPrior, slope: np.ndarray, place: np.ndarray
) -> np.ndarray:
    """Return how likely each ln(-CDF), N_eff, cap and floor is, an axis each, up to a factor."""
    N, right, total = (counts[name].to_numpy() for name in ("N", "right", "total"))
    line = _decay(N, -np.exp(slope)[:, None, None], place[:, None])
    logs = np.empty((len(slope), len(place), len(CAPS), len(FLOORS)))
    logs[:] = np.log(np.outer(list(CAPS.values()), list(FLOORS.values())))
    logs -= (((slope - prior.mean) / prior.deviation) ** 2 / 2)[:, None, None, None]
    # One cap and floor at a time, whose arrays stay in the processor's cache.
    for first, highest in enumerate(CAPS):
        for second, lowest in enumerate(FLOORS):
            chance = lowest + (1 - lowest) * np.minimum(line, highest)
            logs[..., first, second] += np.log(np.maximum(chance, LEAST_CHANCE)) @ right
            wrong = np.log(np.maximum(1 - chance, LEAST_CHANCE))
            logs[..., first, second] += wrong @ (total - right)
    return np.exp(logs - logs.max())


def _likely_range(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the ends of what is likely, one step wider."""
    likely = np.flatnonzero(weights > _NEGLIGIBLE * weights.max())
    return float(values[max(likely[0] - 1, 0)]), float(values[min(likely[-1] + 1, len(values) - 1)])


def _weighted_quantiles(
    values: np.ndarray, weights: np.ndarray, shares: tuple[float, ...]
) -> list[float]:
    """Return the values below which the shares of the weight lie, interpolated."""
    levels, level = np.unique(values, return_inverse=True)
    heights = np.bincount(level.reshape(-1), weights)
    quantiles: list[float] = np.interp(shares, np.cumsum(heights) - heights / 2, levels).tolist()
    return quantiles


DECAYS = {
    FACTOR.suites[suite].name: design.Adaptive((knob,), DecayDesign.GOALS, make)
    for suite, knob in COMPLEXITY_COLUMNS.items()
    for make in [partial(DecayDesign, suite=suite)]
}
"""The adaptive designs of FACTOR's suites, by the benchmark's name."""
