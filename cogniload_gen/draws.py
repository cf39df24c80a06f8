"""Counter-based random draws: every draw is a pure function of its address.

A key is a 64-bit number. `child` derives a key's numbered children with the output function of
SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
so a draw is reached by a path of numbers (puzzle, step, attempt, slot) and depends on nothing
else: not on the batch it is made in, the process, the platform or any other draw.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

# numpy takes arrays faster than numbers
_ONE, HALF, GOLDEN, _FIRST_FACTOR, _SECOND_FACTOR, _FIRST_SHIFT, _SECOND_SHIFT, _LAST_SHIFT = map(
    partial(np.array, dtype=np.uint64),
    (1, 32, 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 30, 27, 31),
)

_WORD = 2**64 - 1

Key = np.ndarray | np.uint64
"""One key or an array of keys (uint64)."""


def address_key(*address: str | float | tuple[str, Any]) -> int:
    """Return the 64-bit key of an address, such as ("cogniload", version, seed, split, d, N).

    Examples:
        >>> address_key("cogniload", 1, 42) != address_key("cogniload", 1, 43)
        True
    """
    digest = hashlib.blake2b(repr(address).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def child(key: Key, number: np.ndarray | int) -> np.ndarray:
    """Return the keys of the children `number` (integers >= 0) of `key` (uint64), broadcast."""
    with np.errstate(over="ignore"):  # the arithmetic is modulo 2**64
        z = key + (np.asarray(number, np.uint64) + _ONE) * GOLDEN
        z ^= z >> _FIRST_SHIFT
        z *= _FIRST_FACTOR
        z ^= z >> _SECOND_SHIFT
        z *= _SECOND_FACTOR
        z ^= z >> _LAST_SHIFT
        return z


def children(key: np.ndarray, count: int) -> np.ndarray:
    """Return the children 0..count-1 of each key, along a new first axis."""
    return child(key, np.arange(count, dtype=np.uint64).reshape(-1, *[1] * key.ndim))


def uniform(words: np.ndarray, bound: np.ndarray | int) -> np.ndarray:
    """Return words (uint64) as integers uniform on 0..bound-1; the bias is below bound / 2**32."""
    return ((words >> HALF) * np.asarray(bound, np.uint64) >> HALF).astype(np.int64)


def permutation(words: np.ndarray) -> np.ndarray:
    """Return random permutations of 0..count-1 along axis 0 of `words` (uint64, count <= 16).

    They are the ranks of the words. For a short list, comparing all pairs beats sorting.
    """
    place = np.arange(len(words), dtype=np.uint32).reshape(-1, *[1] * (words.ndim - 1))
    keys = (words >> HALF).astype(np.uint32) & ~np.uint32(15) | place  # without ties
    return (keys[:, None] > keys).sum(axis=1, dtype=np.uint8)


def distinct(words: np.ndarray, population: np.ndarray | int) -> np.ndarray:
    """Return different integers below `population` in random order, by a Fisher-Yates shuffle.

    `words` is count x rows; `population` an integer or one for each row. Where a row's population
    is smaller than count, its surplus entries are meaningless.
    """
    count, rows = words.shape
    population = np.broadcast_to(population, rows)
    pool = np.tile(np.arange(max(population.max(), count), dtype=np.uint8), (rows, 1))
    row, place = np.arange(rows), np.arange(count)
    others = place + uniform(words.T, np.maximum(population[:, None] - place, 1))
    for i, j in enumerate(others.T):
        pool[row, i], pool[row, j] = pool[row, j], pool[row, i]
    return pool[:, :count].T


# --- the same in plain Python, which is faster for few draws


def mix(key: int, number: int) -> int:
    """Return what `child` does."""
    z = key + (number + 1) * 0x9E3779B97F4A7C15 & _WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _WORD
    return z ^ z >> 31


def mix_all(key: int, count: int, first: int = 0) -> list[int]:
    """Return what `children` does, from the `first` of them on."""
    return [mix(key, number) for number in range(first, first + count)]


def pick(word: int, bound: int) -> int:
    """Return what `uniform` does."""
    return (word >> 32) * bound >> 32


def ranked(words: Sequence[int]) -> list[int]:
    """Return the places of words in the order of the ranks that `permutation` gives them."""
    return [key & 15 for key in sorted(w >> 32 & ~15 | place for place, w in enumerate(words))]


def shuffle(words: Sequence[int], population: int) -> list[int]:
    """Return what `distinct` does."""
    pool = [*range(max(population, len(words)))]
    for i, word in enumerate(words):
        j = i + pick(word, max(population - i, 1))
        pool[i], pool[j] = pool[j], pool[i]
    return pool[: len(words)]
