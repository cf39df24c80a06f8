"""Which puzzles: the cells, the puzzles in each, and the addresses that draws derive from."""

import re
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    import numpy as np

ENGLISH = "en"
ORIGINAL = "original"
IN_LANGUAGE = re.compile(r"~language=([a-z]+)$|-s\d+-([a-z]{2,3})-")
"""The language in an id: that of a twin, or that of the puzzle."""

SPLITS = ("train", "validation", "test")
MAX_PUZZLES = 10**9
MAX_INDEX = 2**62
MAX_SEED = 2**63 - 1
"""The greatest seed and index: both are 64-bit columns."""

MAX_CELLS = 1_000_000
"""The most cells of a grid: each is an object in memory. The papers' grids have 140 at most."""

Cell = Any
"""One combination of a benchmark's knobs: a NamedTuple of its own, with a field for each knob."""


class Batch(NamedTuple):
    """Puzzles to make: the cell and the index of each, and the 64-bit keys of all (uint64).

    The keys are hashes of the puzzles' addresses. Every draw derives from them.
    """

    cells: tuple[Cell, ...]
    indices: tuple[int, ...]
    keys: "np.ndarray"

    def part(self, rows: Sequence[int]) -> "Batch":
        """Return some of the puzzles."""
        cells = tuple(self.cells[row] for row in rows)
        return Batch(cells, tuple(self.indices[row] for row in rows), self.keys[rows])


class Selection(Sized, Protocol):
    """An ordered choice of puzzles of one benchmark: a `Grid`, or what can stand in its place."""

    @property
    def benchmark(self) -> str:
        """The benchmark's name, which addresses and ids begin with."""

    @property
    def version(self) -> int:
        """The benchmark's generator version, which addresses and ids hold."""

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Cells that bound the size of its puzzles."""

    @property
    def seed(self) -> int:
        """The seed of the draws."""

    @property
    def split(self) -> str:
        """The split whose draws are used."""

    @property
    def twin(self) -> str | None:
        """The change that every puzzle has, behind "~" in its id; None for none."""

    @property
    def language(self) -> str:
        """The language of the texts, which ids hold if it is not English."""

    def batch(self, start: int, stop: int) -> Batch:
        """Return the puzzles from row `start` up to `stop`."""

    def share(self, number: int, count: int) -> Self:
        """Return one of `count` shares, the `number`-th, of about equal size."""


@dataclass(frozen=True)
class Grid:
    """The same number of puzzles in every cell, of one benchmark, seed and split.

    With `twin`, each has that change; its draws are those of the puzzle without it. `language` is
    that of the texts, and no part of the draws.

    `num_puzzles` is for each cell; their indices are `first_index` and from there every
    `index_step`-th. Rows are interleaved over the cells (first one puzzle of every cell, then the
    second, ...), so that any prefix is balanced.
    """

    benchmark: str
    version: int
    cells: tuple[Cell, ...]
    num_puzzles: int
    seed: int
    split: str
    first_index: int = 0
    index_step: int = 1
    twin: str | None = None
    language: str = ENGLISH

    def __len__(self) -> int:
        return len(self.cells) * self.num_puzzles

    def batch(self, start: int, stop: int) -> Batch:
        """Return the puzzles from row `start` up to `stop`.

        An address is benchmark, generator version, seed, split, cell and index.
        """
        import numpy as np

        from cogniload_gen.draws import address_key, child

        index, cell = np.divmod(np.arange(start, stop), len(self.cells))
        index = self.first_index + index * self.index_step
        address = self.benchmark, self.version, self.seed, self.split
        used, place = np.unique(cell, return_inverse=True)
        cell_keys = [address_key(*address, *self.cells[number]) for number in used.tolist()]
        keys = child(np.array(cell_keys, np.uint64)[place], index)
        return Batch(tuple(map(self.cells.__getitem__, cell.tolist())), tuple(index.tolist()), keys)

    def share(self, number: int, count: int) -> Self:
        """Return one of `count` shares: in every cell each `count`-th puzzle from the `number`-th.

        The first share has number 0.
        """
        return replace(
            self,
            num_puzzles=len(range(number, self.num_puzzles, count)),
            first_index=self.first_index + number * self.index_step,
            index_step=self.index_step * count,
        )


def combinations(*knobs: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Return the product of the knobs' values; ValueError if that is more than MAX_CELLS."""
    count = prod(map(len, knobs))
    if count > MAX_CELLS:
        raise ValueError(f"a grid must have at most {MAX_CELLS:,} cells, got {count:,}")
    return product(*knobs)


def batch_bounds(
    start: int, stop: int, *, most: int, first: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the rows from `start` up to `stop` in ranges of at most `most`.

    With `first`, the first range has that many rows and each further one eight times as many as the
    one before, so that a stream's first rows come at once.
    """
    size = most if first is None else first
    while start < stop:
        size = min(size, most, stop - start)
        yield start, start + size
        start, size = start + size, size * 8


def address_columns(selection: Selection, batch: Batch) -> dict[str, list[Any]]:
    """Return the columns of a batch that tell its addresses: id, the knobs, seed and index."""
    knobs: tuple[str, ...] = batch.cells[0]._fields
    prefix = f"{selection.benchmark}-v{selection.version}-{selection.split}-s{selection.seed}"
    if selection.language != ENGLISH:
        prefix += f"-{selection.language}"
    suffix = "" if selection.twin is None else f"~{selection.twin}"
    ids = []
    for cell, index in zip(batch.cells, batch.indices, strict=True):
        values = (f"{knob}{short(value)}" for knob, value in zip(knobs, cell, strict=True))
        ids.append("-".join([prefix, *values, f"{index}{suffix}"]))
    columns = zip(*batch.cells, strict=True)
    return {
        "id": ids,
        **{knob: list(values) for knob, values in zip(knobs, columns, strict=True)},
        "seed": [selection.seed] * len(ids),
        "index": list(batch.indices),
    }


def language_of(id: str) -> str:
    """Return the language of a puzzle's text, from its id."""
    match = IN_LANGUAGE.search(id)
    return ENGLISH if match is None else match[match.lastindex or 0]


def other_language(id: str, language: str) -> str:
    """Return the id of the same puzzle in another language."""
    ours = "" if language == ENGLISH else f"-{language}"
    return re.sub(r"(-s\d+)(-[a-z]{2,3}(?=-))?(?=-)", rf"\1{ours}", id, count=1)


def change_of(id: str) -> str:
    """Return the change of a twin from its id, without a number; "original" where there is none."""
    return split_twin(id.partition("~")[2])[0] or ORIGINAL


def split_twin(text: str) -> tuple[str, int]:
    """Return a change and its number, 0 if it has none."""
    match = re.fullmatch(r"([a-z]+)=(\d{1,7})", text)
    return (match[1], int(match[2])) if match else (text, 0)


def short(value: float | str) -> str:
    """Return a knob's value as an id holds it: 25 for 25.0."""
    return str(value).removesuffix(".0")
