"""Selection -> tables of FACTOR puzzles of either suite, in batches that keep memory flat."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from cogniload_gen.factor.filler import check_context, word_counts
from cogniload_gen.factor.knobs import PAPER_ROOTS, SymbolicCell
from cogniload_gen.factor.realistic import columns as realistic_columns
from cogniload_gen.factor.symbolic import batch_size, symbolic_columns
from cogniload_gen.grid import Batch, Grid, Selection, address_columns, batch_bounds
from cogniload_gen.source import Source
from cogniload_gen.tokens import Tokenizer, token_counter

_text, _number = pa.string(), pa.int64()
_PUZZLE = {"seed": _number, "index": _number, "puzzle": _text, "question": _text, "answer": _text}
SYMBOLIC_SCHEMA = pa.schema(
    {"id": _text, "suite": _text, "N": _number, "context": _number, "roots": _number}
    | _PUZZLE
    | {"solution": _text, "target": _number, "hops": _number}
)
REALISTIC_SCHEMA = pa.schema(
    {"id": _text, "suite": _text, "op": _number, "context": _number, "noise": _text}
    | _PUZZLE
    | {"solution": _text}
)
"""The columns of each suite."""


def symbolic_source(selection: Selection, *, tokenizer: Tokenizer = None) -> Source:
    """Return the symbolic puzzles of a grid or a training set.

    Raises ValueError for a wrong `tokenizer`, or for a cell of a grid whose context is too short
    for its statements. (In a training set they crowd together.)
    """
    counts = word_counts(token_counter(tokenizer))
    if isinstance(selection, Grid):
        check_context(*arrays(selection.cells)[:2], counts)

    def columns(batch: Batch) -> dict:
        N, context, roots = arrays(batch.cells)
        made = symbolic_columns(batch.keys, N, context, tokenizer, roots, selection.twin)
        return made | {"suite": ["symbolic"] * len(N)}

    return Source(selection, SYMBOLIC_SCHEMA, partial(tables, selection, SYMBOLIC_SCHEMA, columns))


def arrays(cells: Sequence[SymbolicCell]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the N, context and roots of cells, as `symbolic_columns` takes them."""
    N, context, roots = zip(*cells, strict=True)
    fixed = [0 if count == PAPER_ROOTS else count for count in roots]
    return np.array(N), np.array(context), np.array(fixed)


def realistic_source(selection: Selection, *, tokenizer: Tokenizer = None) -> Source:
    """Return the realistic puzzles of a grid; ValueError for a wrong `tokenizer`."""
    token_counter(tokenizer)

    def columns(batch: Batch) -> dict:
        made = realistic_columns(batch.keys, batch.cells, tokenizer, selection.twin)
        return made | {"suite": ["realistic"] * len(batch.cells)}

    schema = REALISTIC_SCHEMA
    return Source(selection, schema, partial(tables, selection, schema, columns))


def tables(
    selection: Selection,
    schema: pa.Schema,
    make_columns: Callable[[Batch], dict],
    start: int = 0,
    stop: int | None = None,
    *,
    first_batch: int | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows from `start` up to `stop`, as tables of bounded size.

    `make_columns` makes the columns of a batch that its addresses do not tell. With `first_batch`,
    the first batch has that many rows, and the next ones grow (`batch_bounds`).
    """
    stop = len(selection) if stop is None else stop
    complexity, context = np.mean([cell[:2] for cell in selection.cells], axis=0)
    most = batch_size(complexity, context)
    for first, last in batch_bounds(start, stop, most=most, first=first_batch):
        batch = selection.batch(first, last)
        columns = address_columns(selection, batch) | make_columns(batch)
        yield pa.table({name: columns[name] for name in schema.names}, schema)
