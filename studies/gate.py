"""What the verdicts of `cogniload gate` cost in errors and puzzles, by simulation.

Prints the verdicts and the puzzles spent, beside a fixed-size test and the rule of NeMo Evaluator's
`nel gate`; which puzzles show a loss best; the verdicts at one look on two finished runs; and what
comes of outages and drifts. Takes half an hour.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import norm
from simulated import percent, print_table

from cogniload_analysis import published_table
from cogniload_analysis.cogniload.capacity.goodness_of_fit import expected_accuracies
from cogniload_analysis.cogniload.plan import lower_accuracies
from cogniload_analysis.compare.gate import ERROR, at_one_look, changes, hold, log_capital

SIMULATIONS, MARGIN = 2000, 0.02
LOOK = 25  # puzzles between looks
NEVER = 10**9


def verdicts() -> Iterator[list[str]]:
    """Yield what comes of a loss, with looks up to four times a fixed-size test's puzzles.

    That test has errors of 5 % at no loss and at the margin. The rule of `nel gate`, GO if a 95 %
    interval is above -margin, is for one look, of the fixed size, and is tried at all of them.
    """
    names = ("flips", "loss", "no worse", "worse", "lower at the end", "nel gate: GO at one look")
    yield [*names, "at any look", "fixed size", "median", "90 %"]
    rows = product((0.05, 0.1, 0.2, 0.4), (0, 0.01, 0.02, 0.04, 0.08))
    for flips, loss in (row for row in rows if row[1] <= row[0]):
        fixed, draws = round((2 * norm.isf(ERROR) / MARGIN) ** 2 * flips), np.random.default_rng(1)
        shares = [(flips - loss) / 2, (flips + loss) / 2, 1 - flips]
        spent, said = [], np.zeros(5)
        for _ in range(SIMULATIONS):
            counts = draws.multinomial(LOOK, shares, size=4 * fixed // LOOK).cumsum(axis=0).T
            better, worse = _first(counts, 1, -MARGIN), _first(counts, -1, MARGIN)
            lower = min(better, worse) == NEVER and _first(counts[:, -1:], -1, 0.0) < NEVER
            puzzles = counts.sum(axis=0)
            value, flipped = (counts[0] - counts[1]) / puzzles, (counts[0] + counts[1]) / puzzles
            goes = value - norm.isf(0.025) * np.sqrt((flipped - value**2) / puzzles) >= -MARGIN
            once, ever = goes[fixed // LOOK - 1], goes[4 : fixed // LOOK].any()
            said += better < worse, worse < better, lower, once, ever
            spent.append(min(better, worse))
        sizes = (fixed, *np.quantile(spent, (0.5, 0.9), method="higher"))
        texts = [f"{size:,}" if size < NEVER else "more" for size in sizes]
        yield [percent(flips), percent(loss), *map(percent, said / SIMULATIONS), *texts]


def _first(counts: np.ndarray, sign: int, bound: float) -> int:
    """Return after how many puzzles a bound has lost its bets."""
    won = _won(counts, sign, bound)
    return LOOK * (int(won.argmax()) + 1) if won.any() else NEVER


def _won(counts: np.ndarray, sign: int, bound: float) -> np.ndarray:
    """Return after which looks the bets against a bound have won."""
    values = sign * np.array([1.0, -1.0, 0.0])
    return log_capital(values, counts, bound, MARGIN) >= -np.log(ERROR)


def one_look() -> Iterator[list[str]]:
    """Yield the verdicts on two finished runs, by their number of puzzles."""
    yield ["flips", "loss", "puzzles", "no worse", "worse", "lower"]
    values = np.array([1.0, -1.0, 0.0])
    rows = product((0.02, 0.05, 0.1, 0.38, 0.6), (0, 0.01, 0.02, 0.04), (200, 1400))
    for flips, loss, puzzles in (row for row in rows if row[1] <= row[0]):
        shares, draws = (
            [(flips - loss) / 2, (flips + loss) / 2, 1 - flips],
            np.random.default_rng(1),
        )
        said = np.zeros(3)
        for counts in draws.multinomial(puzzles, shares, size=SIMULATIONS):
            low, high = at_one_look(values, counts), -at_one_look(-values, counts)
            said += low > -MARGIN, high < -MARGIN, low <= -MARGIN <= high < 0
        yield [percent(flips), percent(loss), f"{puzzles:,}", *map(percent, said / SIMULATIONS)]


def _steady(_: np.random.Generator) -> np.ndarray:
    return np.zeros(_BATCHES)


def _uneven(draws: np.random.Generator, points: float) -> np.ndarray:
    return draws.normal(0, points / 100, _BATCHES)


def _outage(draws: np.random.Generator) -> np.ndarray:
    return np.where(np.arange(_BATCHES) == draws.integers(20), -0.6, 0.0)


def _drift(_: np.random.Generator, points: float) -> np.ndarray:
    return np.linspace(points, -points, _BATCHES) / 100


_BATCH, _BATCHES = 50, 60
_TROUBLES = {
    "none": _steady,
    "batches, sd 6 points": partial(_uneven, points=6),
    "batches, sd 10 points": partial(_uneven, points=10),
    "one outage in the first 20 batches": _outage,
    "a drift from +6 to -6 points": partial(_drift, points=6),
}


def troubles() -> Iterator[list[str]]:
    """Yield what comes of 3,000 puzzles at a tenth of flips whose difference is not one number.

    The verdicts stand beside those of the bets alone; `changed` leaves no verdict.
    """
    names = ["trouble", "loss", "no worse", "worse", "changed", "median"]
    yield [*names, "no worse, bets alone", "worse, bets alone"]
    for (name, trouble), loss in product(_TROUBLES.items(), (0, 0.02, 0.08)):
        draws, said, spent = np.random.default_rng(1), np.zeros(5), []
        for _ in range(SIMULATIONS):
            losses = np.clip(loss - trouble(draws), -1, 1).repeat(_BATCH)
            word, flips = draws.random(len(losses)), np.maximum(0.1, np.abs(losses))
            apart = np.where(word < flips, 1.0, 0.0) - 2 * (word < (flips + losses) / 2)
            batches = apart.reshape(_BATCHES, _BATCH)
            counts = [(batches == value).sum(axis=1).cumsum() for value in (1, -1, 0)]
            sides = [_won(np.array(counts), 1, -MARGIN), _won(np.array(counts), -1, MARGIN)]
            ended = np.flatnonzero(np.any(sides, axis=0))
            said[3:] += [side[ended[0]] for side in sides] if len(ended) else 0
            *ends, changed, stop = _watch(apart, sides)
            said[:3] += *ends, changed
            spent.append(stop if any(ends) else NEVER)
        median = np.median(spent)
        size = f"{median:,.0f}" if median < NEVER else "more"
        shares = [*map(percent, said / SIMULATIONS)]
        yield [name, percent(loss), *shares[:3], size, *shares[3:]]


def _watch(apart: np.ndarray, sides: list[np.ndarray]) -> tuple[bool, bool, bool, int]:
    """Return whether a watched gate ends in "no worse", in "worse" or in a change, and where."""
    for look in range(_BATCHES):
        stop = (look + 1) * _BATCH
        if changes(apart[:stop], _BATCH):
            return False, False, True, stop
        better = sides[0][look] and hold(apart[:stop], -MARGIN, _BATCH)
        worse = sides[1][look] and hold(-apart[:stop], MARGIN, _BATCH)
        if better or worse:
            return better, worse, False, stop
    return False, False, False, NEVER


def ranges() -> Iterator[list[str]]:
    """Yield what a loss of 2 points over the paper's grid is in a range of pass rates.

    Beside it the puzzles that show it, as a share of those over the whole grid: medians of the
    published models that solve 10 to 90 %. A loss is a shift of the logit; luck is each model's.
    """
    yield ["pass rates", "models", "loss", "puzzles"]
    models = map(expected_accuracies, published_table("glm")["model"])
    both = [(p, lower_accuracies(p, MARGIN)) for p in models if 0.1 < p.mean() < 0.9]
    for low, high in ((0, 1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9)):
        rows = []
        for p, q in both:
            luck, inside = p * (1 - q) + q * (1 - p), (low <= p) & (p < high)
            if inside.any():
                loss = (p - q)[inside].mean()
                rows.append([loss, luck[inside].mean() / luck.mean() * (MARGIN / loss) ** 2])
        yield [f"{low:.0%} to {high:.0%}", f"{len(rows)}", *map(percent, np.median(rows, axis=0))]


if __name__ == "__main__":
    for table in (verdicts, ranges, one_look, troubles):
        print_table(table())
