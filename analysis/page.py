"""What a report is made of: tables, pictures, and the part that each benchmark has in it."""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
from matplotlib.figure import Figure
from tqdm import tqdm

from cogniload_analysis import figures


@dataclass(frozen=True, eq=False)
class Table:
    """A table of the report: its raw numbers, and how they are set in print."""

    name: str
    caption: str
    data: pd.DataFrame
    print: Callable[[pd.DataFrame], pd.DataFrame]

    @cached_property
    def shown(self) -> pd.DataFrame:
        """The table in print, as text."""
        return self.print(self.data)


@dataclass(frozen=True)
class Picture:
    """A figure of the report, drawn for paper and for a phone."""

    name: str
    caption: str
    svg: bytes
    pdf: bytes
    narrow_svg: bytes

    def uri(self, narrow: bool = False) -> str:
        """The figure as an address that holds it."""
        content = self.narrow_svg if narrow else self.svg
        return "data:image/svg+xml;base64," + base64.b64encode(content).decode()


@dataclass(frozen=True, eq=False)
class Part:
    """A benchmark's part of the report, which its template shows.

    `models` is what is said of each model, `examples` are failures, and `cells` the counts behind
    every number, written as the table `cells_name`.
    """

    name: str
    template: str
    tables: dict[str, Table]
    pictures: dict[str, Picture]
    models: list[dict[str, object]]
    examples: list[dict[str, str | int]]
    mixed_versions: bool
    cells: pd.DataFrame
    cells_name: str


Drawing = tuple[str, Callable[[int], Figure]]


def draw_all(drawings: dict[str, Drawing]) -> dict[str, Picture]:
    """Draw every (caption, function of the columns) and return the pictures, by name."""
    return {
        name: _draw(name, *drawing)
        for name, drawing in tqdm(drawings.items(), "drawing", unit="figure", disable=None)
    }


def name_file(number: int, model: str) -> str:
    """Return a file's name for the model of a number, of letters, digits, dots and dashes."""
    return f"{number:02}_{re.sub(r'[^A-Za-z0-9.-]+', '_', model)[:60]}"


def label_models(frame: pd.DataFrame, *within: str) -> list[str]:
    """Return a short name for each row's model: the last part of a path, where that is unique.

    The task is added where a model ran several, at one level of the columns `within`.
    """
    runs = frame[["model", "task", *within]].drop_duplicates().astype(str)
    short = runs["model"].str.rstrip("/").str.split("/").str[-1]
    unique = runs.groupby(short)["model"].transform("nunique") == 1
    several = runs.groupby(["model", *within])["task"].transform("nunique") > 1
    labels = short.where(unique, runs["model"])
    labels += (" (" + runs["task"] + ")").where(several, "")
    names = dict(zip(zip(runs["model"], runs["task"], strict=True), labels, strict=True))
    return [names[run] for run in zip(frame["model"], frame["task"], strict=True)]


def _draw(name: str, caption: str, draw: Callable[[int], Figure]) -> Picture:
    wide, narrow = draw(3), draw(1)
    svg, pdf = (figures.save_figure(wide, kind) for kind in ("svg", "pdf"))
    return Picture(name, caption, svg, pdf, figures.save_figure(narrow, "svg"))
