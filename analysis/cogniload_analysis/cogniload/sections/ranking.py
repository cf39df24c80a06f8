"""Where each model stands: what it carries, and its rank among the published models and the runs.

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
from cogniload_analysis.cogniload.capacity.prior import published_curves
from cogniload_analysis.cogniload.glm import LoadGLM
from cogniload_analysis.cogniload.known_thresholds import (
    AT_CHANCE,
    fit_run,
    projections,
    tested_ends,
)
from cogniload_analysis.cogniload.loads import LOADS, MEANINGS, describe_load
from cogniload_analysis.cogniload.sections.thresholds import (
    CROSSING,
    PROJECTION,
    name_ends,
    show_threshold,
)
from cogniload_analysis.cogniload.thresholds import PAPER_MEANS, Threshold
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display import verdict
from cogniload_analysis.display.figures import COLOURS, Figure, Panel, shorten_name
from cogniload_analysis.display.page import Section, Verdict
from cogniload_analysis.display.verdict import MUCH_CUT
from cogniload_analysis.frame import adaptive_models
from cogniload_analysis.matters import breaking, load_effects
from cogniload_analysis.published import published_table
from cogniload_analysis.samples.stop_reasons import CUT, ending_table
from cogniload_analysis.stats import CONFIDENCE

CROSSINGS_KNOWN = 8, 400
"""Printed ECL50 of the published models whose crossing is no extrapolation."""

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


CAPTION = (
    "Models by ECL50, among the 22 of the paper and 6 that only its authors' site has (2026), in "
    "both meanings. New models are held at the means of the paper's grid; where their puzzles "
    "cover its loads, they have a rank among the published models, with its 95 % interval. The "
    "paper prints projections, without intervals; its models' crossings follow from these with a "
    "guessing floor and Table 3. Overflow is the share of responses that a limit cut, by the site."
)


def _columns_of(meaning: str, rank: str) -> tb.Columns:
    value, low, high = VALUES[rank]
    show = partial(show_threshold, meaning, "ECL50")
    return {
        f"{rank}, {rank}_worst": (f"Rank ({meaning})", show_ranks),
        f"{value}, min_tested, max_tested": (f"ECL50 ({meaning})", show),
        f"{low}, {high}, min_tested, max_tested": (f"95 % ({meaning})", tb.between(show)),
    }


COLUMNS: tb.Columns = {
    **tb.MODEL,
    **_columns_of(PROJECTION, "rank"),
    **_columns_of(CROSSING, "crossing_rank"),
    "source": "From",
    "overflow": ("Overflow [%]", tb.number(1)),
    "note": "Note",
}


def ranking_section(ranking: pd.DataFrame) -> Section:
    """Return the section on a `ranking_table`."""
    table = tb.Table("ranking", ranking, CAPTION, COLUMNS)
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
        projection = projections(glm, PAPER_MEANS).ECL50
        crossing = capacity.ECL50 if capacity else Threshold()
        least, most = tested_ends(capacity, "ECL50") if capacity else (math.nan, math.nan)
        covers = fit.covers_paper(glm.cells)
        notes = projection.note, "" if covers else fit.UNCOVERED
        row = {"model": model, "source": HERE, "min_tested": least, "max_tested": most}
        for names, at in zip(VALUES.values(), (projection, crossing), strict=True):
            row |= dict(zip(names, (at.value, at.low, at.high), strict=True))
        row |= {"note": "; ".join(filter(None, notes)), "covers": covers}
        rows.append(row | {"perfect": covers and not glm.cells["failures"].any()})
    published = published_ECL50().assign(note="", covers=True, perfect=False)
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


def rank_runs(ranking: pd.DataFrame, perfect: pd.Series) -> pd.DataFrame:
    """Return `rank` and `rank_worst` of each run among these, from its row of `ranking_table`.

    By the projection, if all have one that have a rank, and else by the crossing. A run that is
    `perfect` comes first.
    """
    ranked = ranking[[*VALUES]].notna().any(axis=1)
    by_crossing = ranking.loc[ranked & ~perfect, "rank"].isna().any()
    _, *ends = VALUES["crossing_rank" if by_crossing else "rank"]
    low, high = (ranking[end].where(ranked).mask(perfect, math.inf) for end in ends)
    # the upper end of a run lies above its own lower one
    worst = rank_among(low, high) - (high > low)
    return pd.DataFrame({"rank": rank_among(high, low), "rank_worst": worst})


def published_ECL50() -> pd.DataFrame:
    """Return model, source, overflow and ECL50 of the published models: projection, and crossing.

    The projection is as printed. The crossing is NaN where it would be an extrapolation, or the
    curve with a floor is not known, as of the models that only the authors' site has.
    """
    models = published_table("glm")[["model", "ECL50"]]
    curves = published_curves()
    curves = curves[np.isclose(curves["floor"], curve.FLOOR)].set_index("model")
    crossings = {
        model: fit.curve_crossing(fit.PublishedCurve(row.to_numpy(float), curve.Link(), True))
        for model, row in curves[list(curve.COEFFICIENTS)].iterrows()
    }
    known = models["ECL50"].between(*CROSSINGS_KNOWN)
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
    caption = (
        "ECL50 of the models of this report (with 95 % intervals) and of the paper: projection "
        "and, hollow, crossing."
    )
    panel = Panel([], xlabel, "", finish=finish)
    return Figure("ranking", caption, [panel], 1.3 + 0.22 * len(known))


# --- The first screen ----------------------------------------------------------------------------

MOST = "ECL50_most", "ECL50_most_high"

REACH = 4
"""How far beyond the N of the puzzles, as a factor, a projection is printed."""


def overview_table(
    frame: pd.DataFrame,
    glms: Mapping[str, LoadGLM],
    capacities: Mapping[str, Capacity],
    ranking: pd.DataFrame,
) -> pd.DataFrame:
    """Return what the first screen says of each model; `ranking` is the `ranking_table` of these.

    Columns: rank and rank_worst (the 95 % interval of the rank among the models of the frame),
    model, correct, responses, accuracy, low, high (of 95 %; NaN for an adaptive run), chance,
    at_chance, meaning (of ECL50: the projection at the mean loads of the puzzles or, without one,
    the crossing), ECL50, ECL50_low, ECL50_high, loads (at which N varies, in words), ECL80,
    ECL80_low and ECL80_high (the same at 80 %), least_N and most_N (between which these are known),
    place and place_worst (of ECL50 among the `ranked`: the published models and this one; NaN for a
    projection at other loads than the paper's means), covers (the paper's loads), cut_share,
    acc_uncut (of the responses that no limit cut), acc_least and acc_most (if all cut ones are
    wrong, and right), ECL50_most and ECL50_most_high (if all are right; infinite where accuracy
    then no longer falls with N, and NaN unless a limit cut many), breaks (the loads with
    which accuracy falls, in words), response_tokens (mean), date (of the last run) and cost (of all
    responses; NaN unless the frame has it).
    Ranks compare projections, or crossings where a model has no projection. The highest rank comes
    first, and the most accurate of the models without one.
    """
    ranked = ranking[ranking["source"] == HERE].set_index("model")
    counts = ranking[ranking["source"] != HERE].count()
    cut_shares = ending_table(frame).set_index("model")["cut_share"]
    of_model = frame.assign(date=frame["date"].astype(str)).groupby("model", observed=True)
    facts = of_model.agg({"response_tokens": "mean", "date": "max"})
    total = partial(pd.Series.sum, skipna=False)
    facts = facts.assign(cost=of_model["cost"].agg(total) if "cost" in frame else math.nan)
    uncut = frame["acc_uncut"]
    bounds = {"acc_uncut": uncut, "acc_least": uncut.fillna(0), "acc_most": uncut.fillna(1)}
    scores = pd.DataFrame(bounds).groupby(frame["model"], observed=True).mean()
    rows = []
    for row in tb.accuracy_table(frame, confidence=CONFIDENCE).to_dict("records"):
        model = row["model"]
        responses, cut_share = of_model.get_group(model), cut_shares[model]
        effects = breaking(load_effects(responses, LOADS))
        breaks = [effect.load.heading.split()[0] for effect in effects]
        at = choose_threshold(glms[model], capacities[model])
        name = "rank" if at["meaning"] == PROJECTION else "crossing_rank"
        its_own = np.isclose(at["ECL50"], ranked.loc[model, VALUES[name][0]])
        place, worst = ranked.loc[model, [name, f"{name}_worst"]] if its_own else (math.nan,) * 2
        rows.append(
            {"chance": math.nan}
            | row
            | {"at_chance": AT_CHANCE in glms[model].unknown.values()}
            | at
            | {"place": place, "place_worst": worst}
            | {"ranked": math.nan if math.isnan(place) else 1 + counts[name]}
            | {"covers": fit.covers_paper(glms[model].cells)}
            | {"cut_share": cut_share, "breaks": ", ".join(breaks) or "none known"}
            | facts.loc[model].to_dict()
            | scores.loc[model].to_dict()
            | _most(at["meaning"], responses, cut_share)
        )
    table = pd.DataFrame(rows)
    own = ranked.loc[table["model"]]
    perfect = (table["covers"] & table["accuracy"].eq(1)).set_axis(own.index)
    shares = ["accuracy", "low", "high", "acc_uncut", "acc_least", "acc_most"]
    table.loc[table["model"].isin(adaptive_models(frame)), shares] = math.nan
    table = rank_runs(own, perfect).reset_index(drop=True).join(table)
    order = {"rank": True, "rank_worst": True, "ECL50": False, "accuracy": False, "model": True}
    return table.sort_values([*order], ascending=[*order.values()], ignore_index=True)


def choose_threshold(glm: LoadGLM, capacity: Capacity) -> dict[str, Any]:
    """Return ECL50 and ECL80, projections if there are, else crossings, their loads and range."""
    meaning, found, held = PROJECTION, {"ECL50": projections(glm).ECL50}, glm.means
    least, most = glm.cells["N"].min() / REACH, glm.cells["N"].max() * REACH
    if math.isnan(found["ECL50"].value) or capacity.at != PAPER_MEANS:  # a line has no projection
        meaning, found, held = CROSSING, {"ECL50": capacity.ECL50}, capacity.at
        found["ECL80"] = capacity.ECL80
        least, most = tested_ends(capacity, "ECL50")
    else:
        found["ECL80"] = glm.thresholds(level=0.8).ECL80
    row = {"meaning": meaning, "loads": held.beside("N"), "least_N": least, "most_N": most}
    for name, at in found.items():
        everything = at.low < least and at.high > most  # nothing that was tested is left out
        row |= name_ends(name, Threshold() if everything else at)
    return row


def _most(meaning: str, frame: pd.DataFrame, cut: float) -> dict[str, float]:
    """Return ECL50 and its upper end by the fits as if all cut responses were right.

    Infinite where accuracy then no longer falls with N, so that nothing bounds it; NaN unless the
    share of responses that a limit `cut` is large.
    """
    if not cut > MUCH_CUT:
        return dict.fromkeys(MOST, math.nan)
    right = frame["correct"] | (frame["ending"] == CUT)
    glm, capacity = fit_run(frame.assign(correct=right))
    at = projections(glm).ECL50 if meaning == PROJECTION else capacity.ECL50
    ends = (math.inf if math.isnan(end) else end for end in (at.value, at.high))
    return dict(zip(MOST, ends, strict=True))


def show_length(N: float, least_N: float, most_N: float) -> str:
    """Set an N in print, where it is known: otherwise, on which side it lies."""
    return "not determined" if math.isnan(N) else tb.within(N, 0, round(least_N), round(most_N))


show_interval = tb.between(show_length)
"""How the interval of ECL50 is set in print, by its ends and the range of N."""


def _show_ECL50(N: float, least_N: float, most_N: float, meaning: str) -> str:
    length = show_length(N, least_N, most_N)
    return length if meaning == PROJECTION or math.isnan(N) else f"{length} ({meaning})"


def _show_places(best: float, worst: float, ranked: int) -> str:
    return tb.MISSING if math.isnan(best) else f"{show_ranks(best, worst)} of {ranked:.0f}"


OVERVIEW: tb.Columns = {
    **tb.MODEL,
    "rank, rank_worst": ("Rank", show_ranks),
    "ECL50, least_N, most_N, meaning": ("ECL50", _show_ECL50),
    "ECL50_low, ECL50_high, least_N, most_N": ("ECL50, 95 %", show_interval),
    "ECL80, least_N, most_N": ("ECL80", show_length),
    "loads": "At",
    "breaks": "Falls with",
    "place, place_worst, ranked": ("Place", _show_places),
    "accuracy": ("Acc [%]", tb.percent),
    "low, high": ("Acc, 95 %", tb.percent_interval),
    "acc_uncut": ("Acc, uncut [%]", tb.percent),
    "cut_share": ("Overflow [%]", tb.percent),
    "chance": ("Chance [%]", tb.percent),
    "response_tokens": ("Tokens", tb.thousands),
    "cost": ("Cost", tb.number(2)),
    "responses": "Responses",
    "date": ("Run", lambda date: date[:10]),
}


BOUNDS: tb.Columns = {
    "acc_least, acc_most": ("Acc, bounds [%]", tb.percent_interval),
    "ECL50, ECL50_most, least_N, most_N": ("ECL50, bounds", show_interval),
}
"""What a table of runs has besides where a limit cut many responses: all wrong, to all right."""


def tabulate_overview(overview: pd.DataFrame) -> tb.Table:
    """Return the table of all runs."""
    bounded = bool(overview["ECL50_most"].notna().any())
    columns, at = {**OVERVIEW, **BOUNDS} if bounded else {**OVERVIEW}, ""
    if len(overview) > 1 and overview["loads"].nunique() == 1:
        at = f" at {overview['loads'].iloc[0]}"
        del columns["loads"]
    cut = bool(overview["cut_share"].gt(0).any())
    if not cut:
        del columns["acc_uncut"], columns["cut_share"]
    by = f"by ECL50, the N at which half of the puzzles are solved{at} (ECL80: 80 %)"
    caption = f"All runs, best first: {by}; and the loads that break them, the largest fall first."
    if overview["place"].notna().any():
        caption += " Place is among the published models; ranks and places have 95 % intervals."
    caption += " Overflow is the share of the responses that a limit cut." * cut
    caption += " Bounds are with all of these wrong, and all right." * bounded
    return tb.Table("overview", overview, caption, columns)


def say_capacity(row: Mapping[Any, Any]) -> str:
    """Say in a headline what a model carries, by a row of `overview_table`."""
    if row["at_chance"]:
        return "At chance: it solves no more puzzles than guesses would."
    if row["accuracy"] == 1:
        return "Solves every puzzle: its capacity lies beyond what was tested."
    if math.isnan(row["ECL50"]):
        return "At how many statements it solves half of the puzzles (ECL50) is not determined."
    N = show_length(row["ECL50"], row["least_N"], row["most_N"])
    ends = show_interval(row["ECL50_low"], row["ECL50_high"], row["least_N"], row["most_N"])
    beyond = {">": "more than half of the puzzles even", "<": "fewer than half of the puzzles even"}
    share = beyond.get(N[0], "half of the puzzles")
    said = f"Solves {share} at {N.lstrip('<> ')} statements ({ends}): "
    said += f"ECL50, a {row['meaning']} at {row['loads']}"
    if math.isfinite(row["place"]):
        places = _show_places(row["place"], row["place_worst"], row["ranked"])
        said += f", place{'s' * (' to ' in places)} {places} among the published models"
    return said + "."


def describe_verdict(
    row: Mapping[Any, Any], frame: pd.DataFrame, first_error: str, figure: Figure | None
) -> Verdict:
    """Return what the first screen says of a model, by its row of `overview_table`.

    `first_error` says the commonest one, if it is known.
    """
    headline, solved = say_capacity(row), verdict.say_solved(frame, row["cut_share"])
    if math.isfinite(row["ECL50"]) and not math.isnan(row["ECL50_most"]):
        most = show_length(row["ECL50_most"], row["least_N"], row["most_N"])
        if math.isnan(row["accuracy"]):
            solved += f" Were all cut ones right, ECL50 would be {most}."
        else:
            solved = f"{solved.removesuffix('.')}, with an ECL50 of {most}."
    if row["at_chance"]:
        return Verdict(row["model"], headline, [solved])
    if frame[["d", "N", "rho"]].nunique().max() == 1 and not math.isnan(row["accuracy"]):
        headline = f"Solves {100 * row['accuracy']:.0f} % of the puzzles at "
        headline += f"{describe_load(frame.iloc[0])} ({100 * row['low']:.0f} to "
        headline += f"{100 * row['high']:.0f}). Puzzles of several N would tell at how many "
        headline += "statements it solves half of them (ECL50)."
    sentences = [solved, first_error or verdict.say_wrong(frame, MEANINGS)]
    breaks = verdict.say_breaks(load_effects(frame, LOADS))
    return Verdict(row["model"], headline, sentences, figure, breaks)
