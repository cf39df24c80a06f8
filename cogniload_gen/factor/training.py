"""The training sets of FACTOR (Appendix D): rows in place of a grid's, from draws of their own.

A set's puzzles depend on seed, set and index alone. `mixed` holds the very puzzles of the four
stages of the course, so they share draws, and ids. `clean` holds those of `pretrain` without their
filler (section 5.1).
"""

from dataclasses import dataclass
from functools import lru_cache
from math import erfc, log, sqrt
from reprlib import repr as brief
from typing import Any

import numpy as np

from cogniload_gen.checks import check_choice, check_integer
from cogniload_gen.draws import address_key, child, uniform
from cogniload_gen.factor.knobs import (
    COURSE,
    SCALES,
    STAGE,
    SYMBOLIC_VERSION,
    TRAINING_SETS,
    SymbolicCell,
)
from cogniload_gen.grid import MAX_SEED, Batch, Grid

# A child of a puzzle's key, beside those in symbolic.py and filler.py.
_TRAINING_DRAW = 11

MAX_N = 29
_MU, _SIGMA, _L_MIN, _L_MAX = 5, 2.5, 100, 1000
LENGTH_BOUNDS = np.array(
    [round(2**31 * erfc((_MU - log(L + 0.5)) / _SIGMA / sqrt(2))) for L in range(_L_MIN, _L_MAX)]
)
"""P(L <= 100), P(L <= 101), ... in units of 2**-32: a draw of 32 bits lies between two of them.

Logarithms and error functions differ between platforms, in the last of their 53 bits. These 900
integers do not: none of the numbers that are rounded to them lies within 1e-4 of a half.
"""


@dataclass(frozen=True)
class _TrainingSet(Grid):
    """The first `num_puzzles` of the training set `name`, whose puzzles draw their cells.

    `split` says whose draws they take, and `cells` holds the largest cell that one may have, to
    size batches by.
    """

    name: str = "pretrain"

    def batch(self, start: int, stop: int) -> Batch:
        """Return the puzzles from row `start` up to `stop`.

        A puzzle's cell is drawn from its key, and is no part of its address.
        """
        if self.name == "mixed":
            indices = _mixture(self.seed)[start:stop]
        else:
            indices = np.array(TRAINING_SETS[self.name][1][start:stop], np.int64)
        key = address_key("factor-training", self.version, self.seed, self.split)
        keys = child(np.array(key, np.uint64), indices)
        N, L = settings(keys)
        cells = zip(N.tolist(), (scales(self.name, indices) * L).tolist(), strict=True)
        return Batch(tuple(SymbolicCell(*cell) for cell in cells), tuple(indices.tolist()), keys)


def select_training_set(
    split: str, *, num_puzzles: Any = None, seed: Any = 42, **knobs: Any
) -> _TrainingSet:
    """Return the training set of Appendix D that a split names, or its first `num_puzzles`.

    It draws its knobs: ValueError for one that is given, other than a default, and for a parameter
    that is wrong.
    """
    for name, value in knobs.items():  # these two are 0 by default, and arrive without being given
        is_default = name in {"context", "first_index"} and np.array_equal(value, 0)
        if value is not None and not is_default:
            raise ValueError(f"{name} is drawn in {split}, got {brief(value)}")
    draws, indices = TRAINING_SETS[check_choice("split", split, tuple(TRAINING_SETS))]
    most = len(indices)
    count = most if num_puzzles is None else num_puzzles
    check_integer("num_puzzles", count, low=1, high=most)
    check_integer("seed", seed, low=0, high=MAX_SEED)
    largest = SymbolicCell(MAX_N, int(scales(split, np.array(indices[-1]))) * (_L_MAX - _L_MIN))
    version = SYMBOLIC_VERSION
    return _TrainingSet("factor-symbolic", version, (largest,), count, seed, draws, name=split)


def settings(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """N and the unscaled tokens of filler (0..900) of puzzles (D.1.1 and D.1.2).

    N is the least of two uniform numbers 1..29. L is the rounded exponential of a normal deviate,
    clipped to 100..1000; 100 less is the filler.
    """
    words = child(child(keys, _TRAINING_DRAW), np.arange(3)[:, None])
    N = 1 + uniform(words[:2], MAX_N).min(axis=0)
    return N, np.searchsorted(LENGTH_BOUNDS, uniform(words[2], 2**32), side="right")


def scales(name: str, indices: np.ndarray) -> np.ndarray:
    """How many times the filler of the pretraining set the puzzles of a set have (D.2)."""
    if TRAINING_SETS[name][0] == "course":
        return np.array(SCALES)[indices // STAGE]
    return np.full(indices.shape, {"pretrain": 1, "clean": 0}.get(name, SCALES[-1]))


@lru_cache(maxsize=4)
def _mixture(seed: int) -> np.ndarray:
    """The indices of the course in the random order of the mixed set."""
    key = address_key("factor-mixture", SYMBOLIC_VERSION, seed)
    return np.argsort(child(np.array(key, np.uint64), np.arange(COURSE)), kind="stable")
