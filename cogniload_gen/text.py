"""Many texts at once: Arrow joins them from a table of fragments."""

import numpy as np
import pyarrow as pa


def gather(fragments: pa.Array, ids: np.ndarray, bounds: np.ndarray) -> pa.Array:
    """Return texts joined from fragments: text i from ids[bounds[i]] up to ids[bounds[i + 1]].

    All texts together must stay below 2 GiB, Arrow's limit for one array.
    """
    gathered = fragments.take(pa.array(ids))
    _, starts, characters = gathered.buffers()
    ends = np.frombuffer(starts, np.int32)[bounds]
    return pa.StringArray.from_buffers(len(bounds) - 1, pa.py_buffer(ends), characters)


def offsets(lengths: np.ndarray) -> np.ndarray:
    """Return where consecutive parts of the given lengths start, with the total at the end."""
    return np.concatenate([[0], np.cumsum(lengths)])
