"""Tables of the report: their raw numbers, how these are set in print, and CSV and LaTeX.

A section's file has the functions that return raw numbers, one row per model and what it is about.
A `Table` says how they are printed; the page, the CSV and the LaTeX are made of it. The words of
most tables are in `data/tables.toml`.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import pandas as pd

from cogniload_analysis.stats import PAPER_CONFIDENCE, beyond, say_ends, wilson_interval
from cogniload_analysis.words import WORDS
from cogniload_gen.files import read_words

MISSING = "--"
_LONG_TABLE = 40
# What begins a formula in a spreadsheet; a sign before a plain number begins a number.
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.]+$)")

# What LaTeX sets for words and characters anywhere, the first ones first.
_LATEX = WORDS["latex"]

# From one row's raw values to a cell's text.
Format = Callable[..., str]

Formats = Mapping[str, Format]
"""Formats by name."""

Columns = Mapping[str, str | tuple[str, Format]]
"""Printed columns: see `Table`."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of the report.

    Attributes:
        name: Names its files and its anchor.
        data: Its raw numbers.
        caption: What it shows.
        columns: The printed columns in order: by the raw column that one shows, or by several with
            commas between, its heading or (heading, format). A column without any value in the data
            is left out; without `columns`, all raw columns are printed as text.
        wide: Whether the last column's cells stand side by side, with the cells of the column
            before it as headings.
        heat: Whether the cells that stand side by side are shaded by their percentage.
    """

    name: str
    data: pd.DataFrame
    caption: str
    columns: Columns = field(default_factory=dict)
    wide: bool = False
    heat: bool = False

    kind: ClassVar = "table"

    @cached_property
    def shown(self) -> pd.DataFrame:
        """The table in print, as text."""
        printed = {}
        columns = self.columns or {str(name): str(name) for name in self.data}
        for names, column in columns.items():
            heading, show = (column, text) if isinstance(column, str) else column
            raw = self.data.reindex(columns=names.split(", "))
            if (raw.notna() & (raw != "")).to_numpy().any():
                cells = zip(*(raw[name] for name in raw), strict=True)
                printed[heading] = [show(*cell) for cell in cells]
        shown = pd.DataFrame(printed, self.data.index, dtype=object)
        if not self.wide:
            return shown
        *rows, across, cell = shown
        in_order = self.data[list(self.columns)[-2]].argsort(kind="stable")
        headings = shown[across].iloc[in_order].unique()
        wide = shown.pivot_table(cell, rows, across, aggfunc="first", sort=False)
        return wide[headings].fillna(MISSING).reset_index().rename_axis(columns=None)

    def to_latex(self) -> str:
        """Return the table in LaTeX with booktabs' rules, over pages where it is long."""
        long = len(self.shown) > _LONG_TABLE
        latex = self.shown.to_latex(
            index=False,
            escape=True,
            longtable=long,
            column_format="l" + "r" * (self.shown.shape[1] - 1),
            position=None if long else "htbp",
            caption=self.caption.replace("%", r"\%"),
            label=f"tab:{self.name}",
        )
        return _set_symbols(latex)


def set_latex(sentence: str) -> str:
    """Return a sentence in LaTeX."""
    escaped = re.sub(r"[&%$#_{}]", r"\\\g<0>", sentence.replace("\\", r"\textbackslash "))
    return _set_symbols(escaped.replace("~", r"\textasciitilde{}").replace("^", r"\^{}"))


def _set_symbols(latex: str) -> str:
    for plain, symbol in _LATEX.items():
        latex = latex.replace(plain, symbol)
    return latex


def to_csv(data: pd.DataFrame) -> bytes:
    """Return a table as CSV, whose texts no spreadsheet takes for a formula.

    A text that begins as a formula does, such as a model's name from a file, gets a quote before
    it, as spreadsheets mark a text. Numbers stay as they are.
    """

    def quote(cell: Any) -> Any:
        return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell

    texts = data.select_dtypes(exclude=["number", "bool"]).astype(object).map(quote)
    return data.assign(**texts).to_csv(index=False).encode()


# --- Formats -------------------------------------------------------------------------------------


def text(value: Any) -> str:
    """Set anything as it is; a missing value is empty."""
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def set_number(value: float, decimals: int) -> str:
    """Set one number: a missing one is a dash, an endless one a word, a large one a power."""
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "unbounded"
    return f"{value:.{decimals}f}" if abs(value) < 1e6 else f"{value:.1e}"


def number(decimals: int, scale: float = 1) -> Format:
    """Return a format of a number, times `scale`, with decimals."""
    return lambda value: set_number(scale * value, decimals)


def between(show: Format) -> Format:
    """Return a format of the two ends of an interval, each set by `show` with what follows them."""

    def show_ends(low: float, high: float, *more: Any) -> str:
        return MISSING if math.isnan(low) else say_ends(show(low, *more), show(high, *more))

    return show_ends


def form(template: str) -> Format:
    """Return a format by a format string; a missing first value is a dash."""
    return lambda *values: template.format(*values) if pd.notna(values[0]) else MISSING


def starred(decimals: int) -> Format:
    """Return a format of a number with decimals, and the stars of its p after it."""
    return lambda value, p: set_number(value, decimals) + stars(p)


def points(decimals: int) -> Format:
    """Return a format of a difference of shares in percentage points, with its sign."""
    return lambda share: MISSING if math.isnan(share) else f"{100 * share:+.{decimals}f}"


percent = number(1, 100)
percent_interval = between(percent)
thousands = form("{:,.0f}")


def stars(p: float) -> str:
    """Return the stars of significance."""
    return "*" * sum(p < level for level in (0.001, 0.01, 0.05))


def p_value(p: float) -> str:
    """Set a p, which is never 0."""
    return MISSING if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def tokens(mean: float, p90: float) -> str:
    """Set the columns of `describe_tokens`, as mean[90th percentile]."""
    return f"{set_number(mean, 0)}[{set_number(p90, 0)}]"


def within(value: float, decimals: int, least: float, most: float) -> str:
    """Set a number, or say that it lies beyond its range, if there is one."""
    return beyond(value, least, most) or set_number(value, decimals)


def show_context(tokens: float) -> str:
    """Return a context length in thousands of tokens, as in 4K."""
    return f"{tokens / 1000:g}K" if tokens >= 1000 else f"{tokens:g}"


# --- Tables by their words -----------------------------------------------------------------------

_WORDS = read_words("cogniload_analysis", "tables")
_FORMATS: Mapping[str, Callable[..., Any]] = {
    "text": text, "number": number, "points": points, "starred": starred, "percent": percent,
    "thousands": thousands, "p": p_value, "tokens": tokens, "context": show_context,
}  # fmt: skip


def table(
    kind: str,
    data: pd.DataFrame,
    formats: Formats = MappingProxyType({}),
    *,
    prefix: str = "",
    more: Columns = MappingProxyType({}),
    **words: object,
) -> Table:
    """Return a table of raw numbers, whose caption and columns are those of `data/tables.toml`.

    `formats` are its own ones by name, `prefix` begins its name, `more` are the columns in the
    place of "*", and `words` are put into the caption.
    """
    about = _WORDS[kind]
    columns: dict[str, str | tuple[str, Format]] = {}
    for column in about["columns"]:
        if column == "*":
            columns |= more
        else:
            shown, heading, *show = _WORDS["usual"][column] if isinstance(column, str) else column
            columns[shown] = heading, _find_format(show[0] if show else "text", formats)
    shape = about.get("wide", False), about.get("heat", False)
    return Table(prefix + kind, data, about["caption"].format(**words), columns, *shape)


def _find_format(words: str, own: Formats) -> Format:
    """Return the format that `data/tables.toml` names, such as "interval points 1"."""
    name, *rest = words.split()
    if "{" in words:
        return form(words)
    if name == "interval":
        return between(_find_format(" ".join(rest), own))
    found = {**_FORMATS, **own}[name]
    return found(*map(int, rest)) if rest else found


# --- Columns and tables that both benchmarks have ------------------------------------------------


def accuracy_table(
    frame: pd.DataFrame, *loads: str, confidence: float = PAPER_CONFIDENCE
) -> pd.DataFrame:
    """Return the accuracy of each model at each level of `loads`, with Wilson's 90 % interval.

    Columns: model, the loads, correct, responses, accuracy, low, high and, of puzzles with options,
    chance, the accuracy of guesses among them (all 0 to 1). CogniLoad's Appendix C.

    >>> frame = pd.DataFrame({"model": "m", "N": [5, 5, 9, 9], "correct": [1, 1, 1, 0]})
    >>> accuracy_table(frame, "N")["accuracy"].tolist()
    [1.0, 0.5]
    """
    groups = frame.groupby(["model", *loads], observed=True, dropna=False)
    table = groups["correct"].agg(correct="sum", responses="size").reset_index()
    low, high = wilson_interval(table["correct"], table["responses"], confidence)
    table = table.assign(accuracy=table["correct"] / table["responses"], low=low, high=high)
    if "chance" in frame and frame["chance"].notna().any():
        table["chance"] = groups["chance"].mean().to_numpy()
    return table


def count_outcomes(frame: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Return the count of every outcome by some columns, with 0 for those that never occur."""
    counts = pd.crosstab([frame[column] for column in by], frame["outcome"])
    return counts.reindex(columns=frame["outcome"].cat.categories, fill_value=0)


def describe_tokens(frame: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Return mean and 90th percentile of prompt and response tokens, by some columns."""
    groups = frame.groupby(list(by), observed=True)
    columns = {}
    for counted in ("prompt_tokens", "response_tokens"):
        columns[f"{counted}_mean"] = groups[counted].mean()
        columns[f"{counted}_p90"] = groups[counted].quantile(0.9)
    return pd.DataFrame(columns)
