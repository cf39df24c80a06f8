"""FACTOR: of retrieved prompts, whether a failure was not retrieved, or retrieved and not reasoned.

The paper's section 1 sets retrieval beside full attention: where a statement that the answer needs
is not in the prompt, no reasoning can make up for it. Samples tell how many were needed and found.
"""

from collections.abc import Hashable
from typing import Any

import pandas as pd

from cogniload_analysis.display.print import format_interval, format_loads, format_number
from cogniload_analysis.factor.decay import CONDITION
from cogniload_analysis.factor.loads import LOADS
from cogniload_analysis.intervals import wilson_interval
from cogniload_analysis.samples.columns import Columns
from cogniload_gen.benchmark import Row
from cogniload_gen.files.inputs import show_controls

LONGEST = 200

PARTS = {
    "right_closed": "right, all retrieved",
    "right_open": "right, not all retrieved",
    "not_reasoned": "wrong: retrieved, not reasoned",
    "not_retrieved": "wrong: not retrieved",
}
"""What becomes of a response: every one is in one part."""

BY = [*CONDITION, "retrieval"]


def read_retrieval(sample: Row) -> tuple[str, float, float]:
    """Return the values of RETRIEVED; a sample without sound counts is taken for a whole text."""
    method, needed, present = (sample["doc"].get(name) for name in RETRIEVED.types)
    counted = type(needed) is int and type(present) is int and 0 <= present <= needed < 10**6
    if not (isinstance(method, str) and method and counted):
        return "", float("nan"), float("nan")
    return show_controls(method)[:LONGEST], float(needed), float(present)


RETRIEVED = Columns(
    {"retrieval": "category", "needed": "float64", "found": "float64"}, read_retrieval
)
"""How the prompt was retrieved ("" for a whole text), and how many statements the answer needs and
the prompt holds (NaN for a whole text)."""


def retrieval_table(frame: pd.DataFrame, *more: str) -> pd.DataFrame:
    """Return what became of retrieved prompts by condition and by further columns.

    The parts add up to the responses; `recall` is the share of the needed statements that were
    found, `closure` the share of the prompts with all of them, with Wilson's 90 % interval, and
    `accuracy_closed` the accuracy on these. Empty without retrieved prompts.
    """
    retrieved = frame[frame["needed"].notna()]
    closed, right = retrieved["found"] == retrieved["needed"], retrieved["correct"].astype(bool)
    parts = {
        "right_closed": right & closed,
        "right_open": right & ~closed,
        "not_reasoned": ~right & closed,
        "not_retrieved": ~right & ~closed,
    }
    counted = retrieved[[*BY, *more, "needed", "found"]].assign(responses=1, **parts)
    groups = counted.groupby([*BY, *more], observed=True)
    table = groups[["responses", "needed", "found", *parts]].sum().astype(int).reset_index()
    all_found, correct = (
        table["right_closed"] + table[part] for part in ("not_reasoned", "right_open")
    )
    low, high = wilson_interval(all_found, table["responses"])
    return table.assign(
        recall=table["found"] / table["needed"],
        closure=all_found / table["responses"],
        closure_low=low,
        closure_high=high,
        accuracy=correct / table["responses"],
        accuracy_closed=table["right_closed"] / all_found.where(all_found > 0),
    )


def format_retrieval(table: pd.DataFrame) -> pd.DataFrame:
    """Set `retrieval_table` in print, shares in percent."""
    low, high = (100 * table[f"closure_{end}"] for end in ("low", "high"))
    loads = format_loads(table, [load for load in LOADS if load.name in table])
    return pd.DataFrame(
        {"Model": table["model"]}
        | loads
        | {
            "Retrieval": table["retrieval"],
            "Responses": table["responses"],
            "Recall [%]": format_number(100 * table["recall"], 1),
            "Closure [%]": format_number(100 * table["closure"], 1),
            "90 % interval": format_interval(low, high, 1),
            "Acc [%]": format_number(100 * table["accuracy"], 1),
            "Acc where closed [%]": format_number(100 * table["accuracy_closed"], 1),
            "Right, closed": table["right_closed"],
            "Right, open": table["right_open"],
            "Not reasoned": table["not_reasoned"],
            "Not retrieved": table["not_retrieved"],
        }
    ).astype(str)


def say_retrieval(row: dict[Hashable, Any]) -> str:
    """Say of a row of `retrieval_table` how its failures split."""
    wrong = row["not_retrieved"] + row["not_reasoned"]
    said = (
        f"Retrieval ({row['retrieval']}) at {row['context']:,} tokens found all that the answer "
        f"needs for {100 * row['closure']:.1f} % of {row['responses']} puzzles (90 % interval "
        f"{100 * row['closure_low']:.1f} to {100 * row['closure_high']:.1f})"
    )
    if not wrong:
        return f"{said}; every answer is right."
    return (
        f"{said}. Of {wrong} wrong answers, {row['not_retrieved']} were not retrieved and "
        f"{row['not_reasoned']} retrieved, not reasoned."
    )
