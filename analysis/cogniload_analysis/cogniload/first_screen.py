"""The first screen of CogniLoad's part of the report: the runs side by side, and each in words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_analysis.cogniload.capacity.goodness_of_fit import covers_paper
from cogniload_analysis.cogniload.fitted import PROJECTION, Fitted, tested_ends
from cogniload_analysis.cogniload.glm_thresholds import UNKNOWN, Z
from cogniload_analysis.cogniload.loads import LOADS, MEANINGS
from cogniload_analysis.cogniload.sections.ranking import HERE, VALUES, rank_among, show_ranks
from cogniload_analysis.cogniload.sections.thresholds import name_ends
from cogniload_analysis.display import sentences
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.figures import Figure
from cogniload_analysis.display.page import Verdict
from cogniload_analysis.frame import adaptive_models
from cogniload_analysis.matters import LoadEffect, breaking, tell_together
from cogniload_analysis.samples.stop_reasons import CUT, MUCH_CUT
from cogniload_analysis.stats import CONFIDENCE
from cogniload_analysis.words import say

_MOST = "ECL50_most", "ECL50_most_high"


def overview_table(
    models: Mapping[str, Fitted],
    ranking: pd.DataFrame,
    effects: Mapping[str, Sequence[LoadEffect]],
) -> pd.DataFrame:
    """Return what the first screen says of each model; `ranking` is the `ranking_table` of these.

    `effects` are those of their loads, by `tell_together`.

    Columns: rank and rank_worst (the interval of the rank among the models at the same loads, all
    of which hold together with 95 % confidence), unranked (why there is none; "" if there is),
    model, correct, responses, accuracy, low, high (of 95 %; NaN for an adaptive run), chance,
    at_chance, meaning (of ECL50: the projection at the mean loads of the puzzles or, without one,
    the crossing), ECL50, ECL50_low, ECL50_high, loads (at which N varies, in words), ECL80,
    ECL80_low and ECL80_high (the same at 80 %), why (ECL50 is not determined; "" if it is),
    least_N and most_N (between which these are known),
    place and place_worst (of ECL50 among the `ranked`: the published models and this one; NaN for a
    projection at other loads than the paper's means), covers (the paper's loads), cut_share,
    acc_uncut (of the responses that no limit cut), acc_least and acc_most (if all cut ones are
    wrong, and right), ECL50_most and ECL50_most_high (if all are right; infinite where accuracy
    then no longer falls with N, and NaN unless a limit cut many), breaks (the loads with
    which accuracy falls, in words, by p that hold for all runs together), response_tokens (mean),
    date (of the last run) and cost (of all responses; NaN unless the responses have it).
    Models at the same loads stand together, those of the most first. Of these, the highest rank
    comes first, and the most accurate of the models without one.
    """
    here = ranking["source"] == HERE
    ranked, published = ranking[here].set_index("model").loc[[*models]], ranking[~here].count()
    ranks = ranked.to_dict("index")
    rows = [
        _describe(fitted, ranks[model], published)
        | {"breaks": ", ".join(it.load.symbol for it in breaking(effects[model])) or "none known"}
        for model, fitted in models.items()
    ]
    table = pd.DataFrame(rows, ranked.index)
    solved = np.array([not fitted.glm.cells["failures"].any() for fitted in models.values()])
    table = rank_runs(table, ranked, table["covers"] & solved).join(table)
    table["at"] = table["loads"].where(~table["covers"], "the paper's")
    table["beside"] = table.groupby("at")["at"].transform("size")
    order = {"beside": False, "at": True, "rank": True, "rank_worst": True}
    order |= {"ECL50": False, "accuracy": False, "model": True}
    table = table.rename_axis(None).sort_values([*order], ascending=[*order.values()])
    return table.drop(columns=["at", "beside"]).reset_index(drop=True)


def _describe(
    fitted: Fitted, rank: Mapping[Any, Any], published: "pd.Series[int]"
) -> dict[Any, Any]:
    """Return a model's row, without what compares it with the other runs.

    `rank` is its row of the `ranking_table`, and `published` how many others have each column.
    """
    responses, at = fitted.responses, choose_threshold(fitted)
    (solved,) = tb.accuracy_table(responses, confidence=CONFIDENCE).to_dict("records")
    uncut, cost = responses["acc_uncut"], responses.get("cost", pd.Series(math.nan))
    filled = {"acc_uncut": uncut, "acc_least": uncut.fillna(0), "acc_most": uncut.fillna(1)}
    shares = {name: right.mean() for name, right in filled.items()}
    if adaptive_models(responses):
        shares = dict.fromkeys(shares, math.nan)
        solved |= dict.fromkeys(("accuracy", "low", "high"), math.nan)
    name = "rank" if at["meaning"] == PROJECTION else "crossing_rank"
    place, worst = rank[name], rank[f"{name}_worst"]
    if not np.isclose(at["ECL50"], rank[VALUES[name][0]]):  # at other loads
        place = worst = math.nan
    return (
        {"chance": math.nan}
        | solved
        | {"at_chance": fitted.at_chance}
        | at
        | {"place": place, "place_worst": worst}
        | {"ranked": math.nan if math.isnan(place) else 1 + published[name]}
        | {"covers": covers_paper(fitted.glm.cells), "cut_share": fitted.endings["cut_share"]}
        | {"response_tokens": responses["response_tokens"].mean()}
        | {"date": responses["date"].astype(str).max(), "cost": cost.sum(skipna=False)}
        | shares
        | _most(fitted, at["meaning"])
    )


def rank_runs(overview: pd.DataFrame, ranking: pd.DataFrame, perfect: pd.Series) -> pd.DataFrame:
    """Return `rank`, `rank_worst` and `unranked` of each run: its rank among those at its loads.

    `overview` has of each run: at_chance, loads, meaning, ECL50, ECL50_low and ECL50_high. Runs on
    the paper's loads are ranked by the projection, if all have one that have a rank in their row of
    `ranking`, the `ranking_table`, and else by the crossing; runs at other loads by the ECL50 of
    `overview`. A run that is `perfect` comes first. `unranked` says why there is no rank. All ranks
    hold together with 95 % confidence: the intervals of ECL50 are widened for their number, by
    Bonferroni's correction.
    """
    paper = ranking[[*VALUES]].notna().any(axis=1)
    by_crossing = ranking.loc[paper & ~perfect, "rank"].isna().any()
    names = VALUES["crossing_rank" if by_crossing else "rank"]
    own = overview[["ECL50", "ECL50_low", "ECL50_high"]].set_axis(names, axis=1)
    ends = ranking[names].where(paper, own).set_axis(["value", "low", "high"], axis=1)
    at = (overview["loads"] + ", " + overview["meaning"]).where(~paper, "")
    known = ends["value"].notna() | perfect
    ranked = known & known.groupby(at).transform("sum").gt(1)
    wider = norm.isf((1 - CONFIDENCE) / 2 / max(1, ranked.sum())) / Z
    for end in ("low", "high"):  # an ECL50 of 0, or without an end, has its own
        wide = ends["value"] * (ends[end] / ends["value"]) ** wider
        ends[end] = wide.fillna(ends[end]).where(ranked).mask(perfect & ranked, math.inf)
    ranks = []
    for _, mine in ends.groupby(at):
        # the upper end of a run lies above its own lower one
        worst = rank_among(mine["low"], mine["high"]) - (mine["high"] > mine["low"])
        best = rank_among(mine["high"], mine["low"])
        ranks.append(pd.DataFrame({"rank": best, "rank_worst": worst}))
    why = np.select([ranked, overview["at_chance"], ~known], ["", "at chance", "no ECL50"], "alone")
    return pd.concat(ranks).loc[overview.index].assign(unranked=why)


def choose_threshold(fitted: Fitted) -> dict[str, Any]:
    """Return ECL50 and ECL80, projections if there are, else crossings, their loads and range."""
    glm, capacity = fitted.glm, fitted.capacity
    found, held = {"ECL50": fitted.thresholds["ECL50"]}, glm.means
    least, most = fitted.printed_N
    if fitted.meaning == PROJECTION:
        found["ECL80"] = fitted.show_length(glm.thresholds(level=0.8).ECL80, least, most)
    else:
        found["ECL80"], held = capacity.ECL80, capacity.at
        least, most = tested_ends(capacity, "ECL50")
    row = {"meaning": fitted.meaning, "loads": held.beside("N"), "least_N": least, "most_N": most}
    for name, at in found.items():
        row |= name_ends(name, at)
    return row | {"why": glm.unknown.get("ECL50") or found["ECL50"].note}


def _most(fitted: Fitted, meaning: str) -> dict[str, float]:
    """Return ECL50 and its upper end by the fits as if all cut responses were right.

    Infinite where accuracy then no longer falls with N, so that nothing bounds it; NaN unless the
    share of responses that a limit cut is large, and where the puzzles are too few to tell.
    """
    if not fitted.endings["cut_share"] > MUCH_CUT:
        return dict.fromkeys(_MOST, math.nan)
    responses = fitted.responses
    right = responses["correct"] | (responses["ending"] == CUT)
    lenient = Fitted(responses.assign(correct=right))
    at = lenient.projections.ECL50 if meaning == PROJECTION else lenient.capacity.ECL50
    left_open = at.status == UNKNOWN and "ECL50" not in lenient.unknown
    unbounded = math.isnan(at.value) and not left_open
    ends = (math.inf if unbounded else end for end in (at.value, at.high))
    return dict(zip(_MOST, ends, strict=True))


def _show_length(N: float, least_N: float, most_N: float) -> str:
    """Set an N in print, where it is known: otherwise, on which side it lies."""
    return "not determined" if math.isnan(N) else tb.within(N, 0, round(least_N), round(most_N))


# How the interval of ECL50 is set in print, by its ends and the range of N.
_show_interval = tb.between(_show_length)


def _show_ECL50(N: float, least_N: float, most_N: float, meaning: str) -> str:
    length = _show_length(N, least_N, most_N)
    return length if meaning == PROJECTION or math.isnan(N) else f"{length} ({meaning})"


def _show_places(best: float, worst: float, ranked: int) -> str:
    return tb.MISSING if math.isnan(best) else f"{show_ranks(best, worst)} of {ranked:.0f}"


def _show_rank(best: float, worst: float, unranked: str) -> str:
    return f"{tb.MISSING} ({unranked})" if unranked else show_ranks(best, worst)


_FORMATS: tb.Formats = {
    "ranks": _show_rank, "places": _show_places, "ECL50": _show_ECL50, "length": _show_length,
}  # fmt: skip


def show_models(
    models: Mapping[str, Fitted],
    ranking: pd.DataFrame,
    causes: Mapping[str, str],
    first_errors: Mapping[str, str],
    figures: Mapping[str, Figure],
) -> tuple[tb.Table, list[Verdict]]:
    """Return what the first screen shows: all models in a table, and each in words.

    `ranking` is as for `overview_table`; `causes` are those of their failures, `first_errors` says
    the commonest one of each model, and `figures` are their fits, as far as these are known.
    """
    effects = tell_together({model: fitted.effects for model, fitted in models.items()})
    overview = overview_table(models, ranking, effects)
    overview["cause"] = [causes.get(model, "not asked") for model in overview["model"]]
    breaks = {model: sentences.say_breaks(mine) for model, mine in effects.items()}
    verdicts = [
        _describe_verdict(
            row, models[model], first_errors.get(model, ""), breaks[model], figures.get(model)
        )
        for model, row in zip(overview["model"], overview.to_dict("records"), strict=True)
    ]
    bounded = bool(overview["ECL50_most"].notna().any())
    cut = bool(overview["cut_share"].gt(0).any())
    hidden, at = {"Rank"} if len(overview) == 1 else set[str](), ""
    if len(overview) > 1 and overview["loads"].nunique() == 1:
        hidden |= {"At"}
        at = f" at {overview['loads'].iloc[0]}"
    hidden |= {"Cause"} if not causes else set()
    hidden |= {"Acc, uncut [%]", "Overflow [%]"} if not cut else set()
    hidden |= {"Acc, bounds [%]", "ECL50, bounds"} if not bounded else set()
    table = tb.table("overview", overview, _FORMATS, at=at)
    columns = {name: column for name, column in table.columns.items() if column[0] not in hidden}
    caption = table.caption
    if overview["rank"].notna().any():
        caption += f" {say('ranks')}"
    if overview["place"].notna().any():
        caption += f" {say('places')}"
    caption += " Overflow is the share of the responses that a limit cut." * cut
    caption += " In the bounds, all of these are wrong, or all right." * bounded
    return replace(table, caption=caption, columns=columns), verdicts


def say_capacity(row: Mapping[Any, Any]) -> str:
    """Say in a headline how much a model solves, by a row of `overview_table`."""
    if row["at_chance"]:
        return "At chance: it solves no more puzzles than guesses would."
    if row["accuracy"] == 1:
        return "Solves every puzzle: its ECL50 lies beyond what was tested."
    if math.isnan(row["ECL50"]):
        return say("not_determined", why=f": {row['why']}" if row["why"] else "")
    N = _show_length(row["ECL50"], row["least_N"], row["most_N"])
    ends = _show_interval(row["ECL50_low"], row["ECL50_high"], row["least_N"], row["most_N"])
    beyond = {">": "more than half of the puzzles even", "<": "fewer than half of the puzzles even"}
    share = beyond.get(N[0], "half of the puzzles")
    said = f"Solves {share} at {N.lstrip('<> ')} statements (95 % interval {ends}): "
    said += f"ECL50, a {row['meaning']} at {row['loads']}"
    if math.isfinite(row["place"]):
        places = _show_places(row["place"], row["place_worst"], row["ranked"])
        said += f", place{'s' * (' to ' in places)} {places} among the published {row['meaning']}s"
    return said + "."


def _describe_verdict(
    row: Mapping[Any, Any], fitted: Fitted, first_error: str, breaks: str, figure: Figure | None
) -> Verdict:
    """Return what the first screen says of a model, by its row of `overview_table`."""
    frame, headline = fitted.responses, say_capacity(row)
    solved = sentences.say_solved(frame, row["cut_share"])
    # beyond what was tested, the bound says nothing
    if math.isfinite(row["ECL50"]) and row["ECL50_most"] <= row["most_N"]:
        most = _show_length(row["ECL50_most"], row["least_N"], row["most_N"])
        if math.isnan(row["accuracy"]):
            solved += f" If all that were cut were right, its ECL50 would be {most}."
        else:
            solved = f"{solved.removesuffix('.')}, with an ECL50 of {most}."
    if row["at_chance"]:
        return Verdict(row["model"], headline, [solved])
    if frame[["d", "N", "rho"]].nunique().max() == 1 and not math.isnan(row["accuracy"]):
        shares = {name: 100 * row[name] for name in ("accuracy", "low", "high")}
        loads = ", ".join(load.say(frame[load.name].iloc[0]) for load in LOADS)
        headline = say("one_cell", loads=loads, **shares)
    said = [solved, first_error or sentences.say_wrong(frame, MEANINGS)]
    return Verdict(row["model"], headline, said, figure, breaks)
