"""Whether accuracy changed with time: a score test over all places of the change."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logsumexp

from cogniload_analysis.sentences import Sentences

say = Sentences("replay")

FALLEN = 1.7
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

CURVED, ALIKE, APART = 4.5, 2.0, 8.0
"""Standard deviations of a curve's coefficients, and of the logits of cells about the curve: cells
that are alike say something of each other."""

STEPS, LARGEST_LOGIT = 10, 6.0
"""Newton's steps of a fit, and the largest logit on their way."""


def score_drift(cells: ArrayLike, correct: ArrayLike, deviation: float = ALIKE) -> np.ndarray:
    """Return, for each response, the score statistic of a change of accuracy from it on.

    `cells` (a row of loads a response) and `correct` are in the order of time. The alternative is
    between a change of the logit and one by a factor. Without it, the logits of cells have a
    standard `deviation` about a curve that is quadratic in the ranks of the loads. So each cell is
    compared with itself, and the less it says, the more with others. Without a change the statistic
    has about mean 0 and variance 1. It is 0 where the responses say little of a change.
    """
    loads, place = np.unique(np.asarray(cells, dtype=float), axis=0, return_inverse=True)
    place, right = place.ravel(), np.asarray(correct, dtype=float)
    total, solved = np.bincount(place).astype(float), np.bincount(place, right)
    curve = curve_terms(loads, place)
    p = fit_curve(curve, total, solved)
    variance = np.maximum(p * (1 - p), LEAST_VARIANCE)
    weight = p / np.sqrt(variance)
    # The cells' own deviations from the curve, to first order.
    terms = np.hstack([curve, np.eye(len(loads))])
    spread = np.repeat([CURVED, deviation], [curve.shape[1], len(loads)])
    precision = (terms.T * total * variance) @ terms + np.diag(spread**-2)
    mean = p + variance * (terms @ np.linalg.solve(precision, terms.T @ (solved - total * p)))
    here = np.eye(len(loads))[place][::-1]
    later = np.cumsum(here, axis=0)[::-1]
    later_solved = np.cumsum(here * right[::-1, None], axis=0)[::-1]
    # What cells explain of a change is no sign of it.
    explained = (later * variance * weight) @ terms
    explained = np.sum(explained * np.linalg.solve(precision, explained.T).T, axis=1)
    information = later @ (variance * weight**2) - explained
    seen = information > INFORMATION * (total @ (variance * weight**2)) / 4
    over = (later_solved - later * mean) @ weight
    return np.where(seen, over / np.sqrt(np.where(seen, information, 1)), 0)


def curve_terms(loads: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the terms of a curve, a row a cell; `place` says which cell each response is of."""
    ranks = np.stack([np.unique(load, return_inverse=True)[1] for load in loads.T], axis=1)
    ranks = (ranks - ranks[place].mean(axis=0)) / np.maximum(ranks[place].std(axis=0), 1e-9)
    return np.hstack([np.ones((len(loads), 1)), ranks, ranks**2])


def fit_curve(terms: np.ndarray, total: np.ndarray, solved: np.ndarray) -> np.ndarray:
    """Return the accuracy of each cell by the curve that its answers and the prior say."""
    line = np.zeros(terms.shape[1])
    for _ in range(STEPS):
        p = expit(np.clip(terms @ line, -LARGEST_LOGIT, LARGEST_LOGIT))
        precision = (terms.T * total * p * (1 - p)) @ terms + np.eye(len(line)) / CURVED**2
        slope = terms.T @ (solved - total * p) - line / CURVED**2
        line += np.linalg.solve(precision, slope)
    return expit(np.clip(terms @ line, -LARGEST_LOGIT, LARGEST_LOGIT))


def question_drift(cells: ArrayLike, correct: ArrayLike) -> Iterable[str]:
    """Yield a sentence if accuracy changed over responses in the order of time.

    A fall counts by its likelihood ratio, which is averaged over its places. A rise is looked for
    within cells, and counts where it is much clearer. The sentence names the clearest place.
    Arguments as for `score_drift`.
    """
    if len(np.asarray(correct)) < LEAST:
        return
    fall, rise = -score_drift(cells, correct), score_drift(cells, correct, APART)
    places = fall[fall != 0]
    ratios = EXPECTED * places - EXPECTED**2 / 2
    if len(places) and logsumexp(ratios) - np.log(len(places)) > FALLEN:
        yield say("drifted", first=int(fall.argmax()) + 1, side="fewer")
    elif rise.max() > RISEN:
        yield say("drifted", first=int(rise.argmax()) + 1, side="more")
