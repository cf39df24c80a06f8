"""The first screen: all runs in one table, best first, and what each model carries."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.goodness_of_fit import covers_paper
from cogniload_analysis.cogniload.glm import LoadGLM
from cogniload_analysis.cogniload.known_thresholds import (
    AT_CHANCE,
    LOAD_OF,
    projections,
    tested_ends,
)
from cogniload_analysis.cogniload.loads import LOADS, MEANINGS
from cogniload_analysis.cogniload.sections.ranking import rank_runs, ranking_table, show_ranks
from cogniload_analysis.cogniload.sections.thresholds import CROSSING, PROJECTION, name_ends
from cogniload_analysis.cogniload.thresholds import Threshold
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display import verdict
from cogniload_analysis.display.figures import Figure
from cogniload_analysis.display.page import Verdict
from cogniload_analysis.frame import Load
from cogniload_analysis.matters import load_effects
from cogniload_analysis.samples.stop_reasons import ending_table
from cogniload_analysis.stats import CONFIDENCE

REACH = 4
"""How far beyond the N of the puzzles, as a factor, a projection is printed."""


def overview_table(
    frame: pd.DataFrame, glms: Mapping[str, LoadGLM], capacities: Mapping[str, Capacity]
) -> pd.DataFrame:
    """Return what the first screen says of each model.

    Columns: rank and rank_worst (the 95 % interval of the rank among the models of the frame),
    model, correct, responses, accuracy, low, high (of 95 %), chance, at_chance, meaning (of ECL50:
    the projection at the mean loads of the puzzles or, without one, the crossing), ECL50,
    ECL50_low, ECL50_high, least_N and most_N (between which ECL50 is known), place and place_worst
    (of ECL50 among the `ranked`: the published models and this one), covers (the paper's loads),
    cut_share and response_tokens (mean). Ranks and places are as in `ranking_table`: projections
    among projections, or crossings among crossings where a model has no projection. The highest
    rank comes first, and the most accurate of the models without one.
    """
    ranking = ranking_table(dict(glms), capacities)
    ranked = ranking[ranking["source"] == "this report"].set_index("model")
    counts = ranking[ranking["source"] == "published"].count()
    cut_shares = ending_table(frame).set_index("model")["cut_share"]
    rows = []
    for row in tb.accuracy_table(frame, confidence=CONFIDENCE).to_dict("records"):
        model = row["model"]
        mine, at = frame[frame["model"] == model], choose_threshold(glms[model], capacities[model])
        place = "rank" if at["meaning"] == PROJECTION else "crossing_rank"
        known = not math.isnan(at["ECL50"])
        rows.append(
            {"chance": math.nan}
            | row
            | {"at_chance": AT_CHANCE in glms[model].unknown.values()}
            | at
            | {"place": ranked.loc[model, place] if known else math.nan}
            | {"place_worst": ranked.loc[model, f"{place}_worst"] if known else math.nan}
            | {"ranked": 1 + counts[place], "covers": covers_paper(glms[model].cells)}
            | {"cut_share": cut_shares[model]}
            | {"response_tokens": mine["response_tokens"].mean()}
        )
    table = pd.DataFrame(rows)
    ranks = rank_runs(
        ranked.loc[table["model"]], perfect=(table["covers"] & table["accuracy"].eq(1)).to_numpy()
    )
    table.insert(0, "rank", ranks[:, 0])
    table.insert(1, "rank_worst", ranks[:, 1])
    order = {"rank": True, "rank_worst": True, "ECL50": False, "accuracy": False, "model": True}
    return table.sort_values([*order], ascending=[*order.values()], ignore_index=True)


def choose_threshold(glm: LoadGLM, capacity: Capacity) -> dict[str, Any]:
    """Return ECL50, the projection if there is one, else the crossing, and its range of N."""
    meaning, at = PROJECTION, projections(glm).ECL50
    least, most = glm.cells["N"].min() / REACH, glm.cells["N"].max() * REACH
    if math.isnan(at.value):
        meaning, at = CROSSING, capacity.ECL50
        least, most = tested_ends(capacity, "ECL50")
    if at.low < least and at.high > most:
        at = Threshold()  # nothing that was tested is left out
    return {"meaning": meaning, **name_ends("ECL50", at), "least_N": least, "most_N": most}


def show_length(N: float, least_N: float, most_N: float) -> str:
    """Set an N in print, where it is known: otherwise, on which side it lies."""
    return "not determined" if math.isnan(N) else tb.within(N, 0, round(least_N), round(most_N))


def show_interval(low: float, high: float, least_N: float, most_N: float) -> str:
    """Set the interval of ECL50 in print."""
    if math.isnan(low):
        return tb.MISSING
    return " to ".join(show_length(end, least_N, most_N) for end in (low, high))


def _show_ECL50(N: float, least_N: float, most_N: float, meaning: str) -> str:
    length = show_length(N, least_N, most_N)
    return length if meaning == PROJECTION or math.isnan(N) else f"{length} ({meaning})"


def _show_places(best: float, worst: float, ranked: int) -> str:
    return tb.MISSING if math.isnan(best) else f"{show_ranks(best, worst)} of {ranked}"


COLUMNS: tb.Columns = {
    **tb.MODEL,
    "rank, rank_worst": ("Rank", show_ranks),
    "ECL50, least_N, most_N, meaning": ("ECL50", _show_ECL50),
    "ECL50_low, ECL50_high, least_N, most_N": ("ECL50, 95 %", show_interval),
    "place, place_worst, ranked": ("Place", _show_places),
    "accuracy": ("Acc [%]", tb.percent),
    "low, high": ("Acc, 95 %", tb.percent_interval),
    "chance": ("Chance [%]", tb.percent),
    "cut_share": ("Cut [%]", tb.percent),
    "response_tokens": ("Tokens", tb.thousands),
    "responses": "Responses",
}


def tabulate_overview(overview: pd.DataFrame) -> tb.Table:
    """Return the table of all runs."""
    by = "by ECL50, the N at which half of the puzzles are solved"
    places = "its place among the published models. Ranks and places have 95 % intervals"
    caption = f"All runs, best first: {by}, with {places}."
    return tb.Table("overview", overview, caption, COLUMNS)


def say_capacity(row: Mapping[Any, Any]) -> str:
    """Say in a headline what a model carries, by a row of `overview_table`."""
    if row["at_chance"]:
        return "At chance: it solves no more puzzles than guesses would."
    if row["accuracy"] == 1:
        return "Solves every puzzle: its capacity lies beyond what was tested."
    if math.isnan(row["ECL50"]):
        return "ECL50, the number of statements that it carries, is not determined."
    N = show_length(row["ECL50"], row["least_N"], row["most_N"])
    ends = show_interval(row["ECL50_low"], row["ECL50_high"], row["least_N"], row["most_N"])
    said = f"Carries {N} statements: ECL50 ({row['meaning']}), 95 % interval {ends}"
    if math.isfinite(row["place"]):
        places = _show_places(row["place"], row["place_worst"], row["ranked"])
        said += f", place{'s' * (' to ' in places)} {places} among the published models"
    return said + "."


def describe_verdict(
    row: Mapping[Any, Any],
    frame: pd.DataFrame,
    capacity: Capacity | None,
    first_error: str,
    figure: Figure | None,
) -> Verdict:
    """Return what the first screen says of a model, by its row of `overview_table`.

    An adaptive run has few puzzles at most loads, so its accuracies are of its `capacity`.
    `first_error` says the commonest one, if it is known.
    """
    headline, solved = say_capacity(row), verdict.say_solved(frame, row["cut_share"])
    if row["at_chance"]:
        return Verdict(row["model"], headline, [solved])
    effects = load_effects(frame, LOADS)
    if capacity:
        effects = [
            replace(effect, bands=_fitted_bands(effect.load, capacity)) for effect in effects
        ]
    breaks = verdict.say_breaks(effects)
    if capacity:
        curve = "its fitted curve, with the other loads at the means of the paper's grid"
        breaks += f" The accuracies are those of {curve}."
    sentences = [solved, first_error or verdict.say_wrong(frame, MEANINGS)]
    return Verdict(row["model"], headline, sentences, figure, breaks)


def _fitted_bands(load: Load, capacity: Capacity) -> pd.DataFrame:
    """Return the accuracy along a fitted curve, within its reach, as `Effect.bands`."""
    band = getattr(capacity, f"over_{load.name}")
    low, high = tested_ends(capacity, next(name for name in LOAD_OF if LOAD_OF[name] == load.name))
    inside = (band.load >= low) & (band.load <= high)
    levels = band.load[inside] if load.percent else band.load[inside].round()
    return pd.DataFrame({"least": levels, "most": levels, "accuracy": band.accuracy[inside]})
