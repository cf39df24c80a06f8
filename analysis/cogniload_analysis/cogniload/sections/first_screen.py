"""The first screen: all runs in one table, best first, and what each model carries."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity.curve import Capacity
from cogniload_analysis.cogniload.capacity.goodness_of_fit import covers_paper
from cogniload_analysis.cogniload.loads import LOADS, MEANINGS
from cogniload_analysis.cogniload.sections.thresholds import CROSSING, PROJECTION, tested_ends
from cogniload_analysis.display import verdict
from cogniload_analysis.display.figures import Figure
from cogniload_analysis.display.page import Verdict
from cogniload_analysis.display.tables import (
    MISSING,
    MODEL,
    Columns,
    Table,
    accuracy_table,
    form,
    number,
    percent,
    percent_interval,
    thousands,
    within,
)
from cogniload_analysis.samples.stop_reasons import ending_table
from cogniload_analysis.stats import CONFIDENCE

REACH = 4
"""How far beyond the N of the puzzles, as a factor, a projection is printed."""


def overview_table(
    frame: pd.DataFrame, ranking: pd.DataFrame, at_chance: Sequence[str] = ()
) -> pd.DataFrame:
    """Return what the first screen says of each model; `ranking` is the `ranking_table`.

    Columns: rank, model, correct, responses, accuracy, low, high (of 95 %), chance, meaning (of
    ECL50: projection or, without one, crossing), ECL50, ECL50_low, ECL50_high, least_N and most_N
    (between which ECL50 is known), place (of ECL50 among the `ranked`: the published models and
    this one), covers (the paper's d and N), at_chance, cut_share and response_tokens (mean). The
    rank is by ECL50, of models whose puzzles cover the paper's d and N or are no grid, as an
    adaptive run's; one that solves all of them comes first. Others follow, the most accurate first.
    A model at chance has no ECL50.
    """
    thresholds = ranking.query("source == 'this report'").set_index("model")
    published = ranking.query("source == 'published'")
    cut_shares = ending_table(frame).set_index("model")["cut_share"]
    rows = []
    for row in accuracy_table(frame, confidence=CONFIDENCE).to_dict("records"):
        mine = frame[frame["model"] == row["model"]]
        rows.append(
            {"rank": math.nan, "chance": math.nan}
            | row
            | {"at_chance": row["model"] in at_chance}
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


def show_interval(low: float, high: float, least_N: float, most_N: float) -> str:
    """Set the interval of ECL50 in print."""
    if math.isnan(low):
        return MISSING
    return " to ".join(show_length(end, least_N, most_N) for end in (low, high))


def _show_ECL50(N: float, least_N: float, most_N: float, meaning: str) -> str:
    length = show_length(N, least_N, most_N)
    return length if meaning == PROJECTION or math.isnan(N) else f"{length} ({meaning})"


COLUMNS: Columns = {
    **MODEL,
    "rank": ("Rank", number(0)),
    "ECL50, least_N, most_N, meaning": ("ECL50", _show_ECL50),
    "ECL50_low, ECL50_high, least_N, most_N": ("ECL50, 95 %", show_interval),
    "place, ranked": ("Place", form("{:.0f} of {}")),
    "accuracy": ("Acc [%]", percent),
    "low, high": ("Acc, 95 %", percent_interval),
    "chance": ("Chance [%]", percent),
    "cut_share": ("Cut [%]", percent),
    "response_tokens": ("Tokens", thousands),
    "responses": "Responses",
}


def tabulate_overview(overview: pd.DataFrame) -> Table:
    """Return the table of all runs."""
    by = "by ECL50, the N at which half of the puzzles are solved"
    caption = f"All runs, best first: {by}, with its place among the 22 published models."
    return Table("overview", overview, caption, COLUMNS)


def say_capacity(row: Mapping[Any, Any]) -> str:
    """Say in a headline what a model carries, by a row of `overview_table`."""
    if row["at_chance"]:
        return "At chance: it solves no more puzzles than guesses would, so nothing is determined."
    if row["accuracy"] == 1:
        return "Solves every puzzle: its capacity lies beyond what was tested."
    if math.isnan(row["ECL50"]):
        return "ECL50, the number of statements that it carries, is not determined."
    N = show_length(row["ECL50"], row["least_N"], row["most_N"])
    ends = show_interval(row["ECL50_low"], row["ECL50_high"], row["least_N"], row["most_N"])
    said = f"Carries {N} statements: ECL50 ({row['meaning']}), 95 % interval {ends}"
    if math.isfinite(row["place"]):
        said += f", place {row['place']:.0f} of {row['ranked']} among the published models"
    return said + "."


def describe_verdict(
    row: Mapping[Any, Any],
    frame: pd.DataFrame,
    capacity: Capacity | None,
    first_error: str,
    figure: Figure | None,
) -> Verdict:
    """Return what the first screen says of a model, by its row of `overview_table`.

    An adaptive run has few puzzles at most loads, so its spans are of its `capacity`. `first_error`
    says the commonest one, if it is known.
    """
    headline, solved = say_capacity(row), verdict.say_solved(frame, row["cut_share"])
    if row["at_chance"]:
        return Verdict(row["model"], headline, [solved])
    spans = fitted_spans(capacity) if capacity else verdict.measured_spans(frame, LOADS)
    broken_by = verdict.say_spans(spans)
    if capacity:
        curve = "its fitted curve, with the other loads at the means of the paper's grid"
        broken_by += f" The accuracies are those of {curve}."
    sentences = [solved, broken_by, first_error or verdict.say_wrong(frame, MEANINGS)]
    return Verdict(row["model"], headline, sentences, figure)


def fitted_spans(capacity: Capacity) -> list[verdict.Span]:
    """Return the span of each load along a fitted curve, within its reach."""
    spans = []
    for name, load in zip(("ID50", "ECL50", "NT50"), LOADS, strict=True):
        band = getattr(capacity, f"over_{load.name}")
        low, high = tested_ends(capacity, name)
        inside = (band.load >= low) & (band.load <= high)
        levels = band.load[inside] if load.percent else band.load[inside].round()
        spans.append(verdict.find_span(load, levels, band.accuracy[inside]))
    return spans
