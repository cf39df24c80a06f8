"""How well curves that project onto Table 2 fit Tables 4 and 5: the figures of docs/glm_fit.md."""

import numpy as np
import pandas as pd

from cogniload_analysis import published_table
from cogniload_analysis.cogniload.capacity.curve import Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import (
    FULL_NAMES,
    GLM_LINK,
    PAPER_GRID,
    refit_published,
)

ERRORS = ["ctx", "valid_logic", "poi_logic", "last_logic", "other"]


def published_margins():
    """Return the accuracies of Tables 4 and 5, from their counts: model, load, value, n, accuracy.

    Models have Table 2's names.
    """
    short = {full: name for name, full in FULL_NAMES.items()}
    tables = []
    for load, name in (("d", "outcomes_by_d"), ("N", "outcomes_by_N")):
        table = published_table(name)
        wrong = table[ERRORS].sum(axis=1)
        tables.append(
            pd.DataFrame(
                {
                    "model": table["model"].replace(short),
                    "load": load,
                    "value": table[load],
                    "n": table["samples"],
                    "accuracy": 1 - wrong / table["samples"],
                }
            )
        )
    return pd.concat(tables, ignore_index=True)


def compare_published_fits():
    """Return how the plain GLM, a floor, interactions and both fit Tables 4 and 5, by model.

    For each of the four, `chi_square` over the nine accuracies (five of d, four of N) and the
    largest `miss` in percentage points, as columns (curve, figure). All have Table 2's projection.
    The floor, with a ceiling, is `Link`'s. NaN where a model is below the floor.
    """
    margins = published_margins()
    curves = {
        "plain": (GLM_LINK, False),
        "interactions": (GLM_LINK, True),
        "floor": (Link(), False),
        "both": (Link(), True),
    }
    rows = []
    for model in published_table("glm")["model"]:
        observed = margins[margins["model"] == model]
        for name, (link, interactions) in curves.items():
            curve = refit_published(model, link, interactions=interactions)
            found = _margin_misfit(observed, curve) if curve.solved else (np.nan, np.nan)
            rows.append((model, name, *found))
    long = pd.DataFrame(rows, columns=["model", "curve", "chi_square", "miss"])
    wide = long.pivot(index="model", columns="curve").swaplevel(axis=1)
    return wide.reindex(index=long["model"].unique())


def _margin_misfit(observed, curve):
    """Chi-square and largest miss in points of one model's margins."""
    expected = curve.accuracy(*(PAPER_GRID[load].to_numpy() for load in ("d", "N", "rho")))
    levels = list(zip(observed["load"], observed["value"], strict=True))
    inside = [PAPER_GRID[load].eq(value).to_numpy() for load, value in levels]
    mean = np.array([expected[cells].mean() for cells in inside])
    spread = np.array([(expected * (1 - expected))[cells].mean() for cells in inside])
    miss = observed["accuracy"].to_numpy() - mean
    chi_square = float(np.sum(miss**2 * observed["n"].to_numpy() / spread))
    return chi_square, float(100 * np.abs(miss).max())
