"""What a recorded base is worth, to a gate and to `cogniload watch`, by simulation.

Puzzles are unequal, so that a tenth of them, or nearly two fifths, flips between two answers of one
model. Prints how often a watch alarms, and when; and the puzzles of a gate whose base answered each
one several times. Takes a quarter of an hour.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from simulated import percent, print_table

from cogniload_analysis.compare.gate import ERROR, log_capitals, log_mean
from cogniload_analysis.compare.watch import ALARM, dead_zone

SIMULATIONS, NIGHTS, POOL, ATTEMPTS = 400, 1000, 2000, 8
SOLVED = 0.6
FLIPS = {"10 %": 0.263, "38 %": 3.8}
"""How much puzzles of one solved share are alike: that of a beta distribution."""


def chances(draws: np.random.Generator, flips: str, puzzles: int) -> np.ndarray:
    """Return how likely a model solves puzzles."""
    alike = FLIPS[flips]
    return draws.beta(alike * SOLVED, alike * (1 - SOLVED), puzzles)


def watches() -> Iterator[list[str]]:
    """Yield how many watches alarm within 1,000 nights, and after how many nights."""
    yield ["flips", "loss", "puzzles a night", "alarms", "median night"]
    rows = product(FLIPS, (0, 0.015, 0.03, 0.1), (300, 100))
    for flips, loss, puzzles in rows:
        draws, found = np.random.default_rng(1), []
        for _ in range(SIMULATIONS):
            right = chances(draws, flips, POOL)
            solved = draws.binomial(ATTEMPTS, right) / ATTEMPTS
            now = right * (1 - loss / right.mean())
            found.append(_first_alarm(draws, solved, now, puzzles))
        alarms = np.isfinite(found).mean()
        median = np.median(found)
        night = f"{median:.0f}" if np.isfinite(median) else "none"
        yield [flips, percent(loss), str(puzzles), percent(alarms), night]


def _first_alarm(
    draws: np.random.Generator, solved: np.ndarray, now: np.ndarray, puzzles: int
) -> float:
    """Return the night of the first alarm, inf for none."""
    least, held = dead_zone(solved, ATTEMPTS), None
    for night in range(1, NIGHTS + 1):
        which = draws.permutation(POOL)[:puzzles]
        lost = solved[which] - (draws.random(puzzles) < now[which])
        capitals = log_capitals(*np.unique(lost, return_counts=True), least, least)
        held = capitals if held is None else np.logaddexp(0, held) + capitals
        if log_mean(held) >= np.log(ALARM):
            return night
    return np.inf


def attempts() -> Iterator[list[str]]:
    """Yield the puzzles of a gate at a margin of 2 points by how often its base answers each."""
    yield ["flips", "attempts", "no worse", "puzzles: median"]
    margin, look, most = 0.02, 50, 12_000
    for flips, times in product(FLIPS, (1, 4, 8, 16)):
        draws, spent = np.random.default_rng(1), []
        for _ in range(SIMULATIONS):
            right = chances(draws, flips, most)
            apart = (draws.random(most) < right) - draws.binomial(times, right) / times
            values, of = np.unique(apart, return_inverse=True)
            counts = np.zeros((len(values), most // look))
            np.add.at(counts, (of, np.arange(most) // look), 1)
            won = log_mean(log_capitals(values, counts.cumsum(axis=1), -margin, margin))
            won = won >= -np.log(ERROR)
            spent.append(look * (won.argmax() + 1) if won.any() else np.inf)
        median = np.median(spent)
        size = f"{median:,.0f}" if np.isfinite(median) else "more"
        yield [flips, str(times), percent(np.isfinite(spent).mean()), size]


if __name__ == "__main__":
    for table in (attempts, watches):
        print_table(table())
