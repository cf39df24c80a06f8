"""What adaptive designs share: the answers, batches that grow, and the reasons to stop.

A benchmark's own design adds its kind of puzzle, the information in an answer, and the choice of
the most informative puzzles.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from numbers import Integral, Real
from reprlib import repr as brief
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from cogniload_analysis.adaptive.drift import question_drift
from cogniload_analysis.display.tables import beyond
from cogniload_analysis.frame import column, read_count
from cogniload_gen.benchmark import Row
from cogniload_gen.checks import check_choice, check_integer
from cogniload_gen.sample import ending

MAX_N, MAX_BUDGET, MAX_SEED, MAX_INDEX = 1_000_000, 1_000_000, 2**63 - 1, 2**62
PILOT = 64
BUDGET = 1500
"""The largest number of puzzles of a run, by default."""
SMALLEST_BATCH, LARGEST_BATCH, BATCH_SHARE = 64, 256, 1 / 3
GREEDY_BLOCKS, LEAST_GAIN = 16, 1e-9
CUT_SHARE = 0.10
"""More puzzles than this share that were cut off, or lost, are worth a flag."""

DIGEST_DIGITS = 6
"""Significant digits of a prior that count in its digest, so that machines agree on it."""

Puzzle: TypeAlias = Any
"""The values of the knobs that a design decides, and last the index."""


class Answer(NamedTuple):
    """Whether a response was right, and whether a limit cut it off."""

    correct: bool
    cut: bool


@dataclass(frozen=True)
class Interval:
    """A median, and the ends of 95 % of the posterior."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Batch:
    """Puzzles of one turn, and what was known when they were chosen.

    `n` answers, `low` and `high` the 95 % interval of the goal, `value` its median. `stopped` is
    the reason to ask no more, and then there are no puzzles.
    """

    puzzles: tuple[Puzzle, ...]
    n: int
    value: float
    low: float
    high: float
    stopped: str = ""


class Goal(NamedTuple):
    """A quantity that a run can estimate.

    The target of a `relative` goal is a share: 0.2 is times or over 1.2. That of another goal is in
    the goal's own units. `example` is a usual target, in words.
    """

    name: str
    relative: bool
    example: str = "±20%"


@dataclass(frozen=True, eq=False)
class Plan(ABC):
    """A design as a pure function: settings, prior, batches so far and answers -> next batch.

    `goal` is what the run is for, one of `GOALS`, and `target` the half-width of its 95 % interval
    at which the run ends. `budget` is the most puzzles to ask, `N` the smallest and the largest
    number of statements, variables or operations.
    """

    VERSION: ClassVar[str]
    """Another one wherever the same answers may lead to other puzzles."""

    GOALS: ClassVar[tuple[Goal, ...]]
    STOP_AFTER: ClassVar[int]
    """Answers, before which no interval ends a run."""

    goal: str
    target: float
    budget: int
    N: tuple[int, int]
    prior: Any = field(kw_only=True)
    """What is known before any answer."""

    dropped: frozenset[tuple[Any, ...]] = field(default=frozenset(), kw_only=True)
    """Cells (puzzles without their index) that the design leaves out."""

    lost: frozenset[Puzzle] = field(default=frozenset(), kw_only=True)
    """Puzzles whose answers never come: they spend budget, and sway no choice."""

    def __post_init__(self) -> None:
        check_choice("goal", self.goal, [goal.name for goal in self.GOALS])
        if not (isinstance(self.target, Real) and 0 < self.target < np.inf):
            raise ValueError(f"target must be a number above 0, got {brief(self.target)}")
        check_integer("budget", self.budget, low=PILOT, high=MAX_BUDGET)
        check_range("N", self.N)
        object.__setattr__(self, "N", (int(self.N[0]), int(self.N[1])))

    @property
    def relative(self) -> bool:
        """Whether the target of the goal is a share."""
        return next(goal.relative for goal in self.GOALS if goal.name == self.goal)

    @property
    def wanted(self) -> str:
        """The goal and its target in words, such as ECL50 ±20 %."""
        return f"{self.goal} {self._target}"

    @property
    def _target(self) -> str:
        return f"±{100 * self.target:g} %" if self.relative else f"±{self.target:g}"

    def half_width(self, interval: Any) -> float:
        """Return half the width of an interval of the goal, as its target has it."""
        low, high = interval.low, interval.high
        return half_width(low, high) if self.relative else float(high - low) / 2

    @property
    def extent(self) -> tuple[float, float]:
        """The smallest and the largest value of the goal that puzzles can have."""
        return self.N

    def reason_to_stop(self, known: int, spent: int, interval: Interval) -> str:
        """Return why to stop after `known` answers and `spent` puzzles of the budget, or "".

        The goal is met, lies beyond the puzzles' range, or the budget is spent.
        """
        if known >= self.STOP_AFTER:
            smallest, largest = self.extent
            if self.half_width(interval) <= self.target:
                return f"{self.goal} is known to {self._target}"
            if interval.high < smallest:
                return f"{self.goal} lies below {smallest}, the least that can be asked"
            if interval.low > largest:
                return f"{self.goal} lies above {largest}, the most that can be asked"
        return f"the budget of {self.budget:,} puzzles is spent" if spent >= self.budget else ""

    @property
    @abstractmethod
    def prior_values(self) -> np.ndarray:
        """All that the prior says, as numbers."""

    @property
    @abstractmethod
    def candidates(self) -> Sized:
        """The places from which the design chooses, without those of dropped cells."""

    @property
    @abstractmethod
    def longest(self) -> tuple[Puzzle, ...]:
        """Puzzles that include the longest one of the design."""

    @abstractmethod
    def asks(self, puzzle: Puzzle) -> bool:
        """Whether the design can choose puzzles of a puzzle's cell."""

    @abstractmethod
    def check(self, puzzle: Sequence[float]) -> Puzzle:
        """Return a puzzle with plain numbers; ValueError for a malformed one."""

    @abstractmethod
    def believe(self, answers: Mapping[Puzzle, Answer]) -> Any:
        """Return the posterior of answers, which does not depend on their order."""

    @abstractmethod
    def find_goal(self, belief: Any) -> Interval:
        """Return the interval of the goal."""

    @abstractmethod
    def choose(
        self, belief: Any, size: int, known: int, earlier: Sequence[Puzzle]
    ) -> Iterable[Puzzle]:
        """Return the `size` new puzzles of most information after `known` answers."""

    @abstractmethod
    def say(self, estimate: Any) -> list[str]:
        """Return an estimate in words, a line each."""

    @abstractmethod
    def describe(self, answers: Mapping[Puzzle, Answer], batches: Sequence[Batch]) -> Any:
        """Return the estimate from answers, with flags and the last batch's reason to stop."""

    def question_run(
        self, answers: Mapping[Puzzle, Answer], batches: Sequence[Batch]
    ) -> Iterable[str]:
        """Yield a sentence if accuracy changed with time, and if more than a tenth are lost.

        Time is the order of asking, so that the order of telling changes nothing.
        """
        known = [p for batch in batches for p in batch.puzzles if p in answers]
        yield from question_drift([p[:-1] for p in known], [answers[p].correct for p in known])
        lost = len(self.lost - answers.keys())
        if lost > CUT_SHARE * (lost + len(answers)):
            yield (
                f"{lost} of {lost + len(answers)} puzzles are lost and count as neither right nor "
                "wrong, which is fair only if the reason has nothing to do with their answers"
            )

    @cached_property
    def fingerprint(self) -> dict[str, str]:
        """The version of the design and a digest of its prior: what a run can't change midway."""
        rounded = " ".join(f"{value + 0.0:.{DIGEST_DIGITS}g}" for value in self.prior_values.flat)
        return {"design": self.VERSION, "prior": sha256(rounded.encode()).hexdigest()[:16]}

    def next_batch(self, batches: Sequence[Batch], answers: Mapping[Puzzle, Answer]) -> Batch:
        """Return the batch that follows `batches`, all of whose puzzles have answers or are lost.

        It is chosen by these answers, and by those in cells from which the design never chooses,
        which are another run's. Answers that are ahead of the design don't sway it, so that the
        choice is the same whenever they come.
        """
        earlier = [puzzle for batch in batches for puzzle in batch.puzzles]
        known = {puzzle: answers[puzzle] for puzzle in earlier if puzzle not in self.lost}
        known |= {puzzle: answer for puzzle, answer in answers.items() if not self.asks(puzzle)}
        belief = self.believe(known)
        interval = self.find_goal(belief)
        knowledge = {"n": len(known), **vars(interval)}
        if stopped := self.reason_to_stop(len(known), len(earlier), interval):
            return Batch((), **knowledge, stopped=stopped)
        size = batch_size(len(known), self.budget - len(earlier))
        return Batch(tuple(self.choose(belief, size, len(known), earlier)), **knowledge)


class Design:
    """Chooses puzzles, takes the answers, and estimates a model's goal from them.

    The state is the answers: `ask`, `estimate` and `done` depend on them, on the settings and on
    the prior, and on nothing else. So a run that was killed goes on exactly if a new design takes
    the same answers, in any order.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._told: dict[Puzzle, Answer] = {}
        self._batches: list[Batch] = []

    @property
    def told(self) -> Mapping[Puzzle, Answer]:
        """The answers so far, by puzzle."""
        return MappingProxyType(self._told)

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The batches so far; the last one is under way, or has the reason to stop.

        As a history it shows how the interval shrank.
        """
        batches = self._batches or [self.plan.next_batch((), self._told)]
        while not (batches[-1].stopped or self._waiting(batches[-1])):
            batches.append(self.plan.next_batch(batches, self._told))
        self._batches = batches
        return tuple(batches)

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        return bool(self.batches[-1].stopped)

    def ask(self) -> list[Puzzle]:
        """Return the puzzles of the current batch that have no answer yet; empty when done.

        The next batch is chosen when all puzzles of this one have answers. Where answers never
        come, `lose` leaves out single puzzles, and `drop` cells, such as those that don't fit a
        model's context.
        """
        return self._waiting(self.batches[-1])

    def _waiting(self, batch: Batch) -> list[Puzzle]:
        """The puzzles of a batch whose answers are still to come."""
        return [p for p in batch.puzzles if p not in self._told and p not in self.plan.lost]

    def tell(
        self,
        puzzles: Iterable[Sequence[float]],
        correct: Iterable[bool],
        cut: Iterable[bool] | None = None,
    ) -> None:
        """Take answers: for each puzzle, as `ask` returns them, whether it was solved.

        The puzzles may be any part of a batch, in any order. They may also be others of the same
        seed of the generator, such as those of an earlier run: pass these first, since they change
        the choice. `cut` holds, for each puzzle, whether a limit cut the response off. The same
        answer twice changes nothing. Raises ValueError, and takes none of the answers, if a puzzle
        or an answer is malformed or contradicts an earlier answer.
        """
        checked, right = [self.plan.check(puzzle) for puzzle in puzzles], list(correct)
        limited = [False] * len(checked) if cut is None else list(cut)
        if not len(checked) == len(right) == len(limited):
            raise ValueError(
                f"there must be one answer for each of {len(checked)} puzzles, "
                f"got {len(right)}, and {len(limited)} that say whether it was cut off"
            )
        new: dict[Puzzle, Answer] = {}
        for puzzle, solved, limit in zip(checked, right, limited, strict=True):
            if solved not in (0, 1) or limit not in (0, 1):
                raise ValueError(f"an answer must be True or False, got {brief((solved, limit))}")
            answer = Answer(bool(solved), bool(limit))
            before = new.get(puzzle) or self._told.get(puzzle) or answer
            if before.correct != answer.correct:
                raise ValueError(
                    f"{tuple(puzzle)} was answered as {before.correct}, now {answer.correct}"
                )
            new[puzzle] = Answer(answer.correct, before.cut or answer.cut)
        self._told |= new
        if not all(self.plan.asks(puzzle) for puzzle in new):
            self._batches = []

    def drop(self, cells: Iterable[Sequence[float]]) -> None:
        """Leave out some cells: a cell is a puzzle without its index, such as (d, N, rho).

        Their answers still count, and the state is then the answers and the dropped cells, in any
        order. Raises ValueError, and drops none, for a malformed cell, and
        if there would be nothing left to ask.
        """
        dropped = {tuple(self.plan.check((*cell, 0))[:-1]) for cell in cells}
        plan = replace(self.plan, dropped=self.plan.dropped | dropped)
        if not len(plan.candidates):
            raise ValueError("some cell must be left to ask, got all of them to drop")
        self.plan, self._batches = plan, []

    def lose(self, puzzles: Iterable[Sequence[float]]) -> None:
        """Give up puzzles whose answers never come, such as after a server's error.

        A lost puzzle is neither right nor wrong. `ask` never repeats it, and it spends budget. If
        its answer comes after all, `tell` takes it for the estimate, and the choice goes on without
        it. The state is then the answers, the lost puzzles and the dropped cells, in any order.
        Raises ValueError, and gives up none, for a malformed puzzle.
        """
        lost = frozenset(map(self.plan.check, puzzles))
        if not lost.issubset(self.ask()):
            self._batches = []
        self.plan = replace(self.plan, lost=self.plan.lost | lost)

    def estimate(self) -> Any:
        """Return the estimate from all answers so far, with flags and the reason to stop."""
        return self.plan.describe(self._told, self.batches)

    def summary(self) -> list[str]:
        """Return the reason to stop, the estimate and its flags in words, each a line."""
        estimate = self.estimate()
        return [
            f"stopped after {estimate.n:,} puzzles: {estimate.stopped}",
            *self.plan.say(estimate),
            *(f"note: {flag}" for flag in estimate.flags),
        ]

    @property
    def goal(self) -> str:
        """The goal and its target in words, such as ECL50 ±20 %."""
        return self.plan.wanted

    @property
    def line(self) -> str:
        """What is known now, and how many puzzles come next or why none do, in a line."""
        plan, batch, left = self.plan, self.batches[-1], self.ask()
        if len(left) < len(batch.puzzles):  # a part of it was answered
            interval = plan.find_goal(plan.believe(self._told))
            batch = Batch(tuple(left), len(self._told), **vars(interval))
        known = describe_interval(batch, plan.extent)
        return f"n {batch.n}, {plan.goal} {known}, {batch.stopped or f'next {len(left)}'}"


@dataclass(frozen=True)
class Adaptive:
    """A benchmark's adaptive design.

    `knobs` are the benchmark's knobs that its design decides, in the order of a puzzle's values,
    after which comes the index. `goals` are what it can estimate. `make` returns a
    design from `goal`, `target` and `budget`, and raises ValueError for one that is out of range.
    """

    knobs: tuple[str, ...]
    goals: tuple[Goal, ...]
    make: Callable[..., Design]

    @property
    def decided(self) -> tuple[str, ...]:
        """The parameters of puzzles that the design decides."""
        return (*self.knobs, "num_puzzles")

    def name_puzzle(self, puzzle: Sequence[float]) -> dict[str, Any]:
        """Return what the design decides of a puzzle, by the names of the parameters."""
        return dict(zip((*self.knobs, "first_index"), puzzle, strict=True)) | {"num_puzzles": 1}

    def read_until(
        self, goal: object, budget: object = None, span: object = None
    ) -> dict[str, Any]:
        """Return the settings of a design from a goal in words, checked.

        The goal is such as ECL50±20% or ID50±1; +-, +/- or a space may stand for the sign. Without
        a `budget` it is BUDGET puzzles; `span` is the least and the most N. Raises
        ValueError for another goal, and for a budget or a span out of range.
        """
        if span is not None:
            check_range("range", span)
        limits: dict[str, Any] = {"budget": BUDGET if budget is None else budget}
        limits |= {} if span is None else {"N": span}
        for known in self.goals:
            percent = r"\s*%" if known.relative else ""
            number = r"(\d{1,6}(?:\.\d{1,6})?)"
            wanted = rf"\s*{known.name}(?:\s*(?:±|\+/?-)\s*|\s+){number}{percent}\s*"
            if match := re.fullmatch(wanted, str(goal)):
                target = float(match[1]) / 100 if known.relative else float(match[1])
                until = {"goal": known.name, "target": target} | limits
                self.make(**until)
                return until
        examples = " or ".join(known.name + known.example for known in self.goals)
        raise ValueError(f"until must be as {examples}, got {brief(goal)}")


def is_cut(sample: Row) -> bool:
    """Return whether a sample's response was cut off."""
    return (
        str(sample["outcome"]).endswith("max_context")
        or ending(sample.get("finish_reason")) == "cut"
    )


FACTS = (
    column("index", "float64", lambda sample: read_count(sample["doc"], "index")),
    column("cut", bool, is_cut),
)
"""The columns of a frame from which a run is replayed, beside loads and correct."""


def half_width(low: float, high: float) -> float:
    """Return half the width of an interval as a share: 0.2 is times or over 1.2.

    Infinite if it holds 0 or has no end.
    """
    near, far = sorted((abs(low), abs(high)))
    return float((far / near) ** 0.5 - 1) if (low > 0 or high < 0) and far < np.inf else np.inf


def batch_size(known: int, left: int) -> int:
    """Return how many puzzles come next: a third of the answers, 64 to 256, what is left."""
    return min(left, int(np.clip(known * BATCH_SHARE, SMALLEST_BATCH, LARGEST_BATCH)))


def spread(count: int, places: int) -> np.ndarray:
    """Return `count` spread as evenly as it goes over a number of places."""
    return np.diff(np.round(np.linspace(0, count, places + 1))).astype(int)


def narrow(
    covariance: np.ndarray, toward: np.ndarray, noise: np.ndarray, counts: np.ndarray, size: int
) -> np.ndarray:
    """Return counts of puzzles with `size` more where they narrow the goals most.

    `covariance` is that of the candidates, `toward` theirs with the goals (a row a goal, weighted),
    and `noise` the variance of one answer at each. Blocks of puzzles go one by one where they lower
    the goals' variances most, each updating the covariance by a rank of one.
    """

    def learn(place: int, count: int) -> None:
        nonlocal covariance, toward
        share = 1 / (covariance[place, place] + noise[place] / count)
        across = covariance[place].copy()
        toward = toward - share * np.outer(toward[:, place], across)
        covariance = covariance - share * np.outer(across, across)

    for place in np.flatnonzero(counts).tolist():
        learn(place, counts[place])
    for block in spread(size, min(GREEDY_BLOCKS, size)).tolist():
        gain = (toward**2).sum(axis=0) / (np.diag(covariance) + noise / block)
        # Rounded, so that another machine's last digit does not choose another puzzle.
        place = int(np.argmax(np.round(gain / max(gain.max(), LEAST_GAIN), 6)))
        learn(place, block)
        counts[place] += block
    return counts


def describe_interval(interval: Any, extent: tuple[float, float], unit: str = "") -> str:
    """Return a value in words, such as 46 (38 to 56), or > 400 (310 to > 400).

    `extent` is the range of the puzzles, beyond which a value is no more than beyond it. An
    interval that passes both of its ends determines nothing. A `unit` follows the numbers.
    """
    if np.isnan(interval.value) or (interval.low < extent[0] and interval.high > extent[1]):
        return "not determined"

    def number(value: float) -> str:
        if np.isnan(value):
            return "none"
        return beyond(value, *extent) or f"{value:.3g}"

    return f"{number(interval.value)} ({number(interval.low)} to {number(interval.high)}){unit}"


def question_cut(near: Sequence[bool], where: str) -> Iterable[str]:
    """Yield a sentence if a limit cut off more than a tenth of the failures near a threshold.

    `near` says of each of these failures whether it was cut off.
    """
    if near and np.mean(near) > CUT_SHARE:
        yield (
            f"{sum(near)} of {len(near)} failures near {where} were cut off by a limit: it tells "
            "of the limit too"
        )


def check_range(name: str, span: object) -> None:
    """Raise ValueError unless a range is the least and the most N, some way apart."""
    ends = span if isinstance(span, list | tuple) else ()
    whole = len(ends) == 2 and all(isinstance(end, Integral) for end in ends)
    if not (whole and 1 <= ends[0] <= ends[1] // 4 and ends[1] <= MAX_N):
        raise ValueError(
            f"{name} must be the least and the most N, from 1 to {MAX_N}, the most at least four "
            f"times the least; got {brief(span)}"
        )
