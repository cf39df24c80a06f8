"""Parameters -> cells: the grid a call asks for, checked, and the grids of the papers."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from numbers import Integral, Real
from reprlib import repr
from typing import NamedTuple, Self

import numpy as np

from cogniload_gen.draws import address_key, child
from cogniload_gen.version import GENERATOR_VERSION

PAPER_D = (1, 3, 5, 7, 10)
PAPER_N = (20, 50, 100, 250)
PAPER_RHO = (5, 10, 25, 50, 75, 90, 95)
"""The CogniLoad paper's grid (section 2.2), with 100 puzzles in each of its 140 cells."""

PAPER_VARIABLES = tuple(range(1, 40))
PAPER_OP = tuple(range(2, 21))
PAPER_CONTEXTS = (0, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000)
"""The FACTOR paper's grids: variables and contexts (A.2), binary operations (3.2)."""

SUITES = {"symbolic": 50, "realistic": 1000}
"""FACTOR's suites, with the puzzles that the paper has in each cell (A.2.3 and 3.2)."""

NOISES = ("close", "general")
SPLITS = ("train", "validation", "test")
MAX_D = 12
MAX_N = 1_000_000
MAX_PUZZLES = 10**9
MAX_INDEX = 2**62
MAX_SEED = 2**63 - 1
"""Seeds and indices are 64-bit columns; an N beyond 100,000 takes minutes for a puzzle."""

MAX_VARIABLES = 1000
MAX_OP = 100
MAX_CONTEXT = 1_000_000

MAX_CELLS = 1_000_000
"""Each is an object in memory; the papers' grids have 140 cells at most."""


class Cell(NamedTuple):
    """One combination of the three loads: d, N and rho (a percentage)."""

    benchmark = "cogniload"
    d: int
    N: int
    rho: float

    @property
    def needles(self) -> int:
        """The number of needles (CogniLoad, section 2.1.3)."""
        return max(1, min(self.N, round(self.N * self.rho / 100)))


class SymbolicCell(NamedTuple):
    """One combination of FACTOR's symbolic suite: N variables, and tokens of filler."""

    benchmark, suite = "factor-symbolic", "symbolic"
    N: int
    context: int


class RealisticCell(NamedTuple):
    """One combination of FACTOR's realistic suite: binary operations, tokens, kind of noise."""

    benchmark, suite = "factor-realistic", "realistic"
    op: int
    context: int
    noise: str


@dataclass(frozen=True)
class Grid:
    """Which puzzles: `num_puzzles` in every cell, of a seed and a split.

    Their indices are `first_index` and from there every `index_step`-th.

    Rows are interleaved over the cells (first one puzzle of every cell, then the second, ...), so
    that any prefix is balanced.
    """

    cells: tuple[Cell, ...] | tuple[SymbolicCell, ...] | tuple[RealisticCell, ...]
    num_puzzles: int
    seed: int
    split: str
    first_index: int = 0
    index_step: int = 1

    def __len__(self) -> int:
        return len(self.cells) * self.num_puzzles

    def rows(self, start: int, stop: int) -> Iterable[tuple[Cell, int]]:
        """The cell and the index of each row from `start` up to `stop`."""
        for row in range(start, stop):
            index, cell = divmod(row, len(self.cells))
            yield self.cells[cell], self.first_index + index * self.index_step

    def share(self, number: int, count: int) -> Self:
        """One of `count` shares: in every cell each `count`-th puzzle, from the `number`-th on."""
        return replace(
            self,
            num_puzzles=len(range(number, self.num_puzzles, count)),
            first_index=self.first_index + number * self.index_step,
            index_step=self.index_step * count,
        )

    def keys(self, cells: Sequence[NamedTuple], indices: Sequence[int]) -> np.ndarray:
        """The keys (uint64) of puzzles: what their addresses become, of which all draws are made.

        An address is benchmark, generator version, seed, split, cell and index.
        """
        cell_keys = {
            cell: address_key(cell.benchmark, GENERATOR_VERSION, self.seed, self.split, *cell)
            for cell in set(cells)
        }
        return child(np.array([cell_keys[cell] for cell in cells], np.uint64), np.array(indices))


def batches(
    start: int, stop: int, *, most: int, first: int | None = None
) -> Iterator[tuple[int, int]]:
    """The rows from `start` up to `stop` in ranges of at most `most`.

    With `first`, the first is of so many rows and each eight times as large as the one before, so
    that a stream's rows come at once.
    """
    size = most if first is None else first
    while start < stop:
        size = min(size, most, stop - start)
        yield start, start + size
        start, size = start + size, size * 8


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
    cells = tuple(Cell(*cell) for cell in combinations(*values))
    return checked_grid(cells, num_puzzles, seed, split, first_index)


def factor_grid(
    suite: str = "symbolic",
    *,
    N: int | Sequence[int] | None = None,
    op: int | Sequence[int] | None = None,
    context: int | Sequence[int] = 0,
    noise: str | Sequence[str] | None = None,
    num_puzzles: int | None = None,
    seed: int = 42,
    split: str = "test",
    first_index: int = 0,
) -> Grid:
    """The checked grid of a FACTOR call; without arguments, the paper's symbolic one (A.2).

    The symbolic suite takes N (1..1000 variables; the paper's 1..39), the realistic suite op
    (2..100 binary operations; the paper's 2..20) and noise ("close" or "general"). `context` is 0
    to 1,000,000 tokens. Each is a value or a sequence of different ones, and the grid their
    product; without context there is no noise, so such cells come once, with noise "none".
    `num_puzzles` is for each cell, as in the paper if None. Raises ValueError that names the
    parameter, what it got and what it takes.
    """
    check_choice("suite", suite, tuple(SUITES))
    contexts = check_numbers("context", context, integer=True, low=0, high=MAX_CONTEXT)
    foreign = {"op": op, "noise": noise} if suite == "symbolic" else {"N": N}
    for name, given in foreign.items():
        if given is not None:
            raise ValueError(f"{name} is not for the {suite} suite, got {repr(given)}")
    if suite == "symbolic":
        N = PAPER_VARIABLES if N is None else N
        variables = check_numbers("N", N, integer=True, low=1, high=MAX_VARIABLES)
        cells = tuple(SymbolicCell(*cell) for cell in combinations(variables, contexts))
    else:
        op = PAPER_OP if op is None else op
        operations = check_numbers("op", op, integer=True, low=2, high=MAX_OP)
        noises = check_noises("close" if noise is None else noise, contexts)
        cells = tuple(
            RealisticCell(op, tokens, kind)
            for op, tokens, kind in combinations(operations, contexts, noises)
            if (kind == "none") == (tokens == 0)
        )
    num_puzzles = SUITES[suite] if num_puzzles is None else num_puzzles
    return checked_grid(cells, num_puzzles, seed, split, first_index)


def combinations(*knobs: Sequence) -> Iterator[tuple]:
    """The product of the knobs' values; ValueError if that is more than MAX_CELLS."""
    count = prod(map(len, knobs))
    if count > MAX_CELLS:
        raise ValueError(f"a grid must have at most {MAX_CELLS:,} cells, got {count:,}")
    return product(*knobs)


def checked_grid(
    cells: tuple[NamedTuple, ...], num_puzzles: int, seed: int, split: str, first_index: int
) -> Grid:
    """The grid of checked cells; ValueError names another parameter that is wrong."""
    return Grid(
        cells,
        num_puzzles=check_integer("num_puzzles", num_puzzles, low=1, high=MAX_PUZZLES),
        seed=check_integer("seed", seed, low=0, high=MAX_SEED),
        split=check_choice("split", split, SPLITS),
        first_index=check_integer("first_index", first_index, low=0, high=MAX_INDEX),
    )


def check_noises(given: object, contexts: tuple[int, ...]) -> tuple[str, ...]:
    """`given` as a tuple of different kinds of noise, with "none" where a context is 0.

    ValueError for another kind, and for no kind where a context is above 0.
    """
    kinds = tuple(given) if isinstance(given, list | tuple) else (given,)
    without = ("none",) if 0 in contexts else ()
    for kind in kinds:
        check_choice("noise", kind, NOISES + without)
    if not kinds or len(set(kinds)) < len(kinds) or (kinds == ("none",) and any(contexts)):
        raise ValueError(
            f"noise must hold at least one of {', '.join(NOISES)} and none twice, got {repr(given)}"
        )
    return tuple(dict.fromkeys(without + kinds))


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
