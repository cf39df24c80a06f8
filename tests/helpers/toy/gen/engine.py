"""The toy's own engine: sums of n numbers, their solver and their scorer."""

import re
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cogniload_gen.benchmark import Score
from cogniload_gen.draws import child
from cogniload_gen.grid import Source, whole_table

SCHEMA = pa.schema(
    {"id": pa.string(), "n": pa.int64(), "seed": pa.int64(), "index": pa.int64()}
    | {"puzzle": pa.string(), "question": pa.string(), "answer": pa.string()}
)


class ToyCell(NamedTuple):
    """One combination of the toy's knobs: n numbers."""

    n: int


class ToyOutcome(StrEnum):
    """What became of a response to a sum."""

    RIGHT = "right"
    OFF = "off"
    MUTE = "mute"

    @property
    def correct(self):
        """Whether the response counts as correct."""
        return self is ToyOutcome.RIGHT

    @property
    def cut(self):
        """Whether a limit cut the response off."""
        return False


def source(selection):
    """Return the sums of a selection."""

    def make(batch):
        rows = [
            (child(key, np.arange(cell.n)) % np.uint64(9)).tolist()
            for key, cell in zip(batch.keys, batch.cells, strict=True)
        ]
        columns = {
            "puzzle": [f"Add {' and '.join(map(str, row))}. What is the sum?" for row in rows],
            "question": ["What is the sum?"] * len(rows),
            "answer": [str(sum(row)) for row in rows],
        }
        yield whole_table(selection, batch, SCHEMA, columns)

    return Source(selection, SCHEMA, make, 100)


def solve(text):
    """Return the sum that a text asks for."""
    return str(sum(map(int, re.findall(r"\d+", text))))


def score(response, row):
    """Return the score of the last number of a response."""
    numbers = list(re.finditer(r"\d+", response))
    if not numbers:
        return Score(ToyOutcome.MUTE, None, None, "there is no number")
    last = numbers[-1]
    outcome = ToyOutcome.RIGHT if last[0] == row["answer"] else ToyOutcome.OFF
    return Score(outcome, last[0], last.span(), f"the last number is {last[0]}")
