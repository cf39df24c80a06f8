"""Ranks with their intervals: among the published models, and among the runs of a report.

A rank compares like with like, projections with projections and crossings with crossings, and
exists only for puzzles that cover the loads of the paper.
"""

import math
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity import curve, goodness_of_fit
from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.prior import published_curves
from cogniload_analysis.cogniload.glm import LoadGLM
from cogniload_analysis.cogniload.known_thresholds import projections, tested_ends
from cogniload_analysis.cogniload.sections.thresholds import (
    CROSSING,
    PROJECTION,
    show_ends,
    show_threshold,
)
from cogniload_analysis.cogniload.thresholds import PAPER_MEANS, Threshold
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.figures import COLOURS, Figure, Panel, Series, shorten_name
from cogniload_analysis.display.page import Section
from cogniload_analysis.published import published_table

CROSSINGS_KNOWN = 8, 400
"""Printed ECL50 of the published models whose crossing is no extrapolation."""


def show_ranks(best: float, worst: float) -> str:
    """Set a rank with its interval, as in 9 to 14."""
    if math.isnan(best):
        return tb.MISSING
    return " to ".join(dict.fromkeys((f"{best:.0f}", f"{worst:.0f}")))


CAPTION = (
    "Models by ECL50, among the 22 of the paper, in both meanings. New models are held at the "
    "means of the paper's grid; where their puzzles cover its loads, they have a rank among the "
    "published models, with its 95 % interval. The paper prints projections, without intervals; "
    "its models' crossings follow from these with a guessing floor and Table 3."
)
COLUMNS: tb.Columns = {
    **tb.MODEL,
    "rank, rank_worst": ("Rank (projection)", show_ranks),
    "ECL50, min_tested, max_tested": (
        "ECL50 (projection)",
        partial(show_threshold, PROJECTION, "ECL50"),
    ),
    "low, high, min_tested, max_tested": (
        "95 % (projection)",
        partial(show_ends, PROJECTION, "ECL50"),
    ),
    "crossing_rank, crossing_rank_worst": ("Rank (crossing)", show_ranks),
    "crossing, min_tested, max_tested": (
        "ECL50 (crossing)",
        partial(show_threshold, CROSSING, "ECL50"),
    ),
    "crossing_low, crossing_high, min_tested, max_tested": (
        "95 % (crossing)",
        partial(show_ends, CROSSING, "ECL50"),
    ),
    "source": "From",
    "note": "Note",
}


def ranking_section(ranking: pd.DataFrame) -> Section:
    """Return the section on a `ranking_table`."""
    table = tb.Table("ranking", ranking, CAPTION, COLUMNS)
    return Section("Among published models", [draw_ranking(ranking), table], "among", folded=True)


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
    Other columns: model, source, ECL50, low, high (the projection), crossing, crossing_low,
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


def draw_ranking(ranking: pd.DataFrame) -> Figure:
    """Draw both meanings of ECL50 of the published and the new models, with 95 % intervals.

    A model has its crossing, a hollow mark, below its projection. Those without a rank are left
    out: their puzzles don't tell it.
    """
    known = ranking[ranking[["rank", "crossing_rank"]].notna().any(axis=1)].iloc[::-1]
    known = known.reset_index(drop=True)
    new = known["source"] == "this report"
    values = ["ECL50", "low", "high", "crossing", "crossing_low", "crossing_high"]
    # Below one statement the axis ends: the paper prints 0.0 there.
    drawn = known[values].astype(float).clip(lower=1, upper=1e4)

    def finish(axes: Any) -> None:
        for meaning, at, fill in ((values[:3], 0.15, None), (values[3:], -0.15, "white")):
            value, low, high = (drawn[name] for name in meaning)
            for chosen, colour, marker in ((~new, "#777777", "o"), (new, COLOURS[2], "D")):
                style = {"color": colour, "markerfacecolor": fill or colour, "zorder": 3}
                axes.plot(value[chosen], known.index[chosen] + at, marker, **style)
            bounded = new & low.notna()
            ends = low[bounded], high[bounded]
            axes.hlines(known.index[bounded] + at, *ends, color=COLOURS[2])
        axes.set_yticks(known.index, known["model"].map(shorten_name))
        for label, is_new in zip(axes.get_yticklabels(), new, strict=True):
            label.set(color="#000000" if is_new else "#666666")
        axes.set_ylim(-0.7, len(known) - 0.3)
        axes.set_xscale("log")
        axes.set_xlim(0.9, max(1000, 1.1 * np.nanmax(drawn.to_numpy())))
        axes.xaxis.set_major_formatter("{x:g}")

    ends = "at 1: one or fewer; at 10000: that or more"
    xlabel = f"ECL50 (statements): ● projection, ○ crossing\n{ends}"
    caption = (
        "ECL50 of the models of this report (with 95 % intervals) and of the paper: projection "
        "and, hollow, crossing."
    )
    height = 1.3 + 0.22 * len(known)
    series: list[Series] = []
    return Figure("ranking", caption, [Panel(series, xlabel, "", "", finish)], height)
