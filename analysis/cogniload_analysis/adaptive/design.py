"""What adaptive designs share: the answers, batches that grow, and the reasons to stop.

A benchmark's own design adds its kind of puzzle, the posterior given the answers, and the choice of
the most informative puzzles.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from numbers import Integral, Real
from reprlib import repr as brief
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm

from cogniload_analysis.frame import column, read_count
from cogniload_analysis.stats import Interval, beyond, half_width, say_ends
from cogniload_analysis.words import say
from cogniload_gen.checks import check_choice, check_integer

MAX_N, MAX_BUDGET, MAX_INDEX = 1_000_000, 1_000_000, 2**62
_PILOT = 64
# The most N is at least this many times the least.
_LEAST_REACH = 4
BUDGET = 1500
"""The largest number of puzzles of a run, by default."""
_SMALLEST_BATCH, _LARGEST_BATCH, _BATCH_SHARE, _LAST_BATCH = 64, 256, 1 / 3, 32
_GREEDY_BLOCKS, _LEAST_GAIN = 16, 1e-9
# More puzzles than this share that were cut off, or lost, are worth a flag.
_CUT_SHARE = 0.10

# One in so many puzzles of a candidate with two cells is of its second.
_OTHER_EVERY = 5

PARTS = (0.25, 0.5, 0.75)
"""Where a run is divided into early and late responses."""

SURPRISE = 0.02
"""A change is worth a sentence below this p, over all divisions."""

LEAST = 250
"""Fewer responses say nothing of time."""

# Significant digits of a prior that count in its digest, so that machines agree on it.
_DIGEST_DIGITS = 6

Puzzle: TypeAlias = Any
"""The values of the knobs that a design decides, and last the index."""


class Answer(NamedTuple):
    """Whether a response was right, and whether a limit cut it off."""

    correct: bool
    cut: bool


class Batch(NamedTuple):
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


Answers: TypeAlias = Mapping[Puzzle, Answer]
"""Answers by puzzle."""


def answer_frame(answers: Answers, puzzle: type[Any]) -> pd.DataFrame:
    """Return answers as rows: the fields of `puzzle`, a named tuple, and correct (0 or 1)."""
    rows = [(*asked, answer.correct) for asked, answer in answers.items()]
    return pd.DataFrame(rows, columns=[*puzzle._fields, "correct"], dtype=float)


class Design(ABC):
    """Chooses puzzles, takes the answers, and estimates a model's goal from them.

    The state is the answers: `ask`, `estimate` and `done` depend on them, on the settings and on
    the prior, and on nothing else. So a run that was killed goes on exactly if a new design takes
    the same answers, in any order.

    `goal` is what the run is for, one of `GOALS`, and `target` the half-width of its 95 % interval
    at which the run ends. `budget` is the most puzzles to ask, `N` the smallest and the largest
    number of statements, variables or operations.
    """

    VERSION: ClassVar[str]
    """Another one wherever the same answers may lead to other puzzles."""

    GOALS: ClassVar[Mapping[str, str]]
    """What can be estimated, with a usual target: in percent (times or over), or in its units."""

    STOP_AFTER: ClassVar[int]
    """Answers, before which no interval ends a run."""

    PUZZLE: ClassVar[type[Any]]
    """A named tuple of the knobs that the design decides, and the index."""

    def __init__(self, goal: str, target: float, budget: int, N: tuple[int, int]) -> None:
        check_choice("goal", goal, list(self.GOALS))
        if not (isinstance(target, Real) and 0 < target < np.inf):
            raise ValueError(f"target must be a number above 0, got {brief(target)}")
        check_integer("budget", budget, low=_PILOT, high=MAX_BUDGET)
        self.goal: str = goal
        self.target: float = target
        self.budget: int = budget
        self.N: tuple[int, int] = check_range("N", N, MAX_N, _LEAST_REACH)
        self.relative: bool = self.GOALS[goal].endswith("%")
        """Whether the target of the goal is a share."""
        self.lost: frozenset[Puzzle] = frozenset()
        self._dropped: frozenset[tuple[Any, ...]] = frozenset()
        self._told: dict[Puzzle, Answer] = {}
        self._batches: list[Batch] = []
        self._place_candidates()

    # --- What a benchmark's design adds ------------------------------------------------------

    cells: Sequence[tuple[tuple[Any, ...], ...]]
    """The cells (puzzles without their index) of each candidate, one or two."""

    longest: tuple[Puzzle, ...]
    """Puzzles that include the longest one of the design."""

    extents: Mapping[str, tuple[float, float]]
    """The smallest and the largest value of each goal that puzzles can have."""

    prior_values: np.ndarray
    """All that the prior says, as numbers."""

    @abstractmethod
    def _place_candidates(self) -> None:
        """Set `cells`, but for candidates with dropped ones."""

    @abstractmethod
    def _check(self, puzzle: Puzzle) -> Puzzle:
        """Return a puzzle with plain numbers; ValueError for a value out of range."""

    @abstractmethod
    def posterior(self, answers: Answers) -> Any:
        """Return the posterior of answers, which does not depend on their order."""

    @abstractmethod
    def find_goal(self, belief: Any) -> Interval:
        """Return the interval of the goal."""

    @abstractmethod
    def _choose(self, belief: Any, size: int, known: Answers) -> np.ndarray:
        """Return how many puzzles of each candidate come next: after no answers, the pilot's."""

    @abstractmethod
    def _describe(self, belief: Any, flags: tuple[str, ...], stopped: str) -> Any:
        """Return the estimate from all answers so far, with flags and why it stopped."""

    @abstractmethod
    def _say(self, estimate: Any) -> list[str]:
        """Return an estimate in words, a line each."""

    # --- Ask, tell, estimate -----------------------------------------------------------------

    @property
    def told(self) -> Answers:
        """The answers so far, by puzzle, in the order of telling."""
        return MappingProxyType(self._told)

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The batches so far; the last one is under way, or has the reason to stop.

        As a history it shows how the interval shrank.
        """
        batches = self._batches or [self._next_batch(())]
        while not (batches[-1].stopped or self._waiting(batches[-1])):
            batches.append(self._next_batch(batches))
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
        return [p for p in batch.puzzles if p not in self._told and p not in self.lost]

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
        checked, right = [self._read(puzzle) for puzzle in puzzles], list(correct)
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
        if not all(self._asks(puzzle) for puzzle in new):
            self._batches = []

    def _read(self, puzzle: Sequence[float]) -> Puzzle:
        try:
            whole = self.PUZZLE(*puzzle)
        except TypeError:
            names = ", ".join(self.PUZZLE._fields)
            raise ValueError(f"a puzzle must be ({names}), got {brief(puzzle)}") from None
        check_integer("index", whole.index, low=0, high=MAX_INDEX)
        return self._check(whole)

    def drop(self, cells: Iterable[Sequence[float]]) -> None:
        """Leave out some cells: a cell is a puzzle without its index, such as (d, N, rho).

        Their answers still count, and the state is then the answers and the dropped cells, in any
        order. Raises ValueError, and drops none, for a malformed cell, and
        if there would be nothing left to ask.
        """
        before = self._dropped
        self._dropped |= {tuple(self._read((*cell, 0))[:-1]) for cell in cells}
        self._place_candidates()
        if not self.cells:
            self._dropped = before
            self._place_candidates()
            raise ValueError("some cell must be left to ask, got all of them to drop")
        self._batches = []

    def lose(self, puzzles: Iterable[Sequence[float]]) -> None:
        """Give up puzzles whose answers never come, such as after a server's error.

        A lost puzzle is neither right nor wrong. `ask` never repeats it, and it spends budget. If
        its answer comes after all, `tell` takes it for the estimate, and the choice goes on without
        it. The state is then the answers, the lost puzzles and the dropped cells, in any order.
        Raises ValueError, and gives up none, for a malformed puzzle.
        """
        lost = frozenset(map(self._read, puzzles))
        if not lost.issubset(self.ask()):
            self._batches = []
        self.lost |= lost

    def estimate(self) -> Any:
        """Return the estimate from all answers so far, with flags and the reason to stop."""
        return self.describe(self.batches[-1].stopped)

    def summary(self) -> list[str]:
        """Return the reason to stop, the estimate and its flags in words, each a line."""
        estimate = self.estimate()
        return [
            f"stopped after {estimate.n:,} puzzles: {estimate.stopped}",
            *self._say(estimate),
            *(f"note: {flag}" for flag in estimate.flags),
        ]

    @property
    def wanted(self) -> str:
        """The goal and its target in words, such as ECL50 ±20 %."""
        return f"{self.goal} {self._wanted_width}"

    @property
    def _wanted_width(self) -> str:
        return f"±{100 * self.target:g} %" if self.relative else f"±{self.target:g}"

    @property
    def line(self) -> str:
        """What is known now, and how many puzzles come next or why none do, in a line."""
        batch, left = self.batches[-1], self.ask()
        if len(left) < len(batch.puzzles):  # a part of it was answered
            interval = self.find_goal(self.posterior(self._told))
            batch = Batch(tuple(left), len(self._told), *interval)
        known = describe_interval(batch, self.extents[self.goal])
        return f"n {batch.n}, {self.goal} {known}, {batch.stopped or f'next {len(left)}'}"

    # --- The rules ---------------------------------------------------------------------------

    def _next_batch(self, batches: Sequence[Batch]) -> Batch:
        """Return the batch that follows `batches`, all of whose puzzles have answers or are lost.

        It is chosen by these answers, and by those in cells from which the design never chooses,
        which are another run's. Answers that are ahead of the design don't sway it, so that the
        choice is the same whenever they come.
        """
        earlier = [puzzle for batch in batches for puzzle in batch.puzzles]
        known = {puzzle: self._told[puzzle] for puzzle in earlier if puzzle not in self.lost}
        known |= {p: answer for p, answer in self._told.items() if not self._asks(p)}
        belief = self.posterior(known)
        interval = self.find_goal(belief)
        if stopped := self.reason_to_stop(len(known), len(earlier), interval):
            return Batch((), len(known), *interval, stopped)
        size = self.batch_size(len(known), len(earlier), interval)
        counts = self._choose(belief, size, known)
        return Batch(tuple(self._number(counts, earlier)), len(known), *interval)

    def _asks(self, puzzle: Puzzle) -> bool:
        """Whether the design can choose puzzles of a puzzle's cell."""
        return any(puzzle[:-1] in cells for cells in self.cells)

    def _number(self, counts: np.ndarray, earlier: Iterable[Puzzle]) -> Iterable[Puzzle]:
        """Yield new puzzles of each candidate, as many as its count, one of each in turn.

        Indices continue after those of `earlier`.
        """
        used = Counter(puzzle[:-1] for puzzle in earlier)
        for turn in range(counts.max(initial=0)):
            for place in np.flatnonzero(counts > turn).tolist():
                cells = self.cells[place]
                before = sum(used[cell] for cell in cells) + 2 * place
                cell = cells[-1] if before % _OTHER_EVERY == _OTHER_EVERY - 1 else cells[0]
                yield self.PUZZLE(*cell, used[cell])
                used[cell] += 1

    def reason_to_stop(self, known: int, spent: int, interval: Interval) -> str:
        """Return why to stop after `known` answers and `spent` puzzles of the budget, or "".

        The goal is met, lies beyond the puzzles' range, or the budget is spent.
        """
        if known >= self.STOP_AFTER:
            smallest, largest = self.extents[self.goal]
            if self.half_width(interval) <= self.target:
                return f"{self.goal} is known to {self._wanted_width}"
            if interval.high < smallest:
                return f"{self.goal} lies below {smallest}, the least that can be asked"
            if interval.low > largest:
                return f"{self.goal} lies above {largest}, the most that can be asked"
        return f"the budget of {self.budget:,} puzzles is spent" if spent >= self.budget else ""

    def batch_size(self, known: int, spent: int, interval: Interval) -> int:
        """Return how many puzzles come after `known` answers and `spent` puzzles of the budget.

        They are a third of the answers, 64 to 256. Where fewer are missing, as an interval shrinks
        with the root of the answers, they are these, but 32 at least.
        """
        enough = known * (self.half_width(interval) / self.target) ** 2
        missing = max(self.STOP_AFTER, enough) - known
        most = np.clip(known * _BATCH_SHARE, _SMALLEST_BATCH, _LARGEST_BATCH)
        return int(min(self.budget - spent, np.clip(missing, _LAST_BATCH, most)))

    def half_width(self, interval: Any) -> float:
        """Return half the width of an interval of the goal, as its target has it."""
        low, high = interval.low, interval.high
        return half_width(low, high) if self.relative else float(high - low) / 2

    @cached_property
    def fingerprint(self) -> dict[str, str]:
        """The version of the design and a digest of its prior: what a run can't change midway."""
        rounded = " ".join(f"{value + 0.0:.{_DIGEST_DIGITS}g}" for value in self.prior_values.flat)
        return {"design": self.VERSION, "prior": sha256(rounded.encode()).hexdigest()[:16]}

    def describe(self, stopped: str = "") -> Any:
        """Return the estimate from all answers so far, with flags and why no more are asked."""
        return self._describe(self.posterior(self._told), tuple(self._flag_run()), stopped)

    def _flag_run(self) -> Iterable[str]:
        """Yield a sentence if accuracy changed with time, and if more than a tenth are lost.

        Time is the order of asking, so that the order of telling changes nothing; of answers that
        were told without being asked, as of a run in a report, it is that of telling.
        """
        asked = [p for batch in self._batches for p in batch.puzzles if p in self._told]
        known = asked or [*self._told]
        yield from flag_drift([p[:-1] for p in known], [self._told[p].correct for p in known])
        lost, told = len(self.lost - self._told.keys()), len(self._told)
        if lost > _CUT_SHARE * (lost + told):
            yield say("lost", lost=lost, all=lost + told)


@dataclass(frozen=True)
class Adaptive:
    """A benchmark's adaptive design.

    `knobs` are the benchmark's knobs that its design decides, in the order of a puzzle's values,
    after which comes the index. `goals` are what it can estimate, with usual targets. `make`
    returns a design from `goal`, `target`, `budget`, `N` and, if it can hold loads, `at`, and
    raises ValueError for one that is out of range. Where N has no end of its own, `fit` returns the
    largest that fits a budget of tokens, by a design, a count of texts' tokens and the budget.
    """

    knobs: tuple[str, ...]
    goals: Mapping[str, str]
    make: Callable[..., Design]
    holds: bool = False
    fit: Callable[[Any, Callable[[str], int], int], int] | None = None

    @property
    def decided(self) -> tuple[str, ...]:
        """The parameters of puzzles that the design decides."""
        return (*self.knobs, "num_puzzles")

    def name_puzzle(self, puzzle: Sequence[float]) -> dict[str, Any]:
        """Return what the design decides of a puzzle, by the names of the parameters."""
        return dict(zip((*self.knobs, "first_index"), puzzle, strict=True)) | {"num_puzzles": 1}

    def read_until(
        self, goal: object, budget: Any = None, N: Any = None, at: Any = None, d: Any = None
    ) -> dict[str, Any]:
        """Return the settings of a design from words, checked.

        The goal is such as ECL50±20% or ID50±1; +-, +/- or a space may stand for the sign. Without
        a `budget` it is BUDGET puzzles; `N` and `d` are the least and the most, such as 2..40, and
        `at` the loads that are held, such as d=1,rho=50. Raises ValueError for other words, and for
        what is out of range.
        """
        number = r"(\d{1,6}(?:\.\d{1,6})?)"
        wanted = rf"\s*(\w+?)(?:\s*(?:±|\+/?-)\s*|\s+){number}\s*(%?)\s*"
        found = re.fullmatch(wanted, str(goal))
        known = found is not None and self.goals.get(found[1])
        if not (found and known) or known.endswith("%") != bool(found[3]) or not float(found[2]):
            examples = " or ".join(name + usual for name, usual in self.goals.items())
            raise ValueError(f"until must be as {examples}, got {brief(goal)}")
        target = float(found[2]) / 100 if found[3] else float(found[2])
        until = {"goal": found[1], "target": target, "budget": BUDGET if budget is None else budget}
        if d is not None and not self.holds:
            raise ValueError(f"d must be left out for this task, got {brief(d)}")
        for name, span in (("N", N), ("d", d)):
            if span is not None:
                ends = re.fullmatch(r"(\d{1,9})\.\.(\d{1,9})", str(span))
                until[name] = [int(ends[1]), int(ends[2])] if ends else span
        if at is not None:
            at = ",".join(at) if isinstance(at, list) else at  # as Inspect reads -T at=d=1,rho=50
            held = re.findall(r"(?:^|,)(\w+)=(\d{1,9}(?:\.\d{1,9})?)(?=,|$)", str(at))
            if not self.holds or ",".join(map("=".join, held)) != at:
                allowed = "loads such as d=1,rho=50" if self.holds else "left out for this task"
                raise ValueError(f"at must be {allowed}, got {brief(at)}")
            until["at"] = {
                name: float(value) if "." in value else int(value) for name, value in held
            }
        self.make(**until)
        return until

    def within(
        self, until: Mapping[str, Any], count: Callable[[str], int], budget: int
    ) -> dict[str, Any]:
        """Return settings whose N, unless it was given, ends at what fits a budget of tokens."""
        if self.fit is None or "N" in until:
            return {**until}
        most = self.fit(self.make(**until), count, budget)
        return {**until, "N": [max(min(10, most // 10), 1), most]}


FACTS = (
    column("index", "float64", lambda sample: read_count(sample.doc, "index")),
    column("cut", bool, lambda sample: sample.ending == "cut"),
)
"""The columns of a frame from which a run is replayed, beside loads and correct."""


def spread(count: int, places: int) -> np.ndarray:
    """Return `count` spread as evenly as it goes over a number of places."""
    return np.diff(np.round(np.linspace(0, count, places + 1))).astype(int)


def narrow(
    covariance: np.ndarray, toward: np.ndarray, noise: np.ndarray, counts: np.ndarray, size: int
) -> np.ndarray:
    """Return counts of puzzles with `size` more where they narrow the goals most.

    `covariance` is that of the candidates, `toward` theirs with the goals (weighted, one row per
    goal), and `noise` the variance of one answer at each. Blocks of puzzles go one by one where
    they lower the goals' variances most, each updating the covariance by a rank of one.
    """

    def learn(place: int, count: int) -> None:
        nonlocal covariance, toward
        share = 1 / (covariance[place, place] + noise[place] / count)
        across = covariance[place].copy()
        toward = toward - share * np.outer(toward[:, place], across)
        covariance = covariance - share * np.outer(across, across)

    for place in np.flatnonzero(counts).tolist():
        learn(place, counts[place])
    for block in spread(size, min(_GREEDY_BLOCKS, size)).tolist():
        gain = (toward**2).sum(axis=0) / (np.diag(covariance) + noise / block)
        # Rounded, so that another machine's last digit does not choose another puzzle.
        place = int(np.argmax(np.round(gain / max(gain.max(), _LEAST_GAIN), 6)))
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
    value, low, high = (
        "none" if np.isnan(end) else beyond(end, *extent) or f"{end:.3g}"
        for end in (interval.value, interval.low, interval.high)
    )
    return f"{value} ({say_ends(low, high)}){unit}"


def flag_cut(near: Sequence[bool], where: str) -> Iterable[str]:
    """Yield a sentence if a limit cut off more than a tenth of the failures near a threshold.

    `near` says of each of these failures whether it was cut off.
    """
    if near and np.mean(near) > _CUT_SHARE:
        yield say("cut_near", cut=sum(near), of=len(near), where=where)


def flag_drift(cells: ArrayLike, correct: ArrayLike) -> Iterable[str]:
    """Yield a sentence if later responses are solved more rarely, or more often, than early ones.

    `cells` has the loads of each response, in the order of asking. Early and late responses are
    compared within each cell (Mantel and Haenszel 1959), so that other loads later are no change.
    """
    right = np.asarray(correct, dtype=float)
    if len(right) < LEAST:
        return
    _, cell = np.unique(np.asarray(cells, dtype=float), axis=0, return_inverse=True)
    starts = [round(part * len(right)) for part in PARTS]
    scores = [_compare_later(cell.ravel(), right, first) for first in starts]
    score, first = max(zip(scores, starts, strict=True), key=lambda each: abs(each[0]))
    if abs(score) > norm.isf(SURPRISE / 2 / len(PARTS)):
        side = "fewer" if score < 0 else "more"
        yield say("drift", first=first, side=side)


def _compare_later(cell: np.ndarray, right: np.ndarray, first: int) -> float:
    """Return the standardised difference of the right ones from `first` on, within cells."""
    late = np.arange(len(right)) >= first
    total, solved = np.bincount(cell), np.bincount(cell, right)
    after, found = np.bincount(cell, late), np.bincount(cell, right * late)
    variance = after * (total - after) * solved * (total - solved) / total**2
    variance /= np.maximum(total - 1, 1)
    excess = (found - after * solved / total).sum()
    return float(excess / np.sqrt(variance.sum())) if variance.any() else 0.0


def check_range(name: str, span: object, most: int, reach: int = 1) -> tuple[int, int]:
    """Return a range: the least and the most of a load, from 1 to `most`.

    The most is at least `reach` times the least. Raises ValueError for anything else.
    """
    ends = span if isinstance(span, list | tuple) else ()
    whole = len(ends) == 2 and all(isinstance(end, Integral) for end in ends)
    if not (whole and 1 <= ends[0] <= ends[1] // reach and ends[1] <= most):
        apart = f", the most at least {reach} times the least" if reach > 1 else ""
        raise ValueError(
            f"{name} must be the least and the most {name}, from 1 to {most}{apart}, such as "
            f"{'10..400' if reach > 1 else '1..3'}; got {brief(span)}"
        )
    return int(ends[0]), int(ends[1])
