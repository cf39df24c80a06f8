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

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from reprlib import repr as brief
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive import design
from cogniload_analysis.adaptive.design import (
    Answer,
    Batch,
    Goal,
    Interval,
    Plan,
    describe_interval,
)
from cogniload_analysis.factor.loads import COMPLEXITY_COLUMNS
from cogniload_analysis.published import published_table
from cogniload_analysis.sentences import Sentences
from cogniload_analysis.stats import TAILS
from cogniload_gen.benchmark import Knob
from cogniload_gen.checks import check_choice, check_integer
from cogniload_gen.factor import FACTOR

say = Sentences("decay")

PUBLISHED = ("zero_context", "by_context", "pretraining", "posttraining")
WIDER = 2.0
"""New models may differ from the published ones, so widen the prior by this factor."""

REACH = 3.0
"""The first grid of CDFs spans this many prior standard deviations on each side."""

CAPS = {1.0: 0.38, 0.98: 0.28, 0.95: 0.18, 0.88: 0.09, 0.75: 0.05, 0.5: 0.02}
FLOORS = {0.0: 0.5, 0.03: 0.35, 0.08: 0.15}
"""What the cap and the floor may be, and how likely each is before any answer."""

SLOPES, PLACES = 21, 33
"""How many CDF and N_eff the grid has."""

ZOOMS = 3
NEGLIGIBLE = 1e-4
"""The grid closes in on the CDF and the N_eff that are at least so likely beside the likeliest."""

UNLIKELY = 1e-8

MOST_ASKED = 40
LEAST_CHANCE = 1e-9
OTHER_WEIGHT = 0.15
"""What the goals that a run is not for weigh beside the one that it is for."""

LEAST_CDO, MOST_CDO = -4.0, 12.0
"""Beyond these, a CDO's exact value plays no part in the choice of puzzles."""

LOW_CAP = 0.95
"""A cap is said to be low if its median is: its upper end falls below only after many answers."""


class Puzzle(NamedTuple):
    """A puzzle's place in the generator, for one context and seed: its complexity and its index."""

    N: int
    index: int  # type: ignore[assignment]  # the column's name in a split, not the tuple's method


@dataclass(frozen=True)
class DecayPrior:
    """What is known of a decay before any answer: little, by the published ones.

    ln(-CDF) is normal with `mean` and `deviation`; N_eff, which below 0 says how far the decay has
    gone at N = 0, is as likely anywhere from `low` to `high`.
    """

    mean: float
    deviation: float
    low: float
    high: float


@lru_cache(maxsize=1)
def published_prior() -> DecayPrior:
    """Return the prior that reaches over all the published decays, and as far again."""
    tables = [published_table(f"factor_{name}") for name in PUBLISHED]
    published = pd.concat([table[["CDF", "CDO"]] for table in tables])
    slope, place = np.log(-published["CDF"]), -published["CDO"] / published["CDF"]
    margin = (WIDER - 1) / 2 * (place.max() - place.min())
    ends = float(place.min() - margin), float(place.max() + margin)
    return DecayPrior(float(slope.mean()), float(WIDER * slope.std()), *ends)


@dataclass(frozen=True, eq=False)
class DecayBelief:
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
        return decay_accuracy(N, *(values[:, None] for values in self.parameters))

    @property
    def parameters(self) -> tuple[np.ndarray, ...]:
        """All but the weights."""
        return self.CDF, self.N_eff, self.cap, self.floor

    def interval(self, values: np.ndarray) -> Interval:
        """Return the median and the middle 95 % of a value of each."""
        ends = TAILS[0], 0.5, TAILS[1]
        low, middle, high = weighted_quantiles(values, self.weights, ends)
        return Interval(middle, low, high)


@dataclass(frozen=True, eq=False)
class DecayEstimate:
    """What the answers say of a model's decay: medians, and the middle 95 % of the posterior.

    `n` answers. `CDF` is in ln(accuracy) a unit of N, `CDO` is ln(accuracy) at N = 0, and `N_eff`
    is where the line reaches an accuracy of 1; without meaning where the CDO is not positive, of
    which `no_phase_1` is the probability. `cap` and `floor` are accuracies. `over_N` holds N,
    accuracy, low and high. `half_width` is half the width of the goal's interval, as its target has
    it: a share, or units of the goal. `flags` say what to mind, `stopped` why it has stopped. Where
    no answer is right, `CDF` and `CDO` would be the prior's, and are NaN.
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


@dataclass(frozen=True, eq=False)
class DecayPlan(Plan):
    """What decides, with the answers, which puzzles a design asks.

    The target is a share of N_eff or CDF, or in units of the CDO. With None, `N` is the
    paper's range of the suite. The others are those of `Plan`.
    """

    VERSION = "2"
    GOALS = (
        Goal("N_eff", relative=True),
        Goal("CDF", relative=True),
        Goal("CDO", relative=False, example="±0.2"),
    )
    STOP_AFTER = 128

    goal: str = "N_eff"
    target: float = 0.20
    budget: int = 1500
    N: tuple[int, int] = None  # type: ignore[assignment]  # a pair once it is checked
    suite: str = "symbolic"
    prior: DecayPrior = field(kw_only=True)

    def __post_init__(self) -> None:
        check_choice("suite", self.suite, tuple(COMPLEXITY_COLUMNS))
        if self.N is None:
            object.__setattr__(self, "N", (min(self.knob.default), max(self.knob.default)))
        super().__post_init__()
        for end in self.N:
            check_integer("N", end, low=self.knob.low, high=self.knob.high)

    @property
    def knob(self) -> Knob:
        """The suite's knob of complexity."""
        benchmark = FACTOR.suites[self.suite]
        return next(knob for knob in benchmark.knobs if knob.name == COMPLEXITY_COLUMNS[self.suite])

    @property
    def extent(self) -> tuple[float, float]:
        """The range of N; a CDF or a CDO has no end."""
        return self.N if self.goal == "N_eff" else (-np.inf, np.inf)

    @property
    def prior_values(self) -> np.ndarray:
        """The four numbers of the prior, then the caps and the floors with their chances."""
        discrete = [*CAPS, *CAPS.values(), *FLOORS, *FLOORS.values()]
        return np.array([*vars(self.prior).values(), *discrete])

    @cached_property
    def candidates(self) -> np.ndarray:
        """The N of puzzles, but for dropped ones: all of the range, or forty of them."""
        N = np.unique(np.round(np.linspace(*self.N, MOST_ASKED))).astype(int)
        return np.array([n for n in N if (n,) not in self.dropped], int)

    @property
    def longest(self) -> tuple[Puzzle, ...]:
        """A puzzle with the largest N."""
        return (Puzzle(self.N[1], 0),)

    def asks(self, puzzle: Puzzle) -> bool:
        """Whether a puzzle is of an N that the design can ask."""
        return puzzle.N in self.candidates

    def check(self, puzzle: Sequence[float]) -> Puzzle:
        """Return a puzzle with plain numbers; ValueError for anything else."""
        try:
            N, index = puzzle
        except (TypeError, ValueError):
            raise ValueError(f"a puzzle must be (N, index), got {brief(puzzle)}") from None
        index = check_integer("index", index, low=0, high=design.MAX_INDEX)
        return Puzzle(check_integer("N", N, low=self.knob.low, high=self.knob.high), index)

    def believe(self, answers: Mapping[Puzzle, Answer]) -> DecayBelief:
        """Return the posterior on a grid that has closed in on it."""
        return find_decay(count_answers(answers), self.prior)

    def find_goal(self, belief: DecayBelief) -> Interval:
        """Return the interval of N_eff, CDF or CDO."""
        return belief.interval(getattr(belief, self.goal))

    def choose(
        self, belief: DecayBelief, size: int, known: int, earlier: Sequence[Puzzle]
    ) -> list[Puzzle]:
        """Return the pilot, spread evenly over N, or the puzzles that narrow the goal most."""
        counts = design.spread(size, len(self.candidates))
        if known:
            counts = choose_counts(belief, self, size)
        return number_puzzles(self.candidates, counts, earlier)

    def describe(self, answers: Mapping[Puzzle, Answer], batches: Sequence[Batch]) -> DecayEstimate:
        """Return the `DecayEstimate` that answers say, with flags and the reason to stop."""
        belief, N = self.believe(answers), self.candidates
        goal = self.find_goal(belief)
        bands = pd.DataFrame([vars(belief.interval(column)) for column in belief.accuracy(N).T])
        intervals = {name: belief.interval(getattr(belief, name)) for name in PARAMETERS}
        start = belief.interval(belief.start)
        right = any(answer.correct for answer in answers.values())
        unknown = {} if right else dict.fromkeys(("CDF", "CDO"), design.Interval(*3 * [np.nan]))
        return DecayEstimate(
            n=len(answers),
            **intervals | unknown,
            no_phase_1=float(belief.weights @ (belief.CDO <= 0)),
            half_width=self.half_width(goal),
            over_N=pd.DataFrame({"N": N}).join(bands.rename(columns={"value": "accuracy"})),
            flags=(
                *find_flags(intervals, start, answers, self.N),
                *self.question_run(answers, batches),
            ),
            stopped=batches[-1].stopped,
        )

    def say(self, estimate: DecayEstimate) -> list[str]:
        """Return N_eff, CDF and CDO in words."""
        endless = -np.inf, np.inf
        return [
            f"N_eff {describe_interval(estimate.N_eff, self.N)}, "
            f"no phase without errors in {estimate.no_phase_1:.0%} of the posterior",
            f"CDF   {describe_interval(estimate.CDF, endless)}",
            f"CDO   {describe_interval(estimate.CDO, endless)}",
        ]


class DecayDesign(design.Design):
    """Asks for puzzles of one context, takes the answers, and estimates a model's decay.

    `target`, `budget`, `N`, `suite` and `goal` as in `DecayPlan`; a puzzle is (N, index), where
    N is the op of the realistic suite. Raises ValueError for a setting that is out of range. What
    `Design` promises holds: the same answers, in any order, give the same puzzles. `estimate`
    returns a `DecayEstimate`.
    """

    def __init__(
        self,
        target: float = 0.20,
        budget: int = 1500,
        N: tuple[int, int] | None = None,
        *,
        suite: str = "symbolic",
        goal: Literal["N_eff", "CDF", "CDO"] = "N_eff",
    ) -> None:
        super().__init__(DecayPlan(goal, target, budget, N, suite, prior=published_prior()))  # type: ignore[arg-type]


PARAMETERS = ("N_eff", "CDF", "CDO", "cap", "floor")


def decay_accuracy(
    N: np.ndarray,
    CDF: np.ndarray,
    N_eff: np.ndarray,
    cap: np.ndarray | float,
    floor: np.ndarray | float,
) -> np.ndarray:
    """Return the accuracy at N: the line is CDF (N - N_eff), which is CDF N + CDO."""
    line = np.exp(np.minimum(CDF * (N - N_eff), 0))
    return floor + (1 - floor) * np.minimum(cap, line)


def count_answers(answers: Mapping[Puzzle, Answer]) -> pd.DataFrame:
    """Return how many answers each N has, and how many are right, in the order of N."""
    total = Counter(puzzle.N for puzzle in answers)
    right = Counter(puzzle.N for puzzle, answer in answers.items() if answer.correct)
    rows = [(N, right[N], total[N]) for N in sorted(total)]
    return pd.DataFrame(rows, columns=["N", "right", "total"], dtype=int)


def find_decay(counts: pd.DataFrame, prior: DecayPrior) -> DecayBelief:
    """Return the posterior, given right answers and answers in all by N.

    The first grid reaches over the whole prior; each further one over those CDF and N_eff that the
    one before has found to be likely at all.
    """
    reach = REACH * prior.deviation
    slopes, places = (prior.mean - reach, prior.mean + reach), (prior.low, prior.high)
    for zoom in range(ZOOMS):
        slope, place = np.linspace(*slopes, SLOPES), np.linspace(*places, PLACES)
        belief = weigh(counts, prior, slope, place)
        if zoom < ZOOMS - 1:
            weights = belief.weights.reshape(SLOPES, PLACES, -1).sum(axis=2)
            slopes = likely_range(slope, weights.sum(axis=1))
            places = likely_range(place, weights.sum(axis=0))
    return drop_unlikely(belief)


def weigh(
    counts: pd.DataFrame, prior: DecayPrior, slope: np.ndarray, place: np.ndarray
) -> DecayBelief:
    """Return the posterior at all combinations of ln(-CDF), N_eff, cap and floor."""
    log_slope, N_eff = (axis.ravel() for axis in np.meshgrid(slope, place, indexing="ij"))
    N, right, total = (counts[name].to_numpy() for name in counts)
    line = decay_accuracy(N, -np.exp(log_slope)[:, None], N_eff[:, None], 1.0, 0.0)
    logs = np.empty((len(line), len(CAPS), len(FLOORS)))
    logs[:] = np.log(np.outer(list(CAPS.values()), list(FLOORS.values())))
    logs -= (((log_slope - prior.mean) / prior.deviation) ** 2 / 2)[:, None, None]
    # One cap and floor at a time, whose arrays stay in the processor's cache.
    for first, highest in enumerate(CAPS):
        for second, lowest in enumerate(FLOORS):
            chance = lowest + (1 - lowest) * np.minimum(line, highest)
            logs[:, first, second] += np.log(np.maximum(chance, LEAST_CHANCE)) @ right
            logs[:, first, second] += np.log(np.maximum(1 - chance, LEAST_CHANCE)) @ (total - right)
    weights = np.exp(logs - logs.max()).ravel()
    pairs = len(CAPS) * len(FLOORS)
    cap, floor = (axis.ravel() for axis in np.meshgrid(list(CAPS), list(FLOORS), indexing="ij"))
    CDFs, N_effs = (np.repeat(values, pairs) for values in (-np.exp(log_slope), N_eff))
    caps, floors = (np.tile(values, len(line)) for values in (cap, floor))
    return DecayBelief(CDFs, N_effs, caps, floors, weights / weights.sum())


def drop_unlikely(belief: DecayBelief) -> DecayBelief:
    """Return a posterior without the points that have no say in it."""
    kept = belief.weights > UNLIKELY * belief.weights.max()
    weights = belief.weights[kept]
    CDF, N_eff, cap, floor = (values[kept] for values in belief.parameters)
    return DecayBelief(CDF, N_eff, cap, floor, weights / weights.sum())


def likely_range(values: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the ends of what is likely, one step wider."""
    likely = np.flatnonzero(weights > NEGLIGIBLE * weights.max())
    return float(values[max(likely[0] - 1, 0)]), float(values[min(likely[-1] + 1, len(values) - 1)])


def weighted_quantiles(
    values: np.ndarray, weights: np.ndarray, shares: Sequence[float]
) -> list[float]:
    """Return the values below which the shares of the weight lie, interpolated."""
    levels, level = np.unique(values, return_inverse=True)
    heights = np.bincount(level.reshape(-1), weights)
    quantiles: list[float] = np.interp(shares, np.cumsum(heights) - heights / 2, levels).tolist()
    return quantiles


def choose_counts(belief: DecayBelief, plan: DecayPlan, size: int) -> np.ndarray:
    """Return how many puzzles of each N narrow the goal most.

    What answers would say of the goals is taken to be linear in the share of right ones (Bayes
    linear). The goals' variances are each over the present one and weighted.
    """
    accuracy, weights = belief.accuracy(plan.candidates), belief.weights
    apart = accuracy - weights @ accuracy
    covariance = (apart * weights[:, None]).T @ apart
    noise = np.maximum(weights @ (accuracy * (1 - accuracy)), LEAST_CHANCE)
    toward = np.array(list(goal_covariances(belief, apart, plan)))
    return design.narrow(covariance, toward, noise, np.zeros(len(noise), int), size)


def goal_covariances(
    belief: DecayBelief, apart: np.ndarray, plan: DecayPlan
) -> Iterable[np.ndarray]:
    """Yield the covariance of each goal with the accuracies, over its deviation, weighted.

    N_eff counts as its logarithm, and only as far as puzzles go: from half the smallest N to
    twice the largest.
    """
    smallest, largest = plan.N
    values = {
        "N_eff": np.log(np.clip(belief.N_eff, smallest / 2, 2 * largest)),
        "CDF": np.log(-belief.CDF),
        "CDO": np.clip(belief.CDO, LEAST_CDO, MOST_CDO),
    }
    for goal, value in values.items():
        away = value - belief.weights @ value
        deviation = np.sqrt(belief.weights @ away**2)
        weight = 1.0 if goal == plan.goal else OTHER_WEIGHT
        if deviation > LEAST_CHANCE:
            yield np.sqrt(weight) * (belief.weights * away) @ apart / deviation


def number_puzzles(N: np.ndarray, counts: np.ndarray, earlier: Iterable[Puzzle]) -> list[Puzzle]:
    """Return new puzzles, as many of each N as its count, one of each in turn.

    Indices continue after those of `earlier`.
    """
    used = Counter(puzzle.N for puzzle in earlier)
    return [
        Puzzle(complexity, used[complexity] + turn)
        for turn in range(counts.max(initial=0))
        for complexity in N[counts > turn].tolist()
    ]


def find_flags(
    intervals: Mapping[str, Interval],
    start: Interval,
    answers: Mapping[Puzzle, Answer],
    N: tuple[int, int],
) -> Iterable[str]:
    """Yield in words what a reader of an estimate should know.

    `start` is the N from which accuracy falls. N_eff, where the line reaches an accuracy of 1, lies
    before it where the cap is below 1.
    """
    N_eff, cap = intervals["N_eff"], intervals["cap"]
    if not answers:
        return
    half = N_eff.value + np.log(0.5) / intervals["CDF"].value
    near = [
        answer.cut for puzzle, answer in answers.items() if not answer.correct and half >= puzzle.N
    ]
    yield from design.question_cut(near, "N_eff")
    smallest, largest = N
    if cap.value < LOW_CAP:
        from_N = describe_interval(start, N)
        yield say("easy_failed", lost=1 - cap.value, start=from_N)
    if N_eff.low < smallest or N_eff.high > largest:
        yield say("outside", least=smallest, most=largest)


DECAYS = {
    FACTOR.suites[suite].name: design.Adaptive((knob,), DecayPlan.GOALS, make)
    for suite, knob in COMPLEXITY_COLUMNS.items()
    for make in [partial(DecayDesign, suite=suite)]
}
"""The adaptive designs of FACTOR's suites, by the benchmark's name."""
