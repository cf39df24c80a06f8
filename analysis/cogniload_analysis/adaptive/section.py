"""The section of a report on adaptive runs, whichever benchmark they are of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from cogniload_analysis.adaptive.replay import Replay, draw_shrink
from cogniload_analysis.display.content import Picture
from cogniload_analysis.display.figures import Drawing, draw_all
from cogniload_analysis.display.tables import Table, TableSpec


def report_runs(
    replays: Sequence[Replay],
    specs: Mapping[TableSpec, Callable[[Sequence[Replay]], pd.DataFrame]],
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
