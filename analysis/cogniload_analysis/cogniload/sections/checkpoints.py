"""A threshold over the checkpoints of a training, whose names tell their steps or tokens."""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from cogniload_analysis.display.figures import Figure, Panel, Series
from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import table
from cogniload_analysis.words import say

_NAME = re.compile(
    r"[-_, ]*(?P<unit>steps?|checkpoint|iter(?:ation)?s?|tokens?|epochs?)[-_ ]?"
    r"(?P<count>\d[\d_]*(?:\.\d+)?(?:e\d+)?)(?P<scale>[kKMB]?)(?![\w.])"
)
_UNITS = {"t": "Tokens", "e": "Epochs"}
"""What x counts, by the first letter of the unit in a name; anything else are steps."""
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}

_FEWEST = 3
"""With fewer checkpoints there is no curve."""


def label_checkpoints(results: Sequence[str], x: str | None = None) -> list[str]:
    """Return paths of results as LABEL=PATH, so that each label tells which checkpoint it is.

    A path whose last name tells a step, tokens or an epoch, as in runs/step-100, has that label
    unless it has another. `x` is UNIT=NUMBER,NUMBER,..., a number for each path: it comes behind
    its label. ValueError for an `x` of another form.
    """
    if x is None:
        names = [path if "=" in path else Path(path).name for path in results]
        both = zip(names, results, strict=True)
        told = [name != path and bool(_NAME.search(name)) for name, path in both]
        several = sum(told) > 1
        return [
            f"{name}={path}" if is_told and several else path
            for name, path, is_told in zip(names, results, told, strict=True)
        ]
    unit, _, numbers = x.partition("=")
    labels = [f"{unit.strip()} {number.strip()}" for number in numbers.split(",")]
    if len(labels) != len(results) or not all(map(_NAME.fullmatch, labels)):
        form = f"steps, tokens or epochs and a number for each of {len(results)} results"
        raise ValueError(f"x must be {form}, as steps=0,100,200; got {x!r}")
    labelled = []
    for label, text in zip(labels, results, strict=True):
        own, _, path = text.rpartition("=")
        labelled.append(f"{own}, {label}={path}" if own else f"{label}={path}")
    return labelled


def checkpoints_table(overview: pd.DataFrame) -> pd.DataFrame:
    """Return the models of an `overview_table` that are checkpoints, by training and place.

    Columns: model (the training: the name without what tells the checkpoint), unit ("Steps",
    "Tokens" or "Epochs"), x, and of the overview accuracy, low, high, ECL50, ECL50_low,
    ECL50_high, meaning and loads. Trainings of fewer than three checkpoints are left out.
    """
    rows = []
    for row in overview.to_dict("records"):
        for name in [*_NAME.finditer(row["model"])][-1:]:
            row["x"] = float(name["count"].replace("_", "")) * _SCALES[name["scale"]]
            row["unit"] = _UNITS.get(name["unit"][0], "Steps")
            row["model"] = row["model"].replace(name[0], "").strip(" ,-_/") or "training"
            rows.append(row)
    columns = ["model", "unit", "x", "accuracy", "low", "high"]
    columns += ["ECL50", "ECL50_low", "ECL50_high", "meaning", "loads"]
    found = pd.DataFrame(rows, columns=columns)
    many = found.groupby(["model", "unit"])["x"].transform("nunique") >= _FEWEST
    return found[many].sort_values(["model", "unit", "x"]).reset_index(drop=True)


def checkpoints_sections(overview: pd.DataFrame) -> list[Section]:
    """Return the section, by an `overview_table`; none where no training has three checkpoints."""
    sections = []
    for unit, rows in checkpoints_table(overview).groupby("unit"):
        name = f"checkpoints_{str(unit).lower()}"
        lines = [*rows.groupby("model")]
        lengths = [
            Series(str(model), mine["x"], mine["ECL50"], mine["ECL50_low"], mine["ECL50_high"])
            for model, mine in ((model, _comparable(mine)) for model, mine in lines)
        ]
        shares = [
            Series(str(model), mine["x"], mine["accuracy"], mine["low"], mine["high"])
            for model, mine in lines
        ]
        drawn = (lengths, "ECL50 [statements]"), (shares, "Accuracy")
        panels = [Panel(series, str(unit), what) for series, what in drawn]
        figure = Figure(name, say("checkpoints"), panels)
        content = [figure, table("checkpoints", rows)]
        sections.append(Section(f"Over {str(unit).lower()}", content, name))
    return sections


def _comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a training's checkpoints whose ECL50 means the same: that of most of them."""
    known = rows[rows["ECL50"].map(math.isfinite)]
    alike = known.groupby(["meaning", "loads"])["x"].transform("size")
    return known[alike == alike.max()].drop_duplicates("x")
