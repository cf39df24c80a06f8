"""The frame, one row per response: its columns, loads, names of models and checks."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from reprlib import repr as brief
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from cogniload_gen.answers.sample import Sample, as_count
from cogniload_gen.benchmark import Row

# --- Columns -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Columns:
    """Columns of the frame that are read together.

    Attributes:
        types: The type of each column in pandas by its name; None for the one that pandas infers.
        read: From a sample to the values in the order of `types`; ValueError for a value out of
            range, and KeyError for a missing field.
    """

    types: Mapping[str, Any]
    read: Callable[[Sample], Sequence[Any]]


def column(name: str, dtype: Any, read: Callable[[Sample], Any]) -> Columns:
    """Return the declaration of one column, whose value `read` returns."""
    return Columns({name: dtype}, lambda sample: (read(sample),))


def read_integer(holder: Row, name: str) -> int:
    """Return a field that must hold an integer of 64 bits; ValueError where it does not."""
    value = holder[name]
    sound = isinstance(value, int | float) and -(2**63) <= value < 2**63 and value == int(value)
    if not sound:
        raise ValueError(f"{name} must be an integer of 64 bits, got {brief(value)}")
    return int(value)


def read_count(holder: Row, name: str) -> int | float:
    """Return a field that counts something, as `as_count` does; NaN where it is unknown."""
    count = as_count(holder.get(name))
    return math.nan if count is None else count


# --- Loads ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """One of a benchmark's loads: a column of the frame, and how it is set in print.

    `dtype` is the column's type in pandas. With `percent`, a fraction is printed in percent, and
    `heading` must say so. `show` sets one level in print. With `in_task`, a task's name says the
    level, so that the table of runs leaves it out. Of a `harder` one, greater levels are harder.
    """

    name: str
    heading: str
    dtype: str = "int64"
    percent: bool = False
    show: Callable[[Any], str] = "{:g}".format
    in_task: bool = False
    harder: bool = False

    @property
    def symbol(self) -> str:
        """What stands for it in a sentence, such as ρ."""
        return self.heading.split()[0]

    def say(self, level: float) -> str:
        """Set one level in a sentence, such as ρ = 25 %."""
        return f"{self.symbol} = {self.show(self.scale(level))}{' %' * self.percent}"

    @property
    def printed_name(self) -> str:
        """The name of its column in a table that holds levels as they are printed."""
        return f"{self.name}_percent" if self.percent else self.name

    def scale(self, levels: Any) -> Any:
        """Return levels as they are printed: fractions in percent, others as they are."""
        return 100 * levels if self.percent else levels


# --- Names of models -----------------------------------------------------------------------------


def label_models(frame: pd.DataFrame, *within: str) -> list[str]:
    """Return a short name for each row's model: the last part of a path, where that is unique.

    What sets a run apart from others of its model, the column `setting`, stays as it is. The task
    is added where a model ran several, at one level of the columns `within`.
    """
    runs = frame[["model", "setting", "task", *within]].drop_duplicates().astype(str)
    base = pd.Series([*map(str.removesuffix, runs["model"], runs["setting"])], runs.index)
    short = base.str.rstrip("/").str.split("/").str[-1]
    unique = base.groupby(short).transform("nunique") == 1
    several = runs.groupby(["model", *within])["task"].transform("nunique") > 1
    labels = short.where(unique, base) + runs["setting"]
    labels += (" (" + runs["task"] + ")").where(several, "")
    names = dict(zip(zip(runs["model"], runs["task"], strict=True), labels, strict=True))
    return [names[run] for run in zip(frame["model"], frame["task"], strict=True)]


# --- What a fit asks of its frame ----------------------------------------------------------------


def check_columns(frame: pd.DataFrame, columns: Sequence[str], needed: str = "") -> None:
    """Raise ValueError for the first column that is missing; `needed` are all of them in words."""
    for column in columns:
        if column not in frame:
            raise ValueError(
                f"the frame has no column {column!r}: needed are {needed or ', '.join(columns)}; "
                f"it has {', '.join(map(str, frame))}"
            )


def check_single(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Raise ValueError for the first of some columns that holds several levels, if it is there."""
    for column in columns:
        if column in frame and frame[column].nunique() > 1:
            raise ValueError(
                f"a fit is of one {column}, and the frame holds {frame[column].nunique()}: "
                f"fit each of frame.groupby({column!r})"
            )


def check_values(frame: pd.DataFrame, column: str, sound: ArrayLike, allowed: str) -> None:
    """Raise ValueError, with the first of them, where values are not `sound`."""
    if not np.all(sound):
        wrong = frame[column][~np.asarray(sound)].tolist()[0]
        raise ValueError(f"{column} must be {allowed}, got {brief(wrong)}")


def adaptive_models(frame: pd.DataFrame) -> list[str]:
    """Return the models of a frame whose own answers chose their puzzles.

    Their share of right answers is no accuracy: the choice decides it.
    """
    if "until" not in frame:
        return []
    return [*frame.loc[frame["until"].astype(bool), "model"].unique()]
