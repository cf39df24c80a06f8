"""Examples of responses: the puzzle, the response's end and the bucket."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.analysis import Analysis, Break
from cogniload_analysis.samples.read import read_rows
from cogniload_gen.answers import Sample
from cogniload_gen.answers.files import read_lines
from cogniload_gen.answers.reasoning import whole
from cogniload_gen.benchmark import Score
from cogniload_gen.files import MALFORMED, show_controls

FAILURES, SUCCESSES = 10, 4
# Multiples of the golden ratio fill an interval evenly, however many there are.
_GOLDEN = 0.6180339887
# Characters shown of a response's end, and on both sides of what is marked before it.
RESPONSE_END, _AROUND = 1500, 500
# Responses that a page lists by cell, and the characters of each.
_MOST_LISTED, _LISTED_END = 3000, 300
# A puzzle of 128K tokens is shown by its two ends.
_PUZZLE_END = 20_000
# A line of a response may be endless.
_STEP_LENGTH = 200

# Some text, and its mark: "" for none, "evidence", "step", "needle", or "gap" in place of text.
_Passage = tuple[str, str]

Place = tuple[int, int]
"""Where something stands in a text: from, and up to."""

Mark = tuple[str, Place]
"""A mark, and where it is."""

Example = dict[str, Any]
"""A response as the page shows it: puzzle, reasoning and response in parts, and its break."""


def pick_responses(frame: pd.DataFrame, analysis: Analysis, number: int) -> list[Example]:
    """Return up to `number` responses of a benchmark's frame, with their texts.

    They alternate between outcomes and models, and spread over the loads: the first is of the
    shortest puzzle, which a person can check. Raises OSError where a samples file is no longer
    there.
    """
    rows = frame.sort_values(list(analysis.growth), kind="stable")
    groups = ["outcome", "model"]
    spread = rows.groupby(groups, observed=True).cumcount() * _GOLDEN % 1
    rows = rows.iloc[np.argsort(spread, kind="stable")]
    for by in (groups, groups[:1]):  # in turns: the models of an outcome, then the outcomes
        turns = rows.groupby(by, observed=True).cumcount()
        rows = rows.iloc[np.argsort(turns, kind="stable")]
    return [describe_response(row, analysis) for row in rows.head(number).itertuples()]


def describe_response(row: Any, analysis: Analysis) -> Example:
    """Return a response as the page shows it, from its row in a benchmark's frame."""
    (held,) = read_lines(row.file, [row.offset])
    sample = held.attempts()[row.take]
    apart, told = sample.apart, sample.reasoning
    text = whole(apart.response, told.text)
    # Samples made elsewhere may lack what neither score nor analysis needs.
    texts = {name: str(sample.doc.get(name) or "") for name in ("puzzle", "question", "answer")}
    puzzle = texts.pop("puzzle")
    scored = _score_again(sample, row.outcome)
    texts["why"] = scored.explanation if scored else ""
    broken = None if told.hidden else analysis.find_break(text, sample, row)
    start = len(text) - len(apart.response)
    shift, (first, last) = start - apart.start, (scored and scored.evidence) or (0, 0)
    marks = [("step", _find_step(text, broken)), ("evidence", (first + shift, last + shift))]
    ends = (0, _PUZZLE_END), (max(_PUZZLE_END, len(puzzle) - _PUZZLE_END), len(puzzle))
    needles = [("needle", place) for place in analysis.find_needles(puzzle)]
    return {name: show_controls(text) for name, text in texts.items()} | {
        "kind": "example",
        "name": f"{analysis.prefix}response-{row.Index}",
        "model": row.model,
        "id": row.id,
        "load": analysis.describe_load(row),
        "bucket": row.outcome,
        "meaning": analysis.meanings.get(row.outcome, row.outcome),
        "ending": row.cut_by or row.ending,
        "puzzle": _mark_text(puzzle, ends, needles),
        "reasoning": _show_end(text[:start], marks),
        "parts": _show_end(text, marks, start),
        "where": broken.where if broken else "",
        "states": [tuple(map(show_controls, state)) for state in broken.states] if broken else [],
    }


def _show_end(text: str, marks: Sequence[Mark], start: int = 0) -> list[_Passage]:
    """Return the end of a text, from `start` on, and what stands around its marks, in parts."""
    kept = [(name, place) for name, place in marks if start <= place[0] < place[1] <= len(text)]
    windows = [(max(start, len(text) - RESPONSE_END), len(text))]
    windows += [(max(start, first - _AROUND), last + _AROUND) for _, (first, last) in kept]
    return _mark_text(text, windows, kept, start)


def _mark_text(
    text: str, windows: Sequence[Place], marks: Sequence[Mark], start: int = 0
) -> list[_Passage]:
    """Return the windows of a text in parts, from `start` on; where marks meet, the first holds."""
    places = [*windows, *(place for _, place in marks), (start, len(text))]
    edges = sorted({min(edge, len(text)) for place in places for edge in place})
    parts: list[_Passage] = []
    left_out = 0
    for first, last in pairwise(edges):
        if not any(low <= first < high for low, high in windows):
            left_out += last - first
            continue
        if left_out:
            parts.append((f"[… {left_out:,} characters …]\n", "gap"))
            left_out = 0
        over = [name for name, place in marks if place[0] <= first < place[1]]
        parts.append((show_controls(text[first:last]), over[0] if over else ""))
    return parts


def _find_step(response: str, broken: Break | None) -> tuple[int, int]:
    """Return the place of the line in which a response breaks; (0, 0) if there is none."""
    if broken is None or broken.place is None:
        return 0, 0
    at, most = broken.place, broken.place + _STEP_LENGTH
    after = response.find("\n", at, most)
    first = max(at - _STEP_LENGTH, response.rfind("\n", 0, at) + 1, 0)
    return first, min(most, len(response)) if after < 0 else after


def list_responses(frame: pd.DataFrame, analysis: Analysis) -> list[list[str]]:
    """Return the responses of a frame as the page lists those of a cell; none of very many.

    Each is its place in the frame, the model, the levels of the loads, the puzzle's id, the outcome
    in words and the first error, and how the response ends.
    """
    if len(frame) > _MOST_LISTED:
        return []
    ends = {place: each.apart.response[-_LISTED_END:] for place, each in read_rows(frame)}
    levels = [load.scale(frame[load.name]).map(load.show) for load in analysis.loads]
    outcome = frame["outcome"].astype(str).replace(dict(analysis.meanings))
    outcome = outcome.mask(frame["correct"].astype(bool), "right")
    error = frame["error"] if "error" in frame else [""] * len(frame)
    columns = [frame.index, frame["model"], *levels, frame["id"], outcome, error]
    rows = zip(*columns, (ends[place] for place in frame.index), strict=True)
    return [[show_controls(str(text)) for text in row] for row in rows]


def _score_again(sample: Sample, outcome: str) -> Score | None:
    """Return the score of a sample; None where it has another outcome now, or can't be scored."""
    with suppress(*MALFORMED):  # a puzzle made elsewhere
        scored = sample.unscored().score
        if scored.outcome == outcome:
            return scored
    return None
