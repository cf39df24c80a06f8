"""FACTOR's symbolic suite: puzzle keys -> forests -> texts and tables (section 3.1, Appendix A).

A text is a sequence of fragments, which Arrow gathers for all puzzles at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.factor import filler as fillers
from cogniload_gen.factor.alone import make_alone
from cogniload_gen.factor.forests import Forests, plant
from cogniload_gen.factor.fragments import (
    AND,
    COMMA,
    COMMA_AND,
    FULL_STOP,
    LINE_START,
    NEW_GROUP,
    NOTHING,
    SAME_GROUP,
    Fragments,
    fragments,
)
from cogniload_gen.factor.knobs import PAPER_ROOTS, SymbolicCell
from cogniload_gen.grid import Batch, Grid, Source, split_twin, whole_table
from cogniload_gen.text import arrow, gather, offsets
from cogniload_gen.tokens import Tokenizer, token_counter

# The columns of a table of puzzles.
_SYMBOLIC_SCHEMA = pa.schema(
    {
        "id": pa.string(), "suite": pa.string(), "N": pa.int64(), "context": pa.int64(),
        "roots": pa.int64(), "seed": pa.int64(), "index": pa.int64(), "puzzle": pa.string(),
        "question": pa.string(), "answer": pa.string(), "solution": pa.string(),
        "target": pa.int64(), "hops": pa.int64(),
    }
)  # fmt: skip

# What a batch holds at most, so that its arrays stay in the processor's cache: tokens of filler, a
# statement counting as so many with its solution; and puzzles.
_BATCH_TOKENS, _STATEMENT_TOKENS = 400_000, 12
BATCH_PUZZLES = 4000


def batch_size(N: float, context: float) -> int:
    """How many puzzles with N variables and `context` tokens on average make a good batch."""
    return max(1, min(BATCH_PUZZLES, int(_BATCH_TOKENS / (context + _STATEMENT_TOKENS * N))))


def symbolic_source(selection: Grid, *, tokenizer: Tokenizer = None) -> Source:
    """Return the symbolic puzzles of a grid or a training set.

    Raises ValueError for a wrong `tokenizer`, or for a cell whose context is too short for its
    statements.
    """
    N, context, _ = map(np.array, zip(*selection.cells, strict=True))
    fillers.check_context(N, context, fillers.word_counts(token_counter(tokenizer)))

    def make(batch: Batch) -> Iterator[pa.Table]:
        one, *others = batch.cells
        if not others and not one.context and selection.twin is None:
            columns = make_alone(int(batch.keys[0]), one)
        else:
            columns = symbolic_columns(batch.keys, batch.cells, tokenizer, selection.twin)
        columns["suite"] = ["symbolic"] * len(batch.cells)
        yield whole_table(selection, batch, _SYMBOLIC_SCHEMA, columns)

    return Source(selection, _SYMBOLIC_SCHEMA, make, batch_size(N.mean(), context.mean()))


def symbolic_columns(
    keys: np.ndarray,
    cells: Sequence[SymbolicCell],
    tokenizer: Tokenizer = None,
    twin: str | None = None,
) -> dict[str, Any]:
    """The columns that a symbolic puzzle's address does not tell: roots, puzzle, ..., hops.

    A puzzle depends on its key (uint64), its cell, on `tokenizer` (see `token_counter`) and on
    `twin`, its one change, alone. Puzzles side by side take memory: `batch_size` tells how many are
    good.

    Raises ValueError if `tokenizer` does not count. Where a context is too short to spread N
    statements in groups of at most MAX_GROUP (see `check_context`), the groups are larger.
    """
    N, context, roots = zip(*cells, strict=True)
    fixed = [0 if count == PAPER_ROOTS else count for count in roots]
    forests = plant(keys, np.array(N), np.array(fixed))
    name, number = split_twin(twin or "")
    if twin == "order=solved":
        forests = replace(forests, order=np.broadcast_to(forests.place, forests.order.shape))
    elif name == "from":
        forests = replace(forests, k=np.maximum(forests.k, number))
    tokens = np.array(context) * (twin != "context=0")
    filler = fillers.write(keys, tokens, fillers.word_counts(token_counter(tokenizer)))
    made_of = fragments(max(N))
    answers, conclusions = answer(forests, made_of)
    nothing = arrow([""] * len(keys))  # a plain "" imports pandas
    return {
        "roots": forests.k,
        "puzzle": texts(forests, filler, keys, made_of),
        "question": made_of.texts.take(arrow(made_of.value("question", forests.target))),
        "answer": answers,
        "solution": pc.binary_join_element_wise(steps(forests, made_of), conclusions, nothing),
        "target": forests.target,
        "hops": forests.hops,
    }


def texts(
    forests: Forests, filler: fillers.Filler, keys: np.ndarray, made_of: Fragments
) -> pa.Array:
    """The whole prompts: statements within filler, question and instruction."""
    order, puzzles = forests.order, len(keys)
    first_word, places = filler.first_word, np.diff(filler.first_boundary)
    place = fillers.scatter(keys, forests.N, places)
    # before how many words of the filler each statement stands
    at = filler.boundary[filler.first_boundary[:-1] + place]
    lead = np.where(np.diff(place, axis=0, prepend=-1) > 0, NEW_GROUP, SAME_GROUP)
    lead[0, at[0] == 0] = LINE_START
    parent = np.take_along_axis(forests.variable, forests.parent, axis=0)
    root = made_of.value("root", forests.value)
    edge = made_of.operation("edge", parent, forests.operation)
    right = np.where(forests.place < forests.k, root, edge)
    left = made_of.variable("assign", np.take_along_axis(forests.variable, order, axis=0), lead)
    statements = np.stack([left, np.take_along_axis(right, order, axis=0)], axis=1)

    def row(entry: np.ndarray | int | bool) -> np.ndarray:
        return np.broadcast_to(entry, (1, puzzles))

    words = np.diff(first_word)
    opening = row(made_of.first["opening"]), statements.reshape(-1, puzzles)
    question = row(made_of.first["closing"]), row(made_of.value("question", forests.target))
    ids = np.concatenate([*opening, *question, row(made_of.first["instruction"])])
    before = np.concatenate([row(0), np.repeat(at, 2, axis=0), *[row(words)] * 3])
    is_used = np.repeat(forests.place < forests.N, 2, axis=0)
    used = np.concatenate([row(True), is_used, *[row(True)] * 3])

    word_ids = made_of.first["filler"] + filler.words
    begins_line = (places > 1) & (at[0] > 0)  # there are words, and no statement before them
    word_ids[first_word[:-1][begins_line]] += len(fillers.FRAGMENTS) // 2
    ids = np.insert(word_ids, (before + first_word[:-1]).T[used.T], ids.T[used.T])
    return gather(made_of.texts, ids, first_word + offsets(2 * forests.N + 4))


def steps(forests: Forests, made_of: Fragments) -> pa.Array:
    """Solutions line by line, parents before their children."""
    is_used = forests.place < forests.N
    is_child = (forests.place >= forests.k) & is_used
    parent = np.take_along_axis(forests.variable, forests.parent, axis=0)
    value = np.take_along_axis(forests.value, forests.parent, axis=0)
    result = made_of.operation("result", value + made_of.M, forests.operation)
    end = np.where(is_child, result, made_of.value("given", forests.value))
    left = made_of.variable("define", forests.variable)
    right = made_of.operation("parent", parent, forests.operation)
    ids = np.stack([left, right, end], axis=-1).swapaxes(0, 1)  # puzzle x place x part
    used = np.stack([is_used, is_child, is_used], axis=-1).swapaxes(0, 1)
    return gather(made_of.texts, ids[used], offsets(3 * forests.N - forests.k))


def answer(forests: Forests, made_of: Fragments) -> tuple[pa.Array, pa.Array]:
    """The variables that have the target's value: as the answer column and as a sentence."""
    equal = (forests.value == forests.target) & (forests.place < forests.N)
    hit = np.zeros(equal.T.shape, bool)
    np.put_along_axis(hit, forests.variable.T, equal.T, axis=1)
    count = hit.sum(axis=1)
    first = offsets(count)
    puzzle, variable = np.nonzero(hit)
    after = first[puzzle + 1] - 1 - np.arange(len(puzzle))  # variables yet to come
    listed = made_of.variable("item", variable, np.where(after > 0, COMMA, NOTHING))
    listed = np.insert(listed, first[:-1][count == 0], made_of.first["none"])
    last_comma = np.where(count[puzzle] == 2, AND, COMMA_AND)
    ending = np.select([after == 0, after == 1], [FULL_STOP, last_comma], COMMA)
    opening = made_of.value("conclusion", forests.target, np.minimum(count, 2))
    sentence = np.insert(made_of.variable("item", variable, ending), first[:-1], opening)
    return (
        gather(made_of.texts, listed, offsets(np.maximum(count, 1))),
        gather(made_of.texts, sentence, offsets(count + 1)),
    )
