"""The first screen: all runs in one table, best first, and a sentence of each."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.capacity.goodness_of_fit import UNCOVERED, covers_paper
from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.display.print import format_interval, format_number
from cogniload_analysis.samples.stop_reasons import ending_table

REACH = 4
"""How many times over the N that were asked a threshold can be told: beyond, it is "above"."""


def overview_table(frame: pd.DataFrame, data: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what the first screen says of each model; the other tables are in `data`, by name.

    Columns: rank, model, correct, responses, accuracy, low, high, chance, ECL50, ECL50_low,
    ECL50_high, NT50 and ID50 (projections), least_N and most_N (asked), covers (the paper's d and
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


def format_overview(table: pd.DataFrame) -> pd.DataFrame:
    """Set `overview_table` in print."""
    return pd.DataFrame(
        {
            "Rank": table["rank"].map(lambda rank: "--" if np.isnan(rank) else f"{rank:.0f}"),
            "Model": table["model"],
            "Acc [%]": format_number(100 * table["accuracy"], 1),
            "90 % interval": format_interval(100 * table["low"], 100 * table["high"], 1),
            "Chance [%]": format_number(100 * table["chance"], 1),
            "ECL50": [show_length(row, row["ECL50"]) for row in table.to_dict("records")],
            "NT50": format_number(table["NT50"], 2),
            "ID50": format_number(table["ID50"], 1),
            "Cut [%]": format_number(100 * table["cut_share"], 1),
            "Tokens": [show_tokens(tokens) for tokens in table["response_tokens"]],
            "Responses": table["responses"],
        }
    ).astype(str)


def format_levels(table: pd.DataFrame) -> pd.DataFrame:
    """Set an `accuracy_table` by one or two loads in print: models by levels of the last one."""
    by = {load.name: load for load in LOADS if load.name in table}
    named = [name for name in table.columns if name in by]
    across = by[named[-1]]
    shown = table.assign(accuracy=(100 * table["accuracy"]).map("{:.1f}".format))
    for name in named:
        shown[name] = by[name].scale(table[name]).round(6)
    wide = shown.pivot(index=["model", *named[:-1]], columns=across.name, values="accuracy")
    heading = across.heading.split(" ")[0]
    wide = wide.fillna("--").rename(columns=lambda level: f"{heading} = {across.show(level)}")
    wide = wide.rename_axis(columns=None).reset_index()
    wide = wide.rename(columns={"model": "Model"} | {name: by[name].heading for name in named})
    return wide.astype(str)


def show_length(row: Mapping[Any, Any], N: float) -> str:
    """Set an N in print, capped to what the N that were asked can tell."""
    if math.isnan(N):
        return "--"
    most, least = REACH * row["most_N"], row["least_N"] / REACH
    if N > most:
        return f"above {most:,.0f}"
    return f"{N:,.0f}" if N >= least else f"below {least:,.0f}" if least >= 1 else "below 1"


def show_tokens(tokens: float) -> str:
    """Set a mean number of tokens in print."""
    return "--" if math.isnan(tokens) else f"{tokens:,.0f}"


def say_overview(row: dict) -> str:
    """Say a row of `overview_table` in a sentence."""
    said = [f"{row['model']} solves {100 * row['accuracy']:.1f} %"]
    if not row["low"] > row["chance"] and not math.isnan(row["chance"]):
        said.append(f"no more than guesses would ({100 * row['chance']:.1f} %)")
    if not math.isnan(row["ECL50"]):
        ends = (show_length(row, row[f"ECL50_{end}"]) for end in ("low", "high"))
        interval = " to ".join(ends).replace("--", "unknown")
        said.append(f"ECL50 is {show_length(row, row['ECL50'])} statements ({interval})")
    if row["cut_share"] > 0:
        said.append(f"{100 * row['cut_share']:.1f} % of its responses were cut off")
    if not row["covers"]:
        said.append(f"unranked, as {UNCOVERED}")
    elif math.isnan(row["rank"]):
        said.append("unranked, as it has no ECL50 (projection)")
    return "; ".join(said) + "."
