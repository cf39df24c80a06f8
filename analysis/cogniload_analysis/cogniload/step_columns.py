"""What CogniLoad's samples say of the answer that was read, and of where the reasoning breaks."""

import math
import re
from typing import Any

import pandas as pd

from cogniload_analysis.analysis import Break
from cogniload_analysis.frame import Columns, column, read_count
from cogniload_gen.answers import Sample
from cogniload_gen.benchmarks import read_steps
from cogniload_gen.cogniload.knobs import ERRORS
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.first_error import Steps
from cogniload_gen.files import MALFORMED, show_controls

STATEMENT = re.compile(r"^[ \t]*\d{1,9}[.):] .*", re.MULTILINE)
"""A line of a puzzle that is a statement."""


def _read_reading(sample: Sample) -> tuple[bool, float, str, bool, float, str]:
    """Return what a sample holds under `steps_read`: the values of READING.

    Without it, or with an error that `read_steps` does not know, the response counts as not read.
    """
    held = sample.steps
    first, error, coverage = (held.get(name) for name in ("first_error", "error", "coverage"))
    covered = float(coverage) if isinstance(coverage, int | float) else math.nan
    N = read_count(sample.doc, "N")
    within = first is None or (isinstance(first, int) and 0 <= first <= N)
    reader = show_controls(str(held.get("reader") or ""))
    if held.get("read") is not True or not within or error not in (None, *ERRORS):
        return False, math.nan, "", False, covered, reader
    at = math.nan if first is None else float(first)
    return True, at, error or "", bool(held.get("recovered")), covered, reader


READING = Columns(
    {
        "steps_read": bool,
        "first_error": "float64",
        "error": pd.CategoricalDtype(["", *ERRORS]),
        "recovered": bool,
        "coverage": "float64",
        "reader": "category",
    },
    _read_reading,
)
"""The columns of where the reasoning breaks; `reader` is the model that transcribed it, or ""."""


ANSWER = column("answer", object, lambda sample: sample.answer)
"""The column of a frame from which majorities are counted."""


def find_break(text: str, sample: Sample, row: Any) -> Break | None:
    """Return where a response breaks, by its transcript or as the rules read it now.

    None where it doesn't, and where it can't be read.
    """
    made = sample.transcript
    try:
        steps = read_steps(text, sample.doc, transcript=made["records"] if made else None)
        solution = solve_steps(sample.doc["puzzle"])
    except MALFORMED:  # a puzzle made elsewhere
        return None
    if not isinstance(steps, Steps) or steps.error is None:
        return None
    t = steps.first_error
    if t is None:
        return Break("the answer (the tracking is right to the end)", (), None)
    true = solution.states[t][solution.poi]  # a category's last word is the shirt of clothes_shirt
    states = tuple((part.rpartition("_")[2], true[part], steps.taken[part]) for part in true)
    where = f"statement {t} ({say_kind(steps.error)})" if t else "the initial state"
    return Break(where, states, steps.place)


def find_needles(puzzle: str) -> list[tuple[int, int]]:
    """Return the places of the needles in a puzzle's text; none of a puzzle made elsewhere."""
    try:
        needles = solve_steps(puzzle).needles
    except ValueError:
        return []
    lines = STATEMENT.finditer(puzzle)
    return [line.span() for line, needle in zip(lines, needles, strict=False) if needle]


def say_kind(error: str) -> str:
    """Return the kind of an error in print."""
    return error.replace("_", " ")
