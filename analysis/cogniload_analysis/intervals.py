"""The confidence of intervals, and the interval of an accuracy."""

from typing import Any

import numpy as np
from statsmodels.stats.proportion import proportion_confint

CONFIDENCE = 0.95
"""The confidence level of the intervals of everything that is fitted."""

PAPER_CONFIDENCE = 0.9
"""The confidence level of the accuracies in CogniLoad's Appendix C."""

TAILS = (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2
"""The quantiles at which such an interval ends."""


def percentiles(drawn: np.ndarray) -> np.ndarray:
    """Return the ends of the interval, as drawn values, since infinities don't interpolate."""
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
