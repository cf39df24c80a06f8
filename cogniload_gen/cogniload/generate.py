"""Grid -> tables of puzzles: the stages one after the other, in batches that keep memory flat."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from cogniload_gen.cogniload.simulate import simulate
from cogniload_gen.cogniload.table import SCHEMA, TRACE_SCHEMA, tabulate
from cogniload_gen.grid import Cell, Grid, batches, check_flag, cogniload_grid
from cogniload_gen.source import Source

BATCH_STATEMENTS = 2_000_000
BATCH_PUZZLES = 16_000
"""What is simulated side by side at most, which with the rendering takes some 400 MB."""

TABLE_CLAUSES = 500_000
"""Clauses that are rendered into one table, about 12 MB of text."""


def generate_puzzles(
    d: int | Sequence[int],
    N: int | Sequence[int],
    rho: float | Sequence[float],
    num_puzzles: int = 100,
    seed: int = 42,
    split: str = "test",
    trace: bool = False,
    first_index: int = 0,
) -> pa.Table:
    """CogniLoad puzzles as a table, a pure function of the arguments (sections 2.1 and 2.2).

    d (1..12: difficulty), N (1..1,000,000: statements) and rho (above 0, up to 100: percentage of
    needles) are each a number or a sequence, whose product is the grid; every cell of it gets
    `num_puzzles` puzzles of indices `first_index`, `first_index` + 1, ... Rows are interleaved
    over the cells: first one puzzle of every cell, then the second. `split` is "train",
    "validation" or "test"; no two splits, seeds or cells share any draws. `trace` adds the columns
    of TRACE_SCHEMA: domains, initial state, statements and the PoI's states.

    Raises ValueError naming the parameter, what it got and what it takes.
    """
    grid = cogniload_grid(
        d, N, rho, num_puzzles=num_puzzles, seed=seed, split=split, first_index=first_index
    )
    return pa.concat_tables(cogniload_source(grid, trace=trace).tables())


def cogniload_source(grid: Grid, *, trace: bool = False) -> Source:
    """The CogniLoad puzzles of a grid; ValueError if `trace` is not True or False."""
    schema = pa.schema([*SCHEMA, *TRACE_SCHEMA]) if check_flag("trace", trace) else SCHEMA
    return Source(grid, schema, partial(tables, grid, trace=trace))


def tables(
    grid: Grid,
    start: int = 0,
    stop: int | None = None,
    *,
    trace: bool = False,
    first_batch: int | None = None,
) -> Iterator[pa.Table]:
    """The rows of a grid from `start` up to `stop`, as tables of bounded size.

    The engine works on whole batches, of BATCH_STATEMENTS or BATCH_PUZZLES; with `first_batch` the
    first is of so many rows and the next ones grow (see `batches`).
    """
    stop = len(grid) if stop is None else stop
    mean_N = sum(cell.N for cell in grid.cells) / len(grid.cells)
    most = max(1, min(BATCH_PUZZLES, int(BATCH_STATEMENTS / mean_N)))
    for first, last in batches(start, stop, most=most, first=first_batch):
        cells, indices = zip(*grid.rows(first, last), strict=True)
        yield from batch_tables(grid, cells, indices, trace)


def batch_tables(
    grid: Grid, cells: Sequence[Cell], indices: Sequence[int], trace: bool
) -> Iterator[pa.Table]:
    """The puzzles of one batch, in tables of about TABLE_CLAUSES."""
    keys = grid.keys(cells, indices)
    d, N, needles = np.array([(cell.d, cell.N, cell.needles) for cell in cells]).T
    # those of each difficulty are simulated together, and put back into their rows afterwards
    rows = {each: np.flatnonzero(d == each) for each in np.unique(d).tolist()}
    puzzles = {each: simulate(keys[row], each, N[row], needles[row]) for each, row in rows.items()}

    def table(start: int, stop: int) -> pa.Table:
        parts, order = [], []
        for each, row in rows.items():
            first, last = np.searchsorted(row, [start, stop])
            if first < last:
                here = row[first:last].tolist()
                part = puzzles[each].part(first, last), [cells[i] for i in here]
                parts.append(tabulate(*part, [indices[i] for i in here], grid, trace))
                order += here
        return pa.concat_tables(parts).take(np.argsort(order))

    clauses = N * (d + 2) + np.maximum(d, 2) * (d + 1)
    size = max(1, int(TABLE_CLAUSES / clauses.mean()))
    for start in range(0, len(cells), size):
        yield table(start, min(start + size, len(cells)))
