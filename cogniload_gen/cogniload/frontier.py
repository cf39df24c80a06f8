"""Training puzzles without end that a model solves neither always nor never.

The chance that a response is right follows the paper's curve over the loads (section 3.1.1): its
logit is linear in d, log10 N, rho and the square of rho. A model that learns moves its curve. So
each group of responses corrects the coefficients by a step of a Kalman filter, and what was seen
long ago counts for less and less.
"""

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from random import Random
from typing import Any, Self

import numpy as np

from cogniload_gen.checks import check_integer
from cogniload_gen.cogniload import BENCHMARK
from cogniload_gen.grid import MAX_PUZZLES, Cell

_CENTRE = np.array([0.0, -1.0, -4.0, 0.0, 0.0])
_SPREAD = np.array([3.0, 1.0, 3.0, 1.0, 0.5])
"""What is believed before the first group: the curve's coefficients, and their deviations.

They are those of 1, of d / 4, log10 N and rho / 25 from the middle of their ranges, and of the
square of the last one.
"""

_MOST = np.array([np.inf, 0.0, -1.0, np.inf, np.inf])
"""The most that the coefficients may be: no model solves more as d or N grows.

Of one that solves all or nothing, the groups tell no slope.
"""

_DRIFT = np.array([0.06, 0.01, 0.03, 0.01, 0.01])
"""How far the coefficients are believed to move while a group is answered, as deviations."""

_ALIKE = 0.1
"""The correlation of the responses to one puzzle, beyond what its loads explain."""

_AHEAD = 16
"""How many puzzles are made at once, which is cheaper than one by one."""

_MEMORY = 100
"""Over how many groups the metrics are averaged."""

_LOADS_OF_ID = re.compile(r"cogniload-v\d+-[a-z]+-s\d+-(?:[a-z]+-)?d(\d+)-N(\d+)-rho([\d.]+)-\d+")


@dataclass
class _Means:
    """Running means over the last groups: the pass rate, and the share that was mixed."""

    groups: int = 0
    pass_rate: float = 0.0
    mixed: float = 0.0

    def add(self, passed: float, mixed: bool) -> None:
        """Take in a group."""
        self.groups += 1
        weight = 1 / min(self.groups, _MEMORY)
        self.pass_rate += weight * (passed - self.pass_rate)
        self.mixed += weight * (mixed - self.mixed)


class Frontier(Iterator[dict[str, Any]]):
    """An endless source of puzzles whose loads follow the model that is trained on them.

    Args:
        d: The difficulties to choose from, a number or a sequence, as for `generate_puzzles`.
        N: The numbers of statements.
        rho: The shares of needles, in percent.
        target: Between which pass rates a puzzle's is to lie.
        seed: The seed of the puzzles and of their choice.
        share: The worker's number, from 0, and how many there are: no two have the same puzzle.
        parameters: More of `load_dataset`'s, such as `traces` or `language`.

    `next(frontier)` is a puzzle of the train split, as `load_dataset` gives it. `observe` takes
    what became of it, at any time later and in any order. The puzzles are a function of the
    arguments and of what was observed before each. Raises ValueError as `generate_puzzles` does.

    Examples:
        >>> frontier = Frontier(d=1, N=range(4, 41), rho=[25, 50, 75])
        >>> row = next(frontier)
        >>> frontier.observe([row["id"]] * 4, [1, 0, 1, 1])
        >>> frontier.metrics()["pass_rate"]
        0.75
    """

    def __init__(
        self,
        d: int | Sequence[int],
        N: int | Sequence[int],
        rho: float | Sequence[float],
        target: tuple[float, float] = (0.2, 0.8),
        seed: int = 42,
        *,
        share: tuple[int, int] = (0, 1),
        **parameters: Any,
    ) -> None:
        if not _is_pair(target) or not 0 < target[0] < target[1] < 1:
            raise ValueError(f"target must be two pass rates that rise, in 0..1, got {target!r}")
        if not _is_pair(share):
            raise ValueError(f"share must be a worker's number and how many, got {share!r}")
        (self.low, self.high), (number, self._workers) = target, share
        check_integer("the number of workers", self._workers, low=1, high=MAX_PUZZLES)
        check_integer("the worker's number", number, low=0, high=self._workers - 1)
        own = {"split": "train", "num_puzzles": MAX_PUZZLES, "first_index": 0}
        for name in own.keys() & parameters:
            raise ValueError(f"{name} is not for a frontier, got {parameters[name]!r}")
        self._source = BENCHMARK.puzzles(d=d, N=N, rho=rho, seed=seed, **own, **parameters)
        cells = self._source.selection.cells
        loads = np.array([_loads(cell) for cell in cells])
        self._middle = (loads.min(0) + loads.max(0)) / 2
        self._terms = self._terms_of(loads)
        _, lines = np.unique(loads[:, [0, 2]], axis=0, return_inverse=True)
        self._lines = lines.reshape(-1)  # numpy 2.0 has a second axis
        self._next, self._waiting = number, deque[int]()
        self._rows = deque[dict[str, Any]]()
        self._curve, self._unsure = _CENTRE.copy(), np.diag(_SPREAD**2)
        self._means = _Means()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> dict[str, Any]:
        if not self._waiting:
            self._waiting.extend(self._choose())
        if not self._rows:
            source = self._source
            for table in source.make(source.selection.at(np.array(self._waiting))):
                self._rows.extend(table.to_pylist())
        self._waiting.popleft()
        return self._rows.popleft()

    def observe(self, ids: Iterable[str | None], rewards: Iterable[float | None]) -> None:
        """Take in what became of responses: a reward of 0 to 1 for each, beside its puzzle's id.

        The responses to one puzzle in one call are a group. A response without a reward, such as
        one to a row of another task, counts for nothing. ValueError for an id that is no CogniLoad
        puzzle's, and for a reward outside 0..1.
        """
        names, values = [*ids], [*rewards]
        if len(names) != len(values):
            raise ValueError(f"each id must have a reward, got {len(names)} and {len(values)}")
        groups: dict[str, list[float]] = {}
        for puzzle, reward in zip(names, values, strict=True):
            if reward is not None and not math.isnan(reward):
                if not 0 <= reward <= 1:
                    raise ValueError(f"a reward must be a number in 0..1, got {reward!r}")
                groups.setdefault(str(puzzle), []).append(float(reward))
        loads = [_loads_of(puzzle) for puzzle in groups]  # before anything is taken in
        terms_of_all = self._terms_of(np.array(loads).reshape(-1, 3))
        for terms, group in zip(terms_of_all, groups.values(), strict=True):
            self._learn(terms, sum(group), len(group))
            self._means.add(sum(group) / len(group), len({*group}) > 1)

    def metrics(self) -> dict[str, float]:
        """Return how many groups were observed, and of the last 100 or so what became of them.

        `pass_rate` is the mean reward, `mixed` the share of groups whose rewards differ. `N` is the
        geometric mean of the N whose expected pass rate lies in the target; 0 where none does.
        """
        rates, reached = self._rates(), 0.0
        within = (self.low <= rates) & (rates <= self.high)
        if within.any():
            reached = float(10 ** (self._terms[within, 2] + self._middle[1]).mean())
        return asdict(self._means) | {"N": reached}

    def state_dict(self) -> dict[str, Any]:
        """Return all that `load_state_dict` needs to go on from here, as JSON has it."""
        return {
            "next": self._next,
            "waiting": [*self._waiting],
            "curve": self._curve.tolist(),
            "unsure": self._unsure.tolist(),
            "means": asdict(self._means),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state, of a frontier with the same arguments."""
        self._next, self._waiting = state["next"], deque(state["waiting"])
        self._rows.clear()
        self._curve, self._unsure = np.array(state["curve"]), np.array(state["unsure"])
        self._means = _Means(**state["means"])

    def _terms_of(self, loads: np.ndarray) -> np.ndarray:
        """Return the curve's terms for loads (d, log10 N and rho), a row each."""
        d, length, rho = ((loads - self._middle) / (4, 1, 25)).T
        return np.stack([np.ones_like(d), d, length, rho, rho**2], 1)

    def _rates(self) -> np.ndarray:
        """Return the pass rate that is expected of each cell.

        It is rounded, so that the choice is that of any processor, whatever its last digits.
        """
        return np.round(1 / (1 + np.exp(-self._terms @ self._curve)), 9)

    def _choose(self) -> Iterator[int]:
        """Yield the rows of the next puzzles: a cell, and an index that no other puzzle has.

        A pass rate is drawn from the target, and d and rho among those that reach the target at
        some N; of these N, that with the nearest rate is taken. So rates are met evenly, though
        most of the cells may lie on one side. Where no cell reaches the target, the nearest is it.
        """
        rates = self._rates()
        reached = np.flatnonzero((self.low <= rates) & (rates <= self.high))
        lines = np.unique(self._lines[reached]).tolist()
        for _ in range(_AHEAD):
            draw = Random(f"frontier-{self._source.selection.seed}-{self._next}")  # noqa: S311
            wanted, near = draw.uniform(self.low, self.high), np.arange(len(rates))
            if lines:
                near = reached[self._lines[reached] == draw.choice(lines)]
            else:
                wanted = (self.low + self.high) / 2
            off = np.abs(rates[near] - wanted)
            yield self._next * len(rates) + draw.choice(near[off == off.min()].tolist())
            self._next += self._workers

    def _learn(self, terms: np.ndarray, passed: float, count: int) -> None:
        """Correct the curve by a group: the mode of what is believed then, and its curvature.

        The mode lies on the line of the unsureness about the group's terms, so one number is
        looked for: by how much the group exceeds what the corrected curve expects of it.
        """
        self._unsure = self._unsure + np.diag(_DRIFT**2)
        toward = self._unsure @ terms
        spread, expected = terms @ toward, terms @ self._curve
        share = 1 / (1 + (count - 1) * _ALIKE)
        low, high = share * (passed - count), share * passed
        for _ in range(50):
            excess = (low + high) / 2
            rate = 1 / (1 + math.exp(-max(-500.0, expected + spread * excess)))
            if excess < share * (passed - count * rate):
                low = excess
            else:
                high = excess
        self._curve = np.minimum(self._curve + excess * toward, _MOST)
        weight = share * count * rate * (1 - rate)
        self._unsure = self._unsure - np.outer(toward, toward) * weight / (1 + weight * spread)


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, Sequence) and len(value) == 2 and all(isinstance(v, Real) for v in value)
    )


def _loads(cell: Cell) -> tuple[float, float, float]:
    return float(cell.d), math.log10(cell.N), float(cell.rho)


def _loads_of(puzzle: str) -> tuple[float, float, float]:
    if (found := _LOADS_OF_ID.match(puzzle)) is None:
        raise ValueError(f"an id must be a CogniLoad puzzle's, got {puzzle!r}")
    return float(found[1]), math.log10(int(found[2])), float(found[3])
