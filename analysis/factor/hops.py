"""FACTOR: accuracy by hops, and beside what shortcuts reach on the very same puzzles.

N counts the variables of a symbolic puzzle, not the reasoning: of 20 variables, the deepest that is
asked for is 2.4 edges from a number on average. So accuracy is shown by hops too.
"""

from itertools import takewhile
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.factor.decay import CONDITION
from cogniload_analysis.factor.loads import LOADS
from cogniload_analysis.format import accuracy_table, format_accuracy
from cogniload_analysis.record import Load
from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Row

FLOORS = {"symbolic": "grep or none", "realistic": "sum of the given"}
"""The baseline of each suite that takes no hop: a model has to beat it."""

BASELINES = (*FLOORS.values(), "one hop", "two hops", "three hops")

FACTS = dict.fromkeys(("hops", *BASELINES), "float64")
"""A frame's columns: the hops (NaN where nothing has the target), and whether each baseline
is right (NaN where the suite has no such baseline, or the sample no whole puzzle)."""

HOPS = (*LOADS, Load("hops", "Hops"))


def read_facts(sample: Row) -> tuple[float, ...]:
    """Return the values of FACTS, from a sample's puzzle; any of it may be missing or wrong."""
    puzzle = sample["doc"]
    hops = puzzle.get("hops")
    sound = isinstance(hops, int) and 0 <= hops <= 1000 and puzzle.get("answer") != "none"
    text, known = str(puzzle.get("puzzle") or ""), benchmarks.of(puzzle).baselines
    right = []
    for name in BASELINES:
        try:
            right.append(float(known[name](text) == puzzle.get("answer")))
        except (KeyError, ValueError):
            right.append(np.nan)
    return (float(hops) if sound else np.nan, *right)


def hops_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy by hops of each condition; empty where no sample tells its hops."""
    return accuracy_table(frame[frame["hops"].notna()], *CONDITION[1:], "hops")


def format_hops(table: pd.DataFrame) -> pd.DataFrame:
    """Set `hops_table` in print."""
    return format_accuracy(table, loads=HOPS)


def shortcut_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracies of models and of baselines on the same puzzles, by condition and N."""
    floor = frame[list(FLOORS.values())].bfill(axis=1).iloc[:, 0].rename("floor")
    shares = ["one hop", "two hops", "three hops"]
    read = frame[["correct", "N", *CONDITION, *shares]].assign(floor=floor)[floor.notna()]
    groups = read.groupby([*CONDITION, "N"], observed=True)
    table = groups[["floor", *shares]].mean()
    table.insert(0, "accuracy", groups["correct"].mean())
    table.insert(0, "responses", groups.size())
    return table.reset_index()


def format_shortcuts(table: pd.DataFrame) -> pd.DataFrame:
    """Set `shortcut_table` in print, in percent."""
    columns = {"Model": table["model"]}
    columns |= {load.heading: load.scale(table[load.name]).map(load.show) for load in LOADS}
    headings = {"accuracy": "Acc", "floor": "No hop", "one hop": "1 hop", "two hops": "2 hops"}
    for name, heading in (headings | {"three hops": "3 hops"}).items():
        columns[f"{heading} [%]"] = (100 * table[name]).map("{:.1f}".format)
    return pd.DataFrame(columns).astype(str)


def say_shortcuts(rows: pd.DataFrame) -> str:
    """Say whether a model beats the floor; `rows` are `shortcut_table`'s of a model and a suite."""
    if rows.empty:
        return ""
    floor = FLOORS[str(rows["suite"].iloc[0])]
    weights = rows["responses"]
    mine, theirs = (np.average(rows[name], weights=weights) for name in ("accuracy", "floor"))
    if mine <= theirs:
        return (
            f"Does not beat the shortcut “{floor}”, which takes no hop: {100 * mine:.1f} % of the "
            f"answers are right, and {100 * theirs:.1f} % of the shortcut's."
        )
    means = {name: np.average(rows[name], weights=weights) for name in ("one hop", "two hops")}
    beaten = list(takewhile(lambda name: means[name] < mine, means))
    reach = "; the shortcut of one hop is not beaten"
    if beaten:
        reach = f"; the shortcut of {beaten[-1]} is beaten too"
    return (
        f"{100 * mine:.1f} % of the answers are right, against {100 * theirs:.1f} % of the "
        f"shortcut “{floor}”, which takes no hop{reach}."
    )


def draw_by_hops(table: pd.DataFrame, columns: int) -> Any:
    """Draw each model's accuracy by hops at its shortest context."""
    # drawing needs matplotlib, which the record does without
    from cogniload_analysis.panels import Panel, Series, draw_panels  # noqa: PLC0415

    shortest = table["context"] == table.groupby("model", observed=True)["context"].transform("min")
    series = [
        Series(str(model), rows["hops"], rows["accuracy"], rows["low"], rows["high"])
        for model, rows in table[shortest].groupby("model", observed=True)
    ]
    return draw_panels([Panel(series, "Hops of the deepest variable", "Accuracy")], columns)


def draw_shortcuts(table: pd.DataFrame, columns: int) -> Any:
    """Draw one model's accuracy by N beside the baselines; `table` is of one model and suite."""
    from cogniload_analysis.panels import Panel, Series, draw_panels  # noqa: PLC0415

    panels = []
    for (context, noise), rows in table.groupby(["context", "noise"], observed=True):
        shown = {"measured": "accuracy", "no hop": "floor"}
        shown |= {name: name for name in ("one hop", "two hops", "three hops")}
        series = [
            Series(label, rows["N"], rows[name], faint=name != "accuracy")
            for label, name in shown.items()
        ]
        panels.append(Panel(series, "Complexity N", "Accuracy", f"{context:,} tokens, {noise}"))
    return draw_panels(panels, columns)
