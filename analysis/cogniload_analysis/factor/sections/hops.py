"""Accuracy by hops, and beside what shortcuts reach on the very same puzzles.

N counts the variables of a symbolic puzzle, not the reasoning: of 20 variables, the deepest one
of the question is 2.4 edges from a number on average. So accuracy is shown by hops too.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cogniload_analysis.display.figures import Figure, Panel, Series, series_by_model
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.display.tables import (
    MODEL,
    Table,
    accuracy_columns,
    accuracy_table,
    load_columns,
    percent,
)
from cogniload_analysis.factor.decay import CONDITION
from cogniload_analysis.factor.loads import LOADS
from cogniload_analysis.frame import Load, column
from cogniload_analysis.samples.files import read_lines
from cogniload_analysis.stats import CONFIDENCE
from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Row

FLOORS = {"symbolic": "grep or none", "realistic": "sum of the given"}
"""The baseline of each suite that takes no hop: a model has to beat it."""

HOP_BASELINES = ("one hop", "two hops", "three hops")


def read_hops(sample: Row) -> float:
    """Return the hops of a sample's puzzle; NaN where they are unknown, or no variable matches."""
    hops, answer = (sample["doc"].get(name) for name in ("hops", "answer"))
    sound = isinstance(hops, int) and 0 <= hops <= 1000 and answer != "none"
    return float(hops) if sound else np.nan


HOP_COLUMN = column("hops", "float64", read_hops)
"""The edges from a number to the deepest of the queried variables."""


def hops_sections(
    frame: pd.DataFrame, shortcuts: pd.DataFrame, names: Mapping[tuple[str, str], str]
) -> list[Section]:
    """Return the section; none where no sample tells its hops, and no puzzle has a baseline.

    `shortcuts` is `shortcut_table`'s, and `names` are the figures' of each (suite, model).
    """
    by_hops = hops_table(frame)
    content: list[Content] = [*draw_by_hops(by_hops)]
    for (suite, model), rows in shortcuts.groupby(["suite", "model"], observed=True):
        if rows["accuracy"].any():
            content.append(draw_shortcuts(rows, f"{names[str(suite), str(model)]}_shortcuts"))
    tables = [
        Table(
            "factor_by_hops",
            by_hops,
            "Accuracy by hops: how many edges the deepest of the variables asked for is from a "
            "number. With the 95 % Wilson interval.",
            accuracy_columns((*LOADS, Load("hops", "Hops"))),
        ),
        Table(
            "factor_shortcuts",
            shortcuts,
            "Accuracy by N, beside that of shortcuts on the same puzzles, in percent: they answer "
            "by what lies so many hops from a given number.",
            {
                **MODEL,
                **load_columns(LOADS),
                "accuracy": ("Acc [%]", percent),
                "floor": ("No hop [%]", percent),
                "one hop": ("1 hop [%]", percent),
                "two hops": ("2 hops [%]", percent),
                "three hops": ("3 hops [%]", percent),
            },
        ),
    ]
    if not (filled := [table for table in tables if len(table.data)]):
        return []
    content.append(Section("In numbers", filled, folded=True))
    return [Section("Hops and shortcuts", content, "shortcut", link="Hops and shortcuts")]


def hops_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy by hops of each condition; empty where no sample tells its hops."""
    told = frame[frame["hops"].notna()]
    return accuracy_table(told, *CONDITION[1:], "hops", confidence=CONFIDENCE)


def shortcut_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of models and of baselines on the same puzzles, by condition and N.

    The puzzles are read again from the samples' files; OSError where one is no longer there.
    """
    right = {
        place: try_baselines(sample["doc"])
        for file, offsets in frame.groupby("file", observed=True)["offset"]
        for place, sample in zip(offsets.index, read_lines(str(file), offsets), strict=True)
    }
    baselines = pd.DataFrame.from_dict(right, "index", columns=["floor", *HOP_BASELINES])
    solved = frame[["correct", "N", *CONDITION]].join(baselines.dropna(subset="floor"), how="inner")
    groups = solved.groupby([*CONDITION, "N"], observed=True)
    table = groups[["floor", *HOP_BASELINES]].mean()
    table.insert(0, "accuracy", groups["correct"].mean())
    table.insert(0, "responses", groups.size())
    return table.reset_index()


def try_baselines(puzzle: Row) -> list[float]:
    """Return whether the floor and the HOP_BASELINES are right (1 or 0).

    NaN where the suite has no such baseline, or the puzzle is not whole.
    """
    puzzle_text, baselines = str(puzzle.get("puzzle") or ""), benchmarks.of(puzzle).baselines
    right = []
    for name in (FLOORS[puzzle["suite"]], *HOP_BASELINES):
        try:
            right.append(float(baselines[name](puzzle_text) == puzzle.get("answer")))
        except (KeyError, ValueError):
            right.append(np.nan)
    return right


def say_shortcuts(rows: pd.DataFrame) -> str:
    """Say whether a model beats the floor; `rows` are `shortcut_table`'s of a model and a suite."""
    floor = FLOORS[str(rows["suite"].iloc[0])]
    weights = rows["responses"]
    mine, theirs = (100 * np.average(rows[name], weights=weights) for name in ("accuracy", "floor"))
    if mine <= theirs:
        return (
            f"Does not beat the shortcut “{floor}”, which takes no hop: {mine:.1f} % of the "
            f"answers are right, and {theirs:.1f} % of the shortcut's."
        )
    return (
        f"{mine:.1f} % of the answers are right, against {theirs:.1f} % of the shortcut “{floor}”, "
        "which takes no hop."
    )


def draw_by_hops(by_hops: pd.DataFrame) -> list[Figure]:
    """Draw each model's accuracy by hops at its shortest context; no figure of zeros."""
    shortest = by_hops.groupby("model", observed=True)["context"].transform("min")
    series = series_by_model(
        by_hops[by_hops["context"] == shortest], "hops", "accuracy", "low", "high"
    )
    panel = Panel(series, "Hops of the deepest variable", "Accuracy")
    caption = "Accuracy by hops (symbolic suite), each model at its shortest context."
    return [Figure("factor_hops", caption, [panel])] * bool(by_hops["accuracy"].any())


def draw_shortcuts(rows: pd.DataFrame, name: str) -> Figure:
    """Draw accuracy by N beside the baselines, of one model and suite; one panel per condition."""
    panels = []
    shown = {"measured": "accuracy", "no hop": "floor"} | {each: each for each in HOP_BASELINES}
    for (context, noise), points in rows.groupby(["context", "noise"], observed=True):
        series = [
            Series(label, points["N"], points[of], faint=of != "accuracy")
            for label, of in shown.items()
        ]
        panels.append(Panel(series, "Complexity N", "Accuracy", f"{context:,} tokens, {noise}"))
    model, suite = rows[["model", "suite"]].iloc[0]
    caption = f"Accuracy of {model} by N ({suite} suite), beside shortcuts."
    return Figure(name, caption, panels)
