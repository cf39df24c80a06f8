"""FACTOR's symbolic suite: puzzle keys -> the columns of a table (section 3.1, A.1.2 to A.1.5).

A text is a sequence of fragments, which Arrow gathers for all puzzles at once.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.factor.filler import (
    Filler,
    fragments,
    offsets,
    scatter,
    word_counts,
    write,
)
from cogniload_gen.factor.forest import LARGEST_ROOT, Forests, plant
from cogniload_gen.text import gather
from cogniload_gen.tokens import Tokenizer, token_counter

OPENING = "This is the beginning of the text:"
CLOSING = """
This is the end of the text.

The text contains relationships between variables enclosed by '<<<' and '>>>'. These \
relationships are not sequential assignments in a programming language. They are independent \
mathematical equations that are all true simultaneously.

"""
QUESTION = "Using only these relationships, determine what variable(s), if any, are equal to {}."
INSTRUCTION = (
    " Show your step-by-step reasoning and calculations, and then conclude your final answer in a "
    "sentence."
)
OPERATIONS = " - 1", "", " + 1"
LEADS = TOGETHER, ALONE, FIRST = range(3)
ENDS = NOTHING, COMMA, AND, COMMA_AND, FULL_STOP = range(5)

BATCH_TOKENS = 2_000_000
BATCH_PUZZLES = 4000
STATEMENT_TOKENS = 60
"""What a batch holds at most, for flat memory: tokens of filler, a statement counting as so many
with its solution; and puzzles."""

CHUNK_TOKENS = 200_000
"""Filler that is written at once, so that its arrays stay in the processor's cache."""


@dataclass(frozen=True)
class Phrases:
    """The fragments of all texts with up to M variables, and where each kind starts in them.

    Kinds by variable v, value x, operation o: `assign` "<<<assign v =" after "@" within a group,
    at a group's start and at the text's start (three times M); `root` "x>>>@", `edge` "v o>>>@";
    of solutions `define` "v = ", `given` "x", `parent` "v o = ", `result` "x o = y"; of the answer
    `item` "v" followed by nothing, ", ", " and ", ", and " or "." (five times M).
    """

    M: int
    fragments: pa.Array
    questions: pa.Array
    opening: int
    filler: int
    assign: int
    root: int
    edge: int
    closing: int
    question: int
    instruction: int
    define: int
    given: int
    parent: int
    result: int
    conclusion: int
    item: int
    none: int


@lru_cache(maxsize=8)
def phrases(M: int) -> Phrases:
    """The fragments of texts with up to M variables, whose values are above -M and below M + 10."""
    variables = [f"v{number}" for number in range(M)]
    values = range(-M, M + LARGEST_ROOT + 1)
    questions = [QUESTION.format(value) for value in values]
    kinds = {
        "opening": [OPENING],
        "filler": fragments(),
        "assign": [f"{lead}@<<<assign {v} = " for lead in ("", " ", "\n") for v in variables],
        "root": [f"{value}>>>@" for value in values],
        "edge": [f"{v}{operation}>>>@" for v in variables for operation in OPERATIONS],
        "closing": [CLOSING],
        "question": questions,
        "instruction": [INSTRUCTION],
        "define": [f"{v} = " for v in variables],
        "given": [f"{value}\n" for value in values],
        "parent": [f"{v}{operation} = " for v in variables for operation in OPERATIONS],
        "result": [
            f"{value}{operation} = {value + step}\n" if operation else f"{value}\n"
            for value in values
            for step, operation in enumerate(OPERATIONS, -1)
        ],
        "conclusion": [
            sentence.format(value)
            for sentence in (
                "No variable is equal to {}.",
                "The variable equal to {} is ",
                "The variables equal to {} are ",
            )
            for value in values
        ],
        "item": [f"{v}{end}" for end in ("", ", ", " and ", ", and ", ".") for v in variables],
        "none": ["none"],
    }
    starts = offsets(np.array([len(texts) for texts in kinds.values()]))[:-1].tolist()
    every = pa.array([text for texts in kinds.values() for text in texts])
    return Phrases(M, every, pa.array(questions), **dict(zip(kinds, starts, strict=True)))


def batch_size(N: float, context: float) -> int:
    """How many puzzles with N variables and `context` tokens on average make a good batch."""
    return max(1, min(BATCH_PUZZLES, int(BATCH_TOKENS / (context + STATEMENT_TOKENS * N))))


def symbolic_columns(
    keys: np.ndarray,
    N: np.ndarray,
    context: np.ndarray,
    tokenizer: Tokenizer = None,
) -> dict[str, pa.Array | pa.ChunkedArray | np.ndarray]:
    """The columns puzzle, question, answer, solution and target of symbolic puzzles.

    `keys` (uint64), N (>= 1: variables) and `context` (>= 0: tokens of filler, 0 for none) have an
    entry a puzzle, in any mixture; a puzzle depends on its own entries and on `tokenizer` alone
    (see `token_counter`). Puzzles side by side take memory: `batch_size` tells how many are good.

    Raises ValueError if `tokenizer` does not count. Where a context is too short to spread N
    statements in groups of at most MAX_GROUP (see `check_context`), the groups are larger.
    """
    counts = word_counts(token_counter(tokenizer))
    forests = plant(keys, N)
    language = phrases(-(-int(N.max()) // 64) * 64)
    chunk = np.cumsum(context) // CHUNK_TOKENS
    bounds = [0, *(np.flatnonzero(np.diff(chunk)) + 1).tolist(), len(keys)]
    puzzles = [
        texts(forests.part(i, j), write(keys[i:j], context[i:j], counts), keys[i:j], language)
        for i, j in pairwise(bounds)
    ]
    answers, conclusions = answer(forests, language)
    return {
        "puzzle": pa.chunked_array(puzzles),
        "question": language.questions.take(pa.array(forests.target + language.M)),
        "answer": answers,
        "solution": pc.binary_join_element_wise(steps(forests, language), conclusions, ""),
        "target": forests.target,
    }


def texts(forests: Forests, filler: Filler, keys: np.ndarray, language: Phrases) -> pa.Array:
    """The whole prompts: statements within filler, question and instruction."""
    M, order = language.M, forests.order
    first_word, places = filler.first_word, np.diff(filler.first_boundary)
    place = scatter(keys, forests.N, places)
    # before how many words of the filler each statement stands
    at = filler.boundary[filler.first_boundary[:-1] + place]
    lead = np.where(np.diff(place, axis=0, prepend=-1) > 0, ALONE, TOGETHER)
    lead[0, at[0] == 0] = FIRST
    parent = np.take_along_axis(forests.variable, forests.parent, axis=0)
    root = language.root + forests.value + M
    edge = language.edge + len(OPERATIONS) * parent + forests.operation + 1
    right = np.where(forests.place < forests.k, root, edge)

    ids = np.empty((2 * len(order) + 4, len(keys)), np.int64)
    before = np.empty_like(ids)
    used = np.ones(ids.shape, bool)
    ids[0], before[0] = language.opening, 0
    ids[1:-3:2] = language.assign + M * lead + np.take_along_axis(forests.variable, order, axis=0)
    ids[2:-3:2] = np.take_along_axis(right, order, axis=0)
    before[1:-3:2] = before[2:-3:2] = at
    used[1:-3] = np.repeat(forests.place < forests.N, 2, axis=0)
    ids[-3], ids[-2] = language.closing, language.question + forests.target + M
    ids[-1], before[-3:] = language.instruction, np.diff(first_word)

    words = language.filler + filler.words
    words[first_word[:-1][(places > 1) & (at[0] > 0)]] += len(fragments()) // 2
    ids = np.insert(words, (before + first_word[:-1]).T[used.T], ids.T[used.T])
    return gather(language.fragments, ids, first_word + offsets(2 * forests.N + 4))


def steps(forests: Forests, language: Phrases) -> pa.Array:
    """Solutions line by line, parents before their children."""
    M, (places, puzzles) = language.M, forests.value.shape
    child = (forests.place >= forests.k) & (forests.place < forests.N)
    parent = np.take_along_axis(forests.variable, forests.parent, axis=0)
    value = np.take_along_axis(forests.value, forests.parent, axis=0)
    operation = forests.operation + 1
    ids = np.empty((places, 3, puzzles), np.int64)
    ids[:, 0] = language.define + forests.variable
    ids[:, 1] = language.parent + len(OPERATIONS) * parent + operation
    ids[:, 2] = language.given + forests.value + M
    ids[:, 2][child] = (language.result + len(OPERATIONS) * (value + M) + operation)[child]
    used = np.empty(ids.shape, bool)
    used[:] = (forests.place < forests.N)[:, None]
    used[:, 1] = child
    ids = ids.transpose(2, 0, 1)[used.transpose(2, 0, 1)]
    return gather(language.fragments, ids, offsets(3 * forests.N - forests.k))


def answer(forests: Forests, language: Phrases) -> tuple[pa.Array, pa.Array]:
    """The variables that have the target's value: as the answer column and as a sentence."""
    M, target = language.M, forests.target
    equal = (forests.value == target) & (forests.place < forests.N)
    hit = np.zeros(equal.T.shape, bool)
    np.put_along_axis(hit, forests.variable.T, equal.T, axis=1)
    count = hit.sum(axis=1)
    first = offsets(count)
    puzzle, variable = np.nonzero(hit)
    after = first[puzzle + 1] - 1 - np.arange(len(puzzle))  # variables yet to come
    item = language.item + variable
    listed = np.insert(item + M * (after > 0), first[:-1][count == 0], language.none)
    ends = np.where(count[puzzle] == 2, AND, COMMA_AND)
    ends = np.select([after == 0, after == 1], [FULL_STOP, ends], COMMA)
    opening = language.conclusion + (2 * M + LARGEST_ROOT + 1) * np.minimum(count, 2) + target + M
    sentence = np.insert(item + M * ends, first[:-1], opening)
    return (
        gather(language.fragments, listed, offsets(np.maximum(count, 1))),
        gather(language.fragments, sentence, offsets(count + 1)),
    )
