"""FACTOR's decay by its binomial likelihood: the best curve, and profile-likelihood intervals.

The chance of a right response at complexity N is

    floor + (1 - floor - lapses) min(1, exp(CDF N + CDO)),

where `floor` is the chance to guess right, and `lapses` that to err at any N. A curve is an array
of CDF, CDO, lapses and floor. Every function works on many curves at once: their rows are data
sets, or values that are tried. A likelihood is everywhere one that `SPREAD` has penalized.
"""

from dataclasses import dataclass

import numpy as np

# Lapses and the CDO can't be told apart where no N is without reasoning errors, so that the
# intervals of the CDO and of N_eff are as much wider as lapses are allowed.
MOST_LAPSES = 0.02
# A higher floor would hardly lie below the window's end, so that it could not be told from it.
MOST_FLOOR = 0.05
# Lapses and floor are taken to be half normal, with these standard deviations. Neither can be below
# 0, so that luck only ever adds to them: without this, a model without either has a CDF that is 4 %
# too steep at 50 puzzles per N. studies/decay_coverage.py chose the two numbers; a rate that the
# data show clearly is moved by little.
SPREAD = np.array([np.inf, np.inf, 0.015, 0.06])
LOWEST = np.array([-10.0, -10.0, 0.0])
HIGHEST = np.array([10.0, 500.0, MOST_LAPSES])
# Chances stay this far from 0 and 1, so that their logarithms are finite.
MARGIN = 1e-12
MOST_STEPS = 80
# An interval's end is sought among these distances from the estimate, then between two of them.
DISTANCES = np.geomspace(0.002, 40, 28).reshape(4, 7)
BETWEEN = np.linspace(0, 1, 9)


@dataclass(frozen=True, eq=False)
class Counts:
    """Right and wrong responses, data sets by N; and the least and the greatest floor."""

    N: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    floors: tuple[float, float] = (0.0, MOST_FLOOR)

    @property
    def spread(self) -> np.ndarray:
        """`SPREAD`, but infinite for a floor that may lie above `MOST_FLOOR`."""
        return np.append(SPREAD[:3], SPREAD[3] if self.floors[1] <= MOST_FLOOR else np.inf)


def predict(curves: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Return the chance of a right response, curves by N."""
    lapses, floor = curves[:, 2, None], curves[:, 3, None]
    return floor + (1 - floor - lapses) * _reason(curves, N)


def _reason(curves: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Return the chance of reasoning without an error, curves by N."""
    return np.exp(np.minimum(curves[:, 0, None] * N + curves[:, 1, None], 0))


def log_likelihood(counts: Counts, curves: np.ndarray) -> np.ndarray:
    """Return the penalized log likelihood of each data set under its curve."""
    chance = np.clip(predict(curves, counts.N), MARGIN, 1 - MARGIN)
    likelihood = (counts.right * np.log(chance) + counts.wrong * np.log1p(-chance)).sum(-1)
    return likelihood - ((curves / counts.spread) ** 2).sum(-1) / 2


def fit(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Return the likeliest curve of each data set, and its log likelihood."""
    span = counts.N.max() + 1
    cdf, n_eff = np.meshgrid(-np.geomspace(0.3 / span, 3, 24), np.linspace(-span, span, 49))
    rates = np.full(cdf.size, 0.01), np.full(cdf.size, np.mean(counts.floors))
    starts = np.stack([cdf.ravel(), (-cdf * n_eff).ravel(), *rates], 1)
    chance = np.clip(predict(starts, counts.N), MARGIN, 1 - MARGIN)
    tried = counts.right @ np.log(chance).T + counts.wrong @ np.log1p(-chance).T
    return _climb(counts, starts[tried.argmax(1)])


def profile(counts: Counts, curves: np.ndarray, name: str, values: np.ndarray) -> np.ndarray:
    """Return the largest log likelihood with CDF, CDO or N_eff, by `name`, held at `values`.

    `curves` are the likeliest ones, near which the search starts.
    """
    cdf, cdo = curves[:, 0], curves[:, 1]
    falls = cdf < 0
    # The N at which the curve has halved stays where it is.
    half = np.where(falls, (-np.log(2) - cdo) / np.where(falls, cdf, 1), counts.N.mean())
    half = np.clip(half, counts.N.min(), counts.N.max())
    height = np.minimum(cdf * half + cdo, -0.01)
    start = curves.copy()
    if name == "CDF":
        start[:, 0], start[:, 1] = values, height - values * half
    elif name == "CDO":
        start[:, 0], start[:, 1] = (height - values) / half, values
    else:
        start[:, 0] = height / np.maximum(half - values, 0.5)
    start[:, 2] = np.clip(start[:, 2], 0.1 * MOST_LAPSES, 0.9 * MOST_LAPSES)
    lowest, highest = counts.floors
    inside = 0.1 * (highest - lowest)
    start[:, 3] = np.clip(start[:, 3], lowest + inside, highest - inside)
    return _climb(counts, start, name, values)[1]


def interval(
    counts: Counts, curve: np.ndarray, best: float, name: str, drop: float
) -> tuple[float, float]:
    """Return the ends of the values of CDF, CDO or N_eff whose log likelihood is less than `drop`
    below the `best`.

    `counts` and `curve` are of one data set. An end that lies too far out to be found is infinite.
    """
    cdf, cdo = curve[:2]
    slope = max(abs(cdf), 1 / counts.N.max())
    estimate, unit = {
        "CDF": (cdf, slope),
        "CDO": (cdo, 1.0),
        "N_eff": (-cdo / cdf if cdf else np.nan, 1 / slope),
    }[name]

    def fall(values: np.ndarray) -> np.ndarray:
        """Return how far values lie out: nearly linear, and 1 at an end."""
        likelihood = profile(counts, np.tile(curve, (len(values), 1)), name, values)
        return np.sqrt(np.maximum(best - likelihood, 0) / drop)

    def find_end(side: int) -> float:
        inside = estimate
        for distances in DISTANCES:
            tried = estimate + side * unit * distances
            outside = fall(tried) >= 1
            if outside.any():
                first = int(outside.argmax())
                inside = tried[first - 1] if first else inside
                tried = inside + (tried[first] - inside) * BETWEEN
                return float(np.interp(1, np.maximum.accumulate(fall(tried)), tried))
            inside = tried[-1]
        return side * np.inf

    return find_end(-1), find_end(1)


def is_bounded(counts: Counts, curve: np.ndarray, best: float, drop: float) -> bool:
    """Return whether some curve as steep as can be is `drop` or more less likely than the best.

    If not, the accuracy may as well fall between two neighbouring N, at any CDF.
    """
    steepest = profile(counts, curve[None], "CDF", LOWEST[:1])
    return bool(best - steepest[0] >= drop)


def _climb(
    counts: Counts, start: np.ndarray, name: str = "", values: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the likeliest curves and their log likelihoods, from `start` upwards.

    `name` is held at `values`. The steps are those of Levenberg and Marquardt on the Fisher
    information. A parameter stays at the end of its range while the likelihood rises outwards.
    """
    free = np.array([name != "CDF", name not in {"CDO", "N_eff"}, True, True])
    # With N_eff held, the logarithm is CDF (N - N_eff), and the CDO follows from the CDF.
    shift = np.zeros(len(start)) if name != "N_eff" else np.asarray(values)
    low = np.where(free, np.append(LOWEST, counts.floors[0]), -np.inf)
    high = np.where(free, np.append(HIGHEST, counts.floors[1]), np.inf)

    def whole(curves: np.ndarray) -> np.ndarray:
        if name != "N_eff":
            return curves
        return np.column_stack([curves[:, 0], -curves[:, 0] * shift, curves[:, 2:]])

    curves = np.clip(start, low, high)
    best = log_likelihood(counts, whole(curves))
    damping = np.full(len(curves), 1e-3)
    for _ in range(MOST_STEPS):
        current = whole(curves)
        reasoned, scale = _reason(current, counts.N), 1 - current[:, 3:] - current[:, 2:3]
        chance = np.clip(current[:, 3:] + scale * reasoned, MARGIN, 1 - MARGIN)
        bend = np.where(reasoned < 1, scale * reasoned, 0)
        slopes = np.stack([bend * (counts.N - shift[:, None]), bend, -reasoned, 1 - reasoned], 1)
        score = counts.right / chance - counts.wrong / (1 - chance)
        weight = (counts.right + counts.wrong) / (chance * (1 - chance))
        gradient = (slopes * score[:, None]).sum(-1) - current / counts.spread**2
        information = (slopes * weight[:, None]) @ slopes.transpose(0, 2, 1)
        at_end = ((curves <= low) & (gradient < 0)) | ((curves >= high) & (gradient > 0))
        held = ~free | (low == high) | at_end
        gradient[held] = 0
        information[held[:, :, None] | held[:, None, :]] = 0
        diagonal = np.einsum("sii->si", information)
        diagonal += 1 / counts.spread**2
        diagonal += damping[:, None] * diagonal + 1e-9 + held
        tried = np.clip(
            curves + np.linalg.solve(information, gradient[..., None])[..., 0], low, high
        )
        there = log_likelihood(counts, whole(tried))
        better = there > best
        done = (np.abs(there - best) < 1e-6) | (damping > 1e6)
        curves = np.where(better[:, None], tried, curves)
        best = np.where(better, there, best)
        damping = np.where(better, np.maximum(damping / 5, 1e-9), damping * 5)
        if done.all():
            break
    return whole(curves), best
