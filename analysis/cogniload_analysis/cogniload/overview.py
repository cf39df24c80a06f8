"""The first screen: all runs in one table, best first, and a sentence of each."""

import math
from collections.abc import Mapping

import pandas as pd

from cogniload_analysis.cogniload.capacity.goodness_of_fit import covers_paper
from cogniload_analysis.cogniload.words import say
from cogniload_analysis.display.cells import MISSING, form, number, percent
from cogniload_analysis.display.print import ACCURACY_COLUMNS
from cogniload_analysis.display.tables import MODEL, Across, Column, TableSpec, load_columns
from cogniload_analysis.load import Load
from cogniload_analysis.samples.stop_reasons import ending_table

REACH = 4
"""How many times over the N that were asked a threshold can be told: beyond, it is "above"."""


def overview_table(frame: pd.DataFrame, data: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what the first screen says of each model; the other tables are in `data`, by name.

    Columns: rank, model, correct, responses, accuracy, low, high, chance, ECL50, ECL50_low,
    ECL50_high, NT50 and ID50 (projections), least_N and most_N (tested), covers (the paper's d and
    N), cut_share and response_tokens (mean). The rank is by ECL50, and only of models whose puzzles
    cover the paper's d and N; one that solves all of them comes first. Others follow, the most
    accurate first.
    """
    rows = []
    thresholds = data["ranking"].query("source == 'this report'").set_index("model")
    fits = data["glm"].set_index("model")
    cut_shares = ending_table(frame).set_index("model")["cut_share"]
    for row in data["accuracy"].to_dict("records"):
        mine = frame[frame["model"] == row["model"]]
        ECL50 = thresholds.loc[row["model"]]
        rows.append(
            {"rank": math.nan}
            | {"chance": math.nan}
            | row
            | {"ECL50": ECL50["ECL50"], "ECL50_low": ECL50["low"], "ECL50_high": ECL50["high"]}
            | {name: fits.loc[row["model"], name] for name in ("NT50", "ID50")}
            | {"least_N": mine["N"].min(), "most_N": mine["N"].max(), "covers": covers_paper(mine)}
            | {"cut_share": cut_shares[row["model"]]}
            | {"response_tokens": mine["response_tokens"].mean()}
        )
    table = pd.DataFrame(rows)
    ranked = table["ECL50"].where(table["accuracy"] < 1, math.inf).where(table["covers"])
    table["rank"] = ranked.rank(ascending=False, method="min")
    return table.sort_values(
        ["rank", "accuracy", "model"], ascending=[True, False, True], ignore_index=True
    )


def show_length(N: float, least_N: float, most_N: float) -> str:
    """Set an N in print, capped to what the tested N can show."""
    if math.isnan(N):
        return MISSING
    most, least = REACH * most_N, least_N / REACH
    if N > most:
        return f"above {most:,.0f}"
    return f"{N:,.0f}" if N >= least else f"below {least:,.0f}" if least >= 1 else "below 1"


OVERVIEW = TableSpec(
    "overview",
    "All runs, best first: by ECL50 (projection) where the puzzles cover the paper's d and N.",
    (
        Column("rank", "Rank", number(0)),
        MODEL,
        *ACCURACY_COLUMNS,
        Column("chance", "Chance [%]", percent),
        Column(("ECL50", "least_N", "most_N"), "ECL50", show_length),
        Column("NT50", "NT50", number(2)),
        Column("ID50", "ID50", number(1)),
        Column("cut_share", "Cut [%]", percent),
        Column("response_tokens", "Tokens", form("{:,.0f}")),
        Column("responses", "Responses"),
    ),
    "overview",
)


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
            Across(
                across.name,
                "accuracy",
                percent,
                lambda level: f"{symbols[-1]} = {across.show(across.scale(level))}",
            ),
        ),
        "heat" if down else "curves",
        heat=1,
    )


def say_overview(row: dict) -> str:
    """Say a row of `overview_table` in a sentence."""
    parts = [say("overview", row)]
    if not row["low"] > row["chance"] and not math.isnan(row["chance"]):
        parts.append(say("overview_guesses", row))
    if not math.isnan(row["ECL50"]):
        N, *ends = (
            show_length(row[name], row["least_N"], row["most_N"])
            for name in ("ECL50", "ECL50_low", "ECL50_high")
        )
        interval = " to ".join(ends).replace(MISSING, "unknown")
        parts.append(say("overview_ECL50", N=N, interval=interval))
    if row["cut_share"] > 0:
        parts.append(say("overview_cut", row))
    if not row["covers"]:
        parts.append(say("overview_uncovered"))
    elif math.isnan(row["rank"]):
        parts.append(say("overview_unknown"))
    return "; ".join(parts) + "."
