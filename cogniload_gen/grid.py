"""Which puzzles: their cells, addresses and ids, and their rows, made when they are read."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

ENGLISH = "en"
ORIGINAL = "original"
# The language in an id: that of a twin, or that of the puzzle.
_IN_LANGUAGE = re.compile(r"~language=([a-z]+)$|-s\d+-([a-z]{2,3})-")

_SPLIT = re.compile(r"-v\d+-([a-z]\w*)-s\d+-")
_ASKS_STEPS = re.compile(r"-s\d+-steps-")

SPLITS = ("train", "validation", "test")
MAX_PUZZLES = 10**9
MAX_INDEX = 2**62
MAX_SEED = 2**63 - 1
"""The greatest seed and index: both are 64-bit columns."""

Cell = Any
"""One combination of a benchmark's knobs: a NamedTuple of its own, with a field for each knob."""


class Batch(NamedTuple):
    """Puzzles to make: the cell and the index of each, and the 64-bit keys of all (uint64).

    The keys are hashes of the puzzles' addresses. Every draw derives from them.
    """

    cells: tuple[Cell, ...]
    indices: tuple[int, ...]
    keys: "np.ndarray"


@dataclass(frozen=True)
class Grid:
    """The same number of puzzles in every cell, of one benchmark, seed and split.

    With `twin`, each has that change; its draws are those of the puzzle without it. `language` is
    that of the texts, and with `steps` they ask for a line a statement: no part of the draws.
    `options` are the benchmark's, such as `trace`, by name: no part of the draws, or of the ids.

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
    steps: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.cells) * self.num_puzzles

    def batch(self, start: int, stop: int) -> Batch:
        """Return the puzzles from row `start` up to `stop`."""
        import numpy as np

        return self.at(np.arange(start, stop))

    def at(self, rows: "np.ndarray") -> Batch:
        """Return the puzzles of some rows, given by their numbers.

        An address is benchmark, generator version, seed, split, cell and index.
        """
        import numpy as np

        from cogniload_gen.draws import address_key, child

        index, cell = np.divmod(rows, len(self.cells))
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


def language_of(id: str) -> str:
    """Return the language of a puzzle's text, from its id.

    Examples:
        >>> language_of("cogniload-v1-test-s42-de-d1-N20-rho5-0")
        'de'
    """
    match = _IN_LANGUAGE.search(id)
    return ENGLISH if match is None else match[match.lastindex or 0]


def asks_steps(id: str) -> bool:
    """Return whether a puzzle asks for a line a statement, from its id.

    Examples:
        >>> asks_steps("cogniload-v1-test-s42-steps-d1-N20-rho5-0")
        True
    """
    return bool(_ASKS_STEPS.search(id))


def split_of(id: str) -> str:
    """Return the split of a puzzle, from its id; "" where that has none.

    Examples:
        >>> split_of("cogniload-v1-test-s42-d1-N20-rho5-0")
        'test'
    """
    match = _SPLIT.search(id)
    return match[1] if match else ""


def other_language(id: str, language: str) -> str:
    """Return the id of the same puzzle in another language, which asks for no lines.

    Examples:
        >>> other_language("cogniload-v1-test-s42-d1-N20-rho5-0", "de")
        'cogniload-v1-test-s42-de-d1-N20-rho5-0'
    """
    ours = "" if language == ENGLISH else f"-{language}"
    return re.sub(r"(-s\d+)(-(?:steps|[a-z]{2,3})(?=-))?(?=-)", rf"\1{ours}", id, count=1)


def change_of(id: str) -> str:
    """Return the change of a twin from its id, without a number; "original" where there is none.

    Examples:
        >>> change_of("cogniload-v1-test-s42-d1-N20-rho5-0~from=10")
        'from'
    """
    return split_twin(id.partition("~")[2])[0] or ORIGINAL


def split_twin(text: str) -> tuple[str, int]:
    """Return a change and its number, 0 if it has none.

    Examples:
        >>> split_twin("from=50"), split_twin("needles")
        (('from', 50), ('needles', 0))
    """
    match = re.fullmatch(r"([a-z]+)=(\d{1,7})", text)
    return (match[1], int(match[2])) if match else (text, 0)


def short(value: float | str) -> str:
    """Return a knob's value as an id holds it: 25 for 25.0.

    Examples:
        >>> short(25.0), short(2.5)
        ('25', '2.5')
    """
    return str(value).removesuffix(".0")


# --- Rows ------------------------------------------------------------------------------------

# Rows that a reader of single rows has made at once, at most.
#
# It begins with one, as the next that it asks for may be anywhere.
_LARGEST_BLOCK = 1024


@dataclass(frozen=True)
class Source:
    """The puzzles of a selection, which are made when they are read; `schema` has their columns.

    `make` yields the tables of a batch of at most `batch_rows` puzzles, which bounds the memory.
    """

    selection: Grid
    schema: "pa.Schema"
    make: Callable[[Batch], Iterator["pa.Table"]]
    batch_rows: int

    def tables(
        self, start: int = 0, stop: int | None = None, *, first_batch: int | None = None
    ) -> Iterator["pa.Table"]:
        """Yield the rows from `start` up to `stop`, all by default, as tables of bounded size.

        With `first_batch`, the first batch has that many rows and each further one 16 times as
        many as the one before, so that a stream's first rows come at once.
        """
        stop = len(self.selection) if stop is None else stop
        size = first_batch or self.batch_rows
        while start < stop:
            size = min(size, self.batch_rows, stop - start)
            yield from self.make(self.selection.batch(start, start + size))
            start, size = start + size, size * 16

    def table(self) -> "pa.Table":
        """Return all rows as one table."""
        import pyarrow as pa

        return pa.concat_tables(self.tables())

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows from `start` up to `stop` as dicts, made in blocks that grow as they go.

        By default, these are all.
        """
        stop, size = len(self.selection) if stop is None else stop, 1
        while start < stop:
            after = min(start + size, stop)
            for table in self.tables(start, after):
                yield from table.to_pylist()
            start, size = after, min(8 * size, _LARGEST_BLOCK)


def whole_table(
    selection: Grid, batch: Batch, schema: "pa.Schema", columns: Mapping[str, Any]
) -> "pa.Table":
    """Return the table of a batch: `columns`, and what its addresses tell: id, knobs and draws."""
    import pyarrow as pa

    from cogniload_gen.text import arrow

    knobs: tuple[str, ...] = batch.cells[0]._fields
    prefix = f"{selection.benchmark}-v{selection.version}-{selection.split}-s{selection.seed}"
    if selection.language != ENGLISH:
        prefix += f"-{selection.language}"
    prefix += "-steps" * selection.steps
    suffix = "" if selection.twin is None else f"~{selection.twin}"
    ids = []
    for cell, index in zip(batch.cells, batch.indices, strict=True):
        values = (f"{knob}{short(value)}" for knob, value in zip(knobs, cell, strict=True))
        ids.append("-".join([prefix, *values, f"{index}{suffix}"]))
    own: dict[str, Any] = dict(zip(knobs, zip(*batch.cells, strict=True), strict=True))
    own |= {"id": ids, "seed": [selection.seed] * len(ids), "index": batch.indices}
    made = {name: columns[name] if name in columns else own[name] for name in schema.names}
    known = (pa.Array, pa.ChunkedArray)
    for name, column in made.items():
        made[name] = column if isinstance(column, known) else arrow(column)
    return pa.table(made, schema)
