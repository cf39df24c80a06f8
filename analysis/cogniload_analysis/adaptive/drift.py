"""Whether accuracy changed with time: a score test over all places of the change."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import expit, logsumexp

FALLEN = 1.6
"""The logarithm of the likelihood ratio from which a fall counts."""

EXPECTED = 3.0
"""The likelihood ratio is that of a fall by this many standard errors."""

RISEN = 4.0
"""Standard errors from which a rise counts: servers that fail are more frequent."""

INFORMATION = 0.3
"""A change is looked for where it can be seen by this share of what halves of all cells show."""

LEAST = 250
"""Fewer responses say nothing of a change."""

LEAST_VARIANCE = 0.09
"""No response counts as if its variance were below this one."""

CURVED, APART = 4.5, 1.0
"""Standard deviations of a curve's coefficients, and of the logits about the curve."""

MOST_LEVELS = 100
"""Neighbouring levels of a load count as one where it has more."""

STEPS, LARGEST_LOGIT = 10, 6.0
"""Newton's steps of a fit, and the largest logit on their way."""


def question_drift(cells: ArrayLike, correct: ArrayLike) -> Iterable[str]:
    """Yield a sentence if accuracy changed over responses in the order of time.

    A fall counts by its likelihood ratio, which is averaged over its places; a rise must be much
    clearer. The sentence names the clearest place. Arguments as for `score_drift`.
    """
    if len(np.asarray(correct)) < LEAST:
        return
    drift = score_drift(cells, correct)
    ratios = -EXPECTED * drift[drift != 0] - EXPECTED**2 / 2
    fallen = len(ratios) and logsumexp(ratios) - np.log(len(ratios)) > FALLEN
    if fallen or drift.max() > RISEN:
        first, side = (drift.argmin(), "fewer") if fallen else (drift.argmax(), "more")
        yield (
            f"accuracy changed during the run: from puzzle {first + 1} on, in the order of asking, "
            f"{side} are solved than the earlier ones say"
        )


def score_drift(cells: ArrayLike, correct: ArrayLike) -> np.ndarray:
    """Return, for each response, the score statistic of a change of accuracy from it on.

    `cells` (a row of loads a response) and `correct` are in the order of time. The alternative is
    between a change of the logit and one by a factor. Without it, the logits of cells vary, as do
    those of levels of a load, about a curve that is quadratic in the ranks of the loads. So each
    cell is compared with itself, and the less it says, the more with others. Without a change the
    statistic has about mean 0 and variance 1. It is 0 where the responses say little of a change.
    """
    loads, place = np.unique(np.asarray(cells, dtype=float), axis=0, return_inverse=True)
    place, right = place.ravel(), np.asarray(correct, dtype=float)
    total, solved = np.bincount(place).astype(float), np.bincount(place, right)
    levels = [_rank(load) for load in loads.T]
    curve = curve_terms(np.stack(levels, axis=1), place)
    p = fit_curve(curve, total, solved)
    variance = np.maximum(p * (1 - p), LEAST_VARIANCE)
    weight = p / np.sqrt(variance)
    # How levels of loads and cells deviate from the curve, to first order. The terms of cells are
    # solved for by hand: there may be as many cells as responses.
    apart = [np.eye(level.max(initial=0) + 1)[level] for level in levels]
    terms = np.hstack([curve, *apart])
    spread = np.where(np.arange(terms.shape[1]) < curve.shape[1], CURVED, APART)
    left, over = 1 / (1 + total * variance * APART**2), solved - total * p
    precision = (terms.T * total * variance * left) @ terms + np.diag(spread**-2)
    shared = terms @ np.linalg.solve(precision, terms.T @ (left * over))
    own = APART**2 * left * (over - total * variance * shared)
    mean = p + variance * (shared + own)
    # What levels and cells explain of a change is no sign of it.
    share = variance * weight
    moved = _sums_from(share[place, None] * left[place, None] * terms[place])
    explained = _sums_from((2 * _count_later(place) + 1) * ((share * APART) ** 2 * left)[place])
    explained += np.sum(moved * np.linalg.solve(precision, moved.T).T, axis=1)
    information = _sums_from((share * weight)[place]) - explained
    seen = information > INFORMATION * (total @ (variance * weight**2)) / 4
    score = _sums_from((right - mean[place]) * weight[place])
    return np.where(seen, score / np.sqrt(np.where(seen, information, 1)), 0)


def _rank(load: np.ndarray) -> np.ndarray:
    """Return the rank of each cell's load among its levels, of MOST_LEVELS at most."""
    ranks = np.unique(load, return_inverse=True)[1]
    levels: np.ndarray = ranks * MOST_LEVELS // max(MOST_LEVELS, ranks.max(initial=0) + 1)
    return levels


def _count_later(place: np.ndarray) -> np.ndarray:
    """Return how many later responses are of the same cell as each."""
    return pd.Series(place).groupby(place).cumcount(ascending=False).to_numpy()


def _sums_from(values: np.ndarray) -> np.ndarray:
    """Return the sums of values from each of them on."""
    return np.cumsum(values[::-1], axis=0)[::-1]


def curve_terms(ranks: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the terms of a curve, one row per cell; `place` is the cell of each response."""
    scaled = (ranks - ranks[place].mean(axis=0)) / np.maximum(ranks[place].std(axis=0), 1e-9)
    return np.hstack([np.ones((len(ranks), 1)), scaled, scaled**2])


def fit_curve(terms: np.ndarray, total: np.ndarray, solved: np.ndarray) -> np.ndarray:
    """Return the accuracy of each cell by the curve that its answers and the prior say."""
    line = np.zeros(terms.shape[1])
    for _ in range(STEPS):
        p = expit(np.clip(terms @ line, -LARGEST_LOGIT, LARGEST_LOGIT))
        precision = (terms.T * total * p * (1 - p)) @ terms + np.eye(len(line)) / CURVED**2
        slope = terms.T @ (solved - total * p) - line / CURVED**2
        line += np.linalg.solve(precision, slope)
    return expit(np.clip(terms @ line, -LARGEST_LOGIT, LARGEST_LOGIT))
