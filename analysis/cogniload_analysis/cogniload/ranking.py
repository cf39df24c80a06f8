"""Ranks with their intervals: among the published models, and among the runs of a report.

A rank compares like with like, projections with projections and crossings with crossings, and
exists only for puzzles that cover the loads of the paper.
"""

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity import curve, goodness_of_fit
from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.prior import published_curves
from cogniload_analysis.cogniload.glm import LoadGLM
from cogniload_analysis.cogniload.known_thresholds import projections, tested_ends
from cogniload_analysis.cogniload.thresholds import PAPER_MEANS, Threshold
from cogniload_analysis.published import published_table

PROJECTION, CROSSING = "projection", "crossing"
"""The two meanings of a threshold (docs/glm_fit.md): of the paper's GLM, and of the model."""

CROSSINGS_KNOWN = 8, 400
"""Printed ECL50 of the published models whose crossing is no extrapolation."""


def rank(at: Threshold, low: pd.Series, high: pd.Series | None = None) -> tuple[float, float]:
    """Return the best and the worst rank of an ECL50 among others, by its 95 % interval.

    The others' intervals are from `low` to `high`, by default points; those without one don't
    count. NaN for an ECL50 that is unknown.
    """
    if math.isnan(at.value):
        return math.nan, math.nan
    above = (low > at.high).sum(), ((low if high is None else high) > at.low).sum()
    return 1.0 + above[0], 1.0 + above[1]


def ranking_table(
    glms: dict[str, LoadGLM], capacities: Mapping[str, Capacity] | None = None
) -> pd.DataFrame:
    """Return the published models and the new ones of `glms`, in both meanings of ECL50.

    New models are held at the means of the paper's grid, as the published ones are. `rank` to
    `rank_worst` are a model's among the published ones, by the projection, and `crossing_rank` to
    `crossing_rank_worst` by the crossing among those where it is known. A new model whose puzzles
    don't cover the paper's loads has neither; `note` says so, and why a model has no projection.
    Columns besides: model, source, ECL50, low, high (the projection), crossing, crossing_low,
    crossing_high, min_tested and max_tested (N). The largest projection comes first, and last what
    has none.
    """
    published = published_ECL50()
    rows = []
    for model, glm in glms.items():
        capacity = (capacities or {}).get(model)
        projection = projections(glm, PAPER_MEANS).ECL50
        crossing = capacity.ECL50 if capacity else Threshold()
        least, most = tested_ends(capacity, "ECL50") if capacity else (np.nan, np.nan)
        covers = goodness_of_fit.covers_paper(glm.cells)
        ranks = (
            rank(at if covers else Threshold(), published[name])
            for at, name in ((projection, "ECL50"), (crossing, CROSSING))
        )
        notes = projection.note, "" if covers else goodness_of_fit.UNCOVERED
        rows.append(
            dict(zip(RANKS, sum(ranks, ()), strict=True))
            | {"model": model, "source": "this report"}
            | {"ECL50": projection.value, "low": projection.low, "high": projection.high}
            | {CROSSING: crossing.value}
            | {"crossing_low": crossing.low, "crossing_high": crossing.high}
            | {"min_tested": least, "max_tested": most, "note": "; ".join(filter(None, notes))}
        )
    for name, meaning in (("rank", "ECL50"), ("crossing_rank", CROSSING)):
        own = published[meaning].rank(ascending=False, method="min")
        published[[name, f"{name}_worst"]] = np.column_stack([own, own])
    published = published.assign(source="published", note="")
    table = pd.concat([pd.DataFrame(rows), published], ignore_index=True)
    return table.sort_values("ECL50", ascending=False, kind="stable", ignore_index=True)


def rank_runs(ranking: pd.DataFrame, perfect: np.ndarray) -> np.ndarray:
    """Return the best and the worst rank of each run among these, from its row of `ranking_table`.

    By the projection, if all have one that have a rank, and else by the crossing. A run that is
    `perfect` comes first.
    """
    ranked = ranking[["rank", "crossing_rank"]].notna().any(axis=1)
    names = ["ECL50", "low", "high"]
    if ranking.loc[ranked & ~perfect, "rank"].isna().any():
        names = [CROSSING, "crossing_low", "crossing_high"]
    known = ranking[names].where(ranked, axis=0)
    known[perfect] = math.inf
    runs = [Threshold(*row) for row in known.itertuples(index=False)]
    low, high = known[names[1]], known[names[2]]
    others = [known.index != model for model in known.index]
    ranks = [rank(at, low[rest], high[rest]) for at, rest in zip(runs, others, strict=True)]
    return np.array(ranks).reshape(-1, 2)


RANKS = ("rank", "rank_worst", "crossing_rank", "crossing_rank_worst")


def published_ECL50() -> pd.DataFrame:
    """Return ECL50 of the published models: the printed projection, and the crossing.

    It is NaN where it would be an extrapolation, or the curve with a floor is not known.
    """
    models = published_table("glm")[["model", "ECL50"]]
    known = models["ECL50"].between(*CROSSINGS_KNOWN)
    return models.assign(crossing=models["model"].map(_published_crossings()).where(known))


@lru_cache(maxsize=1)
def _published_crossings() -> dict[str, float]:
    curves = published_curves()
    curves = curves[np.isclose(curves["floor"], curve.FLOOR)].set_index("model")
    link, crossing = curve.Link(), goodness_of_fit.curve_crossing
    return {
        str(model): crossing(goodness_of_fit.PublishedCurve(row.to_numpy(float), link, True))
        for model, row in curves[list(curve.COEFFICIENTS)].iterrows()
    }


def show_ranks(best: float, worst: float) -> str:
    """Set a rank with its interval, as in 9 to 14."""
    if math.isnan(best):
        return "--"
    return " to ".join(dict.fromkeys((f"{best:.0f}", f"{worst:.0f}")))
