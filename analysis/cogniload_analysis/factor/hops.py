"""FACTOR: accuracy by hops, and beside what shortcuts reach on the very same puzzles.

N counts the variables of a symbolic puzzle, not the reasoning: of 20 variables, the deepest one
of the question is 2.4 edges from a number on average. So accuracy is shown by hops too.
"""

import numpy as np
import pandas as pd

from cogniload_analysis.display.tables import accuracy_table
from cogniload_analysis.factor.decay import CONDITION
from cogniload_analysis.factor.words import say
from cogniload_analysis.frame import column
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


def try_baselines(puzzle: Row) -> list[float]:
    """Return whether the floor and the HOP_BASELINES are right (1 or 0).

    NaN where the suite has no such baseline, or the puzzle is not whole.
    """
    text, baselines = str(puzzle.get("puzzle") or ""), benchmarks.of(puzzle).baselines
    right = []
    for name in (FLOORS[puzzle["suite"]], *HOP_BASELINES):
        try:
            right.append(float(baselines[name](text) == puzzle.get("answer")))
        except (KeyError, ValueError):
            right.append(np.nan)
    return right


def hops_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy by hops of each condition; empty where no sample tells its hops."""
    return accuracy_table(
        frame[frame["hops"].notna()], *CONDITION[1:], "hops", confidence=CONFIDENCE
    )


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


def say_shortcuts(rows: pd.DataFrame) -> str:
    """Say whether a model beats the floor; `rows` are `shortcut_table`'s of a model and a suite."""
    floor = FLOORS[str(rows["suite"].iloc[0])]
    weights = rows["responses"]
    mine, theirs = (np.average(rows[name], weights=weights) for name in ("accuracy", "floor"))
    verdict = "wins" if mine <= theirs else "loses"
    return say(f"shortcut_{verdict}", shortcut=floor, mine=mine, theirs=theirs)
