"""A response -> where it speaks of each statement, and what its tokens are worth for that."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from cogniload_gen.answers.reasoning import blank_marks
from cogniload_gen.cogniload import BENCHMARK
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.first_error import Steps


class Span(NamedTuple):
    """What a response says of a statement (0: the initial state), and whether it is right."""

    start: int
    end: int
    statement: int
    right: bool


def credit_spans(
    response: str, row: Mapping[str, Any], transcript: Sequence[Any] | None = None
) -> list[Span]:
    """Return the place in a response of each statement that it tells, by statement.

    `row` is the puzzle as `load_dataset` gives it. Steps are read as by `read_steps`, by rules or a
    `transcript`. A span ends where the next one in the text begins, the last one with its line. The
    first wrong one is that of the first error. If the response never speaks of that statement, its
    span is what stands in its place: the next statement that is told, or all that follows the last
    one. Behind the first error a statement is right if all values that are told of it are, or where
    none is, if the response has found back. Without spans, nothing is known of the response. Raises
    ValueError as `read_steps` does, and for another benchmark.

    Examples:
        >>> from cogniload_gen import generate_puzzles
        >>> from cogniload_gen.cogniload.traces import clean_trace
        >>> row = generate_puzzles(d=1, N=4, rho=50, num_puzzles=1).to_pylist()[0]
        >>> [span.statement for span in credit_spans(clean_trace(row["puzzle"]), row)]
        [0, 1, 2, 3, 4]
    """
    text = blank_marks(response)
    steps = BENCHMARK.read_steps(text, row, transcript)
    if not steps.read:
        return []
    first = steps.first_error
    order = sorted(steps.begins, key=lambda t: (steps.begins[t], t))
    starts = [steps.begins[t] for t in order]
    values = (value.end for told in steps.told.values() for value in told.values())
    last = max([*starts, *values])
    ends = [*starts[1:], text.find("\n", last) % (len(text) + 1)]
    places = {t: (start, end) for t, start, end in zip(order, starts, ends, strict=True)}
    if first is not None and first not in places:
        later = (places[t] for t in sorted(places) if t > first)
        places[first] = next(later, (ends[-1], len(text)))
    if first is None:
        return [Span(*places[t], t, True) for t in sorted(places)]
    solution = solve_steps(row["puzzle"])
    states = [people[solution.poi] for people in solution.states]
    return [Span(*places[t], t, _is_right(t, first, steps, states[t])) for t in sorted(places)]


def _is_right(t: int, first: int, steps: Steps, state: Mapping[str, str]) -> bool:
    """Return whether what a response with a first error says of a statement is right."""
    if t <= first:
        return t < first
    if values := steps.told.get(t):
        return all(state[name] == value.value for name, value in values.items())
    return steps.recovered_at is not None and t >= steps.recovered_at


def credit_tokens(
    spans: Iterable[Span],
    offsets: Iterable[tuple[int, int]],
    worth: Mapping[int, float] | None = None,
) -> list[float]:
    """Return the credit of each token: 1.0 up to the end of the first wrong statement, then 0.0.

    `offsets` are where the tokens stand in the response, as a fast tokenizer gives them:
    `tokenizer(response, return_offsets_mapping=True)["offset_mapping"]`. What follows from a wrong
    state teaches nothing, while a token of a wrong statement is to become less likely. Without a
    wrong statement, all tokens are credited. With `worth`, a number for each statement, a token has
    that of the statement it is about, and 0.0 if there is none.
    """
    places = sorted(spans)
    if worth is None:
        wrong = min((span.end for span in places if not span.right), default=math.inf)
        return [float(start < wrong) for start, _ in offsets]
    known = [span for span in places if span.statement in worth and span.start < span.end]
    begins, credits = [span.start for span in known], list[float]()
    for start, _ in offsets:
        place = bisect_right(begins, start) - 1
        about = known[place] if place >= 0 and start < known[place].end else None
        credits.append(worth[about.statement] if about else 0.0)
    return credits
