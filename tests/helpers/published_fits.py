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
        about = {"model": table["model"].replace(short), "load": load, "value": table[load]}
        about |= {"n": table["samples"], "accuracy": 1 - wrong / table["samples"]}
        tables.append(pd.DataFrame(about))
    return pd.concat(tables, ignore_index=True)


def compare_published_fits():
    """Return how the plain GLM, and a floor with interactions, fit Tables 4 and 5, by model.

    For both, `chi_square` over the nine accuracies (five of d, four of N) and the largest `miss` in
    percentage points, in a table each. Both have Table 2's projection. The floor, with a ceiling,
    is `Link`'s. NaN where a model is below the floor.
    """
    margins, found = published_margins(), {"plain": {}, "both": {}}
    for model, observed in margins.groupby("model"):
        for name, link in (("plain", GLM_LINK), ("both", Link())):
            curve = refit_published(model, link, interactions=name == "both")
            misfit = _margin_misfit(observed, curve) if curve.solved else (np.nan, np.nan)
            found[name][model] = dict(zip(("chi_square", "miss"), misfit, strict=True))
    return [pd.DataFrame.from_dict(each, "index") for each in found.values()]


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
