"""Grid -> tables of FACTOR puzzles of either suite, in batches that keep memory flat."""

from collections.abc import Iterator, Sequence
from functools import partial
from reprlib import repr

import numpy as np
import pyarrow as pa

from cogniload_gen.factor.filler import check_context, word_counts
from cogniload_gen.factor.realistic import columns as realistic_columns
from cogniload_gen.factor.symbolic import batch_size, symbolic_columns
from cogniload_gen.factor.training import TRAINING_SETS, TrainingSet
from cogniload_gen.grid import Grid, batches, factor_grid
from cogniload_gen.source import Source
from cogniload_gen.tokens import Tokenizer, token_counter
from cogniload_gen.version import GENERATOR_VERSION

_text, _number = pa.string(), pa.int64()
_SAMPLE = {"seed": _number, "index": _number, "puzzle": _text, "question": _text, "answer": _text}
SCHEMAS = {
    "symbolic": pa.schema(
        {"id": _text, "suite": _text, "N": _number, "context": _number}
        | _SAMPLE
        | {"solution": _text, "target": _number}
    ),
    "realistic": pa.schema(
        {"id": _text, "suite": _text, "op": _number, "context": _number, "noise": _text}
        | _SAMPLE
        | {"solution": _text}
    ),
}
"""The columns of each suite."""


def generate_factor(
    suite: str = "symbolic",
    *,
    N: int | Sequence[int] | None = None,
    op: int | Sequence[int] | None = None,
    context: int | Sequence[int] = 0,
    noise: str | Sequence[str] | None = None,
    tokenizer: Tokenizer = None,
    num_puzzles: int | None = None,
    seed: int = 42,
    split: str = "test",
    first_index: int = 0,
) -> pa.Table:
    """FACTOR puzzles as a table, a pure function of the arguments (section 3 and Appendix A).

    The parameters are those of `factor_grid`; rows are interleaved over its cells. `tokenizer`
    counts the tokens of `context`: a Hugging Face name or folder, a callable text -> number of
    tokens or sequence of them, or None for an estimate. It sizes the filler or the noise, and
    changes nothing else of a puzzle.

    Raises ValueError naming the parameter, what it got and what it takes.
    """
    grid = factor_grid(
        suite, N=N, op=op, context=context, noise=noise,
        num_puzzles=num_puzzles, seed=seed, split=split, first_index=first_index,
    )  # fmt: skip
    return pa.concat_tables(factor_source(grid, tokenizer=tokenizer).tables())


def asked_set(
    suite: str = "symbolic",
    *,
    split: str = "test",
    num_puzzles: int | None = None,
    seed: int = 42,
    **knobs: object,
) -> Grid | TrainingSet:
    """The grid of a call, or the training set of Appendix D that its split names.

    `knobs` are N, op, context and noise as in `factor_grid`, of which a training set takes none.
    """
    if suite != "symbolic" or split not in TRAINING_SETS:
        return factor_grid(suite, split=split, num_puzzles=num_puzzles, seed=seed, **knobs)
    for name, given in knobs.items():
        if given is not None and (name != "context" or np.any(given)):
            raise ValueError(f"{name} is drawn in {split}, got {repr(given)}")
    return TrainingSet(split, num_puzzles=num_puzzles, seed=seed)


def factor_source(puzzles: Grid | TrainingSet, *, tokenizer: Tokenizer = None) -> Source:
    """The FACTOR puzzles of a grid or a training set.

    Raises ValueError for a wrong `tokenizer`, or for a symbolic cell of a grid whose context is too
    short for its statements. (In a training set they crowd together.)
    """
    token_count = token_counter(tokenizer)
    suite = puzzles.cells[0].suite
    if suite == "symbolic" and isinstance(puzzles, Grid):
        N, context = np.array(puzzles.cells).T
        check_context(N, context, word_counts(token_count))
    return Source(puzzles, SCHEMAS[suite], partial(tables, puzzles, tokenizer=tokenizer))


def tables(
    puzzles: Grid | TrainingSet,
    start: int = 0,
    stop: int | None = None,
    *,
    tokenizer: Tokenizer = None,
    first_batch: int | None = None,
) -> Iterator[pa.Table]:
    """The rows from `start` up to `stop`, as tables of bounded size.

    With `first_batch` the first is of so many rows and the next ones grow (see `batches`).
    """
    stop = len(puzzles) if stop is None else stop
    complexity, context = np.mean([cell[:2] for cell in puzzles.cells], axis=0)
    most = batch_size(complexity, context)
    for first, last in batches(start, stop, most=most, first=first_batch):
        cells, indices = zip(*puzzles.rows(first, last), strict=True)
        keys = puzzles.keys(cells, indices)
        knobs = dict(zip(cells[0]._fields, zip(*cells, strict=True), strict=True))
        suite = cells[0].suite
        if suite == "symbolic":
            N, tokens = np.array(knobs["N"]), np.array(knobs["context"])
            made = symbolic_columns(keys, N, tokens, tokenizer)
        else:
            made = realistic_columns(keys, cells, tokenizer)
        address = {
            "id": names(puzzles, cells, indices),
            "suite": [suite] * len(cells),
            **knobs,
            "seed": [puzzles.seed] * len(cells),
            "index": indices,
        }
        yield pa.table(address | made, SCHEMAS[suite])


def names(puzzles: Grid | TrainingSet, cells: Sequence[tuple], indices: Sequence[int]) -> list[str]:
    """The ids of puzzles: what their addresses hold."""
    prefix = f"{cells[0].benchmark}-v{GENERATOR_VERSION}-{puzzles.split}-s{puzzles.seed}"
    knobs = "-".join(f"{name}{{}}" for name in cells[0]._fields)
    return [
        f"{prefix}-{knobs.format(*cell)}-{index}"
        for cell, index in zip(cells, indices, strict=True)
    ]
