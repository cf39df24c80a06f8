"""Of retrieved prompts, whether a failure was not retrieved, or retrieved and not reasoned.

The paper's section 1 sets retrieval beside full attention: where a statement that the answer needs
is not in the prompt, no reasoning can make up for it. Samples tell how many were needed and found.
"""

from collections.abc import Mapping
from functools import partial
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display.figures import COLOURS, Figure, Panel, Series
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.display.tables import (
    MODEL,
    Columns,
    Table,
    load_columns,
    percent,
    percent_interval,
)
from cogniload_analysis.factor.decay import CONDITION
from cogniload_analysis.factor.loads import COMPLEXITY, LOADS, label_context
from cogniload_analysis.factor.sections.decays import set_accuracy
from cogniload_analysis.frame import Columns as FrameColumns
from cogniload_analysis.stats import wilson_interval
from cogniload_gen.benchmark import Row
from cogniload_gen.files import show_controls

LONGEST = 200

PARTS = {
    "right_closed": "right, all retrieved",
    "right_open": "right, not all retrieved",
    "not_reasoned": "wrong: retrieved, not reasoned",
    "not_retrieved": "wrong: not retrieved",
}
"""What becomes of a response: every one is in one part."""

BY = [*CONDITION, "retrieval"]
CAPTION = (
    "Not retrieved, or retrieved and not reasoned: its parts add up to the responses. Closed: all "
    "that the answer needs was found. The paper has 4.5 % right with 2K of 4K retrieved, and 33 % "
    "with full attention (section 1: realistic, op 5)."
)
COLUMNS: Columns = {
    **MODEL,
    **load_columns(LOADS),
    "retrieval": "Retrieval",
    "responses": "Responses",
    "recall": ("Recall [%]", percent),
    "closure": ("Closure [%]", percent),
    "closure_low, closure_high": ("95 % interval", percent_interval),
    "accuracy": ("Acc [%]", percent),
    "accuracy_closed": ("Acc where closed [%]", percent),
    "right_closed": "Right, closed",
    "right_open": "Right, open",
    "not_reasoned": "Not reasoned",
    "not_retrieved": "Not retrieved",
}


def read_retrieval(sample: Row) -> tuple[str, float, float]:
    """Return the values of RETRIEVED; a sample without sound counts is taken for a whole text."""
    method, needed, present = (sample["doc"].get(name) for name in RETRIEVED.types)
    counted = type(needed) is int and type(present) is int and 0 <= present <= needed < 10**6
    if not (isinstance(method, str) and method and counted):
        return "", float("nan"), float("nan")
    return show_controls(method)[:LONGEST], float(needed), float(present)


RETRIEVED = FrameColumns(
    {"retrieval": "category", "needed": "float64", "found": "float64"}, read_retrieval
)
"""How the prompt was retrieved ("" for a whole text), and how many statements the answer needs and
the prompt holds (NaN for a whole text)."""


def retrieval_sections(
    frame: pd.DataFrame, retrieved: pd.DataFrame, names: Mapping[tuple[str, str], str]
) -> list[Section]:
    """Return the section; none without retrieved prompts.

    `retrieved` is `retrieval_table`'s, and `names` are the figures' of each (suite, model).
    """
    by_N = retrieval_table(frame, "N")
    content: list[Content] = [Table("factor_retrieval", retrieved, CAPTION, COLUMNS)]
    for (suite, model), rows in by_N.groupby(["suite", "model"], observed=True):
        name = names[str(suite), str(model)].replace("factor_", "factor_retrieval_", 1)
        content.append(draw_retrieval(rows, name))
    caption = (
        "The same by N: its parts add up to the responses. Closed: all that the answer needs was "
        "found."
    )
    table = Table("factor_retrieval_by_N", by_N, caption, COLUMNS)
    content.append(Section("Retrieval by N", [table], folded=True))
    section = Section("Retrieval", content, "retrieved", link="Retrieval")
    return [section] * (len(retrieved) > 0)


def retrieval_table(frame: pd.DataFrame, *more: str) -> pd.DataFrame:
    """Return what became of retrieved prompts by condition and by further columns.

    The parts add up to the responses; `recall` is the share of the needed statements that were
    found, `closure` the share of the prompts with all of them, with Wilson's 95 % interval, and
    `accuracy_closed` the accuracy on these. Empty without retrieved prompts.
    """
    retrieved = frame[frame["needed"].notna()]
    closed, right = retrieved["found"] == retrieved["needed"], retrieved["correct"].astype(bool)
    answers = (right & closed, right & ~closed, ~right & closed, ~right & ~closed)
    parts = dict(zip(PARTS, answers, strict=True))
    counted = retrieved[[*BY, *more, "needed", "found"]].assign(responses=1, **parts)
    groups = counted.groupby([*BY, *more], observed=True)
    table = groups[["responses", "needed", "found", *parts]].sum().astype(int).reset_index()
    whole = table["right_closed"] + table["not_reasoned"]
    correct = table["right_closed"] + table["right_open"]
    low, high = wilson_interval(whole, table["responses"])
    return table.assign(
        recall=table["found"] / table["needed"],
        closure=whole / table["responses"],
        closure_low=low,
        closure_high=high,
        accuracy=correct / table["responses"],
        accuracy_closed=table["right_closed"] / whole.where(whole > 0),
    )


def say_retrieval(row: Mapping[Any, Any]) -> str:
    """Say of a row of `retrieval_table` how its failures split."""
    wrong = row["not_retrieved"] + row["not_reasoned"]
    failures = "; every answer is right."
    if wrong:
        failures = (
            f". Of {wrong} wrong answers, {row['not_retrieved']} were not retrieved and "
            f"{row['not_reasoned']} retrieved, not reasoned."
        )
    low, high = (100 * row[f"closure_{end}"] for end in ("low", "high"))
    return (
        f"Retrieval ({row['retrieval']}) at {row['context']:,} tokens found all that the answer "
        f"needs for {100 * row['closure']:.1f} % of {row['responses']} puzzles (95 % interval "
        f"{low:.1f} to {high:.1f}){failures}"
    )


def draw_retrieval(by_N: pd.DataFrame, name: str) -> Figure:
    """Draw the shares of what became of retrieved prompts, as stacked bars by N.

    `by_N` are `retrieval_table`'s rows by N of one model and suite.
    """
    # bars are no series: these have no points, and stand for them in the legend
    legend = [Series(label, [], [], joined=False) for label in PARTS.values()]

    def stack(axes: Any, rows: pd.DataFrame) -> None:
        bottom = np.zeros(len(rows))
        for colour, part in zip(COLOURS, PARTS, strict=False):
            share = (rows[part] / rows["responses"]).to_numpy()
            axes.bar(rows["N"], share, 0.8, bottom, color=colour)
            bottom += share
        set_accuracy(axes)

    model, suite = by_N[["model", "suite"]].iloc[0]
    panels = []
    for (context, noise, method), rows in by_N.groupby(
        ["context", "noise", "retrieval"], observed=True
    ):
        title = "\n".join(wrap(f"{label_context(context, noise)}: {method}", 34))
        finish = partial(stack, rows=rows)
        panels.append(Panel(legend, COMPLEXITY[suite], "Share of the responses", title, finish))
    caption = f"What became of the retrieved prompts of {model} ({suite} suite), by N."
    return Figure(name, caption, panels)
