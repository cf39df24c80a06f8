"""Rewards of FACTOR responses, from 0 to 1, for training.

**Answer**: a response has to be correct by the benchmark's scorer.

**Steps**: the values of the solution's variables. They are read where a response writes them as the
solution does ("v1 = v4 - 1 = 0", "Define South Zoo's Fox as d; so d = 2.", "South Zoo's Fox = 2"),
in any order. A variable with two values has none. The reward is the share of the solution's
variables, in its order, before the first without its right value.
"""

import re

from cogniload_gen.benchmark import Row
from cogniload_gen.checks import check_texts
from cogniload_gen.factor.score import score_row

LEADS = "and|first|finally|get|have|hence|let|next|now|so|then|therefore|thus|we"
LEAD = re.compile(rf"^[\s-]*(?:(?:{LEADS}) )*", re.IGNORECASE)
"""What may stand before a variable. Other words, such as "not", may deny the value."""


def answer_reward(response: str, row: Row) -> float:
    """Return 1.0 if a response is correct, else 0.0."""
    return float(score_row(response, row).correct)


def step_reward(response: str, row: Row) -> float:
    """Return how far into the solution a response's values stay right."""
    expected = variables(check_texts(row, ("solution",))["solution"])
    claimed = variables(response)
    right = [claimed.get(name) == value for name, value in expected.items()]
    return [*right, False].index(False) / len(right)


def variables(text: str) -> dict[str, str | None]:
    """The values of FACTOR's variables that a text tells, in order; None where it tells several."""
    names: dict[str, str] = {}
    values: dict[str, str | None] = {}
    for part in re.split(r"[\n;,]|\.(?=\s|$)", re.sub("[*_`$]", "", text)):
        left, equals, right = part.partition("=")
        left, value = LEAD.sub("", left).strip(), right.rpartition("=")[2].strip()
        if not equals:
            name, _, letter = left.removeprefix("Define ").partition(" as ")
            names[letter] = name
        elif re.fullmatch(r"-?\d{1,9}", value):
            name = names.get(left, left)
            values[name] = value if values.get(name, value) == value else None
    return {name: value for name, value in values.items() if " " in name or name[1:].isdecimal()}
