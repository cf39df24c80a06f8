"""The tables that all benchmarks share, and tables as CSV and LaTeX.

A function `..._table` returns a frame of raw numbers, and `..._columns` how it is set in print.
"""

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from cogniload_analysis.display.cells import words
from cogniload_analysis.display.tables import Across, Column, Table, load_columns, read_columns
from cogniload_analysis.frame import Load
from cogniload_analysis.stats import PAPER_CONFIDENCE, wilson_interval
from cogniload_gen.files import read_words

LONG_TABLE = 40
# What begins a formula in a spreadsheet; a sign before a plain number begins a number.
FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.]+$)")
MACHINE = ("backend", "precision", "device")
SETTINGS = ("decoding", "output_limit", "chat_template", *MACHINE)
LATEX = read_words("cogniload_analysis", "latex")
"""What LaTeX sets for whole headings, and for characters anywhere (data/latex.toml)."""

COMMANDS = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)
"""What LaTeX would take for a command, and how it is written."""


# --- Shared tables ---------------------------------------------------------------------------


def run_table(
    frame: pd.DataFrame, loads: Sequence[Load], price: tuple[float, float] | None = None
) -> pd.DataFrame:
    """Return what was run: a row for each file of samples, with its grid, seeds and tokens.

    Its cost is there at a `price` of a million tokens of prompts and of responses.
    """
    about = ["model", "task", "date", "interim", "generator_version", "lm_eval_version", *SETTINGS]
    about += ["copies", "lost"]
    runs = frame.groupby([*about, "run"], observed=True)
    rows = []
    for run, responses in runs:
        spent = responses[["spent_prompt_tokens", "spent_response_tokens"]].sum(skipna=False)
        cell = responses.groupby([load.name for load in loads], observed=True).size()
        rows.append(
            dict(zip(about, run[:-1], strict=True))
            | {name: join_levels(responses[name]) for name in ("context_budget", "seed")}
            | {load.printed_name: join_levels(load.scale(responses[load.name])) for load in loads}
            | {"responses": len(responses), "cells": len(cell)}
            | {"fewest_in_a_cell": cell.min(), "most_in_a_cell": cell.max()}
            | spent.to_dict()
            | ({"cost": spent.to_numpy() @ price / 1e6} if price else {})
        )
    return pd.DataFrame(rows)


def run_columns(loads: Sequence[Load]) -> list[Column | Across]:
    """Return the printed columns of `run_table`; a load that the task's name says is left out."""
    shown = [Column(load.printed_name, load.heading) for load in loads if not load.in_task]
    return read_columns("shared", ["runs"], show_day, show_limit, show_range, loads=shown)


def show_day(date: str) -> str:
    """Set a time as its day."""
    return date[:10]


def show_limit(limit: object) -> str:
    """Set an output limit, or that there is none."""
    return words(limit) or "none"


def show_range(low: float, high: float) -> str:
    """Set a range, or its one value."""
    return str(low) if low == high else f"{low}–{high}"


def cell_table(frame: pd.DataFrame, loads: Sequence[Load]) -> pd.DataFrame:
    """Return the count of every outcome at each combination of the loads, by model."""
    return count_outcomes(frame, "model", *(load.name for load in loads)).reset_index()


def count_outcomes(frame: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Return the count of every outcome by some columns, with 0 for those that never occur."""
    counts = pd.crosstab([frame[column] for column in by], frame["outcome"])
    return counts.reindex(columns=frame["outcome"].cat.categories, fill_value=0)


def accuracy_table(
    frame: pd.DataFrame, *loads: str, confidence: float = PAPER_CONFIDENCE
) -> pd.DataFrame:
    """Return the accuracy of each model, at each level of `loads`, with Wilson's interval, of 90 %.

    Columns: model, the loads, correct, responses, accuracy, low, high and, of puzzles with options,
    chance, the accuracy of guesses among them (all 0 to 1). CogniLoad's Appendix C.
    """
    groups = frame.groupby(["model", *loads], observed=True)
    table = groups["correct"].agg(correct="sum", responses="size").reset_index()
    low, high = wilson_interval(table["correct"], table["responses"], confidence)
    table = table.assign(accuracy=table["correct"] / table["responses"], low=low, high=high)
    if "chance" in frame and frame["chance"].notna().any():
        table["chance"] = groups["chance"].mean().to_numpy()
    return table


def accuracy_columns(loads: Sequence[Load]) -> list[Column | Across]:
    """Return the printed columns of `accuracy_table`, in percent."""
    return read_columns("shared", ["accuracy"], loads=load_columns(loads))


def describe_tokens(frame: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Return mean and 90th percentile of prompt and response tokens, by some columns."""
    groups = frame.groupby(list(by), observed=True)
    columns = {}
    for tokens in ("prompt_tokens", "response_tokens"):
        columns[f"{tokens}_mean"] = groups[tokens].mean()
        columns[f"{tokens}_p90"] = groups[tokens].quantile(0.9)
    return pd.DataFrame(columns)


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


def to_latex(table: Table, symbols: Mapping[str, str]) -> str:
    """Return a table as a LaTeX table with booktabs' rules, over pages where it is long.

    `symbols` is what LaTeX sets for words or characters in headings, cells and the caption, before
    what it sets for those that all benchmarks share.
    """
    shown = table.shown
    known, parts = LATEX["headings"] | table.headings, dict(symbols) | LATEX["symbols"]
    head = [known.get(heading) or escape(heading, parts) for heading in map(str, shown)]
    long = len(shown) > LONG_TABLE
    cells = shown.map(lambda cell: escape(str(cell), parts)).set_axis(head, axis=1)
    return cells.to_latex(
        index=False,
        escape=False,
        longtable=long,
        column_format="l" + "r" * (len(head) - 1),
        position=None if long else "htbp",
        caption=escape(table.caption, parts),
        label=f"tab:{table.name}",
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
