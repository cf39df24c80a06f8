"""Parameters -> cells: the grid a call asks for, checked, and the grids of the papers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Integral, Real
from reprlib import repr
from typing import NamedTuple

PAPER_D = (1, 3, 5, 7, 10)
PAPER_N = (20, 50, 100, 250)
PAPER_RHO = (5, 10, 25, 50, 75, 90, 95)
"""The CogniLoad paper's grid (section 2.2), with 100 puzzles in each of its 140 cells."""

SPLITS = ("train", "validation", "test")
MAX_D = 12
MAX_N = 1_000_000
MAX_PUZZLES = 10**9
MAX_INDEX = 2**62
MAX_SEED = 2**63 - 1
"""Seeds and indices are 64-bit columns; an N beyond 100,000 takes minutes for a puzzle."""


class Cell(NamedTuple):
    """One combination of the three loads: d, N and rho (a percentage)."""

    d: int
    N: int
    rho: float

    @property
    def needles(self) -> int:
        """The number of needles (CogniLoad, section 2.1.3)."""
        return max(1, min(self.N, round(self.N * self.rho / 100)))


@dataclass(frozen=True)
class Grid:
    """Which puzzles: `num_puzzles` in every cell, from `first_index` on, of a seed and a split.

    Rows are interleaved over the cells (first one puzzle of every cell, then the second, ...), so
    that any prefix is balanced.
    """

    cells: tuple[Cell, ...]
    num_puzzles: int
    seed: int
    split: str
    first_index: int = 0

    def __len__(self) -> int:
        return len(self.cells) * self.num_puzzles

    def rows(self, start: int, stop: int) -> Iterable[tuple[Cell, int]]:
        """The cell and the index of each row from `start` up to `stop`."""
        for row in range(start, stop):
            index, cell = divmod(row, len(self.cells))
            yield self.cells[cell], self.first_index + index


def cogniload_grid(
    d: int | Sequence[int] = PAPER_D,
    N: int | Sequence[int] = PAPER_N,
    rho: float | Sequence[float] = PAPER_RHO,
    *,
    num_puzzles: int = 100,
    seed: int = 42,
    split: str = "test",
    first_index: int = 0,
) -> Grid:
    """The checked grid of a CogniLoad call: the product of d, N and rho.

    d is 1..12, N is 1..1,000,000 statements, rho is a percentage above 0 and up to 100; each a
    number or a sequence of different numbers. Raises ValueError that names the parameter, what it
    got and what it takes.
    """
    values = (
        check_numbers("d", d, integer=True, low=1, high=MAX_D),
        check_numbers("N", N, integer=True, low=1, high=MAX_N),
        check_numbers("rho", rho, integer=False, low=0, high=100),
    )
    return Grid(
        cells=tuple(Cell(*cell) for cell in product(*values)),
        num_puzzles=check_integer("num_puzzles", num_puzzles, low=1, high=MAX_PUZZLES),
        seed=check_integer("seed", seed, low=0, high=MAX_SEED),
        split=check_choice("split", split, SPLITS),
        first_index=check_integer("first_index", first_index, low=0, high=MAX_INDEX),
    )


def check_numbers(name: str, given: object, *, integer: bool, low: int, high: int) -> tuple:
    """`given`, a number or a sequence of different numbers, as a tuple; ValueError otherwise.

    Integers run from `low` to `high`, real numbers from above `low` to `high`.
    """
    try:
        numbers = (given,) if isinstance(given, str | bytes | dict) else tuple(given)
    except TypeError:
        numbers = (given,)
    convert, kind = (int, Integral) if integer else (float, Real)
    allowed = (
        f"an integer in {low}..{high}" if integer else f"a number above {low} and up to {high}"
    )
    for number in numbers:
        right = isinstance(number, kind) and not isinstance(number, bool) and low <= number <= high
        if not right or (not integer and convert(number) == low):
            raise ValueError(f"{name} must be {allowed} or a sequence of such, got {repr(number)}")
    numbers = tuple(convert(number) for number in numbers)
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"{name} must hold at least one value and none twice, got {repr(given)}")
    return numbers


def check_integer(name: str, given: object, *, low: int, high: int) -> int:
    """`given` as an int from `low` to `high`; ValueError otherwise."""
    if isinstance(given, bool) or not isinstance(given, Integral) or not low <= given <= high:
        raise ValueError(f"{name} must be an integer in {low}..{high}, got {repr(given)}")
    return int(given)


def check_choice(name: str, given: object, choices: Sequence[str]) -> str:
    """`given` if it is one of `choices`; ValueError otherwise."""
    if not isinstance(given, str) or given not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {repr(given)}")
    return given


def check_flag(name: str, given: object) -> bool:
    """`given` if it is True or False; ValueError otherwise."""
    if not isinstance(given, bool):
        raise ValueError(f"{name} must be True or False, got {repr(given)}")
    return given
