"""What the verdicts of `cogniload gate` cost in errors and puzzles, by simulation.

Prints the verdicts and the puzzles spent, beside a fixed-size test and the rule of NeMo Evaluator's
`nel gate`; what troubles do; and which puzzles show a loss best. Takes about five minutes.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy.stats import norm
from simulated import percent, print_table

from cogniload_analysis import gate, published_table
from cogniload_analysis.cogniload.plan import expected_accuracies, lower_accuracies
from cogniload_analysis.compare.gate import ERROR, NO_WORSE, UNDECIDED, WORSE, log_capital

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


def troubles() -> Iterator[list[str]]:
    """Yield what goes wrong at a loss of 0 and of the margin, in 3,000 puzzles and six looks."""
    yield ["trouble", "false worse", "false no worse", "false lower", "with a doubt"]
    names = ("luck alone", "both drift", "new drifts", "lost at random", "hard ones lost")
    for name in (*names, "4 attempts"):
        wrong = np.zeros(4)
        looks = (3000,) if name == "new drifts" else range(500, 3001, 500)
        for number, place in product(range(SIMULATIONS), (0, 1)):
            pairs = _troubled(name, place * MARGIN, np.random.default_rng([3, number, place]))
            found = [gate(pairs[:look], 100 * MARGIN) for look in looks]
            first = next((one for one in found if one.is_decided), found[-1])
            if place:
                wrong[:2] += first.verdict == WORSE, first.verdict == NO_WORSE
            else:
                wrong[2] += first.verdict not in (NO_WORSE, UNDECIDED)
            wrong[3] += bool(first.notes) / 2
        yield [name, *map(percent, wrong / SIMULATIONS)]


def _troubled(name: str, loss: float, draws: np.random.Generator) -> np.ndarray:
    """Return pairs of models that both have the luck of decoding at temperature 1."""
    count, attempts = 3000, 4 if name == "4 attempts" else 1
    late = np.arange(count) >= count // 2
    chance = draws.uniform(0.3, 0.9, count) - 0.15 * late * (name == "both drift")
    # to the same loss in the mean
    less = loss + np.where(late, 0.06, -0.06) * (name == "new drifts")
    pairs = draws.binomial(attempts, np.stack([chance, chance - less], axis=1)) / attempts
    # a tenth, at random or failures of the new one
    lost = {"lost at random": 0.1, "hard ones lost": 0.25 * (pairs[:, 1] == 0)}.get(name, 0)
    pairs[draws.random(count) < lost, 1] = np.nan
    return pairs


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
    for table in (verdicts, troubles, ranges):
        print_table(table())
