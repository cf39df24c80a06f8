"""A threshold over the checkpoints of a training, whose names tell their steps or tokens."""

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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


def label_checkpoints(
    results: Sequence[tuple[str, str]], x: str | None = None
) -> list[tuple[str, str]]:
    """Return results, each a label and a path, with labels that tell which checkpoint each is.

    A path whose last name tells a step, tokens or an epoch, as runs/step-100 does, has that name as
    its label, behind those folders in which the paths differ; unless any path has a label. `x` is
    UNIT=NUMBER,NUMBER,..., a number for each path, which stands behind its label. ValueError for an
    `x` of another form.
    """
    if x is None:
        paths = [Path(path).absolute() for _, path in results]
        found = [bool(_NAME.search(path.name)) for path in paths]
        if sum(found) < 2 or any(label for label, _ in results):
            return [*results]
        common = os.path.commonpath([path.parent for path in paths])
        labels = [" ".join(path.relative_to(common).parts) for path in paths]
        return [
            (label if is_checkpoint else "", path)
            for label, is_checkpoint, (_, path) in zip(labels, found, results, strict=True)
        ]
    unit, _, numbers = x.partition("=")
    places = [f"{unit.strip()} {number.strip()}" for number in numbers.split(",")]
    if len(places) != len(results) or not all(map(_NAME.fullmatch, places)):
        form = f"steps, tokens or epochs and a number for each of {len(results)} results"
        raise ValueError(f"x must be {form}, as steps=0,100,200; got {x!r}")
    return [
        (", ".join(filter(None, (label, place))), path)
        for place, (label, path) in zip(places, results, strict=True)
    ]


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
    data = checkpoints_table(overview)
    figures = [
        _draw(f"checkpoints_{str(unit).lower()}", str(unit), [*rows.groupby("model")])
        for unit, rows in data.groupby("unit")
    ]
    content = [*figures, table("checkpoints", data)]
    return [Section("Checkpoints", content, "over-checkpoints")] if figures else []


def _draw(name: str, unit: str, trainings: Sequence[tuple[Any, pd.DataFrame]]) -> Figure:
    """Draw ECL50, and accuracy, of the checkpoints of trainings that are counted in a unit."""
    lengths, shares = list[Series](), list[Series]()
    for model, rows in trainings:
        known = _comparable(rows)
        ends = known["ECL50_low"], known["ECL50_high"]
        lengths.append(Series(str(model), known["x"], known["ECL50"], *ends))
        shares.append(Series(str(model), rows["x"], rows["accuracy"], rows["low"], rows["high"]))
    drawn = (lengths, "ECL50 [statements]"), (shares, "Accuracy")
    return Figure(name, say("checkpoints"), [Panel(series, unit, what) for series, what in drawn])


def _comparable(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a training's checkpoints whose ECL50 means the same: that of most of them."""
    known = rows[rows["ECL50"].map(math.isfinite)]
    alike = known.groupby(["meaning", "loads"])["x"].transform("size")
    return known[alike == alike.max()].drop_duplicates("x")
