"""Differences of two shares over puzzles: their intervals, their tests, and how many are needed.

A difference is of shares such as accuracy, from 0 to 1, the first less the second. Where both runs
answered the same puzzles, it is that of pairs; puzzles that both solve, or neither, then add no
noise.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.stats import multinomial, norm
from scipy.stats import t as student

from cogniload_analysis.stats import CONFIDENCE, Numbers

FEW = 30
"""At or below this number of puzzles, the score's exact distribution replaces the normal one."""
# The smallest difference whose number of puzzles is worked out.
_LEAST_DETECT = 1e-6
_BISECTIONS = 40
_NUISANCE_SHARES = 64
POWER = 0.8
SIGNIFICANT = 0.05


class Difference(NamedTuple):
    """A difference, the ends of its interval, and the p of its being 0: numbers or arrays.

    The interval is one of 95 %, unless another `confidence` is asked for.
    """

    value: Numbers
    low: Numbers
    high: Numbers
    p: Numbers


def _score_z(first: Numbers, second: Numbers, puzzles: Numbers, difference: Numbers) -> np.ndarray:
    """Return the score statistic of a difference of paired shares (Tango 1998).

    `first` and `second` count the puzzles that only the first or only the second solves. At a
    difference of 0 it is the root of McNemar's.
    """
    over = first - second - puzzles * difference
    b = (2 * puzzles - first + second) * difference - first - second
    c = -second * difference * (1 - difference)
    # The share that only the second solves, at its likeliest under this difference.
    alone = (np.sqrt(np.maximum(b**2 - 8 * puzzles * c, 0)) - b) / (4 * puzzles)
    variance = puzzles * np.maximum(2 * alone + difference * (1 - difference), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(over == 0, 0.0, over / np.sqrt(variance))


def compare_pairs(
    first: Numbers, second: Numbers, puzzles: Numbers, confidence: float = CONFIDENCE
) -> Difference:
    """Return the difference of two shares over puzzles that both answered once.

    `first` and `second` count what only one solves. The interval is Tango's, and p is that of
    McNemar's test without a correction, so that the two always agree.
    """
    first, second, puzzles = np.broadcast_arrays(*map(np.float64, (first, second, puzzles)))
    value = (first - second) / puzzles
    z = norm.ppf((1 + confidence) / 2)

    def end(side: float) -> np.ndarray:
        inside, outside = value.copy(), np.full_like(value, side)
        for _ in range(_BISECTIONS):
            middle = (inside + outside) / 2
            near = np.abs(_score_z(first, second, puzzles, middle)) < z
            inside, outside = np.where(near, middle, inside), np.where(near, outside, middle)
        return (inside + outside) / 2

    p = 2 * norm.sf(np.abs(_score_z(first, second, puzzles, 0.0)))
    return Difference(value, end(-1), end(1), p)


def compare_solved(
    first: int, second: int, puzzles: int, confidence: float = CONFIDENCE
) -> Difference:
    """Return as `compare_pairs`; for a few puzzles, as `compare_few_pairs`."""
    compare = compare_few_pairs if puzzles <= FEW else compare_pairs
    return compare(first, second, puzzles, confidence)


@cache
def compare_few_pairs(
    first: int, second: int, puzzles: int, confidence: float = CONFIDENCE
) -> Difference:
    """Return as `compare_pairs`, by the score's exact distribution, for a few puzzles.

    Each end is where, whatever the share that only one solves, data as extreme have a chance of at
    most half of 1 - `confidence`; p is twice the smaller chance at a difference of 0.
    """
    value = (first - second) / puzzles

    def end(side: int) -> float:
        inside, outside = value, float(side)
        for _ in range(_BISECTIONS // 2):
            middle = (inside + outside) / 2
            likely = _exact_tail(first, second, puzzles, middle, -side) > (1 - confidence) / 2
            inside, outside = (middle, outside) if likely else (inside, middle)
        return outside

    p = 2 * min(_exact_tail(first, second, puzzles, 0.0, side) for side in (-1, 1))
    return Difference(value, end(-1), end(1), min(1.0, p))


@cache
def _tables(puzzles: int) -> np.ndarray:
    """Return all counts of puzzles that only the first, only the second, and both or none solve."""
    first, second = np.nonzero(np.add.outer(*2 * [np.arange(puzzles + 1)]) <= puzzles)
    return np.stack([first, second, puzzles - first - second], axis=1)


def _exact_tail(first: int, second: int, puzzles: int, difference: float, side: int) -> float:
    """Return the largest chance of a score as far to one side as that of the counts."""
    tables = _tables(puzzles)
    scores = side * _score_z(tables[:, 0], tables[:, 1], float(puzzles), difference)
    seen = side * _score_z(float(first), float(second), float(puzzles), difference)
    alone = np.linspace(max(0.0, -difference), (1 - difference) / 2, _NUISANCE_SHARES)
    shares = np.stack([alone + difference, alone, 1 - 2 * alone - difference], axis=1)
    shares = np.clip(shares, 0, 1)[:, None]
    return float(multinomial.pmf(tables[scores >= seen - 1e-9], puzzles, shares).sum(axis=1).max())


def compare_means(apart: np.ndarray, confidence: float = CONFIDENCE) -> Difference:
    """Return the difference of two shares over puzzles that were answered several times.

    `apart` holds the puzzles' own differences of shares along its last axis, so that the attempts
    at a puzzle count as one cluster. Two further puzzles, one for each side, keep the interval from
    closing where all differences are the same (Bonett and Price 2012). Attempts make differences
    smaller, so these two differ by no more than those that differ do, in the root mean square. The
    quantile is Student's.
    """
    puzzles, value = apart.shape[-1], apart.mean(axis=-1)
    centre = puzzles * value / (puzzles + 2)
    squares, differ = (apart**2).sum(axis=-1), (apart != 0).sum(axis=-1)
    further = np.where(differ, squares / np.maximum(differ, 1), 1.0)
    error = np.sqrt(((squares + 2 * further) / (puzzles + 2) - centre**2) / (puzzles + 2))
    return _wald(value, centre, error, puzzles - 1, confidence)


def compare_groups(
    first: np.ndarray, second: np.ndarray, weights: tuple[np.ndarray, np.ndarray]
) -> Difference:
    """Return the difference of two shares over different puzzles.

    `first` and `second` hold a share for each puzzle, and `weights` what each counts. Two further
    puzzles, one solved and one not, are added to each side (Agresti and Caffo 2000).
    """
    means, centres, squared_errors = [], [], []
    for shares, counts in zip((first, second), weights, strict=True):
        weight = counts / counts.sum()
        puzzles = 1 / (weight**2).sum()
        mean = float(weight @ shares)
        centre = (puzzles * mean + 1) / (puzzles + 2)
        spread = puzzles * float(weight @ (shares - centre) ** 2) + centre**2 + (1 - centre) ** 2
        means.append(mean)
        centres.append(centre)
        squared_errors.append(spread / (puzzles + 2) ** 2)
    value, centre = (pair[0] - pair[1] for pair in (means, centres))
    return _wald(value, centre, np.sqrt(sum(squared_errors)), len(first) + len(second) - 2)


def _wald(
    value: Numbers,
    centre: Numbers,
    error: Numbers,
    freedom: Numbers,
    confidence: float = CONFIDENCE,
) -> Difference:
    freedom = np.maximum(freedom, 1)
    margin = student.ppf((1 + confidence) / 2, freedom) * error
    low, high = np.maximum(centre - margin, -1), np.minimum(centre + margin, 1)
    return Difference(value, low, high, 2 * student.sf(np.abs(centre) / error, freedom))


def puzzles_needed(
    variance: float, detect: float, quantile: float = norm.ppf((1 + CONFIDENCE) / 2)
) -> float:
    """Return how many puzzles tell a true difference of `detect` from 0 with a chance of POWER.

    `variance` is that of a puzzle's difference, and `quantile` the test's, by default that of 5 %
    on both sides. Raises ValueError for a `detect` that takes more puzzles than can be counted.
    """
    if detect < _LEAST_DETECT:
        raise ValueError(f"detect must be {_LEAST_DETECT:g} or more, got {detect!r}")
    return float((quantile + norm.ppf(POWER)) ** 2 * variance / detect**2)


def adjust(p: Sequence[float]) -> np.ndarray:
    """Return Holm's p, which hold for a family of tests; a missing p stays so."""
    values = np.array(p, dtype=float)
    # statsmodels' own collects all garbage each time, which takes longer than a fit
    rising = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]
    tests_left = np.arange(len(rising), 0, -1)
    values[rising] = np.maximum.accumulate(values[rising] * tests_left).clip(max=1)
    return values
