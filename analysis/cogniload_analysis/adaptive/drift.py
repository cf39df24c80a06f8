"""Whether accuracy changed with time: a score test over all places of the change, within cells."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from cogniload_analysis.sentences import Sentences

say = Sentences("replay")

DRIFTED = 3.3
"""Standard errors from which a change counts."""

INFORMATION = 0.3
"""A change is looked for where it can be seen by this share of what halves of all cells show."""

LEAST = 250
"""Fewer responses say nothing of a change."""

LEAST_DEVIATION = 0.3
"""No response counts as if its standard deviation were below this one."""


def score_drift(cells: ArrayLike, correct: ArrayLike) -> np.ndarray:
    """Return, for each response, the score statistic of a change of accuracy from it on.

    `cells` (a row of loads a response) and `correct` are in the order of time. The alternative is
    between a change of the logit and one by a factor. Each cell is compared with itself, so neither
    the shape of the accuracy nor cells that vary matter, and without a change the statistic has
    mean 0 and variance 1. It is 0 where the responses say little of a change.
    """
    place = np.unique(np.asarray(cells, dtype=float), axis=0, return_inverse=True)[1].ravel()
    right, total = np.bincount(place, np.asarray(correct)), np.bincount(place)
    mean, p = right / total, (right + 0.5) / (total + 1)
    weight = p / np.maximum(np.sqrt(p * (1 - p)), LEAST_DEVIATION)
    here = np.eye(len(total))[place][::-1]
    later = np.cumsum(here, axis=0)[::-1]
    solved = np.cumsum(here * np.asarray(correct)[::-1, None], axis=0)[::-1]
    # Of the later responses of a cell, the number of right ones is hypergeometric.
    unit = weight**2 * mean * (1 - mean) / np.maximum(total - 1, 1)
    variance, most = later * (total - later) @ unit, total**2 / 4 @ unit
    seen = variance > INFORMATION * most
    return np.where(seen, (solved - later * mean) @ weight / np.sqrt(variance + ~seen), 0)


def question_drift(cells: ArrayLike, correct: ArrayLike) -> Iterable[str]:
    """Yield a sentence if accuracy changed over responses in the order of time.

    It names the change that is clearest. Arguments as for `score_drift`.
    """
    if len(np.asarray(correct)) < LEAST:
        return
    drift = score_drift(cells, correct)
    clearest = int(np.abs(drift).argmax())
    if abs(drift[clearest]) > DRIFTED:
        side = "more" if drift[clearest] > 0 else "fewer"
        yield say("drifted", first=clearest + 1, side=side)
