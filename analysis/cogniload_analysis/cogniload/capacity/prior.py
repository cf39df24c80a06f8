"""What is known of a model's capacity curve before it answers: from models that were measured.

The published prior ships as `data/cogniload_prior.csv`. To write it anew from the published
tables, run `python -m cogniload_analysis.cogniload.capacity.prior > FILE`.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from reprlib import repr as brief
from typing import TypeAlias

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity import curve
from cogniload_analysis.cogniload.capacity.curve import COEFFICIENTS, LINKS, Line, Prior
from cogniload_analysis.cogniload.capacity.goodness_of_fit import refit_published
from cogniload_analysis.frame import check_columns
from cogniload_analysis.published import published_table

PriorChoice: TypeAlias = str | Mapping[str, Sequence[float]] | pd.DataFrame | Prior
FILE = "cogniload_prior.csv"
DECIMALS = 4
SHRINKAGE = 0.3
INFLATION = 2.0
PSEUDO_MODELS = 5
"""How many models the published covariance counts for beside the user's own earlier ones."""


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


@lru_cache(maxsize=1)
def published_curves() -> pd.DataFrame:
    """Return what `refit_models` made of the published models, as it ships."""
    with files("cogniload_analysis").joinpath("data", FILE).open(encoding="utf-8") as file:
        return pd.read_csv(file)


def published_prior(without: Collection[str] = ()) -> Prior:
    """Return the prior of the published models, leaving out those named in `without`.

    The covariances are shrunk by 30 % to their diagonals, since 20 models tell little of 36
    correlations, and doubled, since the next model may be unlike them.
    """
    table = published_curves()
    kept = table[~table["model"].isin(list(without))]
    lines = []
    for link in LINKS:
        models = kept.loc[np.isclose(kept["floor"], link.floor), list(COEFFICIENTS)].to_numpy()
        lines.append(Line(models.mean(axis=0), widen(np.cov(models.T))))
    return Prior(tuple(lines))


def vague_prior() -> Prior:
    """Return a prior that knows little under any floor."""
    return Prior((curve.vague_line(),) * len(LINKS))


def earlier_prior(frame: Mapping[str, Sequence[float]] | pd.DataFrame) -> Prior:
    """Return the prior of models that the user has measured: model, d, N, rho, correct.

    Each is refitted under each floor, beneath a wide prior. A few models say little of how much
    models differ, so their covariance is pooled with the published one. Raises ValueError if the
    frame lacks a column or holds no answers.
    """
    frame = pd.DataFrame(frame)
    check_columns(frame, ("model",))
    by_model = frame.groupby("model", observed=True)
    answers = [curve.count_answers(rows) for _, rows in by_model]
    if not answers:
        raise ValueError("the earlier results must hold answers, got none")
    lines = []
    for link, published in zip(LINKS, published_prior().lines, strict=True):
        wide = curve.vague_line()
        models = np.array([curve.fit_line(cells, wide, link) for cells in answers])
        apart = models - models.mean(axis=0)
        spread = published.covariance * PSEUDO_MODELS + widen(apart.T @ apart)
        lines.append(Line(models.mean(axis=0), spread / (PSEUDO_MODELS + len(models) - 1)))
    return Prior(tuple(lines))


def widen(covariance: np.ndarray) -> np.ndarray:
    """Return a covariance shrunk to its diagonal and inflated."""
    diagonal = np.diag(np.diag(covariance))
    return INFLATION * ((1 - SHRINKAGE) * covariance + SHRINKAGE * diagonal)


NAMED = {"published": published_prior, "vague": vague_prior}
"""The priors that have names, the usual one first."""


def find_prior(choice: PriorChoice) -> Prior:
    """Return the prior that a user names: "published", "vague", or a frame of earlier results."""
    if isinstance(choice, Prior):
        return choice
    if isinstance(choice, Mapping | pd.DataFrame):
        return earlier_prior(choice)
    if not isinstance(choice, str) or choice not in NAMED:
        raise ValueError(
            f"prior must be published, vague or a frame of earlier results, got {brief(choice)}"
        )
    return NAMED[choice]()


if __name__ == "__main__":
    refit_models().to_csv(sys.stdout, index=False, float_format=f"%.{DECIMALS}f")
