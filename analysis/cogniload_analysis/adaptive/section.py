"""The section of a report on adaptive runs, whichever benchmark they are of."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from cogniload_analysis.adaptive.replay import (
    Replay,
    set_ends,
    set_value,
    set_width,
    shrink_panel,
)
from cogniload_analysis.display.figures import Figure, Panel
from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import Columns, Table, percent_of, thousands

RUNS: Columns = {
    "wanted": "Asked for",
    "n": ("Puzzles", thousands),
    "budget": ("Budget", thousands),
    "batches": "Batches",
    "cut": "Cut off",
    "width, relative": ("Reached", set_width),
    "stopped": "Stopped",
    "flags": "Flags",
}
BATCHES: Columns = {
    "value": ("Estimate", set_value),
    "low, high": ("95 % interval", set_ends),
    "width, relative": ("Half-width", set_width),
    "puzzles": "Asked next",
}
ASKED: Columns = {
    "puzzles": "Puzzles",
    "correct": "Right",
    "correct, puzzles": ("Acc [%]", percent_of),
}


def runs_section(
    replays: Sequence[Replay],
    tables: Sequence[Table],
    names: Sequence[str],
    panels: Callable[[pd.DataFrame, pd.DataFrame], Sequence[Panel]],
    say: Callable[[Mapping[Any, Any]], list[str]],
    *,
    id: str,
    along: str,
    goal: str = "{}",
    title: Callable[[Mapping[Any, Any]], str] = lambda row: str(row["model"]),
) -> tuple[Section, list[Figure]]:
    """Return the section on adaptive runs, and the figure of each run's curve.

    `tables` are those of the runs, the batches, the cells and the curves. `names` are the figures'.
    `panels` are made of a run's rows of the cells and the curves, which are `along` some loads;
    `say` and `title` take its row of the runs; `goal` sets the goal in print.
    """
    runs, batches, cells, curves = (table.data for table in tables)
    parts: list[Section] = []
    figures: list[Figure] = []
    for run, name, row in zip(replays, names, runs.to_dict("records"), strict=True):
        mine, model = partial(_rows_of, about=run.about), run.about["model"]
        caption = f"Accuracy of {model} {along}, at the puzzles of its adaptive run."
        figures.append(Figure(name, caption, panels(mine(cells), mine(curves))))
        caption = f"How the interval of {model}'s goal shrank."
        panel = shrink_panel(mine(batches), goal.format(run.design.goal))
        shrunk = Figure(f"{name}_interval", caption, [panel], 2.4)
        parts.append(Section(title(row), [say(row), figures[-1], shrunk]))
    behind = Section("The cells and the curves behind the figures", tables[2:], folded=True)
    content = [*parts, *tables[:2], behind]
    return Section("Adaptive runs", content, id, folded=True), figures


def _rows_of(data: pd.DataFrame, about: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of one run."""
    return data[(data[list(about)] == list(about.values())).all(axis=1)]
