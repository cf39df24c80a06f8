"""Filler text of a given number of tokens, and the places in it for statements (A.1.3, A.1.4).

A puzzle's filler is the start of an endless stream of sentences that depends on its key alone; a
tokenizer decides no more than where the stream is cut. Every word counts a known number of tokens,
so that the cut is found by summing, in whole units of 1 / UNITS token: sums are exact, and the
same in any batch.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from cogniload_gen.draws import child, children, uniform
from cogniload_gen.files import read_words
from cogniload_gen.text import offsets
from cogniload_gen.tokens import TokenCounter

# Children of a puzzle's key, beside those in symbolic.py.
_FILLER_DRAW, _SENTENCE_DRAW, _GROUP_DRAW, _PLACE_DRAW = range(7, 11)

WORDS = tuple(read_words(__package__, "filler")["words"])
ENDINGS = ("", ",", ".")
PLAIN, COMMA, STOP = range(3)
FRAGMENTS = [f"{lead}{word}{end}" for lead, word, end in product(" \n", WORDS, ENDINGS)]
"""The words with each of their endings, after a space; then the same at the start of a line."""

_SHORTEST, LONGEST = 2, 6
"""The words of a sentence, every number equally likely."""

# One word in _COMMAS that does not end a sentence has a comma.
_COMMAS = 16

MAX_GROUP = 4
"""Statements that stand together at most: the paper's maximum group size, which it leaves open."""

PARTS = 4
"""A group holds at most one statement in PARTS, rounded up, so that few statements are dispersed
too. Groups of every size up to that and to MAX_GROUP are equally likely."""

UNITS = 1 << 16


@dataclass(frozen=True)
class Filler:
    """The filler of puzzles, puzzle after puzzle.

    `words` are positions in FRAGMENTS; those of puzzle i start at first_word[i].
    `boundary` is how many words stand before each place between sentences, both ends of the filler
    included; puzzle i's start at first_boundary[i]. Both bounds have the total at the end.
    """

    words: np.ndarray
    first_word: np.ndarray
    boundary: np.ndarray
    first_boundary: np.ndarray


@lru_cache(maxsize=8)
def word_counts(count: TokenCounter) -> np.ndarray:
    """The number of tokens, in units of 1 / UNITS, that each of the words with its ending takes.

    A sample of filler corrects counts that do not quite add up. Raises ValueError that starts with
    "tokenizer" if the sum is far off, or if most words count as nothing.
    """
    counts = count(FRAGMENTS[: len(FRAGMENTS) // 2])
    words, _, _ = stream(np.zeros(1, np.uint64), np.array([2000]))
    parts, whole = counts[words].sum(), count(["".join(FRAGMENTS[word] for word in words)])[0]
    if not 0.8 * whole < parts < 1.25 * whole or whole < len(words) / 2:
        raise ValueError(
            f"tokenizer must give counts that add up, and at least half a token for a word: it "
            f"counts {whole:.0f} in {len(words)} words of filler, {parts:.0f} word by word"
        )
    return np.rint(counts * (UNITS * whole / parts)).astype(np.int64)


def check_context(N: np.ndarray, context: np.ndarray, counts: np.ndarray) -> None:
    """ValueError if some filler could have too few places for groups of MAX_GROUP statements.

    Even if every sentence had LONGEST words of the most tokens, there must be places enough.
    `counts` is what `word_counts` returns.
    """
    sentences = -(-N // MAX_GROUP) - 1
    least = -(-sentences * LONGEST * counts.max() // UNITS)
    for i in np.flatnonzero((context > 0) & (context < least))[:1]:
        allowed = f"0 or at least {least[i]} tokens for N = {N[i]}"
        raise ValueError(f"context must be {allowed}, got {context[i]}")


def write(keys: np.ndarray, context: np.ndarray, counts: np.ndarray) -> Filler:
    """The filler of the puzzles of the given keys (uint64), of `context` tokens each (A.1.3).

    With the `counts` of the words that `word_counts` returns, it is right to within a word.
    """
    if not context.any():
        nothing = np.zeros(len(keys) + 1, np.int64)
        return Filler(nothing[:0], nothing, nothing[1:], np.arange(len(keys) + 1))
    stops = 2 / (_SHORTEST + LONGEST)
    commas = (1 - stops) / _COMMAS
    mean = counts.reshape(-1, len(ENDINGS)).mean(axis=0) @ [1 - commas - stops, commas, stops]
    # some more words than it takes on average; what needs still more is drawn again
    drawn = np.where(context > 0, 100 + 1.02 * UNITS / mean * context, 0).astype(np.int64)
    while True:
        words, start, first_start = stream(keys, drawn)
        first_word = offsets(drawn)
        before = offsets(counts[words])  # units of tokens
        limit = before[first_word[:-1]] + context * UNITS
        taken = np.searchsorted(before, limit, side="right") - 1 - first_word[:-1]
        short = (drawn > 0) & (taken >= drawn)
        if not short.any():
            break
        drawn = np.where(short, 2 * drawn, drawn)
    words = words[np.arange(len(words)) < np.repeat(first_word[:-1] + taken, drawn)]
    first_word = offsets(taken)
    last = first_word[1:][taken > 0] - 1
    words[last] += STOP - words[last] % len(ENDINGS)
    owner = np.repeat(np.arange(len(keys)), np.diff(first_start))
    kept = start < taken[owner]
    sentences = np.bincount(owner[kept], minlength=len(keys))
    boundary = np.insert(start[kept], np.cumsum(sentences), taken)
    return Filler(words, first_word, boundary, offsets(sentences + 1))


def stream(keys: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first `drawn` words of each puzzle's endless filler, and its sentences' starts.

    Returns the words (positions in FRAGMENTS), puzzle after puzzle; how many of the
    puzzle's words stand before each sentence; and where each puzzle's sentences start.
    """
    draws = uniform(_ragged_children(child(keys, _FILLER_DRAW), drawn), len(WORDS) * _COMMAS)
    word, rest = np.divmod(draws, _COMMAS)
    words = word * len(ENDINGS) + np.where(rest == 0, COMMA, PLAIN)
    sentences = -(-drawn // _SHORTEST)
    first = offsets(sentences)
    length = uniform(
        _ragged_children(child(keys, _SENTENCE_DRAW), sentences), LONGEST - _SHORTEST + 1
    )
    length += _SHORTEST
    start = offsets(length)
    start = start[:-1] - np.repeat(start[first[:-1]], sentences)
    end = start + length
    here = end <= np.repeat(drawn, sentences)
    stop = (np.repeat(offsets(drawn)[:-1], sentences) + end)[here] - 1
    words[stop] += STOP - words[stop] % len(ENDINGS)
    return words, start, first


def scatter(keys: np.ndarray, N: np.ndarray, boundaries: np.ndarray) -> np.ndarray:
    """The place (0..boundaries-1) of each statement: statement x puzzle, in ascending order.

    The places are cut into as many equal intervals as there are groups, and each group stands
    anywhere in its own (A.1.4). If there are fewer places than groups, groups hold MAX_GROUP; if
    still fewer, as in the shortest training data, as many as needed.
    """
    i, puzzle = np.arange(N.max())[:, None], np.arange(len(N))
    largest = np.minimum(-(-N // PARTS), MAX_GROUP)
    size = 1 + uniform(children(child(keys, _GROUP_DRAW), len(i)), largest)
    opens = np.zeros((len(i) + 1, len(N)), bool)
    np.put_along_axis(opens, np.minimum(size.cumsum(axis=0), len(i)), True, axis=0)
    group = opens[:-1].cumsum(axis=0)
    full = i // np.maximum(MAX_GROUP, -(-N // boundaries))
    group = np.where(group[N - 1, puzzle] < boundaries, group, full)
    groups = group[N - 1, puzzle] + 1
    interval = np.minimum(np.arange(groups.max())[:, None], groups - 1)
    start, stop = (at * boundaries // groups for at in (interval, interval + 1))
    words = children(child(keys, _PLACE_DRAW), len(interval))
    places = start + uniform(words, stop - start)
    return np.take_along_axis(places, np.minimum(group, len(places) - 1), axis=0)


def _ragged_children(key: np.ndarray, count: np.ndarray) -> np.ndarray:
    """The children 0..count-1 of each key, each key with its own count, key after key."""
    number = np.arange(count.sum()) - np.repeat(offsets(count)[:-1], count)
    return child(np.repeat(key, count), number)
