"""The validation of a statement (CogniLoad, section 2.1.4), with the invariants (I1) and (I2).

The invariants leave a valid statement of either type at every step. (I2), which the paper asks of
hay alone, holds after needles too: a needle that merged all non-PoIs would leave no valid hay.

A person's state is one number (uint64) with a field of bits for each category, the first lowest. A
field holds the position in the category's value domain, at most 15, and a state has 16 fields at
most. So all categories are compared, or changed, at once.
"""

from typing import Any

import numpy as np

FIELD = 4
"""The bits of a field."""

# All bits of every other field, from the first on.
_EVERY_OTHER = 0x0F0F0F0F0F0F0F0F


def valid(
    match: np.ndarray,
    after: np.ndarray,
    poi_state: np.ndarray,
    another: np.ndarray,
    needle: np.ndarray,
) -> np.ndarray:
    """Tell whether each puzzle's statement passes the validation (section 2.1.4, I1 and I2).

    `match` (person x puzzle) tells whom the statement applies to, `after` is the state that it
    leads to, `poi_state` the PoI's in it and `another` that of anyone else. That no one whom a hay
    changes becomes equal to the PoI is checked as the paper does, though the choice of update
    values sees to it already. That a hay affects a non-PoI is not checked, as the reference person
    always matches.
    """
    unlike_poi = after != poi_state  # never the PoI
    # all non-PoIs are equal if all equal one of them, and any one will do
    unlike_another = (after != another).sum(axis=0, dtype=np.uint8)
    I1 = unlike_poi.any(axis=0)
    I2 = (unlike_another > (poi_state != another)) | (len(match) < 3)
    # a needle applies to its reference, the PoI, and a hay to no one who is like the PoI
    return I1 & I2 & np.where(needle, ~match.all(axis=0), (unlike_poi | ~match).all(axis=0))


def states(S: np.ndarray, person: np.ndarray) -> np.ndarray:
    """Return the state of one person in each puzzle, of states S[person, puzzle]."""
    return S.take(places_of(person))


def places_of(person: np.ndarray) -> np.ndarray:
    """Return where the state of one person in each puzzle stands, of states S[person, puzzle]."""
    return person.astype(np.intp) * len(person) + np.arange(len(person))


def pack(values: np.ndarray) -> np.ndarray:
    """Return states of the values of all categories (the first axis)."""
    return np.bitwise_or.reduce(values << starts(values.shape[0], values.ndim))


def unpack(states: np.ndarray, d: int) -> np.ndarray:
    """Return the values of d categories (a new first axis) of states."""
    return (states >> starts(d, 1 + states.ndim)).astype(np.uint8) & np.uint8(2**FIELD - 1)


def starts(d: int, axes: int) -> np.ndarray:
    """Return the lowest bit of the field of each of d categories, along the first of the axes."""
    return FIELD * np.arange(d, dtype=np.uint64).reshape(-1, *[1] * (axes - 1))


def value_in(state: int, category: int) -> int:
    """Return the value of one category of a state that is a plain integer."""
    return state >> FIELD * category & 2**FIELD - 1


def fields(used: np.ndarray) -> np.ndarray:
    """Return all bits of the fields of some categories (of the first axis)."""
    return pack(used * np.uint8(2**FIELD - 1))


def at_least(values: Any, least: Any) -> Any:
    """Return the number 1 in each field where `values` is at least `least`, and 0 elsewhere.

    Every other field is compared at a time: a bit of the next one is lent to each subtraction, and
    is there afterwards if it was not needed. Both are arrays or plain integers.
    """
    lent = 0x1010101010101010
    first = ((values & _EVERY_OTHER | lent) - (least & _EVERY_OTHER) & lent) >> FIELD
    values, least = values >> FIELD, least >> FIELD
    return first | (values & _EVERY_OTHER | lent) - (least & _EVERY_OTHER) & lent


def apply(
    S: np.ndarray, C: np.ndarray, v: np.ndarray, U: np.ndarray, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return who has the values v in the fields C, and the states with u in their fields U."""
    match = (S ^ v) & C == 0
    return match, S ^ (S ^ u) & U * match


def apply_alone(
    state: list[int], C: int, v: int, U: int, u: int, poi: int, needle: int
) -> list[int]:
    """Return the states of one puzzle as `apply` does, if they pass the validation; else none.

    This is `valid` for plain integers: `side_by_side` and `one_by_one` make the same puzzles.
    """
    match = [person for person, values in enumerate(state) if not (values ^ v) & C]
    after = state.copy()
    for person in match:
        after[person] ^= (after[person] ^ u) & U
    others = after[:poi] + after[poi + 1 :]
    alike = len(set(others)) == 1
    I1, I2 = not alike or others[0] != after[poi], not alike or len(state) < 3
    own = len(match) < len(state) if needle else after[poi] not in [after[i] for i in match]
    return after if I1 and I2 and own else []
