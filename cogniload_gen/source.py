"""What can be made of a selection: its rows, whichever benchmark they are of."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from cogniload_gen.grid import Selection


class Tables(Protocol):
    """A function that makes the rows of a selection."""

    def __call__(
        self, start: int = 0, stop: int | None = None, *, first_batch: int | None = None
    ) -> Iterator[pa.Table]:
        """Yield the rows from `start` up to `stop`, all by default, as tables of bounded size.

        With `first_batch`, the first table has that many rows, and the next ones grow.
        """
        ...


@dataclass(frozen=True)
class Source:
    """The puzzles of a selection, which are made when they are asked for.

    `schema` has their columns; `tables` makes them.
    """

    selection: Selection
    schema: pa.Schema
    tables: Tables

    def table(self) -> pa.Table:
        """Return all rows as one table."""
        return pa.concat_tables(self.tables())
