"""Clean traces: the text that tracks a puzzle without an error, which the rewards pay in full.

A trace has the form that TRACKING_INSTRUCTION asks for: a line for each statement with the state
that it leaves the person of interest in, then the answer in a sentence.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pyarrow as pa

from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.planted import clauses
from cogniload_gen.grid import ENGLISH, Batch, Source

_messages = pa.list_(pa.struct({"role": pa.string(), "content": pa.string()}))


def clean_trace(puzzle: str) -> str:
    """Return the clean trace of a puzzle, given as its text; ValueError for another text.

    Examples:
        >>> from cogniload_gen import generate_puzzles
        >>> table = generate_puzzles(d=1, N=2, rho=50, num_puzzles=1)
        >>> print(clean_trace(str(table["puzzle"][0])))
        At first, Charles is wearing white pants.
        1. Charles stays the same.
        2. Charles stays the same.
        <BLANKLINE>
        Charles is wearing white pants.
    """
    solution = solve_steps(puzzle)
    states = [people[solution.poi] for people in solution.states]
    lines = [f"At first, {solution.poi} {clauses('state', states[0])}."]
    for t, (before, after) in enumerate(pairwise(states), 1):
        told = "stays the same" if after == before else clauses("state", after)
        lines.append(f"{t}. {solution.poi} {told}.")
    answer = clauses("state", {solution.category: states[-1][solution.category]})
    return "\n".join([*lines, "", f"{solution.poi} {answer}."])


def with_traces(source: Source, form: str) -> Source:
    """Return puzzles with the columns `prompt` and `completion`, as trainers take them.

    The prompt is the puzzle, as the tasks send it, the completion its clean trace; each is a text,
    or with the form "chat" a list of one message. ValueError for puzzles that no reward is for.
    """
    grid = source.selection
    if grid.language != ENGLISH or str(grid.twin).partition("=")[0] in ("language", "question"):
        given = f"language {grid.language}, twin {grid.twin}"
        raise ValueError(f"traces are for puzzles in English that ask for one value, got {given}")
    kind = _messages if form == "chat" else pa.string()
    schema = pa.schema([*source.schema, ("prompt", kind), ("completion", kind)])

    def said(role: str, text: str) -> Any:
        return [{"role": role, "content": text}] if form == "chat" else text

    def make(batch: Batch) -> Iterator[pa.Table]:
        for table in source.make(batch):
            puzzles = table["puzzle"].to_pylist()
            asked = [said("user", puzzle) for puzzle in puzzles]
            told = [said("assistant", clean_trace(puzzle)) for puzzle in puzzles]
            yield pa.table([*table.columns, pa.array(asked, kind), pa.array(told, kind)], schema)

    return Source(grid, schema, make, source.batch_rows)
