"""The tails of distributions, by scipy."""

from typing import Any

import numpy as np
from scipy.stats import binom, chi2_contingency


def binomial(least: Any, count: Any, chance: Any) -> Any:
    """Return the probability of `least` or more of `count`, each with a `chance`."""
    return binom.sf(least - 1, count, chance)


def independence(counts: np.ndarray) -> float:
    """Return Pearson's p of rows and columns of counts being independent.

    With Yates' correction where there are two of each. No row and no column may be empty.
    """
    return float(chi2_contingency(counts).pvalue)
