"""The confidence of intervals, and the interval of an accuracy."""

import pandas as pd
from statsmodels.stats.proportion import proportion_confint

CONFIDENCE = 0.95
"""The confidence level of the intervals of everything that is fitted."""


def wilson_interval(correct: pd.Series, responses: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return the ends of Wilson's 90 % interval of an accuracy, as in CogniLoad's Appendix C."""
    return proportion_confint(correct, responses, alpha=0.1, method="wilson")
