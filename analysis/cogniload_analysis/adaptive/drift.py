"""Accuracy that changes while a run goes on, as a server's or a model's may."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

PARTS = (0.25, 0.5, 0.75)
"""Where a run is divided into early and late responses."""

SURPRISE = 0.02
"""A change is worth a sentence below this p, over all divisions."""

LEAST = 250
"""Fewer responses say nothing of time."""


def flag_drift(cells: ArrayLike, correct: ArrayLike) -> Iterable[str]:
    """Yield a sentence if later responses are solved more rarely, or more often, than early ones.

    `cells` has the loads of each response, in the order of asking. Early and late responses are
    compared within each cell (Mantel and Haenszel 1959), so that other loads later are no change.
    """
    right = np.asarray(correct, dtype=float)
    if len(right) < LEAST:
        return
    _, cell = np.unique(np.asarray(cells, dtype=float), axis=0, return_inverse=True)
    starts = [round(part * len(right)) for part in PARTS]
    scores = [_compare_later(cell.ravel(), right, first) for first in starts]
    score, first = max(zip(scores, starts, strict=True), key=lambda each: abs(each[0]))
    if abs(score) > norm.isf(SURPRISE / 2 / len(PARTS)):
        side = "fewer" if score < 0 else "more"
        yield (
            f"accuracy changed during the run: from about puzzle {first:,} on, {side} are solved "
            "than at the same loads before"
        )


def _compare_later(cell: np.ndarray, right: np.ndarray, first: int) -> float:
    """Return the standardised difference of the right ones from `first` on, within cells."""
    late = np.arange(len(right)) >= first
    total, solved = np.bincount(cell), np.bincount(cell, right)
    after, found = np.bincount(cell, late), np.bincount(cell, right * late)
    variance = after * (total - after) * solved * (total - solved) / total**2
    variance /= np.maximum(total - 1, 1)
    excess = (found - after * solved / total).sum()
    return float(excess / np.sqrt(variance.sum())) if variance.any() else 0.0
