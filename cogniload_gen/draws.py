"""Counter-based random draws: every draw is a pure function of its address.

A key is a 64-bit number. `child` derives a key's numbered children with the output function of
SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014),
so a draw is reached by a path of numbers (puzzle, step, attempt, slot) and depends on nothing
else: not on the batch it is made in, the process, the platform or any other draw.
"""

import hashlib

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def address_key(*address: str | int | float) -> int:
    """The 64-bit key of an address, such as ("cogniload", version, seed, split, d, N, rho)."""
    digest = hashlib.blake2b(repr(address).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def child(key: np.ndarray, number: np.ndarray) -> np.ndarray:
    """The keys of the children `number` (integers >= 0) of `key` (uint64), broadcast together."""
    with np.errstate(over="ignore"):  # the arithmetic is modulo 2**64
        z = key + (np.asarray(number, np.uint64) + np.uint64(1)) * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def below(words: np.ndarray, bound: np.ndarray | int) -> np.ndarray:
    """Words (uint64) as integers uniform on 0..bound-1; the bias is below bound / 2**32."""
    high, bound = words >> np.uint64(32), np.asarray(bound, np.uint64)
    return ((high * bound) >> np.uint64(32)).astype(np.int64)


def shuffled(words: np.ndarray) -> np.ndarray:
    """Random orders of 0..count-1 along axis 0 of `words` (uint64, count x ..., count <= 16)."""
    return (np.sort(_tagged(words), axis=0) & np.uint32(15)).astype(np.uint8)


def shuffled_first(words: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`shuffled` for words of numbers x rows, and which numbers are the first `count` of a row."""
    tagged = _tagged(words)
    ordered = np.sort(tagged, axis=0)
    last = ordered[count - 1, np.arange(len(count))]
    return (ordered & np.uint32(15)).astype(np.uint8), tagged <= last


def _tagged(words: np.ndarray) -> np.ndarray:
    """The high 28 bits of the words, above their place along axis 0: so there are no ties."""
    place = np.arange(len(words), dtype=np.uint32).reshape(-1, *[1] * (words.ndim - 1))
    return (words >> np.uint64(32)).astype(np.uint32) & ~np.uint32(15) | place


def sample(words: np.ndarray, population: np.ndarray | int) -> np.ndarray:
    """Distinct integers below `population` in random order, by a partial Fisher-Yates shuffle.

    `words` is count x rows; `population` an integer or one for each row. Where a row's population
    is smaller than count, its surplus entries are meaningless.
    """
    count, rows = words.shape
    population = np.broadcast_to(population, rows)
    pool = np.tile(np.arange(max(population.max(), count), dtype=np.uint8), (rows, 1))
    row = np.arange(rows)
    for i in range(count):
        j = i + below(words[i], np.maximum(population - i, 1))
        pool[row, i], pool[row, j] = pool[row, j], pool[row, i]
    return pool[:, :count].T
