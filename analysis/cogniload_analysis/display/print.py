"""Frames in print: numbers, intervals, words and LaTeX; and the tables that all benchmarks share.

A function `..._table` returns a frame of raw numbers, and `format_...` the same as readers see it,
in text.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from cogniload_analysis.intervals import wilson_interval
from cogniload_analysis.load import Load

LONG_TABLE = 40
# What begins a formula in a spreadsheet; a sign before a plain number begins a number.
FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.]+$)")
SETTINGS = ("decoding", "output_limit", "chat_template", "backend", "precision", "device")
# What LaTeX sets for whole headings, and for characters anywhere.
HEADINGS = {
    "N": "$N$",
    "95 % interval": r"95\,\% interval",
    "90 % interval": r"90\,\% interval",
}
SYMBOLS = {
    "×": r"$\times$",
    "−": "$-$",
    "±": r"$\pm$",
    "²": "$^2$",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "–": "--",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "<": "$<$",
    ">": "$>$",
}
COMMANDS = str.maketrans(
    {each: f"\\{each}" for each in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)
"""What LaTeX would take for a command, and how it is written."""


# --- Shared tables ---------------------------------------------------------------------------


def run_table(frame: pd.DataFrame, loads: Sequence[Load]) -> pd.DataFrame:
    """Return what was run: a row for each file of samples, with its grid and its seeds."""
    told = ["model", "task", "date", "interim", "generator_version", "lm_eval_version", *SETTINGS]
    runs = frame.groupby([*told, "copies", "lost", "run"], observed=True)
    rows = []
    for run, responses in runs:
        cell = responses.groupby([load.name for load in loads], observed=True).size()
        rows.append(
            dict(zip([*told, "copies", "lost"], run[:-1], strict=True))
            | {name: join_levels(responses[name]) for name in ("context_budget", "seed")}
            | {load.printed_name: join_levels(load.scale(responses[load.name])) for load in loads}
            | {"responses": len(responses), "cells": len(cell)}
            | {"fewest_in_a_cell": cell.min(), "most_in_a_cell": cell.max()}
        )
    return pd.DataFrame(rows)


def format_runs(table: pd.DataFrame, loads: Sequence[Load]) -> pd.DataFrame:
    """Set `run_table` in print; a load that the task's name says is left out."""
    fewest, most = table["fewest_in_a_cell"], table["most_in_a_cell"]
    per_cell = fewest.astype(str).where(fewest == most, fewest.astype(str) + "–" + most.astype(str))
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Task": table["task"],
            "Run": table["date"].str.slice(0, 10),
            "Generator": format_words(table["generator_version"]),
            "lm-eval": format_words(table["lm_eval_version"]),
            "Decoding": format_words(table["decoding"]),
            "Budget": format_words(table["context_budget"]),
            "Output limit": format_words(table["output_limit"]).replace("", "none"),
            "Template": format_words(table["chat_template"]),
            "Backend": format_words(table["backend"]),
            "Precision": format_words(table["precision"]),
            "Device": format_words(table["device"]),
            "Seed": format_words(table["seed"]),
        }
        | {load.heading: table[load.printed_name] for load in loads if not load.in_task}
        | {"Cells": table["cells"], "Per cell": per_cell, "Responses": table["responses"]}
    ).astype(str)


def cell_table(frame: pd.DataFrame, loads: Sequence[Load]) -> pd.DataFrame:
    """Return the count of every outcome at each combination of the loads, by model."""
    return count_outcomes(frame, "model", *(load.name for load in loads)).reset_index()


def count_outcomes(frame: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Return the count of every outcome by some columns, with 0 for those that never occur."""
    counts = pd.crosstab([frame[column] for column in by], frame["outcome"])
    return counts.reindex(columns=frame["outcome"].cat.categories, fill_value=0)


def accuracy_table(frame: pd.DataFrame, *loads: str) -> pd.DataFrame:
    """Return the accuracy of each model, at each level of `loads`, with Wilson's 90 % interval.

    Columns: model, the loads, correct, responses, accuracy, low, high and, of puzzles with options,
    chance, the accuracy of guesses among them (all 0 to 1). CogniLoad's Appendix C.
    """
    groups = frame.groupby(["model", *loads], observed=True)
    table = groups["correct"].agg(correct="sum", responses="size").reset_index()
    low, high = wilson_interval(table["correct"], table["responses"])
    table = table.assign(accuracy=table["correct"] / table["responses"], low=low, high=high)
    if "chance" in frame and frame["chance"].notna().any():
        table["chance"] = groups["chance"].mean().to_numpy()
    return table


def format_accuracy(table: pd.DataFrame, loads: Sequence[Load]) -> pd.DataFrame:
    """Set `accuracy_table` in print, in percent."""
    return pd.DataFrame(
        {"Model": table["model"]}
        | format_loads(table, [load for load in loads if load.name in table])
        | {
            "Acc [%]": (100 * table["accuracy"]).map("{:.1f}".format),
            "90 % interval": format_interval(100 * table["low"], 100 * table["high"], 1),
        }
        | ({"Chance [%]": format_number(100 * table["chance"], 1)} if "chance" in table else {})
        | {
            "Right": table["correct"],
            "Responses": table["responses"],
        }
    ).astype(str)


def describe_tokens(frame: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Return mean and 90th percentile of prompt and response tokens, by some columns."""
    groups = frame.groupby(list(by), observed=True)
    columns = {}
    for tokens in ("prompt_tokens", "response_tokens"):
        columns[f"{tokens}_mean"] = groups[tokens].mean()
        columns[f"{tokens}_p90"] = groups[tokens].quantile(0.9)
    return pd.DataFrame(columns)


# --- Columns ---------------------------------------------------------------------------------


def format_loads(table: pd.DataFrame, loads: Sequence[Load]) -> dict[str, pd.Series]:
    """Set the levels of loads in print, each under its heading."""
    return {
        load.heading: load.scale(table[load.name]).map(load.show).astype(object) for load in loads
    }


def format_tokens(table: pd.DataFrame, tokens: str) -> pd.Series:
    """Set the columns of `describe_tokens` in print, as mean[90th percentile]."""
    mean, p90 = (format_number(table[f"{tokens}_{kind}"], 0) for kind in ("mean", "p90"))
    return mean + "[" + p90 + "]"


def format_words(values: pd.Series) -> pd.Series:
    """Set words in print; a column without any comes back from CSV as NaN."""
    return values.map(lambda value: value if isinstance(value, str) else "").astype(object)


def format_number(values: pd.Series, decimals: int) -> pd.Series:
    """Set numbers in print; a missing one is a dash."""
    return values.map(lambda value: "--" if np.isnan(value) else format_digits(value, decimals))


def format_within(
    values: pd.Series, decimals: pd.Series, least: pd.Series, most: pd.Series
) -> pd.Series:
    """Set numbers in print, each with its decimals; what lies beyond its range is said to."""
    rows = zip(values, decimals, least, most, strict=True)
    shown = [
        "--" if np.isnan(value) else say_beyond(value, (low, high)) or format_digits(value, places)
        for value, places, low, high in rows
    ]
    return pd.Series(shown, values.index, dtype=object)


def format_interval(low: pd.Series, high: pd.Series, decimals: int) -> pd.Series:
    """Set intervals in print."""
    return format_number(low, decimals) + " to " + format_number(high, decimals)


def say_beyond(value: float, asked: tuple[float, float]) -> str:
    """Say that a value lies beyond what can be asked, as in > 400; "" where it doesn't."""
    if value > asked[1]:
        return f"> {asked[1]:g}"
    return f"< {asked[0]:g}" if value < asked[0] else ""


def format_digits(value: float, decimals: int) -> str:
    """Set one number in print: endless ones in words, large ones in powers."""
    if np.isinf(value):
        return "unbounded"
    return f"{value:.{decimals}f}" if abs(value) < 1e6 else f"{value:.1e}"


def stars(p: float) -> str:
    """Return the stars of significance."""
    return "*" * sum(p < level for level in (0.001, 0.01, 0.05))


# --- CSV and LaTeX ---------------------------------------------------------------------------


def to_csv(table: pd.DataFrame) -> bytes:
    """Return a table as CSV, whose texts no spreadsheet takes for a formula.

    A text that begins as a formula does, such as a model's name from a file, gets a quote before
    it, as spreadsheets mark a text. Numbers stay as they are.
    """
    safe = table.copy()
    for name in table.select_dtypes(exclude=["number", "bool"]):
        cells = [
            f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell
            for cell in table[name]
        ]
        safe[name] = pd.Series(cells, table.index, dtype=object)
    return safe.to_csv(index=False).encode()


def to_latex(
    shown: pd.DataFrame,
    caption: str,
    label: str,
    headings: Mapping[str, str],
    symbols: Mapping[str, str],
) -> str:
    """Return a printed table as a LaTeX table with booktabs' rules, over pages where it is long.

    `headings` is what LaTeX sets for whole headings, and `symbols` for words or characters in
    headings, cells and the caption. They go before those that all benchmarks share.
    """
    known, parts = HEADINGS | dict(headings), dict(symbols) | SYMBOLS
    long = len(shown) > LONG_TABLE
    return (
        shown.map(lambda cell: escape(cell, parts) if isinstance(cell, str) else cell)
        .rename(columns=lambda heading: known.get(heading) or escape(heading, parts))
        .style.hide(axis="index")
        .to_latex(
            hrules=True,
            caption=escape(caption, parts),
            label=f"tab:{label}",
            column_format="l" + "r" * (shown.shape[1] - 1),
            environment="longtable" if long else None,
            position=None if long else "htbp",
        )
    )


def escape(text: str, symbols: Mapping[str, str]) -> str:
    """Return a text as LaTeX sets it, with what it sets for `symbols`, the first ones first."""
    text = text.translate(COMMANDS)
    for plain, latex in symbols.items():
        text = text.replace(plain, latex)
    return text


def join_levels(values: pd.Series) -> str:
    """Return all levels as text, or the two ends where whole numbers run without a gap."""
    levels = sorted(values.dropna().unique())
    texts = [level if isinstance(level, str) else _format_level(level) for level in levels]
    if len(texts) > 3 and all(map(str.isdecimal, texts)):
        first, last = int(texts[0]), int(texts[-1])
        if texts == list(map(str, range(first, last + 1))):
            return f"{first}–{last}"
    return " ".join(texts)


def _format_level(level: float) -> str:
    """Set a seed with all its digits, and a percentage without the last ones, made by rounding."""
    return f"{level:.0f}" if level == int(level) else f"{level:.10g}"
