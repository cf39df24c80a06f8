"""FACTOR's symbolic suite: puzzle keys -> the columns of a table (section 3.1, A.1.2 to A.1.5).

A text is a sequence of fragments, which Arrow gathers for all puzzles at once.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.factor.filler import Filler, filler_fragments, scatter, word_counts, write
from cogniload_gen.factor.forest import LARGEST_ROOT, Forests, plant
from cogniload_gen.grid import split_twin
from cogniload_gen.text import gather, offsets
from cogniload_gen.tokens import Tokenizer, token_counter
from cogniload_gen.words import read_words

LEADS = SAME_GROUP, NEW_GROUP, LINE_START = range(3)
ENDINGS = NOTHING, COMMA, AND, COMMA_AND, FULL_STOP = range(5)
"""What stands before a statement and after a listed variable, in the order of the data file."""

BATCH_TOKENS = 2_000_000
BATCH_PUZZLES = 4000
STATEMENT_TOKENS = 60
"""What a batch holds at most, for flat memory: tokens of filler, a statement counting as so many
with its solution; and puzzles."""

CHUNK_TOKENS = 200_000
"""Filler that is written at once, so that its arrays stay in the processor's cache."""


def language() -> dict:
    """The sentences of the data file."""
    return read_words(__package__, "symbolic")


@dataclass(frozen=True)
class Fragments:
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
        return self.first[kind] + len(language()["operations"]) * operand + operation + 1


def value_range(M: int) -> range:
    """All values of M variables, and of the questions about them."""
    return range(-M, M + LARGEST_ROOT + 1)


@lru_cache(maxsize=8)
def fragments(M: int) -> Fragments:
    """The fragments of texts with up to M variables."""
    text = language()
    statement, solution, answers = text["statement"], text["solution"], text["answer"]
    leads, endings = statement["leads"].values(), answers["endings"].values()
    variables = [text["variable"].format(number=number) for number in range(M)]
    values = value_range(M)
    operations = list(enumerate(text["operations"], -1))

    def of_operands(form: str) -> list[str]:
        return [form.format(variable=v, operation=o) for v in variables for _, o in operations]

    kinds = {
        "opening": [text["opening"]],
        "closing": [text["closing"]],
        "instruction": [text["instruction"]],
        "filler": filler_fragments(),
        "assign": [
            statement["assign"].format(lead=i, variable=v) for i in leads for v in variables
        ],
        "root": [statement["root"].format(value=x) for x in values],
        "edge": of_operands(statement["edge"]),
        "question": [text["question"].format(value=x) for x in values],
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
    return Fragments(M, texts, dict(zip(kinds, first, strict=False)))


def batch_size(N: float, context: float) -> int:
    """How many puzzles with N variables and `context` tokens on average make a good batch."""
    return max(1, min(BATCH_PUZZLES, int(BATCH_TOKENS / (context + STATEMENT_TOKENS * N))))


def symbolic_columns(
    keys: np.ndarray,
    N: np.ndarray,
    context: np.ndarray,
    tokenizer: Tokenizer = None,
    roots: np.ndarray | int = 0,
    twin: str | None = None,
) -> dict[str, pa.Array | pa.ChunkedArray | np.ndarray]:
    """The columns that a symbolic puzzle's address does not tell: roots, puzzle, ..., hops.

    `keys` (uint64), N (>= 1: variables), `context` (>= 0: tokens of filler, 0 for none) and `roots`
    (0..N, where 0 draws their number) have an entry a puzzle, in any mixture; a puzzle depends on
    its own entries, on `tokenizer` (see `token_counter`) and on `twin`, its one change, alone.
    Puzzles side by side take memory: `batch_size` tells how many are good.

    Raises ValueError if `tokenizer` does not count. Where a context is too short to spread N
    statements in groups of at most MAX_GROUP (see `check_context`), the groups are larger.
    """
    counts = word_counts(token_counter(tokenizer))
    forests = change(plant(keys, N, roots), twin)
    if twin == "context=0":
        context = np.zeros_like(context)
    made_of = fragments(-(-int(N.max()) // 64) * 64)  # few sizes, so that they are made once
    chunk = np.cumsum(context) // CHUNK_TOKENS
    bounds = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(keys)]
    puzzles = [
        texts(forests.part(i, j), write(keys[i:j], context[i:j], counts), keys[i:j], made_of)
        for i, j in pairwise(bounds)
    ]
    answers, conclusions = answer(forests, made_of)
    return {
        "roots": forests.k,
        "puzzle": pa.chunked_array(puzzles),
        "question": made_of.texts.take(pa.array(made_of.value("question", forests.target))),
        "answer": answers,
        "solution": pc.binary_join_element_wise(steps(forests, made_of), conclusions, ""),
        "target": forests.target,
        "hops": forests.hops,
    }


def change(forests: Forests, twin: str | None) -> Forests:
    """Return forests with the statements in the order of the places, or more roots, by a twin."""
    name, number = split_twin(twin or "")
    if twin == "order=solved":
        return replace(forests, order=np.broadcast_to(forests.place, forests.order.shape))
    return replace(forests, k=np.maximum(forests.k, number)) if name == "from" else forests


def texts(forests: Forests, filler: Filler, keys: np.ndarray, made_of: Fragments) -> pa.Array:
    """The whole prompts: statements within filler, question and instruction."""
    order, puzzles = forests.order, len(keys)
    first_word, places = filler.first_word, np.diff(filler.first_boundary)
    place = scatter(keys, forests.N, places)
    # before how many words of the filler each statement stands
    at = filler.boundary[filler.first_boundary[:-1] + place]
    lead = np.where(np.diff(place, axis=0, prepend=-1) > 0, NEW_GROUP, SAME_GROUP)
    lead[0, at[0] == 0] = LINE_START
    parent = np.take_along_axis(forests.variable, forests.parent, axis=0)
    is_root = forests.place < forests.k
    right = np.where(
        is_root,
        made_of.value("root", forests.value),
        made_of.operation("edge", parent, forests.operation),
    )
    left = made_of.variable("assign", np.take_along_axis(forests.variable, order, axis=0), lead)
    statements = np.stack([left, np.take_along_axis(right, order, axis=0)], axis=1)

    def row(entry: np.ndarray | int | bool) -> np.ndarray:
        return np.broadcast_to(entry, (1, puzzles))

    words = np.diff(first_word)
    opening, closing, instruction = (
        row(made_of.first[kind]) for kind in ("opening", "closing", "instruction")
    )
    question = row(made_of.value("question", forests.target))
    ids = np.concatenate([opening, statements.reshape(-1, puzzles), closing, question, instruction])
    before = np.concatenate([row(0), np.repeat(at, 2, axis=0), *[row(words)] * 3])
    is_used = np.repeat(forests.place < forests.N, 2, axis=0)
    used = np.concatenate([row(True), is_used, *[row(True)] * 3])

    word_ids = made_of.first["filler"] + filler.words
    begins_line = (places > 1) & (at[0] > 0)  # there are words, and no statement before them
    word_ids[first_word[:-1][begins_line]] += len(filler_fragments()) // 2
    ids = np.insert(word_ids, (before + first_word[:-1]).T[used.T], ids.T[used.T])
    return gather(made_of.texts, ids, first_word + offsets(2 * forests.N + 4))


def steps(forests: Forests, made_of: Fragments) -> pa.Array:
    """Solutions line by line, parents before their children."""
    is_used = forests.place < forests.N
    is_child = (forests.place >= forests.k) & is_used
    parent = np.take_along_axis(forests.variable, forests.parent, axis=0)
    value = np.take_along_axis(forests.value, forests.parent, axis=0)
    end = np.where(
        is_child,
        made_of.operation("result", value + made_of.M, forests.operation),
        made_of.value("given", forests.value),
    )
    line = [
        made_of.variable("define", forests.variable),
        made_of.operation("parent", parent, forests.operation),
        end,
    ]
    ids = np.stack(line, axis=-1).swapaxes(0, 1)  # puzzle x place x part
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
