"""Examples of responses: the puzzle, the response's end and the bucket."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.analysis import Analysis, Break
from cogniload_analysis.samples.files import read_line
from cogniload_gen.benchmark import Score
from cogniload_gen.files import MALFORMED, show_controls
from cogniload_gen.reasoning import split, whole
from cogniload_gen.sample import (
    Sample,
    read_reasoning,
    read_responses,
    score_attempts,
    score_sample,
)

FAILURES, SUCCESSES = 10, 4
# Multiples of the golden ratio fill an interval evenly, however many there are.
GOLDEN = 0.6180339887
RESPONSE_END = 1500
# A puzzle of 128K tokens is shown by its two ends.
PUZZLE_END = 20_000
# A line of a response may be endless.
STEP_LENGTH = 200

Part = tuple[str, str]
"""Some text of a response, and its mark: "" for none, "evidence" or "step"."""

Example = dict[str, Any]
"""A response as the page shows it: texts, the response's end in parts, and where it breaks."""


def pick_responses(frame: pd.DataFrame, analysis: Analysis, number: int) -> list[Example]:
    """Return up to `number` responses of a benchmark's frame, with their texts.

    They alternate between outcomes and models, and spread over the loads: the first is of the
    shortest puzzle, which a person can check. Raises OSError where a samples file is no longer
    there.
    """
    rows = frame.sort_values(list(analysis.growth), kind="stable")
    groups = ["outcome", "model"]
    spread = rows.groupby(groups, observed=True).cumcount() * GOLDEN % 1
    rows = rows.iloc[np.argsort(spread, kind="stable")]
    for by in (groups, groups[:1]):  # in turns: the models of an outcome, then the outcomes
        turns = rows.groupby(by, observed=True).cumcount()
        rows = rows.iloc[np.argsort(turns, kind="stable")]
    return [describe_response(row, analysis) for row in rows.head(number).itertuples()]


def describe_response(row: Any, analysis: Analysis) -> Example:
    """Return a response as the page shows it, from its row in a benchmark's frame."""
    sample = score_attempts(read_line(row.file, row.offset))[row.take]
    apart, told = split(read_responses(sample)[0]), read_reasoning(sample)
    text = whole(apart.response, told.text)
    # Samples made elsewhere may lack what neither score nor analysis needs.
    texts = {name: str(sample["doc"].get(name) or "") for name in ("puzzle", "question", "answer")}
    if len(texts["puzzle"]) > 2 * PUZZLE_END:
        texts["puzzle"] = (
            f"{texts['puzzle'][:PUZZLE_END]}\n\n[…]\n\n{texts['puzzle'][-PUZZLE_END:]}"
        )
    scored = score_again(sample)
    texts["why"] = scored.explanation if scored else ""
    broken = None if told.hidden else analysis.find_break(text, sample["doc"], row)
    shift = len(text) - len(apart.response) - apart.start
    first, last = (scored and scored.evidence) or (0, 0)
    marks = {"evidence": (first + shift, last + shift) if last else (0, 0)}
    marks["step"] = find_step(text, broken)
    return {name: show_controls(text) for name, text in texts.items()} | {
        "kind": "example",
        "name": f"{analysis.prefix}response-{row.Index}",
        "model": row.model,
        "id": row.id,
        "load": analysis.describe_load(row),
        "bucket": row.outcome,
        "meaning": analysis.meanings.get(row.outcome, row.outcome),
        "ending": row.cut_by or row.ending,
        "omitted": max(0, len(text) - RESPONSE_END),
        "parts": [(show_controls(part), mark) for part, mark in split_end(text, marks)],
        "where": broken.where if broken else "",
        "states": [tuple(map(show_controls, state)) for state in broken.states] if broken else [],
    }


def split_end(response: str, marks: dict[str, tuple[int, int]]) -> list[Part]:
    """Return the shown end of a response in parts; where two marks meet, the first one holds.

    `marks` are places in the response by their name. What begins before the shown end is not
    marked.
    """
    start = max(0, len(response) - RESPONSE_END)
    kept = {name: place for name, place in marks.items() if start <= place[0] < place[1]}
    edges = sorted({start, len(response), *(edge for place in kept.values() for edge in place)})
    parts: list[Part] = []
    for first, last in pairwise(edges):
        over = [name for name, place in kept.items() if place[0] <= first < place[1]]
        parts.append((response[first:last], over[0] if over else ""))
    return parts


def find_step(response: str, broken: Break | None) -> tuple[int, int]:
    """Return the place of the line in which a response breaks; (0, 0) if there is none."""
    if broken is None or broken.place is None:
        return 0, 0
    at, most = broken.place, broken.place + STEP_LENGTH
    after = response.find("\n", at, most)
    first = max(at - STEP_LENGTH, response.rfind("\n", 0, at) + 1, 0)
    return first, min(most, len(response)) if after < 0 else after


def score_again(sample: Sample) -> Score | None:
    """Return the score of a sample; None where it has another outcome now, or can't be scored."""
    try:
        result = score_sample({name: sample[name] for name in sample if name != "outcome"})
    except MALFORMED:  # a puzzle made elsewhere
        return None
    return result if result.outcome == sample["outcome"] else None
