"""FACTOR: of retrieved prompts, whether a failure was not retrieved, or retrieved and not reasoned.

The paper's section 1 sets retrieval beside full attention: where a statement that the answer needs
is not in the prompt, no reasoning can make up for it. Samples tell how many were needed and found.
"""

import pandas as pd

from cogniload_analysis.factor.decay import CONDITION
from cogniload_analysis.factor.words import say
from cogniload_analysis.frame import Columns
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


def say_retrieval(row: dict) -> str:
    """Say of a row of `retrieval_table` how its failures split."""
    wrong = row["not_retrieved"] + row["not_reasoned"]
    failures = say("retrieval_failures" if wrong else "retrieval_all_right", row, wrong=wrong)
    return say("retrieval", row, failures=failures)
