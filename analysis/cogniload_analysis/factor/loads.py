"""FACTOR's loads, as they are read from a puzzle and printed; and its outcomes in words."""

from collections.abc import Mapping
from reprlib import repr as brief
from typing import Any

from cogniload_analysis.display.tables import show_context
from cogniload_analysis.frame import Load, read_integer
from cogniload_analysis.words import WORDS
from cogniload_gen.benchmark import Row
from cogniload_gen.factor import knobs

# The column of a puzzle that holds its complexity, by suite; and the kinds of text around it.
COMPLEXITY_COLUMNS = {"symbolic": "N", "realistic": "op"}
NOISES = ("none", "filler", *knobs.NOISES)

UNITS = {"symbolic": "variable", "realistic": "operation"}
"""What N counts, by suite."""

COMPLEXITY = {suite: f"Complexity N ({unit}s)" for suite, unit in UNITS.items()}
"""The label of an axis of N, by suite."""

MEANINGS = WORDS["outcomes"]["factor"]
"""Each wrong outcome in words."""


def read_loads(puzzle: Row) -> tuple[str, int, int, str]:
    """Return suite, N, context (tokens) and noise; ValueError for one out of range."""
    suite = puzzle["suite"]
    if suite not in COMPLEXITY_COLUMNS:
        raise ValueError(f"suite must be {' or '.join(COMPLEXITY_COLUMNS)}, got {brief(suite)}")
    N, context = (read_integer(puzzle, name) for name in (COMPLEXITY_COLUMNS[suite], "context"))
    if not (N >= 1 and context >= 0):
        raise ValueError(f"N or op must be 1 or more and context 0 or more, got {N} and {context}")
    noise = puzzle["noise"] if suite == "realistic" else "filler" if context else "none"
    if noise not in NOISES:
        raise ValueError(f"noise must be one of {', '.join(NOISES)}, got {brief(noise)}")
    return suite, N, context, noise


def describe_condition(row: Mapping[Any, Any]) -> str:
    """Return the context of a table's row in words, which begin a sentence."""
    filler = row["suite"] == "symbolic"
    if row["context"] == 0:
        return "Without filler" if filler else "Without noise"
    around = "filler" if filler else f"text with {row['noise']} noise"
    return f"With {row['context']:,} tokens of {around}"


def label_context(context: Any, noise: Any) -> str:
    """Return a context length, with the kind of its noise where there are several kinds."""
    return show_context(context) + f" {noise}" * (noise in {"close", "general"})


_, COMPLEXITY_LOAD, CONTEXT, _ = LOADS = (
    Load("suite", "Suite", "category", show=str, in_task=True),
    Load("N", "N", harder=True),
    Load("context", "Context", show=show_context, harder=True),
    Load("noise", "Noise", "category", show=str),
)
