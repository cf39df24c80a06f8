"""The first screen: all runs in one table, best first, and what each model carries."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.goodness_of_fit import covers_paper
from cogniload_analysis.cogniload.glm import LoadGLM
from cogniload_analysis.cogniload.known_thresholds import AT_CHANCE, projections, tested_ends
from cogniload_analysis.cogniload.ranking import (
    CROSSING,
    PROJECTION,
    rank_runs,
    ranking_table,
    show_ranks,
)
from cogniload_analysis.cogniload.tables import name_ends
from cogniload_analysis.cogniload.thresholds import Threshold
from cogniload_analysis.cogniload.words import say
from cogniload_analysis.display.cells import MISSING, percent, within
from cogniload_analysis.display.print import accuracy_table
from cogniload_analysis.display.tables import MODEL, Across, TableSpec, load_columns, read_tables
from cogniload_analysis.display.verdict import show_level
from cogniload_analysis.frame import Load
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
    for row in accuracy_table(frame, confidence=CONFIDENCE).to_dict("records"):
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
    """Return ECL50 in the meaning that a model has, and between which N it is known."""
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
    return "not determined" if math.isnan(N) else within(N, 0, round(least_N), round(most_N))


def show_ECL50(N: float, least_N: float, most_N: float, meaning: str) -> str:
    """Set ECL50 in print, with its meaning where it is no projection."""
    length = show_length(N, least_N, most_N)
    return length if meaning == PROJECTION or math.isnan(N) else f"{length} ({meaning})"


def show_interval(low: float, high: float, least_N: float, most_N: float) -> str:
    """Set the interval of ECL50 in print."""
    if math.isnan(low):
        return MISSING
    return " to ".join(show_length(end, least_N, most_N) for end in (low, high))


def show_places(best: float, worst: float, ranked: int) -> str:
    """Set a place with its interval, and among how many it is."""
    return MISSING if math.isnan(best) else f"{show_ranks(best, worst)} of {ranked}"


OVERVIEW = read_tables("overview", show_ECL50, show_interval, show_ranks, show_places)["overview"]


def levels_spec(*loads: Load) -> TableSpec:
    """Return how an `accuracy_table` by one or two loads is set: by levels of the last one."""
    *down, across = loads
    symbols = [load.heading.split()[0] for load in loads]
    over = "" if down else ", over the two other loads"
    return TableSpec(
        f"accuracy_by_{'_and_'.join(load.name for load in loads)}",
        f"Accuracy in percent by {' and '.join(symbols)}{over}.",
        (
            MODEL,
            *load_columns(down),
            Across(across.name, "accuracy", percent, partial(show_level, across)),
        ),
        "heat" if down else "curves",
        heat=1,
    )


def say_capacity(row: Mapping[str, Any]) -> str:
    """Say in a headline what a model carries, by its row of `overview_table`."""
    if row["at_chance"]:
        return say("headline_chance")
    if row["accuracy"] == 1:
        return say("headline_perfect")
    if math.isnan(row["ECL50"]):
        return say("headline_unknown")
    N = show_length(row["ECL50"], row["least_N"], row["most_N"])
    interval = show_interval(row["ECL50_low"], row["ECL50_high"], row["least_N"], row["most_N"])
    place = ""
    if not math.isnan(row["place"]):
        ranks = show_ranks(row["place"], row["place_worst"])
        place = say("headline_place", row, ranks=ranks, s="s" if "to" in ranks else "")
    return say("headline", row, N=N, interval=interval, among=place)
