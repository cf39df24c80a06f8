"""The confidence of intervals, and the interval of an accuracy."""

from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy.special import ndtri

CONFIDENCE = 0.95
"""The confidence level of the intervals of everything that is fitted."""

PAPER_CONFIDENCE = 0.9
"""The confidence level of the accuracies in CogniLoad's Appendix C."""

TAILS = (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2
"""The quantiles at which such an interval ends."""


Counts = TypeVar("Counts", "pd.Series[Any]", float)


def percentiles(drawn: np.ndarray) -> np.ndarray:
    """Return the ends of the interval, as drawn values, since infinities don't interpolate."""
    return np.quantile(drawn, TAILS, method="inverted_cdf")


def wilson_interval(
    correct: Counts, responses: Counts, confidence: float = CONFIDENCE
) -> tuple[Counts, Counts]:
    """Return the ends of Wilson's interval of an accuracy."""
    share, z = np.divide(correct, responses), -ndtri((1 - confidence) / 2)
    centre = share + z**2 / (2 * responses)
    margin = z * np.sqrt(share * (1.0 - share) / responses + z**2 / (4.0 * responses**2))
    scale = 1 + z**2 / responses
    return (
        np.clip(centre / scale - margin / scale, 0, 1),
        np.clip(centre / scale + margin / scale, 0, 1),
    )


def clustered_interval(shares: np.ndarray) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a mean share over puzzles, such as accuracy.

    `shares` holds each puzzle's own share, from 0 to 1, so that its attempts count as one cluster.
    It is Wilson's interval, for as many responses as would have the variance of the mean; with
    single attempts these are the puzzles.
    """
    mean, variance = float(shares.mean()), float(shares.var())
    responses = len(shares) * (mean * (1 - mean) / variance if variance else 1.0)
    return wilson_interval(mean * responses, responses)
