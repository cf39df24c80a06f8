"""Twins: puzzles with one change each, made of their arrays (docs/twins.md says what for).

A statement changes whoever meets its conditions, so what becomes of the PoI does not depend on
anyone else. Hence the answer of a twin is known: its statements may be fewer, or more hay may stand
among them. A twin need not keep the invariants (I1) and (I2): without hay, two people other than
the PoI may become identical.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from cogniload_gen.cogniload.ontology import PEOPLE
from cogniload_gen.cogniload.simulate import Puzzles, Statements, draw_statements
from cogniload_gen.cogniload.validate import apply, fields, pack, states, unpack
from cogniload_gen.draws import child, uniform
from cogniload_gen.grid import split_twin
from cogniload_gen.text import offsets

# Children of the first child of a puzzle's key, beside those of `simulate`.
_NAMES_DRAW, _HAY_DRAW = 6, 7

ATTEMPTS = 50
"""Attempts at a hay that applies to someone: where all but the PoI are like the PoI, none does."""


def make_twins(puzzles: Puzzles, text: str, keys: np.ndarray) -> Puzzles:
    """Return the twins of puzzles, whose keys (uint64) are those of `simulate`."""
    change, number = split_twin(text)
    needle, start = puzzles.statements.needle > 0, puzzles.first_statement
    every = np.ones(len(puzzles.poi), int)
    key = child(keys, 0)
    renamed = 1 + uniform(child(key, _NAMES_DRAW), len(PEOPLE) - 1)
    makers: dict[str, Callable[[], Puzzles]] = {
        "again": lambda: puzzles,
        "needles": lambda: keep(puzzles, needle),
        # as many statements as there are needles
        "tail": lambda: begin(puzzles, np.add.reduceat(~needle, start[:-1], dtype=int)),
        "names": lambda: replace(puzzles, people=(puzzles.people + renamed) % len(PEOPLE)),
        "question=first": lambda: lay_out(puzzles, question_first=True),
        "question=state": lambda: lay_out(puzzles, whole_state=True),
        "from": lambda: begin(puzzles, number * every),
        "until": lambda: keep(puzzles, numbers(puzzles) <= number),
        "only": lambda: make_twins(begin(puzzles, (number - 1) * every), "until=1", keys),
        "reminder": lambda: lay_out(puzzles, reminder=number),
        "hay": lambda: _add_hay(keep(puzzles, needle), number, child(key, _HAY_DRAW)),
        "language": lambda: lay_out(puzzles, language=text.partition("=")[2]),
    }
    return makers["language" if change.startswith("language=") else change]()


def lay_out(puzzles: Puzzles, **changes: Any) -> Puzzles:
    """Return the puzzles with changes of their layout."""
    return replace(puzzles, layout=replace(puzzles.layout, **changes))


def keep(puzzles: Puzzles, kept: np.ndarray) -> Puzzles:
    """Return the puzzles with some of their statements, at least one each."""
    count = np.add.reduceat(kept, puzzles.first_statement[:-1], dtype=int)
    statements = puzzles.statements.take(kept)
    return replace(puzzles, statements=statements, first_statement=offsets(count))


def numbers(puzzles: Puzzles) -> np.ndarray:
    """Return the number of each statement in its puzzle, from 1."""
    start = puzzles.first_statement
    return 1 + np.arange(start[-1]) - start[puzzles.owner]


def begin(puzzles: Puzzles, after: np.ndarray) -> Puzzles:
    """Return the puzzles from the true state of everyone after a statement of each."""
    S = pack(puzzles.initial_state)
    for step in range(after.max()):
        puzzle = np.flatnonzero(after > step)
        _advance(S, puzzles, puzzle, puzzles.first_statement[puzzle] + step)
    later = keep(puzzles, numbers(puzzles) > after[puzzles.owner])
    return replace(later, initial_state=unpack(S, len(puzzles.categories)))


def _advance(S: np.ndarray, puzzles: Puzzles, puzzle: np.ndarray, row: np.ndarray) -> None:
    """Apply a statement of some of the puzzles to the states S[person, puzzle]."""
    made, now = puzzles.statements.take(row), S[:, puzzle]
    C = fields((made.condition_place < made.k[:, None]).T)
    U = fields((made.update_place < made.m[:, None]).T)
    _, S[:, puzzle] = apply(now, C, pack(made.condition_value.T), U, pack(made.update_value.T))


def _add_hay(puzzles: Puzzles, number: int, key: np.ndarray) -> Puzzles:
    """Return the puzzles with a number of hay statements more, at random places."""
    length = np.diff(puzzles.first_statement) + number
    start, owner = offsets(length), np.repeat(np.arange(len(length)), length)
    place = np.arange(len(owner)) - start[owner]
    step_key, added = child(key[owner], place), np.empty(len(owner), bool)
    added[np.lexsort([step_key, owner])] = place < number
    arrays = {}
    for name, array in vars(puzzles.statements).items():
        arrays[name] = np.zeros((len(owner), *array.shape[1:]), array.dtype)
        arrays[name][~added] = array
    longer = replace(puzzles, statements=Statements(**arrays), first_statement=start)
    S = pack(puzzles.initial_state)
    for step in range(length.max()):
        puzzle = np.flatnonzero(length > step)
        row = start[puzzle] + step
        new = added[row]
        _draw_hay(S, longer, puzzle[new], row[new], step_key)
        _advance(S, longer, puzzle, row)
    return longer


def _draw_hay(
    S: np.ndarray, puzzles: Puzzles, puzzle: np.ndarray, row: np.ndarray, key: np.ndarray
) -> None:
    """Draw the hay in some rows of statements, which leaves the PoI alone."""
    made, attempt = puzzles.statements, 0
    while len(row):
        poi, size = puzzles.poi[puzzle], puzzles.domain_size[:, puzzle]
        drawn = draw_statements(
            child(key[row], attempt), np.zeros(len(row), bool), poi, size, len(puzzles.people)
        )
        now, d = S[:, puzzle], len(size)
        poi_value = unpack(states(now, poi), d)
        v = unpack(states(now, drawn[1]), d) if attempt < ATTEMPTS else (poi_value + 1) % size
        condition_place, update_place, u = drawn[4:].reshape(3, d, -1)
        made.needle[row], made.reference[row], made.k[row], made.m[row] = drawn[:4]
        made.condition_place[row], made.update_place[row] = condition_place.T, update_place.T
        made.update_value[row] = (u + (u >= poi_value)).T
        made.condition_value[row], made.poi_state[row] = v.T, poi_value.T
        matches_poi = ((v == poi_value) | (condition_place >= drawn[2])).all(axis=0)
        row, puzzle, attempt = row[matches_poi], puzzle[matches_poi], attempt + 1
