"""The tails of distributions, by scipy.special: scipy.stats alone takes half a second to import."""

from typing import Any

import numpy as np
from scipy.special import bdtrc, chdtrc, ndtr, stdtr


def normal(z: Any) -> Any:
    """Return the probability of a standard normal above z, numbers or arrays as in the others."""
    return ndtr(-z)


def chi_square(x: Any, degrees: Any) -> Any:
    """Return the probability of a chi-square above x; rounding may leave x below 0."""
    return chdtrc(degrees, np.maximum(x, 0))


def student(t: Any, degrees: Any) -> Any:
    """Return the probability of Student's t above t."""
    return stdtr(degrees, -t)


def binomial(least: Any, count: Any, chance: Any) -> Any:
    """Return the probability of `least` or more of `count`, 0 or more, each with a `chance`."""
    return bdtrc(least - 1, count, chance)


def independence(counts: np.ndarray) -> float:
    """Return Pearson's p of rows and columns of counts being independent.

    With Yates' correction where there are two of each. No row and no column may be empty.
    """
    counts = np.asarray(counts, dtype=float)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    degrees = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    over = np.abs(counts - expected)
    over = over - np.minimum(0.5, over) * (degrees == 1)
    return float(chi_square((over**2 / expected).sum(), degrees))
