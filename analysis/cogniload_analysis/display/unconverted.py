"""Until factor/ declares its tables by `TableSpec`: delete this file with its last use."""

# ruff: noqa: PLC0415

from collections.abc import Sequence

import pandas as pd

from cogniload_analysis.display.cells import set_number, words
from cogniload_analysis.load import Load


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
    """Set words in print."""
    return values.map(words).astype(object)


def format_number(values: pd.Series, decimals: int) -> pd.Series:
    """Set numbers in print; a missing one is a dash."""
    return values.map(lambda value: set_number(value, decimals))


def format_interval(low: pd.Series, high: pd.Series, decimals: int) -> pd.Series:
    """Set intervals in print."""
    return format_number(low, decimals) + " to " + format_number(high, decimals)


def format_accuracy(table: pd.DataFrame, loads: Sequence[Load]) -> pd.DataFrame:
    """Set `accuracy_table` in print, in percent."""
    from cogniload_analysis.display.print import accuracy_columns
    from cogniload_analysis.display.tables import TableSpec

    return TableSpec("", "", accuracy_columns(loads)).show(table)


def format_run(table: pd.DataFrame) -> pd.DataFrame:
    """Set a table of `run_row` in print, without whose runs they are."""
    from cogniload_analysis.adaptive.section import RUN_COLUMNS
    from cogniload_analysis.display.tables import TableSpec

    return TableSpec("", "", RUN_COLUMNS).show(table)


def format_batches(table: pd.DataFrame) -> pd.DataFrame:
    """Set `batch_table` in print, without whose runs they are."""
    from cogniload_analysis.adaptive.section import batch_columns
    from cogniload_analysis.display.tables import TableSpec

    return TableSpec("", "", batch_columns()).show(table)


def format_counts(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Set puzzles, correct and the accuracy in print."""
    return {
        "Puzzles": table["puzzles"],
        "Right": table["correct"],
        "Acc [%]": format_number(100 * table["correct"] / table["puzzles"], 1),
    }


def format_band(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Set accuracy, low and high of a curve in print, in percent."""
    return {
        "Acc [%]": format_number(100 * table["accuracy"], 1),
        "95 % interval": format_interval(100 * table["low"], 100 * table["high"], 1),
    }
