"""Grid -> tables of puzzles: the stages one after the other, in batches that keep memory flat."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

from cogniload_gen.checks import check_flag
from cogniload_gen.cogniload.simulate import simulate
from cogniload_gen.cogniload.table import SCHEMA, TRACE_SCHEMA, tabulate
from cogniload_gen.cogniload.twins import lay_out, make_twins, most_statements
from cogniload_gen.grid import Batch, Selection, batch_bounds
from cogniload_gen.source import Source

BATCH_STATEMENTS = 2_000_000
BATCH_PUZZLES = 16_000
"""What is simulated side by side at most, which with the rendering takes some 400 MB."""

TABLE_CLAUSES = 500_000
"""Clauses that are rendered into one table, about 12 MB of text."""


def cogniload_source(selection: Selection, *, trace: bool = False) -> Source:
    """Return the CogniLoad puzzles of a selection; ValueError if `trace` is not True or False."""
    schema = pa.schema([*SCHEMA, *TRACE_SCHEMA]) if check_flag("trace", trace) else SCHEMA
    return Source(selection, schema, partial(tables, selection, trace=trace))


def tables(
    selection: Selection,
    start: int = 0,
    stop: int | None = None,
    *,
    trace: bool = False,
    first_batch: int | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows from `start` up to `stop`, as tables of bounded size.

    The engine works on whole batches, of BATCH_STATEMENTS or BATCH_PUZZLES. With `first_batch`, the
    first batch has that many rows, and the next ones grow (`batch_bounds`).
    """
    stop = len(selection) if stop is None else stop
    lengths = [most_statements(cell, selection.twin) for cell in selection.cells]
    mean_N = sum(lengths) / len(lengths)
    most = max(1, min(BATCH_PUZZLES, int(BATCH_STATEMENTS / mean_N)))
    for first, last in batch_bounds(start, stop, most=most, first=first_batch):
        yield from batch_tables(selection, selection.batch(first, last), trace)


def batch_tables(selection: Selection, batch: Batch, trace: bool) -> Iterator[pa.Table]:
    """Yield the puzzles of one batch, in tables of about TABLE_CLAUSES."""
    d, N, needles = np.array([(cell.d, cell.N, cell.needles) for cell in batch.cells]).T
    # those of each difficulty are simulated together, and put back into their rows afterwards
    rows = {level: np.flatnonzero(d == level) for level in np.unique(d).tolist()}
    puzzles = {
        level: lay_out(
            simulate(batch.keys[row], level, N[row], needles[row]), language=selection.language
        )
        for level, row in rows.items()
    }
    if selection.twin is not None:
        for level, row in rows.items():
            puzzles[level] = make_twins(puzzles[level], selection.twin, batch.keys[row])
            N[row] = np.diff(puzzles[level].first_statement)

    def table(start: int, stop: int) -> pa.Table:
        parts, places = [], []
        for level, row in rows.items():
            first, last = np.searchsorted(row, [start, stop])
            if first < last:
                parts.append(puzzles[level].part(first, last))
                places.append(row[first:last] - start)
        return tabulate(parts, places, batch.part(range(start, stop)), selection, trace)

    clauses = N * (d + 2) + np.maximum(d, 2) * (d + 1)
    size = max(1, int(TABLE_CLAUSES / clauses.mean()))
    for start in range(0, len(batch.cells), size):
        yield table(start, min(start + size, len(batch.cells)))
