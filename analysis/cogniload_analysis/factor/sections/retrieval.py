"""Of retrieved prompts, whether a failure was not retrieved, or retrieved and not reasoned.

The paper's section 1 sets retrieval beside full attention: where a statement that the answer needs
is not in the prompt, no reasoning can make up for it. Samples tell how many were needed and found.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display.figures import COLOURS, POINTS, Figure, Panel, Series, shorten_name
from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import table
from cogniload_analysis.factor.decay import CONDITION
from cogniload_analysis.factor.loads import label_context
from cogniload_analysis.frame import Columns
from cogniload_analysis.stats import wilson_interval
from cogniload_analysis.words import WORDS, say
from cogniload_gen.answers import Sample

PARTS = WORDS["retrieved"]
"""What becomes of a response: every one is in one part."""


def _read_retrieval(sample: Sample) -> tuple[str, float, float]:
    """Return the values of RETRIEVED; a sample without counts is taken for a whole text."""
    method, needed, found = (sample.doc.get(name) for name in RETRIEVED.types)
    if isinstance(method, str) and isinstance(needed, int) and isinstance(found, int):
        return method, float(needed), float(found)
    return "", np.nan, np.nan


RETRIEVED = Columns(
    {"retrieval": "category", "needed": "float64", "found": "float64"}, _read_retrieval
)
"""How the prompt was retrieved ("" for a whole text), and how many statements the answer needs and
the prompt holds (NaN for a whole text)."""


def retrieval_sections(retrieved: pd.DataFrame) -> list[Section]:
    """Return the section of `retrieval_table`'s numbers; none without retrieved prompts."""
    if retrieved.empty:
        return []
    content = [draw_retrieval(retrieved), table("factor_retrieval", retrieved)]
    return [Section("Retrieval", content, "retrieved", link="Retrieval")]


def retrieval_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what became of retrieved prompts by condition and retrieval.

    The parts add up to the responses; `recall` is the share of the needed statements that were
    found, and `closure` the share of the prompts with all of them, with Wilson's 95 % interval.
    Empty without retrieved prompts.
    """
    retrieved = frame[frame["needed"].notna()]
    closed, right = retrieved["found"] == retrieved["needed"], retrieved["correct"].astype(bool)
    answers = (right & closed, right & ~closed, ~right & closed, ~right & ~closed)
    parts = dict(zip(PARTS, answers, strict=True))
    of_each = retrieved.assign(responses=1, **parts)
    groups = of_each.groupby([*CONDITION, "retrieval"], observed=True)
    sums = groups[["responses", "needed", "found", *parts]].sum().astype(int).reset_index()
    whole = sums["right_closed"] + sums["not_reasoned"]
    low, high = wilson_interval(whole, sums["responses"])
    return sums.assign(
        recall=sums["found"] / sums["needed"],
        closure=whole / sums["responses"],
        closure_low=low,
        closure_high=high,
        accuracy=(sums["right_closed"] + sums["right_open"]) / sums["responses"],
    )


def say_retrieval(row: Mapping[Any, Any]) -> str:
    """Say of a row of `retrieval_table` how its failures split."""
    wrong = row["not_retrieved"] + row["not_reasoned"]
    return say("retrieval", share=100 * row["closure"], wrong=wrong, **row)


def draw_retrieval(retrieved: pd.DataFrame) -> Figure:
    """Draw the shares of what became of retrieved prompts, a stacked bar for each row."""
    # bars are no series: these have no points, and stand for them in the legend
    legend = [Series(label, [], [], style=POINTS) for label in PARTS.values()]
    labels = [
        f"{shorten_name(str(row.model))}\n{row.suite}, {label_context(row.context, row.noise)}"
        for row in retrieved.itertuples()
    ]

    def finish(axes: Any) -> None:
        left, places = np.zeros(len(retrieved)), range(len(retrieved))
        for colour, part in zip(COLOURS, PARTS, strict=False):
            share = (retrieved[part] / retrieved["responses"]).to_numpy()
            axes.barh(places, share, 0.8, left, color=colour)
            left += share
        axes.set_yticks(places, labels)
        axes.set_xlim(0, 1)

    panel = Panel(legend, "Share of the responses", "", finish=finish)
    caption = "What became of the retrieved prompts."
    return Figure("factor_retrieval", caption, [panel], height=1 + 0.4 * len(retrieved))
