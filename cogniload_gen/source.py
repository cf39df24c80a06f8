"""What can be made of a selection: its rows, whichever benchmark they are of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cogniload_gen.grid import Selection

FIRST_BLOCK, GROWTH, LARGEST_BLOCK = 16, 64, 2**26
"""Rows that are made at once, how many times as many next, and at most so many bytes.

A block's time hardly depends on its rows until there are some hundred of each difficulty.
"""


@dataclass(frozen=True)
class Source:
    """The puzzles of a selection, which are made when they are read; `schema` has their columns.

    `tables(start=0, stop=None, *, first_batch=None)` yields the rows from `start` up to `stop`, all
    by default, as tables of bounded size. With `first_batch`, the first table has that many rows,
    and the next ones grow.
    """

    selection: Selection
    schema: pa.Schema
    tables: Callable[..., Iterator[pa.Table]]

    def table(self) -> pa.Table:
        """Return all rows as one table."""
        return pa.concat_tables(self.tables())

    def rows(self) -> "Rows":
        """Return the rows by their numbers, made when they are read."""
        return Rows(self)


class Rows:
    """The rows of a source, as dicts: each is made with those behind it, which are kept.

    Blocks grow as long as they are read one after the other.
    """

    def __init__(self, source: Source) -> None:
        self._source, self._start, self._block = source, 0, source.schema.empty_table()
        self._next: dict[int, dict[str, Any]] = {}

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return a row, which is the caller's own; IndexError if there is none of this number."""
        if number in self._next:
            return self._next.pop(number)
        place, count = number - self._start, len(self._block)
        if not 0 <= place < count:
            size = FIRST_BLOCK
            if 0 < place == count:
                size = max(size, min(GROWTH * count, count * LARGEST_BLOCK // self._block.nbytes))
            stop = min(number + size, len(self._source.selection))
            if not 0 <= number < stop:
                raise IndexError(f"there are {len(self._source.selection)} rows, got {number}")
            self._block = pa.concat_tables(self._source.tables(number, stop))
            self._start, place = number, 0
        # rows of a table become dicts in a tenth of the time if several do at once
        self._next = dict(enumerate(self._block.slice(place, FIRST_BLOCK).to_pylist(), number))
        return self._next.pop(number)
