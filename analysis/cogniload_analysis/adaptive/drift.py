"""Whether accuracy changed with time: a score test over all places of the change, within cells."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from cogniload_analysis.sentences import Sentences

say = Sentences("replay")

DRIFTED = 3.4
"""Standard errors from which a change counts."""

EITHER_SIDE, SHARE = 48, 0.1
"""Responses on either side of a change, and their share, without which it is not looked for."""

LEAST = 250
"""Fewer responses say nothing of a change."""

LEAST_DEVIATION = 0.3
"""No response counts as if its standard deviation were below this one."""


def score_drift(cells: ArrayLike, correct: ArrayLike) -> np.ndarray:
    """Return, for each response, the score statistic of a change of accuracy from it on.

    `cells` (a row of loads a response) and `correct` are in the order of time. The alternative is
    between a change of the logit and one by a factor. Each cell is compared with itself, so neither
    the shape of the accuracy nor cells that vary matter, and without a change the statistic has
    mean 0 and variance 1.
    """
    place = np.unique(np.asarray(cells, dtype=float), axis=0, return_inverse=True)[1].ravel()
    right, total = np.bincount(place, np.asarray(correct)), np.bincount(place)
    mean, p = right / total, (right + 0.5) / (total + 1)
    weight = p / np.maximum(np.sqrt(p * (1 - p)), LEAST_DEVIATION)
    here = np.eye(len(total))[place][::-1]
    later = np.cumsum(here, axis=0)[::-1]
    solved = np.cumsum(here * np.asarray(correct)[::-1, None], axis=0)[::-1]
    # Of the later responses of a cell, the number of right ones is hypergeometric.
    variance = later * (total - later) / np.maximum(total - 1, 1) * mean * (1 - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((solved - later * mean) @ weight / np.sqrt(variance @ weight**2))


def question_drift(cells: ArrayLike, correct: ArrayLike) -> Iterable[str]:
    """Yield a sentence if accuracy changed over responses in the order of time.

    It names the change that is clearest. Arguments as for `score_drift`.
    """
    count = len(np.asarray(correct))
    side = max(EITHER_SIDE, round(SHARE * count))
    if count < LEAST:
        return
    drift = np.nan_to_num(score_drift(cells, correct)[side:-side])
    clearest = int(np.abs(drift).argmax())
    if abs(drift[clearest]) > DRIFTED:
        more = "more" if drift[clearest] > 0 else "fewer"
        yield say("drifted", first=clearest + side + 1, side=more)
