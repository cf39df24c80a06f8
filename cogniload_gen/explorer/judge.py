"""How the explorer makes a puzzle and judges a response, by the package's own functions."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Row

Marked = list[tuple[str, str | None]]
"""A text in parts, each with its mark, if it has one. The page shows it inertly."""


def make_row(dataset: str, **parameters: Any) -> dict[str, Any]:
    """Return the one puzzle of some parameters; ValueError, in one line, if there is none."""
    index = parameters.pop("index", 0)
    source = benchmarks.datasets()[dataset].puzzles(**parameters, first_index=index, num_puzzles=1)
    return source.rows()[0]


def judge(response: str, row: Row) -> tuple[str, Marked]:
    """Return how a response scores and where it breaks, and the response with both marked."""
    score = benchmarks.score(response, row)
    lines = [
        f"{'Right' if score.correct else 'Wrong'} ({score.outcome}): {score.explanation}.",
        f"The answer is {row['answer']}.",
    ]
    marks = {"decides the score": score.evidence} if score.evidence else {}
    steps: Any = benchmarks.read_steps(response, row)
    if not steps.read:
        lines.append("Its steps could not be read, so nothing is claimed of them.")
    elif steps.error is None:
        lines.append("Its steps hold no error.")
    else:
        place = getattr(steps, "place", None)
        if steps.error == "answer":
            lines.append("Its steps hold no error, but its answer does.")
        elif isinstance(steps.first_error, int):
            lines.append(f"First error: {steps.error}, at statement {steps.first_error}.")
        else:
            lines.append(f"First error: {steps.error}, at {steps.first_error}.")
            place = steps.told[steps.first_error].place if steps.first_error in steps.told else None
        if place is not None:
            end = response.find("\n", place)
            marks["first error"] = (place, end if end >= 0 else len(response))
    return "\n".join(lines), mark(response, marks)


def mark(text: str, marks: Mapping[str, tuple[int, int]]) -> Marked:
    """Return a text in parts; where two marks meet, the first one holds."""
    edges = sorted({0, len(text), *(edge for place in marks.values() for edge in place)})
    parts: Marked = []
    for first, last in pairwise(edges):
        over = [name for name, place in marks.items() if place[0] <= first < place[1]]
        parts.append((text[first:last], over[0] if over else None))
    return parts
