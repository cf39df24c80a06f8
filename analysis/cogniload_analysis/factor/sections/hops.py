"""Accuracy by hops, and beside it what shortcuts reach on the very same puzzles.

N counts the variables of a symbolic puzzle, not the reasoning: of 20 variables, the deepest one
of the question is 2.4 edges from a number on average. So accuracy is shown by hops too.
"""

import numpy as np
import pandas as pd

from cogniload_analysis.display.figures import Figure, Panel, series_by_model, set_whole
from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import accuracy_table, table
from cogniload_analysis.factor.decay import CONDITION
from cogniload_analysis.frame import column
from cogniload_analysis.samples.read import read_rows
from cogniload_analysis.stats import CONFIDENCE
from cogniload_analysis.words import say
from cogniload_gen import benchmarks
from cogniload_gen.answers import Sample
from cogniload_gen.benchmark import Row

FLOORS = {"symbolic": "grep or none", "realistic": "sum of the given"}
"""The baseline of each suite that takes no hop: a model has to beat it."""

_HOP_BASELINES = ("one hop", "two hops", "three hops")


def read_hops(sample: Sample) -> float:
    """Return the hops of a sample's puzzle; NaN where they are unknown, or no variable matches."""
    hops, answer = (sample.doc.get(name) for name in ("hops", "answer"))
    return float(hops) if isinstance(hops, int) and answer != "none" else np.nan


HOP_COLUMN = column("hops", "float64", read_hops)
"""The edges from a number to the deepest of the queried variables."""


def hops_sections(by_hops: pd.DataFrame) -> list[Section]:
    """Return the section of `hops_table`'s numbers; none without puzzles that have a baseline."""
    if by_hops.empty:
        return []
    numbers = Section("In numbers", [table("factor_hops", by_hops)], folded=True)
    content = [*_draw_by_hops(by_hops), numbers]
    return [Section("Hops and shortcuts", content, "shortcut", link="Hops and shortcuts")]


def hops_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of models and of baselines on the same puzzles, by condition and hops.

    The puzzles are read again from the samples' files; OSError where one is no longer there.
    """
    right = {place: try_baselines(sample.doc) for place, sample in read_rows(frame)}
    shortcuts = ["floor", *_HOP_BASELINES]
    baselines = pd.DataFrame.from_dict(right, "index", columns=shortcuts)
    solved = frame[["correct", "hops", *CONDITION]].join(baselines.dropna(), how="inner")
    by = [*CONDITION, "hops"]
    accuracies = accuracy_table(solved, *by[1:], confidence=CONFIDENCE)
    means = solved.groupby(by, observed=True, dropna=False)[shortcuts].mean()
    return accuracies.assign(**means.reset_index(drop=True))


def try_baselines(puzzle: Row) -> list[float]:
    """Return whether the floor and the shortcuts are right (1 or 0).

    NaN where the puzzle is not whole.
    """
    puzzle_text, baselines = str(puzzle.get("puzzle") or ""), benchmarks.of(puzzle).baselines
    names = (FLOORS[puzzle["suite"]], *_HOP_BASELINES)
    try:
        return [float(baselines[name](puzzle_text) == puzzle.get("answer")) for name in names]
    except ValueError:
        return [np.nan] * len(names)


def say_shortcuts(rows: pd.DataFrame) -> str:
    """Say what a model and the floor solve; `rows` are `hops_table`'s of a model and a suite."""
    floor = FLOORS[str(rows["suite"].iloc[0])]
    mine, theirs = (
        100 * np.average(rows[name], weights=rows["responses"]) for name in ("accuracy", "floor")
    )
    return say("shortcut", floor=floor, mine=mine, theirs=theirs)


def _draw_by_hops(by_hops: pd.DataFrame) -> list[Figure]:
    """Draw each model's accuracy by hops at its shortest context; no figure of zeros."""
    told = by_hops[by_hops["hops"].notna()]
    shortest = told.groupby("model", observed=True)["context"].transform("min")
    shown = told[told["context"] == shortest]
    series = series_by_model(shown, "hops", "accuracy", "low", "high")
    panel = Panel(series, "Hops of the deepest variable", "Accuracy", finish=set_whole)
    caption = "Accuracy by hops (symbolic suite), each model at its shortest context."
    return [Figure("factor_hops", caption, [panel])] * bool(told["accuracy"].any())
