"""What is known of a model's capacity curve before it answers: from models that were measured.

The published prior ships as `data/cogniload_prior.csv`. To write it anew from the published
tables, run `python -m cogniload_analysis.cogniload.capacity.prior > FILE`.
"""

import sys
from collections.abc import Collection

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity import curve
from cogniload_analysis.cogniload.capacity.curve import COEFFICIENTS, LINKS, Line, Prior
from cogniload_analysis.cogniload.capacity.goodness_of_fit import refit_published
from cogniload_analysis.published import published_table
from cogniload_gen.checks import check_choice

DECIMALS = 4
_SHRINKAGE = 0.3
_INFLATION = 2.0


def refit_models() -> pd.DataFrame:
    """Return the curves of Table 2's models: floor, model and nine coefficients (step 2).

    Each projects onto the printed GLM, once under each floor. A model that answers worse than a
    floor has no such curve, and is left out there.
    """
    rows = [
        (link.floor, model, *fit.coefficients)
        for link in LINKS
        for model in published_table("glm")["model"]
        for fit in [refit_published(model, link, interactions=True)]
        if fit.solved
    ]
    return pd.DataFrame(rows, columns=["floor", "model", *COEFFICIENTS]).round(DECIMALS)


def published_prior(without: Collection[str] = ()) -> Prior:
    """Return the prior of the published models, leaving out those named in `without`.

    The covariances are shrunk by 30 % to their diagonals, since 20 models tell little of 36
    correlations, and doubled, since the next model may be unlike them.
    """
    table = published_table("prior")  # what `refit_models` made, as it ships
    kept = table[~table["model"].isin(list(without))]
    lines = []
    for link in LINKS:
        models = kept.loc[np.isclose(kept["floor"], link.floor), list(COEFFICIENTS)].to_numpy()
        lines.append(Line(models.mean(axis=0), _widen(np.cov(models.T))))
    return tuple(lines)


def _widen(covariance: np.ndarray) -> np.ndarray:
    """Return a covariance shrunk to its diagonal and inflated."""
    diagonal = np.diag(np.diag(covariance))
    return _INFLATION * ((1 - _SHRINKAGE) * covariance + _SHRINKAGE * diagonal)


NAMED = {"published": published_prior, "vague": lambda: (curve.vague_line(),) * len(LINKS)}
"""The priors that have names, the usual one first."""


def find_prior(choice: str | Prior) -> Prior:
    """Return the prior that a user names: "published" or "vague"."""
    if not isinstance(choice, str):
        return choice
    return NAMED[check_choice("prior", choice, tuple(NAMED))]()


if __name__ == "__main__":
    refit_models().to_csv(sys.stdout, index=False, float_format=f"%.{DECIMALS}f")
