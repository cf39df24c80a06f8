"""CogniLoad's loads, d, N and rho, as they are read, printed and drawn; its outcomes in words."""

import numpy as np
from numpy.typing import ArrayLike

from cogniload_analysis.frame import Load, column, read_count, read_integer
from cogniload_analysis.words import WORDS
from cogniload_gen.benchmark import Row

LOADS = (
    Load("d", "d", harder=True),
    Load("N", "N", harder=True),
    Load("rho", "ρ [%]", "float64", percent=True),
)

LABELS = WORDS["axes"]
"""The labels of the loads' axes."""

NEEDLES = column("needles", "float64", lambda sample: read_count(sample.doc, "needles"))
"""The needles in the text, which may be a twin's."""

MEANINGS = WORDS["outcomes"]["cogniload"]
"""Each wrong outcome in words."""


def read_loads(puzzle: Row) -> tuple[int, int, float]:
    """Return d, N and rho (a fraction) of a puzzle; ValueError for one out of range."""
    d, N, rho = read_integer(puzzle, "d"), read_integer(puzzle, "N"), float(puzzle["rho"])
    if not (d >= 1 and N >= 1 and 0 < rho <= 100):
        raise ValueError(f"d and N must be 1 or more and rho in (0, 100], got {d}, {N} and {rho}")
    return d, N, rho / 100


def drawn_levels(levels: ArrayLike, load: str) -> np.ndarray:
    """Return where levels of a load are drawn: rho is in percent, as in the paper."""
    return np.asarray(levels, dtype=float) * (100 if load == "rho" else 1)
