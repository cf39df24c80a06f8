"""The first screen: all runs in one table, best first, and what each model carries."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity.goodness_of_fit import covers_paper
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.cogniload.tables import CROSSING, PROJECTION
from cogniload_analysis.cogniload.words import say
from cogniload_analysis.display.cells import MISSING, percent, within
from cogniload_analysis.display.tables import MODEL, Across, TableSpec, load_columns, read_tables
from cogniload_analysis.display.verdict import is_at_chance, show_level
from cogniload_analysis.frame import Load
from cogniload_analysis.samples.stop_reasons import ending_table
from cogniload_analysis.stats import CONFIDENCE, wilson_interval

REACH = 4
"""How far beyond the N of the puzzles, as a factor, a projection is printed."""


def overview_table(frame: pd.DataFrame, data: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what the first screen says of each model; the other tables are in `data`, by name.

    Columns: rank, model, correct, responses, accuracy, low, high (of 95 %), chance, meaning (of
    ECL50: projection or, without one, crossing), ECL50, ECL50_low, ECL50_high, least_N and most_N
    (between which ECL50 is known), place (of ECL50 among the `ranked`: the published models and
    this one), covers (the paper's d and N), at_chance, cut_share and response_tokens (mean). The
    rank is by ECL50, of models whose puzzles cover the paper's d and N or are no grid, as an
    adaptive run's; one that solves all of them comes first. Others follow, the most accurate first.
    A model at chance has no ECL50.
    """
    ranking = data["ranking"]
    thresholds = ranking.query("source == 'this report'").set_index("model")
    published = ranking.query("source == 'published'")
    cut_shares = ending_table(frame).set_index("model")["cut_share"]
    rows = []
    for row in data["accuracy"].to_dict("records"):
        mine = frame[frame["model"] == row["model"]]
        low, high = wilson_interval(row["correct"], row["responses"], CONFIDENCE)
        rows.append(
            {"rank": math.nan, "chance": math.nan}
            | row
            | {"low": low, "high": high, "at_chance": is_at_chance(mine, LOADS)}
            | choose_threshold(mine, thresholds.loc[row["model"]], published)
            | {"covers": covers_paper(mine), "cut_share": cut_shares[row["model"]]}
            | {"response_tokens": mine["response_tokens"].mean()}
        )
    table = pd.DataFrame(rows)
    table.loc[table["at_chance"], ["ECL50", "ECL50_low", "ECL50_high", "place"]] = math.nan
    ranked = table["ECL50"].where(table["accuracy"] < 1, math.inf)
    known = table["covers"] | (table["meaning"] == CROSSING) & np.isfinite(table["place"])
    table["rank"] = ranked.where(known).rank(ascending=False, method="min")
    table["place"] = table["place"].where(table["rank"].notna())
    return table.sort_values(
        ["rank", "accuracy", "model"], ascending=[True, False, True], ignore_index=True
    )


def choose_threshold(
    mine: pd.DataFrame, ranked: pd.Series, published: pd.DataFrame
) -> dict[str, float | str]:
    """Return ECL50 in the meaning that a model has, and its place among the published models.

    `ranked` is the model's row of `ranking_table`, and `published` has the rows of the others. A
    published model without a crossing stands where its projection puts it.
    """
    if not math.isnan(ranked["ECL50"]):
        meaning, names = PROJECTION, ("ECL50", "low", "high")
        least, most = mine["N"].min() / REACH, mine["N"].max() * REACH
        others = published["ECL50"]
    else:
        meaning, names = CROSSING, (CROSSING, "crossing_low", "crossing_high")
        least, most = ranked["min_tested"], ranked["max_tested"]
        others = published[CROSSING].fillna(published["ECL50"])
    value, low, high = (ranked[name] for name in names)
    if mine["N"].nunique() == 1 or (low < least and high > most):
        value = low = high = math.nan  # nothing that was tested is left out
    inside = least <= value <= most
    return {
        "meaning": meaning,
        "ECL50": value,
        "ECL50_low": low,
        "ECL50_high": high,
        "least_N": least,
        "most_N": most,
        "place": 1 + (others > value).sum() if inside else math.nan,
        "ranked": 1 + len(published),
    }


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


OVERVIEW = read_tables("overview", show_ECL50, show_interval)["overview"]


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
    place = "" if math.isnan(row["place"]) else say("headline_place", row)
    return say("headline", row, N=N, interval=interval, among=place)
