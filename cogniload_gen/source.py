"""What can be made of a grid: the rows of puzzles, whichever benchmark they are of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from cogniload_gen.grid import Grid


@dataclass(frozen=True)
class Source:
    """The puzzles of a grid, made when they are asked for.

    `schema` has their columns; `tables(start, stop, first_batch=None)` makes the rows from `start`
    up to `stop` (all of them by default) as tables of bounded size, the first of `first_batch`
    rows, and the next ones growing.
    """

    grid: Grid
    schema: pa.Schema
    tables: Callable[..., Iterator[pa.Table]]
