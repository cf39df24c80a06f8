"""Forests of variables that define each other (FACTOR, A.1.1, A.1.2 and A.1.5).

Many of any N are planted side by side, in arrays of place x puzzle. A place is the i of the paper's
v_i: parents stand before their children. The variables are dealt to the places at random, so that
their numbers tell nothing.
"""

from dataclasses import dataclass

import numpy as np

from cogniload_gen.draws import child, children, uniform

VARIABLE_DRAW, ROOTS_DRAW, PARENT_DRAW, RELATION_DRAW, ORDER_DRAW = range(5)
EMPTY_DRAW, TARGET_DRAW = range(5, 7)
"""Children of a puzzle's key, beside those in filler.py and training.py."""

LARGEST_ROOT = 10
"""The largest value of a root; the least is 0."""

EMPTY = 10
"""One target in EMPTY matches no variable, whatever the N."""


@dataclass(frozen=True)
class Forests:
    """Forests with N variables each, as arrays of place x puzzle; places from N on mean nothing.

    `variable` is the number of the variable at a place; the first k places are roots. `parent` is
    a place, `operation` what is added to the parent's value: -1, 0 or +1. `order` holds the places
    in the order of the text. `target` is the value in the question.
    """

    N: np.ndarray
    k: np.ndarray
    variable: np.ndarray
    parent: np.ndarray
    operation: np.ndarray
    value: np.ndarray
    order: np.ndarray
    target: np.ndarray

    @property
    def hops(self) -> np.ndarray:
        """How many edges the deepest variable of the target's value is from its root.

        It is 0 where only roots have that value, or none has.
        """
        depth, puzzle = np.zeros_like(self.parent), np.arange(len(self.N))
        for i in range(1, len(depth)):
            depth[i] = np.where(i < self.k, 0, depth[self.parent[i], puzzle] + 1)
        is_gold = (self.value == self.target) & (self.place < self.N)
        return np.where(is_gold, depth, 0).max(axis=0)

    @property
    def place(self) -> np.ndarray:
        """The places, to compare with N or k."""
        return np.arange(len(self.value))[:, None]


def plant(keys: np.ndarray, N: np.ndarray, roots: np.ndarray | int = 0) -> Forests:
    """The forests of the given keys (uint64) with their numbers of variables N (A.1.1, A.1.2).

    The number of roots k is `roots`, or drawn from 1..N where that is 0. A parent is uniform on the
    places before, an operation on {none, +1, -1}, a root's value on 0..10, and both orders, of the
    variables and of the statements, are uniform too.
    """
    places, puzzle = int(N.max()), np.arange(len(N))
    k = np.where(np.asarray(roots) > 0, roots, 1 + uniform(child(keys, ROOTS_DRAW), N))
    before = np.maximum(np.arange(places), 1)[:, None]
    parent = uniform(children(child(keys, PARENT_DRAW), places), before)
    relation = children(child(keys, RELATION_DRAW), places)
    operation, value = uniform(relation, 3) - 1, uniform(relation, LARGEST_ROOT + 1)
    for i in range(1, places):
        value[i] = np.where(i < k, value[i], value[parent[i], puzzle] + operation[i])
    variable, order = (
        shuffled(children(child(keys, number), places), N) for number in (VARIABLE_DRAW, ORDER_DRAW)
    )
    return Forests(N, k, variable, parent, operation, value, order, ask(keys, value, N))


def ask(keys: np.ndarray, value: np.ndarray, N: np.ndarray) -> np.ndarray:
    """The target values (A.1.5).

    Nine times in ten it is the value of a variable, each variable equally likely. Once in ten no
    variable has it: it is then one below the smallest value or one above the largest, either
    equally likely.
    """
    variables = np.where(np.arange(len(value))[:, None] < N, value, value[0])
    known = value[uniform(child(keys, TARGET_DRAW), N), np.arange(len(N))]
    is_above = uniform(child(keys, TARGET_DRAW), 2) == 1
    outside = np.where(is_above, variables.max(axis=0) + 1, variables.min(axis=0) - 1)
    return np.where(uniform(child(keys, EMPTY_DRAW), EMPTY) == 0, outside, known)


def shuffled(words: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Random permutations of 0..N-1 down the columns of `words` (uint64, places x puzzles).

    Below a column's N entries stand its other places.
    """
    place = np.arange(len(words), dtype=np.uint64)[:, None]
    low = np.uint64((1 << len(words).bit_length()) - 1)
    last = np.uint64(2**64 - 1)
    keys = np.where(place < N, words, last) & ~low | place  # without ties
    return (np.sort(keys.T, axis=1).T & low).astype(np.int64)
