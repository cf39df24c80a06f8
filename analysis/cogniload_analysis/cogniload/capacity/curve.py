"""The capacity curve: accuracy over the loads, with a guessing floor and room for interactions.

Its *crossing* is the load at which half of the puzzles are solved at the mean of the other loads.
The paper's thresholds are the same quantity read off a straight line in logits without a floor
(section 3.1.3); docs/glm_fit.md tells how the two differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve, cholesky
from scipy.special import betaln, expit, logsumexp, softmax

from cogniload_analysis.cogniload.glm import count_cells
from cogniload_analysis.cogniload.glm_thresholds import (
    PAPER_MEANS,
    LoadMeans,
    Threshold,
    say_crossings,
)
from cogniload_analysis.stats import TAILS, Interval, half_width, percentiles

COEFFICIENTS = (
    "level", "d", "log10_N", "rho", "rho2",
    "d_log10_N", "d_rho", "log10_N_rho", "d_log10_N_rho",
)  # fmt: skip
"""The line beneath a curve, in loads centred on the paper's means, rho in units of 0.45."""

ECL_GOALS = ("ECL50", "ECL80", "ECL90")
"""The lengths at which 50, 80 and 90 % of the puzzles are solved."""

MAIN_TERMS = 5
_RHO_UNIT = 0.45
FLOOR, _CEILING = 0.9, 0.99
WIGGLE = 0.2
LENGTHS = (3.0, 0.25, 0.3)
"""How far a curve may leave its line (logits), and over what distance in d, log10 N and rho."""

_CURVE_POINTS = 48
# A curve is held from 0.3 times the smallest N of a design to 3.125 times the largest.
_CURVE_REACH = 0.3, 3.125

CURVE_D = np.arange(-5, 20.5, 0.5)
_CURVE_RHO = np.linspace(0, 1, 21)
DRAWS = 2000
LEAST_CHANCE = 1e-12
_MODE_STEPS = 100
_MODE_TOLERANCE = 1e-9
_JITTER = 1e-9
_LEAST_PROPOSALS, LEAST_SHARE, _EVIDENCE_PROPOSALS = 1000, 0.05, 400
# A fall of accuracy that is steeper than any published curve's, by so many standard errors above 0.
_STEEP_FALL, _CLEAR_FALL = 0.5, 5.0
AROUND = 1.2
"""Answers at lengths within this factor are taken together."""

# From this probability on, accuracy varies more from cell to cell than by chance.
_DISPERSED = 0.95

# Draws are proposed by half of the answers' precision, so that no tail goes without.
_WIDE = 0.5


class Link(NamedTuple):
    """How a logit becomes an accuracy: it falls from `ceiling` to `floor` times chance.

    Chance is one over the number of options, max(d + 1, 3) (section 2.1.1). The paper's GLM is
    Link(floor=0, ceiling=1).
    """

    floor: float = FLOOR
    ceiling: float = _CEILING

    def bottom(self, d: np.ndarray) -> np.ndarray:
        """Return the accuracy that is left when the load is endless."""
        return self.floor / np.maximum(d + 1, 3)

    def accuracy(self, logit: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return the accuracy at a logit and a d."""
        bottom = self.bottom(d)
        return bottom + (self.ceiling - bottom) * expit(logit)

    def slope(self, logit: np.ndarray, d: np.ndarray) -> np.ndarray:
        """Return the derivative of the accuracy by the logit."""
        s = expit(logit)
        return (self.ceiling - self.bottom(d)) * s * (1 - s)


LINKS = tuple(Link(floor) for floor in (0, FLOOR / 2, FLOOR))

CORRELATIONS = {0.0: 0.8, 0.05: 0.1, 0.2: 0.1}
"""How alike answers to puzzles of one cell may be beyond the curve, and how likely beforehand."""


class Line(NamedTuple):
    """A normal distribution of the nine `COEFFICIENTS`: mean and covariance."""

    mean: np.ndarray
    covariance: np.ndarray


Prior: TypeAlias = tuple[Line, ...]
"""What is known of a model's curve before it has answered.

A line for each of `LINKS`: the same accuracies are another line under another floor.
"""


@dataclass(frozen=True, eq=False)
class Answers:
    """Right answers and answers in all, by cell: `loads` as `make_loads` gives them."""

    loads: np.ndarray
    successes: np.ndarray
    totals: np.ndarray

    @property
    def n(self) -> int:
        """The number of answers."""
        return int(self.totals.sum())


@dataclass(frozen=True, eq=False)
class _Posterior:
    """The logits at some loads, after the answers.

    Answers to one cell are alike by a `correlation`, as the beta-binomial distribution has them.
    `loads` are those of interest and after them those of the `answers`; `mean` is the mode there,
    `prior_covariance` the prior's, `precision` what the answers of each cell add at the mode (the
    Fisher weights), and `pull` the prior's gradient there.
    """

    answers: Answers
    link: Link
    correlation: float
    loads: np.ndarray
    mean: np.ndarray
    prior_covariance: np.ndarray
    precision: np.ndarray
    pull: np.ndarray

    @property
    def cells(self) -> slice:
        """The place of the answers' cells among the loads."""
        return slice(len(self.mean) - len(self.precision), len(self.mean))

    def covariance(self, places: np.ndarray, share: float = 1.0) -> np.ndarray:
        """Return Laplace's covariance of the logits at some of the loads.

        K - K W½ (I + W½ K W½)^-1 W½ K, with a share of the answers' precision as W.
        """
        K, root = self.prior_covariance, np.sqrt(share * self.precision)
        across = K[places, self.cells] * root
        inner = np.eye(len(root)) + root[:, None] * K[self.cells, self.cells] * root
        solved = cho_solve(cho_factor(inner, lower=True), across.T)
        return K[np.ix_(places, places)] - across @ solved

    def propose(
        self, part: slice, count: int, seed: int | tuple[int, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return draws of the logits at some of the loads, one row per draw, and their log weights.

        The draws are of a normal distribution a little wider than Laplace's, and the weights make
        them the posterior's: where a model is near the floor or the ceiling everywhere, Laplace's
        is far too wide. The weights are of one scale for all links, so that they add up to each
        one's evidence.
        """
        places = np.r_[part, self.cells]
        cells = slice(len(places) - len(self.precision), len(places))
        normals = _standard_normals(count, len(places), seed)
        apart = normals @ _square_root(self.covariance(places, _WIDE)).T
        logits = self.mean[places] + apart
        root = np.sqrt(_WIDE * self.precision)
        K = self.prior_covariance[self.cells, self.cells]
        _, wider = np.linalg.slogdet(np.eye(len(root)) + root[:, None] * K * root)
        weights = (
            np.log(CORRELATIONS[self.correlation])
            + log_likelihood(self.answers, logits[:, cells], self.link, self.correlation)
            - apart[:, cells] @ self.pull
            + _WIDE / 2 * apart[:, cells] ** 2 @ self.precision
            - (self.pull @ K @ self.pull + wider) / 2
        )
        return logits[:, : cells.start], weights


@dataclass(frozen=True, eq=False)
class Belief:
    """What is believed of a model: the posteriors under each floor and correlation, by evidence.

    Whether a model that is lost guesses, or fails for good, is open until it has tried what it
    can't do; a floor that is wrong would bend the whole curve. How much accuracy varies from cell
    to cell beyond the curve is open too.
    """

    posteriors: tuple[_Posterior, ...]

    @property
    def answers(self) -> Answers:
        """The answers behind it."""
        return self.posteriors[0].answers

    @cached_property
    def shares(self) -> np.ndarray:
        """The probability of each posterior."""
        somewhere = slice(0, 1)
        proposed = [p.propose(somewhere, _EVIDENCE_PROPOSALS, 0)[1] for p in self.posteriors]
        return softmax([logsumexp(weights) for weights in proposed])

    @property
    def best(self) -> _Posterior:
        """The posterior with the most evidence."""
        return self.posteriors[int(np.argmax(self.shares))]

    @property
    def alike(self) -> float:
        """The mean correlation of answers to one cell."""
        return float(self.shares @ [posterior.correlation for posterior in self.posteriors])

    @property
    def correlation(self) -> float:
        """The mean correlation of answers to one cell; 0 where there need be none."""
        some = [posterior.correlation > 0 for posterior in self.posteriors]
        return self.alike if self.shares[some].sum() > _DISPERSED else 0.0

    def draw(
        self, part: slice, count: int, seed: int | tuple[int, ...] = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return draws at some of the loads, one row per draw: accuracies, and slopes by the logit.

        The likelier a posterior, the more are proposed.
        """
        d, columns = self.posteriors[0].loads[part, 0], []
        for posterior, share in zip(self.posteriors, self.shares, strict=True):
            proposals = 2 * int(max(count, _LEAST_PROPOSALS) * max(share, LEAST_SHARE) / 2)
            logits, weights = posterior.propose(part, proposals, seed)
            link, weights = posterior.link, weights - np.log(proposals)
            columns.append((link.accuracy(logits, d), link.slope(logits, d), weights))
        accuracy, slope, weights = map(np.concatenate, zip(*columns, strict=True))
        total = np.cumsum(np.exp(weights - weights.max()))
        # Evenly spaced in the sum of weights.
        chosen = np.searchsorted(total / total[-1], (np.arange(count) + 0.5) / count)
        return accuracy[chosen], slope[chosen]

    def curve(self, part: slice) -> np.ndarray:
        """Return 2,000 draws of the accuracy along one curve, one row per draw."""
        return self.draw(part, DRAWS)[0]


@dataclass(frozen=True, eq=False)
class Capacity:
    """A model's capacity, estimated from its answers.

    `ECL50` (statements), `ID50` (difficulty) and `NT50` (a fraction) are crossings: medians with
    95 % of the draws, infinite where the curve does not cross 50 % in the range of N that is kept;
    `ECL80` and `ECL90` are those of 80 and 90 %. The other loads are held at those of `at`.
    `NT50_share` is the share of draws that cross 50 % anywhere in rho: where that is neither near
    0 nor near 1, the existence of NT50 is open. `half_width` is ECL50's as a factor: 0.2 means
    that the interval is about times or over 1.2. `glm_ECL50` is the crossing of the plain GLM (no
    floor, no smooth part) of the same answers. `correlation` is that of answers to one cell: above
    0, where accuracy clearly varies from cell to cell beyond chance and the curve. `asked_N` and
    `asked_d` are the ends of the loads that puzzles have or can have. `over_N`, `over_d` and
    `over_rho` hold the curves: load, accuracy (the median of the draws), low and high (the ends of
    95 % of them).
    `flags` are warnings in words.
    """

    n: int
    ECL50: Threshold
    ECL80: Threshold
    ECL90: Threshold
    ID50: Threshold
    NT50: Threshold
    NT50_share: float
    half_width: float
    over_N: pd.DataFrame = field(repr=False)
    over_d: pd.DataFrame = field(repr=False)
    over_rho: pd.DataFrame = field(repr=False)
    glm_ECL50: float
    correlation: float
    asked_N: tuple[float, float]
    asked_d: tuple[float, float]
    at: LoadMeans = PAPER_MEANS
    flags: tuple[str, ...] = ()
    stopped: str = ""


def make_loads(d: float | np.ndarray, N: float | np.ndarray, rho: float | np.ndarray) -> np.ndarray:
    """Return loads as rows (d, log10 N, rho), from numbers or arrays; rho is a fraction."""
    return np.column_stack(np.broadcast_arrays(d, np.log10(N), rho)).astype(float)


def line_terms(loads: np.ndarray) -> np.ndarray:
    """Return the nine terms of the line at each load, in the order of `COEFFICIENTS`."""
    d, x = loads[:, 0] - PAPER_MEANS.d, loads[:, 1] - PAPER_MEANS.log10_N
    u = (loads[:, 2] - PAPER_MEANS.rho) / _RHO_UNIT
    return np.column_stack([np.ones_like(d), d, x, u, u**2, d * x, d * u, x * u, d * x * u])


def _smooth_covariance(loads: np.ndarray) -> np.ndarray:
    """Return the covariance by which curves leave their lines: a Gaussian process a load."""
    return WIGGLE**2 * sum(
        np.exp(-0.5 * ((loads[:, [axis]] - loads[:, axis]) / length) ** 2)
        for axis, length in enumerate(LENGTHS)
    )


def _find_posterior(
    answers: Answers,
    loads: np.ndarray,
    line: Line,
    link: Link,
    smooth: np.ndarray | float,
    correlation: float = 0.0,
) -> _Posterior:
    """Return the posterior of the logits at `loads` under one link and correlation (steps 2, 3).

    Beforehand, their covariance is F S F' of the line and that of leaving it: `smooth`, over the
    loads and after them the answers' cells. The mode is found by damped
    Fisher scoring (Rasmussen and Williams 2006, section 3.4). Without answers it is the prior.
    """
    loads = np.concatenate([loads, answers.loads])
    terms = line_terms(loads)
    mean, K = terms @ line.mean, terms @ line.covariance @ terms.T + smooth
    cells = slice(len(loads) - len(answers.loads), len(loads))
    share = 1 / (1 + (answers.totals - 1) * correlation)
    alone = Answers(answers.loads, share * answers.successes, share * answers.totals)
    pull, precision = _find_mode(alone, mean[cells], K[cells, cells], link)
    mean = mean + K[:, cells] @ pull
    return _Posterior(answers, link, correlation, loads, mean, K, precision, pull)


def posterior(answers: Answers, loads: np.ndarray, prior: Prior) -> Belief:
    """Return the posteriors of the curve at `loads`, one for each floor and correlation."""
    smooth = _smooth_covariance(np.concatenate([loads, answers.loads]))
    return Belief(
        tuple(
            _find_posterior(answers, loads, *pair, smooth, correlation)
            for pair in zip(prior, LINKS, strict=True)
            for correlation in CORRELATIONS
        )
    )


def log_likelihood(
    answers: Answers, logits: np.ndarray, link: Link, correlation: float = 0.0
) -> np.ndarray:
    """Return the log-likelihood of logits at the answers' cells, along the last axis.

    It is binomial, or beta-binomial where answers to one cell are alike by a `correlation`.
    """
    p = np.clip(link.accuracy(logits, answers.loads[:, 0]), LEAST_CHANCE, 1 - LEAST_CHANCE)
    right, wrong = answers.successes, answers.totals - answers.successes
    if not correlation:
        return np.log(p) @ right + np.log1p(-p) @ wrong
    size = 1 / correlation - 1
    alike, apart = size * p, size * (1 - p)
    return (betaln(alike + right, apart + wrong) - betaln(alike, apart)).sum(-1)


def _find_mode(
    answers: Answers, mean: np.ndarray, K: np.ndarray, link: Link
) -> tuple[np.ndarray, np.ndarray]:
    """The mode as K^-1 (logits - mean), and the Fisher weights there."""
    d, right, total = answers.loads[:, 0], answers.successes, answers.totals

    def height(a: np.ndarray) -> float:
        smooth = K @ a
        return float(log_likelihood(answers, mean + smooth, link) - a @ smooth / 2)

    a = np.zeros_like(mean)
    here = height(a)
    for _ in range(_MODE_STEPS):
        logit = mean + K @ a
        p, slope = link.accuracy(logit, d), link.slope(logit, d)
        variance = np.maximum(p * (1 - p), LEAST_CHANCE)
        precision = total * slope**2 / variance
        root = np.sqrt(precision)
        b = precision * (logit - mean) + (right - total * p) * slope / variance
        factor = cho_factor(np.eye(len(a)) + root[:, None] * K * root, lower=True)
        step = b - root * cho_solve(factor, root * (K @ b)) - a
        before, size = here, 1.0
        while (here := height(a + size * step)) < before and size > 1e-6:
            size /= 2
        a = a + size * step
        if here - before < _MODE_TOLERANCE:
            break
    return a, precision


def _square_root(covariance: np.ndarray) -> np.ndarray:
    """Return a lower triangle L with L L' = covariance, which rounding may leave semidefinite."""
    scale = np.diag(covariance).max()
    jitter = _JITTER
    while True:
        try:
            return cholesky(covariance + jitter * scale * np.eye(len(covariance)), lower=True)
        except np.linalg.LinAlgError:
            jitter *= 10


def curve_N(N: tuple[int, int]) -> np.ndarray:
    """Return the N at which a curve is held, for a range of N of puzzles."""
    return np.geomspace(_CURVE_REACH[0] * N[0], _CURVE_REACH[1] * N[1], _CURVE_POINTS)


def curve_loads(N: tuple[int, int], at: LoadMeans = PAPER_MEANS) -> np.ndarray:
    """Return the loads of the three curves through those of `at`: over N, over d, over rho."""
    d, mean_N, rho = at.d, 10**at.log10_N, at.rho
    axes = (d, curve_N(N), rho), (CURVE_D, mean_N, rho), (d, mean_N, _CURVE_RHO)
    return np.concatenate([make_loads(*axis) for axis in axes])


OVER_N = slice(0, _CURVE_POINTS)
OVER_D = slice(_CURVE_POINTS, _CURVE_POINTS + len(CURVE_D))
_OVER_RHO = slice(OVER_D.stop, OVER_D.stop + len(_CURVE_RHO))
_CURVES = OVER_N, OVER_D, _OVER_RHO


def last_crossing(load: np.ndarray, accuracy: np.ndarray, level: float = 0.5) -> np.ndarray:
    """Return the largest load at which each row falls through a level.

    Rows that never do give infinity if they begin above, and else minus infinity: little is known
    of the slope of a model that guesses everywhere, and a row that rises to the level at a load
    without puzzles is no sign of capacity. Between two loads, the accuracy is a line.
    """
    above = accuracy >= level
    lost = np.where(above[:, 0], np.inf, -np.inf)
    return _last_passage(load, accuracy - level, above[:, :-1] & ~above[:, 1:], lost)


def largest_root(load: np.ndarray, accuracy: np.ndarray) -> np.ndarray:
    """Return the largest load at which each row passes 50 % in either direction; NaN without."""
    above = accuracy >= 0.5
    return _last_passage(load, accuracy - 0.5, above[:, 1:] != above[:, :-1], np.nan)


def _last_passage(
    load: np.ndarray, excess: np.ndarray, passes: np.ndarray, otherwise: float | np.ndarray
) -> np.ndarray:
    """Return the load at which each row's excess is 0 in the last interval in which it passes."""
    left = passes.shape[1] - 1 - np.argmax(passes[:, ::-1], axis=1)
    rows = np.arange(len(excess))
    here, there = excess[rows, left], excess[rows, left + 1]
    with np.errstate(all="ignore"):
        root = load[left] + here / (here - there) * (load[left + 1] - load[left])
    return np.where(passes.any(axis=1), root, otherwise)


def count_answers(frame: Mapping[str, Sequence[float]] | pd.DataFrame) -> Answers:
    """Count the right answers of each cell of a frame: d, N, rho (a fraction), correct (0 or 1).

    A frame of counted cells, with `successes` and `failures` in the place of `correct`, will do.
    Raises ValueError for a column that is missing or holds other values.
    """
    cells = count_cells(pd.DataFrame(frame).drop(columns="model", errors="ignore"))
    right, wrong = (cells[name].to_numpy(float) for name in ("successes", "failures"))
    loads = make_loads(*(cells[load].to_numpy(float) for load in ("d", "N", "rho")))
    return Answers(loads.reshape(-1, 3), right, right + wrong)


@lru_cache(maxsize=16)
def _standard_normals(draws: int, size: int, seed: int | tuple[int, ...]) -> np.ndarray:
    """Return standard normals in mirrored pairs, one row per draw, a function of the arguments."""
    half = np.random.default_rng(seed).standard_normal((draws // 2, size))
    return np.concatenate([half, -half])


def find_ECL(goal: str, accuracy: np.ndarray, answers: Answers, N: tuple[int, int]) -> Interval:
    """Return the ECL50, ECL80 or ECL90 that draws of the curve over N say, in statements.

    A draw that falls through the level beyond the curve counts as 0 or infinity. Where accuracy
    falls steeply through the level between two N, the interval holds the whole gap between them,
    since nothing but the smoothness of the curve says where in it the fall is.
    """
    crossings = 10 ** last_crossing(np.log10(curve_N(N)), accuracy, level_of(goal))
    value, low, high = summarize(crossings)
    gap = find_cliff(answers, level_of(goal)) or (value, value)
    return Interval(value, min(low, *gap), max(high, *gap))


def level_of(goal: str) -> float:
    """Return the accuracy of a threshold, 0.8 of ECL80."""
    return int(goal[-2:]) / 100


def describe_capacity(
    belief: Belief, N: tuple[int, int], d: tuple[float, float], at: LoadMeans = PAPER_MEANS
) -> Capacity:
    """Return the `Capacity` by a belief; N and d are the ranges that puzzles have or can have.

    `at` are the loads at which the others are held: the loads of the belief begin with
    `curve_loads(N, at)`. Flags and the reason to stop are the caller's.
    """
    answers = belief.answers
    over_N, over_d, over_rho = map(belief.curve, _CURVES)
    ECL: dict[str, Any] = {
        goal: _threshold(find_ECL(goal, over_N, answers, N), N, "N", goal) for goal in ECL_GOALS
    }
    crossing, NT50 = ECL["ECL50"], largest_root(_CURVE_RHO, over_rho)
    share = float(np.mean(~np.isnan(NT50)))
    return Capacity(
        n=answers.n,
        **ECL,
        ID50=_threshold(summarize(last_crossing(CURVE_D, over_d)), d, "d"),
        NT50=_needle_threshold(NT50, share, over_rho),
        NT50_share=share,
        half_width=half_width(crossing.low, crossing.high),
        over_N=_band(curve_N(N), over_N),
        over_d=_band(CURVE_D, over_d),
        over_rho=_band(_CURVE_RHO, over_rho),
        glm_ECL50=_glm_crossing(answers, at),
        correlation=belief.correlation,
        asked_N=N,
        asked_d=d,
        at=at,
    )


def _glm_crossing(answers: Answers, at: LoadMeans = PAPER_MEANS) -> float:
    """Return the ECL50 of the paper's plain GLM of these answers, under a wide prior.

    Infinite where accuracy does not fall with N.
    """
    wide, main = vague_line(), np.arange(len(COEFFICIENTS)) < MAIN_TERMS
    plain = Line(wide.mean, wide.covariance * np.diag(main))
    found = _find_posterior(answers, answers.loads[:0], plain, Link(0, 1), smooth=0.0)
    line = plain.mean + plain.covariance @ line_terms(answers.loads).T @ found.pull
    (level,), slope = line_terms(make_loads(at.d, 10**PAPER_MEANS.log10_N, at.rho)) @ line, line[2]
    if slope >= 0:
        return np.inf
    return float(10 ** np.clip(PAPER_MEANS.log10_N - level / slope, -300, 300))


def vague_line() -> Line:
    """Return a line that little is known about: it falls with d and N, by how much is open."""
    mean = np.array([0, -0.3, -3, 0, 0.5, 0, 0, 0, 0])
    deviations = np.array([4, 0.3, 3, 1, 1, 0.5, 0.3, 1, 0.3])
    return Line(mean, np.diag(deviations**2))


def summarize(draws: np.ndarray) -> Interval:
    """Return the median of draws, and the ends of 95 % of them."""
    return Interval(*map(float, (np.median(draws), *percentiles(draws))))


def find_cliff(answers: Answers, level: float = 0.5) -> tuple[float, float] | None:
    """Return the two neighbouring N between which accuracy falls steeply through a level, or None.

    The accuracy on either side is of the answers at most 20 % away, and answers at the same d and
    rho are compared. If there are more such falls, it is the one that is least by chance.
    """
    x, cliff, clearest = answers.loads[:, 1], None, _CLEAR_FALL
    kinds, kind = np.unique(answers.loads[:, [0, 2]], axis=0, return_inverse=True)
    of_kind = np.eye(len(kinds))[kind.ravel()]
    for low, high in pairwise(np.unique(x)):
        apart = np.array([low - x, x - high])
        sides = (apart >= 0) & (apart < np.log10(AROUND))
        right, total = (sides * count @ of_kind for count in (answers.successes, answers.totals))
        weight = total.prod(axis=0) / np.maximum(total.sum(axis=0), 1)
        before, after = right / np.maximum(total, 1) @ weight / max(weight.sum(), LEAST_CHANCE)
        clear = 2 * np.sqrt(weight.sum()) * (before - after)  # in standard errors
        if before > level > after and before - after > _STEEP_FALL and clear > clearest:
            cliff, clearest = (float(10**low), float(10**high)), clear
    return cliff


def _threshold(
    crossing: Interval, span: tuple[float, float], knob: str, goal: str = "ID50"
) -> Threshold:
    """The crossing of a falling curve, said to lie outside where its median does."""
    status, note = "crossing", ""
    if not span[0] <= crossing.value <= span[1]:
        status = f"always {'above' if crossing.value > span[1] else 'below'} {goal[-2:]} %"
        note = f"outside the tested range: {knob} from {span[0]:g} to {span[1]:g}"
    return Threshold(*crossing, "posterior draws", status, note=note)


def _needle_threshold(draws: np.ndarray, share: float, accuracy: np.ndarray) -> Threshold:
    """The crossing along rho, with the share of draws that have one."""
    note = say_crossings(share)
    if share < 0.5:
        above = np.median(accuracy) >= 0.5
        return Threshold(status=f"always {'above' if above else 'below'} 50 %", note=note)
    crossing = draws[~np.isnan(draws)]
    middle = int(np.abs(_CURVE_RHO - np.median(crossing)).argmin())
    around = accuracy[:, [max(middle - 1, 0), min(middle + 1, len(_CURVE_RHO) - 1)]].mean(axis=0)
    rising = bool(around[1] > around[0])
    return Threshold(*summarize(crossing), "posterior draws", "crossing", rising, note)


def _band(load: np.ndarray, accuracy: np.ndarray) -> pd.DataFrame:
    low, middle, high = np.quantile(accuracy, [TAILS[0], 0.5, TAILS[1]], axis=0)
    return pd.DataFrame({"load": load, "accuracy": middle, "low": low, "high": high})
