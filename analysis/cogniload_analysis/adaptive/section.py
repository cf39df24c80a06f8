"""The section of a report on adaptive runs, whichever benchmark they are of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from cogniload_analysis.adaptive.replay import Replay, draw_shrink, set_value, set_width
from cogniload_analysis.display.cells import percent_of, thousands, words
from cogniload_analysis.display.content import Picture
from cogniload_analysis.display.figures import Drawing, draw_all
from cogniload_analysis.display.tables import Column, Table, TableSpec

RUN_CAPTION = "Adaptive runs: what was asked for, and half the width of its 95 % interval."
RUN_COLUMNS = (
    Column("wanted", "Asked for"),
    Column("n", "Puzzles", thousands),
    Column("budget", "Budget", thousands),
    Column("batches", "Batches"),
    Column("cut", "Cut off"),
    Column(("width", "relative"), "Reached", set_width),
    Column("stopped", "Stopped", words),
    Column("flags", "Flags", words),
)
"""The columns of a table of `run_row`, after whose runs they are."""

COUNT_COLUMNS = (
    Column("puzzles", "Puzzles"),
    Column("correct", "Right"),
    Column(("correct", "puzzles"), "Acc [%]", percent_of),
)
"""The columns of puzzles that were asked and solved."""


def batch_columns(goal: str = "{}") -> tuple[Column, ...]:
    """Return the columns of `batch_table`, after whose runs they are; `goal` sets the goal."""
    return (
        Column("n", "Answers", thousands),
        Column("goal", "Goal", goal.format),
        Column("value", "Estimate", set_value),
        Column(
            ("low", "high"),
            "95 % interval",
            lambda low, high: f"{set_value(low)} to {set_value(high)}",
        ),
        Column(("width", "relative"), "Half-width", set_width),
        Column("puzzles", "Asked next"),
    )


MakeTable = Callable[[Sequence[Replay]], pd.DataFrame]


def report_runs(
    replays: Sequence[Replay],
    specs: Mapping[TableSpec, MakeTable],
    names: Iterable[str],
    *,
    along: str,
    draw: Callable[..., Figure],
    say: Callable[[dict[Any, Any]], list[str]],
    goal: str = "{}",
    title: Callable[[dict[Any, Any]], str] = lambda row: str(row["model"]),
) -> tuple[list[Table], dict[str, Picture], list[dict[str, object]]]:
    """Return the tables, the pictures by name, and what the page says of each adaptive run.

    `specs` are those of the runs, the batches, the cells and the curves, in this order, with the
    functions that compute them. `names` are the pictures'. `along` says which loads the curves are
    along. `draw` takes a run's rows of the cells and the curves; `say` and `title` take its row of
    the runs; `goal` sets the goal in print.
    """
    if not replays:
        return [], {}, []
    tables = [spec.table(make(replays)) for spec, make in specs.items()]
    runs, batches, cells, curves = (table.data for table in tables)
    drawings: dict[str, Drawing] = {}
    for run, name in zip(replays, names, strict=True):
        mine, model = partial(_rows_of, about=run.about), run.about["model"]
        drawings[name] = (
            f"Accuracy of {model} {along}, at the puzzles of its adaptive run.",
            partial(draw, mine(cells), mine(curves)),
        )
        steps = mine(batches)
        drawings[f"{name}_interval"] = (
            f"How the interval of {model}'s goal shrank.",
            partial(draw_shrink, steps, goal.format(steps["goal"].iloc[0])),
        )
    pictures = draw_all(drawings)
    shown = zip(*2 * [iter(pictures.values())], strict=True)
    section: list[dict[str, object]] = [
        {"name": title(row), "said": say(row), "pictures": pair}
        for row, pair in zip(runs.to_dict("records"), shown, strict=True)
    ]
    return tables, pictures, section


def _rows_of(data: pd.DataFrame, about: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of one run."""
    return data[(data[list(about)] == list(about.values())).all(axis=1)]
