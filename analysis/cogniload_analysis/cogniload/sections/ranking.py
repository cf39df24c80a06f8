"""Models by ECL50, among the 22 of the paper."""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity import curve, goodness_of_fit
from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.prior import published_curves
from cogniload_analysis.cogniload.glm import LoadGLM
from cogniload_analysis.cogniload.sections.thresholds import (
    CROSSING,
    PROJECTION,
    name_ends,
    projections,
    show_ends,
    show_threshold,
    tested_ends,
)
from cogniload_analysis.cogniload.thresholds import PAPER_MEANS, Threshold
from cogniload_analysis.display.figures import COLOURS, Figure, Panel, Series, shorten_name
from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import MODEL, Columns, Table, number
from cogniload_analysis.published import published_table

CROSSINGS_KNOWN = 8, 400
"""Printed ECL50 of the published models whose crossing is no extrapolation."""

CAPTION = (
    "Models by ECL50, among the 22 of the paper, in both meanings. New models are held at the "
    "means of the paper's grid, and have a rank where their puzzles cover its d and N. The paper "
    "prints projections, without intervals; its models' crossings follow from these with a "
    "guessing floor and Table 3."
)
COLUMNS: Columns = {
    **MODEL,
    "rank": ("Rank (projection)", number(0)),
    "ECL50, min_tested, max_tested": (
        "ECL50 (projection)",
        partial(show_threshold, PROJECTION, "ECL50"),
    ),
    "low, high, min_tested, max_tested": (
        "95 % (projection)",
        partial(show_ends, PROJECTION, "ECL50"),
    ),
    "crossing_rank": ("Rank (crossing)", number(0)),
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
    table = Table("ranking", ranking, CAPTION, COLUMNS)
    return Section("Among published models", [draw_ranking(ranking), table], "among", folded=True)


def ranking_table(
    glms: dict[str, LoadGLM], capacities: Mapping[str, Capacity] | None = None
) -> pd.DataFrame:
    """Return the published models and the new ones of `glms`, in both meanings of ECL50.

    New models are held at the means of the paper's grid, as the published ones are. `rank` is by
    the projection and `crossing_rank` by the crossing, which orders the rows where it is known. A
    new model whose puzzles don't cover the paper's d and N has neither, and stands last; `note`
    says so, and why a model has no projection. Columns besides: model, source, ECL50, low, high
    (the projection), crossing, crossing_low, crossing_high, min_tested and max_tested (N).
    """
    known = capacities or {}
    rows = [_rank(model, glm, known.get(model)) for model, glm in glms.items()]
    published = published_table("glm")[["model", "ECL50"]].assign(source="published", note="")
    crossings = published["model"].map(published_crossings())
    printed = published["ECL50"].between(*CROSSINGS_KNOWN)
    published = published.assign(crossing=crossings.where(printed), covers=True)
    table = pd.concat([pd.DataFrame(rows), published], ignore_index=True)
    covers = table.pop("covers").astype(bool)
    projection, crossing = (table[name].where(covers) for name in ("ECL50", "crossing"))
    table.insert(0, "rank", projection.rank(ascending=False, method="min"))
    table.insert(1, "crossing_rank", crossing.rank(ascending=False, method="min"))
    order = crossing.fillna(projection).sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)


def _rank(model: str, glm: LoadGLM, capacity: Capacity | None) -> dict[str, float | str]:
    threshold = projections(glm, PAPER_MEANS).ECL50
    crossing = capacity.ECL50 if capacity else Threshold()
    tested = tested_ends(capacity, "ECL50") if capacity else (np.nan, np.nan)
    covers = goodness_of_fit.covers_paper(glm.cells)
    notes = threshold.note, "" if covers else goodness_of_fit.UNCOVERED
    return {
        "model": model,
        "source": "this report",
        **{"ECL50": threshold.value, "low": threshold.low, "high": threshold.high},
        **name_ends(CROSSING, crossing),
        **{"min_tested": tested[0], "max_tested": tested[1]},
        "note": "; ".join(filter(None, notes)),
        "covers": covers,
    }


@lru_cache(maxsize=1)
def published_crossings() -> dict[str, float]:
    """Return the crossing of each published model whose curve with a floor is known, by model."""
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
