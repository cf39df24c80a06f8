"""What several attempts at a puzzle solve: at least one of k, or the majority of k."""

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import hypergeom


def chance_of_any(right: ArrayLike, attempts: ArrayLike, k: int) -> np.ndarray:
    """Return the chance that at least one of `k` attempts at a puzzle is right (pass@k).

    `right` and `attempts` are counts, numbers or arrays over puzzles. Of n attempts with c right,
    it is 1 - C(n - c, k) / C(n, k), which is unbiased. Each puzzle needs `k` attempts or more.
    """
    return np.asarray(hypergeom.sf(0, attempts, right, k))


def chance_of_majority(right: int, others: Sequence[int], silent: int, k: int) -> float:
    """Return the chance that the commonest answer of `k` attempts is right (majority@k).

    `right` attempts have the right answer, `others` count those of each wrong one, and `silent`
    ones have none. A tie is drawn by lot. It is the mean over all choices of k attempts, which is
    unbiased.
    """
    total = 0.0
    for votes in range(1, min(right, k) + 1):
        # Ways to choose the other attempts, by their number and by the answers tied with the right.
        ways = {(drawn, 0): comb(silent, drawn) for drawn in range(k - votes + 1)}
        for count in others:
            longer: dict[tuple[int, int], int] = {}
            for (drawn, ties), number in ways.items():
                for more in range(min(count, votes, k - votes - drawn) + 1):
                    place = drawn + more, ties + (more == votes)
                    longer[place] = longer.get(place, 0) + number * comb(count, more)
            ways = longer
        full = [(ties, number) for (drawn, ties), number in ways.items() if drawn == k - votes]
        total += comb(right, votes) * sum(number / (ties + 1) for ties, number in full)
    return total / comb(right + sum(others) + silent, k)


def numbers_of_attempts(fewest: int) -> list[int]:
    """Return the k of a table: doubled from 1 to the fewest attempts at a puzzle, and these."""
    return sorted({2**power for power in range(fewest.bit_length())} | {fewest} - {0})
