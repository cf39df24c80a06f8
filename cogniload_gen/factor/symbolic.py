"""FACTOR's symbolic suite: puzzle keys -> forests -> texts and tables (section 3.1, Appendix A).

Many puzzles of any N run side by side, in arrays of place x puzzle. A place is the i of the
paper's v_i: parents stand before their children. The variables are dealt to the places at random,
so that their numbers tell nothing. A text is a sequence of fragments, which Arrow gathers for all
puzzles at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.draws import child, children, uniform
from cogniload_gen.factor import filler as fillers
from cogniload_gen.factor.knobs import PAPER_ROOTS, SymbolicCell
from cogniload_gen.files import read_words
from cogniload_gen.grid import Batch, Grid, Source, split_twin, whole_table
from cogniload_gen.text import gather, offsets
from cogniload_gen.tokens import Tokenizer, token_counter

# Children of a puzzle's key, beside those in filler.py and training.py:
_VARIABLE_DRAW, _ROOTS_DRAW, _PARENT_DRAW, _RELATION_DRAW, _ORDER_DRAW = range(5)
_EMPTY_DRAW, _TARGET_DRAW = range(5, 7)

# The columns of a table of puzzles.
_SYMBOLIC_SCHEMA = pa.schema(
    {
        "id": pa.string(), "suite": pa.string(), "N": pa.int64(), "context": pa.int64(),
        "roots": pa.int64(), "seed": pa.int64(), "index": pa.int64(), "puzzle": pa.string(),
        "question": pa.string(), "answer": pa.string(), "solution": pa.string(),
        "target": pa.int64(), "hops": pa.int64(),
    }
)  # fmt: skip

# --- Forests of variables -----------------------------------------------------------------------

# The largest value of a root; the least is 0.
_LARGEST_ROOT = 10

EMPTY = 10
"""One target in EMPTY matches no variable, whatever the N."""


@dataclass(frozen=True)
class _Forests:
    """Forests with N variables each, as arrays of place x puzzle; places from N on mean nothing.

    `variable` is the number of the variable at a place; the first k places are roots. `parent` is
    a place, `operation` what is added to the parent's value: -1, 0 or +1. `order` holds the places
    in the order of the text. `target` is the value in the question.
    """

    N: np.ndarray
    k: np.ndarray
    variable: np.ndarray
    parent: np.ndarray
    operation: np.ndarray
    value: np.ndarray
    order: np.ndarray
    target: np.ndarray

    @property
    def hops(self) -> np.ndarray:
        """How many edges the deepest variable of the target's value is from its root.

        It is 0 where only roots have that value, or none has.
        """
        depth, puzzle = np.zeros_like(self.parent), np.arange(len(self.N))
        for i in range(1, len(depth)):
            depth[i] = np.where(i < self.k, 0, depth[self.parent[i], puzzle] + 1)
        is_gold = (self.value == self.target) & (self.place < self.N)
        return np.where(is_gold, depth, 0).max(axis=0)

    @property
    def place(self) -> np.ndarray:
        """The places, to compare with N or k."""
        return np.arange(len(self.value))[:, None]


def plant(keys: np.ndarray, N: np.ndarray, roots: np.ndarray | int = 0) -> _Forests:
    """The forests of the given keys (uint64) with their numbers of variables N (A.1.1, A.1.2).

    The number of roots k is `roots`, or drawn from 1..N where that is 0. A parent is uniform on the
    places before, an operation on {none, +1, -1}, a root's value on 0..10, and both orders, of the
    variables and of the statements, are uniform too.
    """
    places, puzzle = int(N.max()), np.arange(len(N))
    k = np.where(np.asarray(roots) > 0, roots, 1 + uniform(child(keys, _ROOTS_DRAW), N))
    before = np.maximum(np.arange(places), 1)[:, None]
    parent = uniform(children(child(keys, _PARENT_DRAW), places), before)
    relation = children(child(keys, _RELATION_DRAW), places)
    operation, value = uniform(relation, 3) - 1, uniform(relation, _LARGEST_ROOT + 1)
    for i in range(1, places):
        value[i] = np.where(i < k, value[i], value[parent[i], puzzle] + operation[i])
    variable, order = (
        shuffled(children(child(keys, number), places), N)
        for number in (_VARIABLE_DRAW, _ORDER_DRAW)
    )
    return _Forests(N, k, variable, parent, operation, value, order, ask(keys, value, N))


def ask(keys: np.ndarray, value: np.ndarray, N: np.ndarray) -> np.ndarray:
    """The target values (A.1.5).

    Nine times in ten it is the value of a variable, each variable equally likely. Once in ten no
    variable has it: it is then one below the smallest value or one above the largest, either
    equally likely.
    """
    variables = np.where(np.arange(len(value))[:, None] < N, value, value[0])
    known = value[uniform(child(keys, _TARGET_DRAW), N), np.arange(len(N))]
    is_above = uniform(child(keys, _TARGET_DRAW), 2) == 1
    outside = np.where(is_above, variables.max(axis=0) + 1, variables.min(axis=0) - 1)
    return np.where(uniform(child(keys, _EMPTY_DRAW), EMPTY) == 0, outside, known)


def shuffled(words: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Random permutations of 0..N-1 down the columns of `words` (uint64, places x puzzles).

    Below a column's N entries stand its other places.
    """
    place = np.arange(len(words), dtype=np.uint64)[:, None]
    low = np.uint64((1 << len(words).bit_length()) - 1)
    last = np.uint64(2**64 - 1)
    keys = np.where(place < N, words, last) & ~low | place  # without ties
    return (np.sort(keys.T, axis=1).T & low).astype(np.int64)


# --- Texts --------------------------------------------------------------------------------------

LEADS = _SAME_GROUP, _NEW_GROUP, _LINE_START = range(3)
ENDINGS = NOTHING, COMMA, AND, _COMMA_AND, _FULL_STOP = range(5)
"""What stands before a statement and after a listed variable, in the order of the data file."""

# What a batch holds at most, so that its arrays stay in the processor's cache: tokens of filler, a
# statement counting as so many with its solution; and puzzles.
_BATCH_TOKENS, _STATEMENT_TOKENS = 400_000, 12
BATCH_PUZZLES = 4000

TEXT = read_words(__package__, "symbolic")
"""The sentences of the data file."""


@dataclass(frozen=True)
class _Fragments:
    """The fragments of texts with up to M variables, and where those of a kind stand.

    `texts` holds the fragments, kind after kind, from `first[kind]` on. The methods take arrays of
    variables, of values (see `value_range`) and of operations (-1, 0 or +1), and return positions
    in `texts`.
    """

    M: int
    texts: pa.Array
    first: dict[str, int]

    def variable(
        self, kind: str, variable: np.ndarray, variant: np.ndarray | int = 0
    ) -> np.ndarray:
        """Find a variable in a kind that holds all M of them in each of its variants."""
        return self.first[kind] + self.M * variant + variable

    def value(self, kind: str, value: np.ndarray, variant: np.ndarray | int = 0) -> np.ndarray:
        """Find a value in a kind that holds all values in each of its variants."""
        return self.first[kind] + len(value_range(self.M)) * variant + value + self.M

    def operation(self, kind: str, operand: np.ndarray, operation: np.ndarray) -> np.ndarray:
        """Find an operation in a kind that holds all operations on each operand (0, 1, ...)."""
        return self.first[kind] + len(TEXT["operations"]) * operand + operation + 1


def value_range(M: int) -> range:
    """All values of M variables, and of the questions about them."""
    return range(-M, M + _LARGEST_ROOT + 1)


@lru_cache(maxsize=8)
def fragments(M: int) -> _Fragments:
    """The fragments of texts with up to M variables."""
    statement, solution, answers = TEXT["statement"], TEXT["solution"], TEXT["answer"]
    leads, endings = statement["leads"].values(), answers["endings"].values()
    variables = [TEXT["variable"].format(number=number) for number in range(M)]
    values = value_range(M)
    operations = list(enumerate(TEXT["operations"], -1))

    def of_operands(form: str) -> list[str]:
        return [form.format(variable=v, operation=o) for v in variables for _, o in operations]

    kinds = {
        "opening": [TEXT["opening"]],
        "closing": [TEXT["closing"]],
        "instruction": [TEXT["instruction"]],
        "filler": fillers.FRAGMENTS,
        "assign": [
            statement["assign"].format(lead=i, variable=v) for i in leads for v in variables
        ],
        "root": [statement["root"].format(value=x) for x in values],
        "edge": of_operands(statement["edge"]),
        "question": [TEXT["question"].format(value=x) for x in values],
        "define": [solution["define"].format(variable=v) for v in variables],
        "given": [solution["given"].format(value=x) for x in values],
        "parent": of_operands(solution["parent"]),
        "result": [
            solution["result"].format(value=x, operation=o, result=x + step)
            if step
            else solution["given"].format(value=x)
            for x in values
            for step, o in operations
        ],
        "none": [answers["none"]],
        "conclusion": [form.format(value=x) for form in answers["conclusions"] for x in values],
        "item": [f"{v}{ending}" for ending in endings for v in variables],
    }
    first = offsets(np.array([len(texts) for texts in kinds.values()])).tolist()
    texts = pa.array([text for texts in kinds.values() for text in texts])
    return _Fragments(M, texts, dict(zip(kinds, first, strict=False)))


# --- Columns ------------------------------------------------------------------------------------


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
    made_of = fragments(-(-max(N) // 64) * 64)  # few sizes, so that they are made once
    answers, conclusions = answer(forests, made_of)
    return {
        "roots": forests.k,
        "puzzle": texts(forests, filler, keys, made_of),
        "question": made_of.texts.take(pa.array(made_of.value("question", forests.target))),
        "answer": answers,
        "solution": pc.binary_join_element_wise(steps(forests, made_of), conclusions, ""),
        "target": forests.target,
        "hops": forests.hops,
    }


def texts(
    forests: _Forests, filler: fillers.Filler, keys: np.ndarray, made_of: _Fragments
) -> pa.Array:
    """The whole prompts: statements within filler, question and instruction."""
    order, puzzles = forests.order, len(keys)
    first_word, places = filler.first_word, np.diff(filler.first_boundary)
    place = fillers.scatter(keys, forests.N, places)
    # before how many words of the filler each statement stands
    at = filler.boundary[filler.first_boundary[:-1] + place]
    lead = np.where(np.diff(place, axis=0, prepend=-1) > 0, _NEW_GROUP, _SAME_GROUP)
    lead[0, at[0] == 0] = _LINE_START
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


def steps(forests: _Forests, made_of: _Fragments) -> pa.Array:
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


def answer(forests: _Forests, made_of: _Fragments) -> tuple[pa.Array, pa.Array]:
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
    last_comma = np.where(count[puzzle] == 2, AND, _COMMA_AND)
    ending = np.select([after == 0, after == 1], [_FULL_STOP, last_comma], COMMA)
    opening = made_of.value("conclusion", forests.target, np.minimum(count, 2))
    sentence = np.insert(made_of.variable("item", variable, ending), first[:-1], opening)
    return (
        gather(made_of.texts, listed, offsets(np.maximum(count, 1))),
        gather(made_of.texts, sentence, offsets(count + 1)),
    )
