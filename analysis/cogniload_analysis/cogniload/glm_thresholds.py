"""Stage 3: the load at which half of the puzzles are solved (section 3.1.3), with intervals."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from cogniload_analysis.stats import CONFIDENCE, TAILS, Numbers, percentiles
from cogniload_gen.cogniload.knobs import PAPER_D, PAPER_N, PAPER_RHO

Z = norm.ppf((1 + CONFIDENCE) / 2)
# Finney (1978): with Fieller's g below 0.05 the delta method agrees with Fieller's exact interval.
_DELTA_METHOD_LIMIT = 0.05
BOOTSTRAP_DRAWS = 10_000
# The places of the coefficients whose effect is linear in their knob, or in its logarithm.
BETA_D, BETA_N = 1, 2
_LINEAR_KNOBS = {BETA_D: "d", BETA_N: "N"}


@dataclass(frozen=True)
class LoadMeans:
    """The loads at which the other knobs are held: means over the puzzles, rho as a fraction.

    The paper's rho-bar squared is the square of `rho`, not the mean of the squares.
    """

    d: float
    log10_N: float
    rho: float

    def beside(self, load: str) -> str:
        """Return the loads beside one in words, as in d = 1, rho = 50 %."""
        words = {
            "d": f"d = {self.d:.3g}",
            "N": f"N = {10**self.log10_N:.0f}",
            "rho": f"rho = {100 * self.rho:.3g} %",
        }
        return ", ".join(said for name, said in words.items() if name != load)


# The paper's grid: its thresholds hold the other knobs at these means (section 3.1.3).
PAPER_MEANS = LoadMeans(
    d=float(np.mean(PAPER_D)),
    log10_N=float(np.mean(np.log10(PAPER_N))),
    rho=float(np.mean(np.array(PAPER_RHO) / 100)),
)


def say_crossings(share: float) -> str:
    """Say in which share of the draws accuracy crosses one half, and what that tells."""
    if TAILS[0] < share < TAILS[1]:
        drawn = f"it does in {100 * share:.0f} % of the draws"
        return f"the data don't tell whether accuracy crosses one half ({drawn})"
    return f"accuracy crosses one half in {100 * share:.0f} % of the draws"


UNKNOWN = "not determined"
"""The status of a crossing that the responses leave open."""


@dataclass(frozen=True)
class Threshold:
    """One capacity threshold and its 95 % interval.

    `value`, `low` and `high` are statements (ECL50), a fraction (NT50) or a difficulty (ID50): NaN
    where there is none, and the ends may be infinite; a crossing beyond the curve is 0 or infinite.
    `status` is "crossing", "always above 50 %", "always below 50 %", "not determined" or "not
    estimated"; `method` is "delta method", "parametric bootstrap", "posterior draws" or empty;
    `note` says in words what a reader must know. `rising` says whether the accuracy rises or falls
    where it crosses 50 %.
    """

    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    method: str = ""
    status: str = "not estimated"
    rising: bool = False
    note: str = ""


@dataclass(frozen=True)
class Thresholds:
    """The three capacity thresholds of one model."""

    ECL50: Threshold
    NT50: Threshold
    ID50: Threshold


def capacity_thresholds(
    beta_0: Numbers,
    beta_d: Numbers,
    beta_N: Numbers,
    beta_rho: Numbers,
    beta_rho2: Numbers,
    *,
    d: float,
    log10_N: float,
    rho: float,
) -> tuple[Numbers, Numbers, Numbers]:
    """Return (ECL50, NT50, ID50), the loads at which the predicted accuracy is 50 %.

    The coefficients are those of the paper's GLM: numbers, or arrays of one shape. `d`, `log10_N`
    and `rho` (a fraction) are the means at which the other knobs are held. ECL50 is in
    statements, NT50 is the largest root in [0, 1] or NaN, ID50 is in units of d. A coefficient of
    zero gives NaN or an infinity, as its formula does. Section 3.1.3.

    >>> ECL50, NT50, ID50 = capacity_thresholds(12, -1, -4, -2, 2, d=5, log10_N=1.8, rho=0.5)
    >>> print(f"{ECL50:.1f} {ID50:.1f}")
    42.2 4.3
    """
    beta_0, beta_d, beta_N, beta_rho, beta_rho2 = np.asarray(
        (beta_0, beta_d, beta_N, beta_rho, beta_rho2), dtype=float
    )
    at_rho = beta_0 + beta_rho * rho + beta_rho2 * rho**2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ECL50 = np.power(10.0, -(at_rho + beta_d * d) / beta_N)
        ID50 = np.divide(-(at_rho + beta_N * log10_N), beta_d)
    roots = _half_accuracy_roots(beta_rho2, beta_rho, beta_0 + beta_d * d + beta_N * log10_N)
    largest = np.where((roots >= 0) & (roots <= 1), roots, -np.inf).max(axis=0)
    NT50 = np.where(np.isfinite(largest), largest, np.nan)
    return ECL50[()], NT50[()], ID50[()]


def _half_accuracy_roots(a: Numbers, b: Numbers, c: Numbers) -> np.ndarray:
    """Return the two roots of a x^2 + b x + c along the first axis; NaN where they are complex.

    This form never subtracts nearly equal numbers. If a is zero, it still gives the line's root.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        q = -(b + np.copysign(np.sqrt(b**2 - 4 * a * c), b)) / 2
        return np.stack([q / a, c / q])


def estimate_thresholds(beta: np.ndarray, covariance: np.ndarray, means: LoadMeans) -> Thresholds:
    """Estimate the three thresholds, each with its 95 % interval.

    `beta` is (beta_0, beta_d, beta_N, beta_rho, beta_rho2), NaN for a term that was left out of
    the fit; `covariance` is theirs, and `means` the `LoadMeans`.

    A threshold t solves x(t)' beta = 0, so its standard error is sqrt(x' V x) / |slope at t|: the
    delta method. Where the slope is too uncertain for that, 10,000 vectors of coefficients are
    drawn from their normal distribution with a fixed seed, and the percentiles of their
    thresholds taken: the parametric bootstrap of Krinsky and Robb (1986).
    """
    estimated = ~np.isnan(beta)
    fit = np.nan_to_num(beta), np.nan_to_num(covariance)
    row = np.array([1, means.d, means.log10_N, means.rho, means.rho**2])
    log10_ECL50, ID50 = (
        _line_threshold(*fit, row, term) if estimated[term] else Threshold()
        for term in (BETA_N, BETA_D)
    )
    with np.errstate(over="ignore"):
        logs = (log10_ECL50.value, log10_ECL50.low, log10_ECL50.high)
        value, low, high = (float(np.power(10.0, log)) for log in logs)
    ECL50 = replace(log10_ECL50, value=value, low=low, high=high)
    return Thresholds(ECL50, _needle_threshold(*fit, means) if estimated[4] else Threshold(), ID50)


def _draw(beta: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    return np.random.default_rng(0).multivariate_normal(beta, covariance, BOOTSTRAP_DRAWS)


def _line_threshold(
    beta: np.ndarray, covariance: np.ndarray, row: np.ndarray, term: int
) -> Threshold:
    """Return the threshold along a knob whose effect is linear: d, or log10 N."""
    slope, others = beta[term], np.where(np.arange(5) == term, 0, row)
    uncertainty = Z**2 * covariance[term, term]
    if uncertainty >= slope**2:
        # Fieller (1954): the interval of loads that may have an accuracy of 50 % has no bounds.
        return Threshold(note=f"accuracy does not clearly change with {_LINEAR_KNOBS[term]}")
    value = -(others @ beta) / slope
    if uncertainty < _DELTA_METHOD_LIMIT * slope**2:
        at_value = np.where(np.arange(5) == term, value, row)
        margin = Z * np.sqrt(at_value @ covariance @ at_value) / abs(slope)
        low, high, method = value - margin, value + margin, "delta method"
    else:
        draws = _draw(beta, covariance)
        level, slopes = draws @ others, draws[:, term]
        # A draw with the other sign has passed a slope of zero: its threshold is infinite.
        infinite = np.copysign(np.inf, -level * slope)
        low, high = percentiles(np.where(slopes * slope > 0, -level / slopes, infinite))
        method = "parametric bootstrap"
    ends = float(low), float(high)
    return Threshold(float(value), *ends, method, "crossing", rising=bool(slope > 0))


def _needle_threshold(beta: np.ndarray, covariance: np.ndarray, means: LoadMeans) -> Threshold:
    """Return the threshold along rho, whose effect is a parabola."""
    start = np.array([1, means.d, means.log10_N])
    level = beta[:3] @ start
    value = float(capacity_thresholds(*beta, **vars(means))[1])
    roots = np.sort(_half_accuracy_roots(beta[4], beta[3], level))
    # The delta method's margin, the slope and Fieller's g at each root.
    at_roots = np.stack([np.append(start, [root, root**2]) for root in roots])
    along = np.stack([np.array([0, 0, 0, 1, 2 * root]) for root in roots])
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = along @ beta
        margins = Z * np.sqrt(np.diag(at_roots @ covariance @ at_roots.T)) / abs(slopes)
        g = Z**2 * np.diag(along @ covariance @ along.T) / slopes**2
    here = int(np.argmin(abs(roots - value)))
    (lower_low, upper_low), (lower_high, upper_high) = roots - margins, roots + margins
    # The largest root inside [0, 1] may be either one if the upper may lie on both sides of 1.
    either = upper_low < 1 < upper_high and lower_low < 1 and lower_high > 0
    if not np.isnan(value) and g[here] < _DELTA_METHOD_LIMIT and not either:
        low, high = map(float, np.clip([value - margins[here], value + margins[here]], 0, 1))
        return Threshold(value, low, high, "delta method", "crossing", bool(slopes[here] > 0))
    draws = _draw(beta, covariance)
    drawn = capacity_thresholds(*draws.T, **vars(means))[1]
    note = say_crossings(float(np.mean(~np.isnan(drawn))))
    if np.isnan(value):
        above = level + beta[3] * means.rho + beta[4] * means.rho**2 > 0
        status = f"always {'above' if above else 'below'} 50 %"
        return Threshold(status=status, note="" if np.isnan(drawn).all() else note)
    # A draw that never crosses lies beyond the end that its side of 50 % points to.
    beyond = np.where((draws[:, :3] @ start > 0) == (slopes[here] > 0), 0, 1)
    low, high = map(float, percentiles(np.where(np.isnan(drawn), beyond, drawn)))
    rising = bool(slopes[here] > 0)
    return Threshold(value, low, high, "parametric bootstrap", "crossing", rising, note)
