"""The first screen: all runs in one table, best first, and what each model carries."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.goodness_of_fit import covers_paper
from cogniload_analysis.cogniload.glm import LoadGLM
from cogniload_analysis.cogniload.known_thresholds import AT_CHANCE, projections, tested_ends
from cogniload_analysis.cogniload.loads import LOADS, MEANINGS
from cogniload_analysis.cogniload.sections.ranking import HERE, VALUES, rank_runs, show_ranks
from cogniload_analysis.cogniload.sections.thresholds import CROSSING, PROJECTION, name_ends
from cogniload_analysis.cogniload.thresholds import Threshold
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display import verdict
from cogniload_analysis.display.figures import Figure
from cogniload_analysis.display.page import Verdict
from cogniload_analysis.matters import load_effects
from cogniload_analysis.samples.stop_reasons import ending_table
from cogniload_analysis.stats import CONFIDENCE

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
    model, correct, responses, accuracy, low, high (of 95 %), chance, at_chance, meaning (of ECL50:
    the projection at the mean loads of the puzzles or, without one, the crossing), ECL50,
    ECL50_low, ECL50_high, least_N and most_N (between which ECL50 is known), place and place_worst
    (of ECL50 among the `ranked`: the published models and this one; NaN for a projection at other
    loads than the paper's means), covers (the paper's loads), cut_share and response_tokens (mean).
    Ranks compare projections, or crossings where a model has no projection. The highest rank comes
    first, and the most accurate of the models without one.
    """
    ranked = ranking[ranking["source"] == HERE].set_index("model")
    counts = ranking[ranking["source"] != HERE].count()
    cut_shares = ending_table(frame).set_index("model")["cut_share"]
    tokens = frame.groupby("model", observed=True)["response_tokens"].mean()
    rows = []
    for row in tb.accuracy_table(frame, confidence=CONFIDENCE).to_dict("records"):
        model = row["model"]
        at = choose_threshold(glms[model], capacities[model])
        name = "rank" if at["meaning"] == PROJECTION else "crossing_rank"
        its_own = np.isclose(at["ECL50"], ranked.loc[model, VALUES[name][0]])
        places = ranked.loc[model, [name, f"{name}_worst"]] if its_own else (math.nan, math.nan)
        rows.append(
            {"chance": math.nan}
            | row
            | {"at_chance": AT_CHANCE in glms[model].unknown.values()}
            | at
            | dict(zip(("place", "place_worst"), places, strict=True))
            | {"ranked": 1 + counts[name], "covers": covers_paper(glms[model].cells)}
            | {"cut_share": cut_shares[model], "response_tokens": tokens[model]}
        )
    table = pd.DataFrame(rows)
    own = ranked.loc[table["model"]]
    perfect = (table["covers"] & table["accuracy"].eq(1)).set_axis(own.index)
    table = rank_runs(own, perfect).reset_index(drop=True).join(table)
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
    row: Mapping[Any, Any], frame: pd.DataFrame, first_error: str, figure: Figure | None
) -> Verdict:
    """Return what the first screen says of a model, by its row of `overview_table`.

    `first_error` says the commonest one, if it is known.
    """
    headline, solved = say_capacity(row), verdict.say_solved(frame, row["cut_share"])
    if row["at_chance"]:
        return Verdict(row["model"], headline, [solved])
    sentences = [solved, first_error or verdict.say_wrong(frame, MEANINGS)]
    breaks = verdict.say_breaks(load_effects(frame, LOADS))
    return Verdict(row["model"], headline, sentences, figure, breaks)
