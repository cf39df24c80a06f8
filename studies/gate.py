"""What the verdicts of `cogniload gate` cost in errors and puzzles, by simulation.

Prints the verdicts and the puzzles spent, beside a fixed-size test and the rule of NeMo Evaluator's
`nel gate`; and which puzzles show a loss best. Takes some minutes.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.stats import norm
from simulated import percent, print_table

from cogniload_analysis import published_table
from cogniload_analysis.cogniload.capacity.goodness_of_fit import expected_accuracies
from cogniload_analysis.cogniload.plan import lower_accuracies
from cogniload_analysis.compare.gate import ERROR, log_capital

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
    values = sign * np.array([1.0, -1.0, 0.0])
    won = log_capital(values, counts, bound, MARGIN) >= -np.log(ERROR)
    return LOOK * (int(won.argmax()) + 1) if won.any() else NEVER


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
    for table in (verdicts, ranges):
        print_table(table())
