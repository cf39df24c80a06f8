"""Many texts at once: Arrow joins them from a table of fragments."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def arrow(values: np.ndarray | Sequence[Any]) -> pa.Array:
    """Return numbers or texts as an Arrow array.

    `pa.array` imports pandas, which takes a process longer than to make its first puzzle.
    """
    parts: list[np.ndarray | bytes]
    if len(values) and isinstance(values[0], str):
        texts = [value.encode() for value in values]
        ends = np.fromiter(accumulate(map(len, texts), initial=0), np.int32)
        kind, parts = pa.string(), [ends, b"".join(texts)]
    else:
        numbers = np.ascontiguousarray(values)
        kind, parts = pa.from_numpy_dtype(numbers.dtype), [numbers]
    return pa.Array.from_buffers(kind, len(values), [None, *map(pa.py_buffer, parts)])


def lists(ends: np.ndarray, values: pa.Array) -> pa.ListArray:
    """Return lists of values: list i from values[ends[i]] up to values[ends[i + 1]]."""
    return pa.ListArray.from_arrays(arrow(ends.astype(np.int32)), values)


class Pieces(NamedTuple):
    """Pieces of the texts in some rows, one a row: ids[bounds[i]] up to ids[bounds[i + 1]].

    The ids are those of fragments.
    """

    rows: np.ndarray
    ids: np.ndarray
    bounds: np.ndarray


def gather(fragments: pa.Array, ids: np.ndarray, bounds: np.ndarray) -> pa.Array:
    """Return texts joined from fragments: text i from ids[bounds[i]] up to ids[bounds[i + 1]].

    All texts together must stay below 2 GiB, Arrow's limit for one array.
    """
    # texts are the most of a batch, and large blocks come quicker from the system
    gathered = pc.take(fragments, arrow(ids), memory_pool=pa.system_memory_pool())
    _, starts, characters = gathered.buffers()
    ends = np.frombuffer(starts, np.int32)[bounds]
    return pa.StringArray.from_buffers(len(bounds) - 1, pa.py_buffer(ends), characters)


def line_up(count: int, pieces: Iterable[Pieces]) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids and the bounds of `count` texts, each the pieces of its row in their order."""
    pieces = list(pieces)
    length = np.zeros((count, len(pieces)), np.int64)
    for place, piece in enumerate(pieces):
        length[piece.rows, place] = np.diff(piece.bounds)
    bounds = offsets(length.reshape(-1))
    start = bounds[:-1].reshape(length.shape)
    ids = np.empty(bounds[-1], np.int32)
    for place, piece in enumerate(pieces):
        moved = start[piece.rows, place] - piece.bounds[:-1]
        ids[np.repeat(moved, np.diff(piece.bounds)) + np.arange(len(piece.ids))] = piece.ids
    return ids, bounds[:: len(pieces)]


def offsets(lengths: np.ndarray) -> np.ndarray:
    """Return where consecutive parts of the given lengths start, with the total at the end.

    Examples:
        >>> offsets(np.array([2, 0, 3])).tolist()
        [0, 2, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(lengths)])
