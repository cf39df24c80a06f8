"""What CogniLoad's samples say of where the reasoning breaks, and the same for one response."""

import math
from collections.abc import Mapping
from reprlib import repr as brief
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.analysis import Break
from cogniload_analysis.columns import Columns, read_integer
from cogniload_gen.benchmark import Row
from cogniload_gen.benchmarks import read_steps
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.rules import ERRORS, Steps


def read_reading(sample: Row) -> tuple[bool, float, str, bool, float]:
    """Return what a sample holds under `steps_read`: the values of READING.

    Without it, or with null there, the response counts as not read, and its coverage is NaN. Of a
    response that was not read, first_error, error and recovered are ignored. Raises ValueError for
    what `read_steps` can't have said, and KeyError for a missing field.
    """
    held = sample.get("steps_read")
    if held is None:
        return False, math.nan, "", False, math.nan
    if not isinstance(held, Mapping):
        raise ValueError(f"steps_read must be an object, got {brief(held)}")
    read, coverage = held["read"], held["coverage"]
    if not isinstance(read, bool):
        raise ValueError(f"read must be true or false, got {brief(read)}")
    if type(coverage) not in (int, float) or not 0 <= coverage <= 1:
        raise ValueError(f"coverage must be a number from 0 to 1, got {brief(coverage)}")
    if not read:
        return False, math.nan, "", False, float(coverage)
    first, error, recovered = held["first_error"], held["error"], held["recovered"]
    N = read_integer(sample["doc"], "N")
    if first is not None and (type(first) is not int or not 0 <= first <= N):
        allowed = f"null or a statement from 0 to {N}"
        raise ValueError(f"first_error must be {allowed}, got {brief(first)}")
    if error is not None and error not in ERRORS:
        raise ValueError(f"error must be null or one of {', '.join(ERRORS)}; got {brief(error)}")
    if (first is None) != (error in (None, "answer")) or (first == 0) != (error == "initial"):
        raise ValueError(f"first_error and error must agree, got {brief(first)} and {brief(error)}")
    if recovered is not None and not isinstance(recovered, bool):
        raise ValueError(f"recovered must be null, true or false, got {brief(recovered)}")
    at = math.nan if first is None else float(first)
    return True, at, error or "", bool(recovered), float(coverage)


READING = Columns(
    {
        "steps_read": bool,
        "first_error": "float64",
        "error": pd.CategoricalDtype(["", *ERRORS]),
        "recovered": bool,
        "coverage": "float64",
    },
    read_reading,
)
"""The columns of where the reasoning breaks."""


def find_break(response: str, puzzle: Row, row: Any) -> Break | None:
    """Return where a response breaks, as the rules read it now.

    None where it doesn't, where it can't be read, or where the sample's own reading, in the
    response's row of the frame, is another.
    """
    try:
        steps = read_steps(response, puzzle)
        solution = solve_steps(puzzle["puzzle"])
    except (ValueError, TypeError, AttributeError, LookupError):  # a puzzle made elsewhere
        return None
    if not isinstance(steps, Steps) or steps.error is None:
        return None
    first = math.nan if steps.first_error is None else float(steps.first_error)
    held = row.first_error, row.error
    if row.steps_read and not (np.array_equal(first, held[0], True) and steps.error == held[1]):
        return None
    if steps.first_error is None:
        return Break("the answer (the tracking is right to the end)", (), None)
    t = steps.first_error
    true = solution.states[t][solution.poi]
    states = tuple((name_part(part), true[part], steps.taken[part]) for part in true)
    where = f"statement {t} ({say_kind(steps.error)})" if t else "the initial state"
    return Break(where, states, steps.place)


def name_part(category: str) -> str:
    """Return a category's last word, as the shirt of clothes_shirt."""
    return category.rpartition("_")[2]


def say_kind(error: str) -> str:
    """Return the kind of an error in print."""
    return error.replace("_", " ")
