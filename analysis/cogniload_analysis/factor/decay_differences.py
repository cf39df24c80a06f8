"""FACTOR: differences of the CDF and the CDO of two models.

Their errors come from a jackknife over puzzles: each of 20 groups of puzzles is left out in turn,
of both models at once. So it holds for any method of the fit, for puzzles that both answered, and
for several attempts at a puzzle.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import t as student

from cogniload_analysis.analysis import Pairs
from cogniload_analysis.display.tables import show_context
from cogniload_analysis.factor.decay import CONDITION, TERMS, fit_complexity_decay
from cogniload_analysis.stats import CONFIDENCE

_GROUPS = 20


def compare_decays(frame: pd.DataFrame, pairs: Pairs) -> pd.DataFrame:
    """Return the differences of CDF and CDO for pairs of models, with 95 % intervals.

    `frame` has the columns model, suite, context, noise, N, id and correct. A row each for a pair,
    a condition and a measure; columns: first, second, measure, condition, scale, first_value,
    second_value, difference, low, high, p, method and note.
    """
    rows: list[dict[str, object]] = []
    for (suite, context, noise), responses in frame.groupby(list(CONDITION[1:]), observed=True):
        grouped = responses.assign(group=_group_puzzles(responses))
        fits = {
            model: _leave_out(of_model)
            for model, of_model in grouped.groupby("model", observed=True, sort=False)
        }
        condition = f"{suite}, {show_context(float(str(context)))} tokens, noise {noise}"
        for first, second in pairs:
            if not {first, second} <= set(fits):
                continue
            pair = {"first": first, "second": second, "condition": condition}
            rows += [pair | row for row in _compare(fits[first], fits[second])]
    return pd.DataFrame(rows)


def _group_puzzles(responses: pd.DataFrame) -> pd.Series:
    """Return the group of each response's puzzle; every group has puzzles of each N, if it can."""
    puzzles = responses[["N", "id"]].drop_duplicates().astype({"id": str}).sort_values(["N", "id"])
    place = puzzles.groupby("N").cumcount() + puzzles["N"].rank(method="dense").astype(int)
    by_id = pd.Series((place % _GROUPS).to_numpy(), puzzles["id"].to_numpy())
    return responses["id"].astype(str).map(by_id)


def _leave_out(responses: pd.DataFrame) -> np.ndarray:
    """Return CDF and CDO of the whole, and of all but each group: one row per fit."""
    kept = [responses, *(responses[responses["group"] != group] for group in range(_GROUPS))]
    return np.array([fit_complexity_decay(rows).params[list(TERMS)].to_numpy() for rows in kept])


def _compare(first: np.ndarray, second: np.ndarray) -> Iterator[dict[str, object]]:
    differences = first - second
    for place, name in enumerate(TERMS):
        whole, parts = differences[0, place], differences[1:, place]
        error = np.sqrt((_GROUPS - 1) * np.var(parts))
        known = bool(np.isfinite(error) and error > 0)
        margin = student.ppf((1 + CONFIDENCE) / 2, _GROUPS - 1) * error if known else np.nan
        yield {
            "measure": name,
            "scale": "difference",
            "first_value": first[0, place],
            "second_value": second[0, place],
            "difference": whole if known else np.nan,
            "low": whole - margin,
            "high": whole + margin,
            "p": 2 * student.sf(abs(whole) / error, _GROUPS - 1) if known else np.nan,
            "method": "jackknife over puzzles" if known else "",
            "note": "" if known else "the decay of one can't be fitted, whole or in part",
        }
