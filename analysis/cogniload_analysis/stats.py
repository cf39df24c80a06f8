"""What all fits share: intervals and their confidence, those of accuracies, several attempts."""

from collections.abc import Sequence
from math import comb
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import hypergeom
from statsmodels.stats.proportion import proportion_confint

CONFIDENCE = 0.95
"""The confidence level of the intervals of everything that is fitted."""

PAPER_CONFIDENCE = 0.9
"""The confidence level of the accuracies in CogniLoad's Appendix C."""

TAILS = (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2
"""The quantiles at which such an interval ends."""


Numbers: TypeAlias = float | np.ndarray
"""A number, or several in an array."""


class Interval(NamedTuple):
    """A median, and the ends of 95 % of the posterior."""

    value: float
    low: float
    high: float


def half_width(low: float, high: float) -> float:
    """Return half the width of an interval as a share: 0.2 is times or over 1.2.

    Infinite if it holds 0 or has no end.
    """
    near, far = sorted((abs(low), abs(high)))
    return float((far / near) ** 0.5 - 1) if (low > 0 or high < 0) and far < np.inf else np.inf


def beyond(value: float, least: float, most: float) -> str:
    """Say that a value lies beyond its range, as in > 400; "" where it doesn't."""
    if value > most:
        return f"> {most:g}"
    return f"< {least:g}" if value < least else ""


def say_ends(low: str, high: str) -> str:
    """Set the ends of an interval, as in 38 to 56, or beyond 400 where both lie beyond a range.

    Ends beyond the range are as `beyond` says them.
    """
    if low == high and low[:1] in ("<", ">"):
        return f"{'below' if low[0] == '<' else 'beyond'}{low[1:]}"
    return f"{low} to {high}"


def percentiles(drawn: np.ndarray) -> np.ndarray:
    """Return the draws at the ends of the interval: infinities don't interpolate."""
    return np.quantile(drawn, TAILS, method="inverted_cdf")


def wilson_interval(
    correct: Any, responses: Any, confidence: float = CONFIDENCE
) -> tuple[Any, Any]:
    """Return the ends of Wilson's interval of an accuracy, numbers or series."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return proportion_confint(correct, responses, 1 - confidence, method="wilson")


def clustered_interval(shares: np.ndarray) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a mean share over puzzles, such as accuracy.

    `shares` holds each puzzle's own share, from 0 to 1, so that its attempts count as one cluster.
    It is Wilson's interval, for as many responses as would have the variance of the mean; with
    single attempts these are the puzzles.
    """
    mean, variance = float(shares.mean()), float(shares.var())
    responses = len(shares) * (mean * (1 - mean) / variance if variance else 1.0)
    return wilson_interval(mean * responses, responses)


# Several attempts at a puzzle


def chance_of_any(right: ArrayLike, attempts: ArrayLike, k: int) -> np.ndarray:
    """Return the chance that at least one of `k` attempts at a puzzle is right (pass@k).

    `right` and `attempts` are counts, numbers or arrays over puzzles. Of n attempts with c right,
    it is 1 - C(n - c, k) / C(n, k), which is unbiased. Each puzzle needs `k` attempts or more.
    """
    return np.asarray(hypergeom.sf(0, attempts, right, k))


def chance_of_majority(right: int, others: Sequence[int], silent: int, k: int) -> float:
    """Return the chance that the commonest answer of `k` attempts is right (majority@k).

    `right` attempts have the right answer, `others` count those of each wrong one, and `silent`
    ones have none. A tie is drawn by lot. It is the mean over all choices of k attempts, which is
    unbiased.
    """
    total = 0.0
    for votes in range(1, min(right, k) + 1):
        # Ways to choose the other attempts, by their number and by the answers tied with the right.
        ways = {(drawn, 0): comb(silent, drawn) for drawn in range(k - votes + 1)}
        for count in others:
            longer: dict[tuple[int, int], int] = {}
            for (drawn, ties), number in ways.items():
                for more in range(min(count, votes, k - votes - drawn) + 1):
                    place = drawn + more, ties + (more == votes)
                    longer[place] = longer.get(place, 0) + number * comb(count, more)
            ways = longer
        full = [(ties, number) for (drawn, ties), number in ways.items() if drawn == k - votes]
        total += comb(right, votes) * sum(number / (ties + 1) for ties, number in full)
    return total / comb(right + sum(others) + silent, k)


def numbers_of_attempts(fewest: int) -> list[int]:
    """Return the k of a table: doubled from 1 to the fewest attempts at a puzzle, and these."""
    return sorted({2**power for power in range(fewest.bit_length())} | {fewest} - {0})
