"""Each model's rank among the published ones.

A rank compares like with like, projections with projections and crossings with crossings, and
exists only for puzzles that cover the loads of the paper.
"""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity import curve
from cogniload_analysis.cogniload.capacity import goodness_of_fit as fit
from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.fitted import CROSSING, PROJECTION, project, tested_ends
from cogniload_analysis.cogniload.glm import LoadGLM
from cogniload_analysis.cogniload.glm_thresholds import PAPER_MEANS, Threshold
from cogniload_analysis.cogniload.sections.thresholds import show_threshold
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.figures import COLOURS, Figure, Panel, shorten_name
from cogniload_analysis.display.page import Section
from cogniload_analysis.published import published_table
from cogniload_analysis.words import say

# Printed ECL50 of the published models whose crossing is no extrapolation.
_CROSSINGS_KNOWN = 8, 400

HERE, PAPER, SITE = "this report", "published", "authors' site, 2026"
VALUES = {
    "rank": ["ECL50", "low", "high"],
    "crossing_rank": [CROSSING, "crossing_low", "crossing_high"],
}
"""The columns of an ECL50 and its interval, by that of its rank: of projection and crossing."""


def show_ranks(best: float, worst: float) -> str:
    """Set a rank with its interval, as in 9 to 14."""
    if math.isnan(best):
        return tb.MISSING
    return " to ".join(dict.fromkeys((f"{best:.0f}", f"{worst:.0f}")))


def ranking_section(ranking: pd.DataFrame) -> Section:
    """Return the section on a `ranking_table`."""
    shows = {kind: partial(show_threshold, kind, "ECL50") for kind in (PROJECTION, CROSSING)}
    table = tb.table("ranking", ranking, {"ranks": show_ranks, **shows})
    return Section("Among published models", [draw_ranking(ranking), table], "among", folded=True)


def rank_among(ends: pd.Series, others: pd.Series) -> pd.Series:
    """Return the rank of each ECL50 among others; NaN where it is unknown."""
    above = (others.to_numpy() > ends.to_numpy()[:, None]).sum(axis=1)
    return pd.Series(1.0 + above, ends.index).where(ends.notna())


def ranking_table(
    glms: dict[str, LoadGLM], capacities: Mapping[str, Capacity] | None = None
) -> pd.DataFrame:
    """Return the published models and the new ones of `glms`, in both meanings of ECL50.

    New models are held at the means of the paper's grid, as the published ones are. `rank` to
    `rank_worst` are a model's among the published ones, by the projection, and `crossing_rank` to
    `crossing_rank_worst` by the crossing among those where it is known. A new model whose puzzles
    don't cover the paper's loads has neither; `note` says so, and why a model has no projection.
    Other columns: model, source (this report, the paper or the site), overflow (percent; of those
    on the site), ECL50, low, high (the projection), crossing, crossing_low,
    crossing_high, min_tested and max_tested (N). The first ones solve every puzzle; then the
    largest projection comes first, or the crossing where there is none.
    """
    rows = []
    for model, glm in glms.items():
        capacity = (capacities or {}).get(model)
        projection = project(glm, PAPER_MEANS).ECL50
        crossing = capacity.ECL50 if capacity else Threshold()
        least, most = tested_ends(capacity, "ECL50") if capacity else (math.nan, math.nan)
        covers = fit.covers_paper(glm.cells)
        notes = projection.note, "" if covers else fit.UNCOVERED
        row = {"model": model, "source": HERE, "min_tested": least, "max_tested": most}
        for names, at in zip(VALUES.values(), (projection, crossing), strict=True):
            row |= dict(zip(names, (at.value, at.low, at.high), strict=True))
        row |= {"note": "; ".join(filter(None, notes)), "covers": covers}
        rows.append(row | {"perfect": covers and not glm.cells["failures"].any()})
    published = _published_ECL50().assign(note="", covers=True, perfect=False)
    table = pd.concat([pd.DataFrame(rows), published], ignore_index=True)
    for name, (value, low, high) in VALUES.items():
        for column, end in ((name, high), (f"{name}_worst", low)):
            ends = table[end].fillna(table[value]).where(table["covers"])
            table[column] = rank_among(ends, published[value])
    order = table["ECL50"].fillna(table[CROSSING]).mask(table["perfect"], math.inf)
    table = table.loc[order.sort_values(ascending=False, kind="stable").index]
    ranks = [column for name in VALUES for column in (name, f"{name}_worst")]
    values = [name for names in VALUES.values() for name in names]
    columns = [*ranks, "model", "source", *values, "min_tested", "max_tested", "overflow", "note"]
    return table[columns].reset_index(drop=True)


def _published_ECL50() -> pd.DataFrame:
    """Return model, source, overflow and ECL50 of the published models: projection, and crossing.

    The projection is as printed. The crossing is NaN where it would be an extrapolation, or the
    curve with a floor is not known, as of the models that only the authors' site has.
    """
    models = published_table("glm")[["model", "ECL50"]]
    curves = published_table("prior")
    curves = curves[np.isclose(curves["floor"], curve.FLOOR)].set_index("model")
    crossings = {
        model: fit.curve_crossing(fit.PublishedCurve(row.to_numpy(float), curve.Link(), True))
        for model, row in curves[list(curve.COEFFICIENTS)].iterrows()
    }
    known = models["ECL50"].between(*_CROSSINGS_KNOWN)
    models = models.assign(source=PAPER, crossing=models["model"].map(crossings).where(known))
    site = published_table("site_2026").set_index("model")
    full_names = models["model"].replace(fit.FULL_NAMES)
    models["overflow"] = full_names.map(site["overflow"])
    others = site.drop(full_names, errors="ignore").reset_index().assign(source=SITE)
    return pd.concat([models, others[["model", "source", "overflow", "ECL50"]]], ignore_index=True)


def draw_ranking(ranking: pd.DataFrame) -> Figure:
    """Draw both meanings of ECL50 of the published and the new models, with 95 % intervals.

    A model has its crossing, a hollow mark, below its projection. Those without a rank are left
    out: their puzzles don't tell it.
    """
    known = ranking[ranking[[*VALUES]].notna().any(axis=1)].iloc[::-1].reset_index(drop=True)
    new = known["source"] == HERE
    # Below one statement the axis ends: the paper prints 0.0 there.
    drawn = {rank: known[names].astype(float).clip(1, 1e4) for rank, names in VALUES.items()}

    def finish(axes: Any) -> None:
        for rank, shift, fill in (("rank", 0.15, None), ("crossing_rank", -0.15, "white")):
            value, low, high = (ends for _, ends in drawn[rank].items())
            place = known.index + shift
            for chosen, colour, marker in ((~new, "#777777", "o"), (new, COLOURS[2], "D")):
                style = {"color": colour, "markerfacecolor": fill or colour, "zorder": 3}
                axes.plot(value[chosen], place[chosen], marker, **style)
            axes.hlines(place[new], low[new], high[new], color=COLOURS[2])
        axes.set_yticks(known.index, known["model"].map(shorten_name))
        axes.set_ylim(-0.7, len(known) - 0.3)
        axes.set_xscale("log")
        axes.set_xlim(left=0.9)
        axes.xaxis.set_major_formatter("{x:g}")

    ends = "at 1: one or fewer; at 10000: that or more"
    xlabel = f"ECL50 (statements): ● projection, ○ crossing\n{ends}"
    panel = Panel([], xlabel, "", finish=finish)
    return Figure("ranking", say("ranking"), [panel], 1.3 + 0.22 * len(known))
