"""FACTOR, stage 2: the fit of CDF, CDO and N_eff (FACTOR, section 3.4 and Appendix B).

There are two methods. The paper's fits a line to the logarithm of the accuracies, one for each
complexity N, that lie in a range. So luck has a say in which points are fitted: where eight N or
more lie below the range, its 95 % interval of the CDF holds the truth in a third of the runs.

The other, the default, is the binomial likelihood over a contiguous window of N, in which zeros
count as well; and over the N beyond, where guessing shows. The chance of a right response is

    floor + (1 - floor - lapses) min(1, exp(CDF N + CDO)),

where `floor` is the chance to guess right, and `lapses` that to err at any N. docs/factor.md has
the coverage of its intervals, from studies/decay_coverage.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import chi2, norm
from scipy.stats import t as student
from statsmodels.regression.linear_model import OLS

from cogniload_analysis.analysis import Pairs
from cogniload_analysis.display.tables import show_context
from cogniload_analysis.factor.loads import COMPLEXITY_LOAD
from cogniload_analysis.frame import check_columns, check_single, check_values
from cogniload_analysis.matters import load_effects
from cogniload_analysis.stats import CONFIDENCE
from cogniload_analysis.words import say
from cogniload_gen.checks import check_choice

# The accuracies of phase 2, ends included (Appendix B.2).
ACCURACY_RANGES = {
    "pretrained": (0.1, 0.9),
    "from scratch": (0.1, 0.8),
    "fine-tuned": (0.2, 0.8),
    "repeated sampling": (0.02, 0.8),
}
_POINTS_NEEDED = 3
# The N over which accuracies are averaged to find the window of the likelihood.
_RUNNING_N = 5
# A slope this near to 0 is none.
FLAT = 1e-4
TERMS = ("CDF", "CDO")
# A fit is of one level of each of these.
CONDITION = ("model", "suite", "context", "noise")

# Lapses and the CDO can't be told apart where no N is without reasoning errors, so that the
# intervals of the CDO and of N_eff are as much wider as lapses are allowed.
_MOST_LAPSES = 0.02
# A higher floor would hardly lie below the window's end, so that it could not be told from it.
MOST_FLOOR = 0.05
# Lapses and floor are taken to be half normal, with these standard deviations. Neither can be below
# 0, so that luck only ever adds to them: without this, a model without either has a CDF that is 4 %
# too steep at 50 puzzles per N. studies/decay_coverage.py chose the two numbers; a rate that the
# data show clearly is moved by little.
_LAPSES_SPREAD, _FLOOR_SPREAD = 0.015, 0.06
# The highest floor that a warning looks for: naming the variables that were assigned solves 41 %.
HIGH_FLOOR = 0.5
# A higher floor is worth a warning where it adds this to the log likelihood. Of fits without
# a floor, 1 to 3 in 100 bring the warning (studies/decay_coverage.py).
LIKELIER = 1.0
_STEEPEST = -10.0
# How many curves of a grid the likeliest one is sought from.
_STARTS = 3
# Chances stay this far from 0 and 1, so that their logarithms are finite.
MARGIN = 1e-12
# An interval's end is sought at these distances from the estimate, then between two of them.
_DISTANCES = np.geomspace(0.1, 40, 9)

Method = Literal["likelihood", "least squares"]
Condition = tuple[str, str, int, str]
"""A model, a suite, a context and a noise."""


@dataclass(frozen=True, eq=False)
class ComplexityDecay:
    """The decay ln(accuracy) = CDF N + CDO of phase 2, by one of two methods.

    `params` is indexed by CDF and CDO. Least squares also gives `bse` (standard errors) and
    `rsquared` (the line's R^2), which are NaN otherwise. With the likelihood, `floor` is the chance
    of a right guess and `lapses` the chance of an error at any N; CDF and CDO are then of the
    accuracy without either. `floors` are the least and the greatest floor that were tried: one
    number twice where it was given. `points` holds each N with its accuracy, its number of
    responses and whether it was `used`. What can't be estimated is NaN, and `problems` says why, by
    CDF, CDO or N_eff. N_eff may be a number even if `problems` names it, as where the CDO is not
    positive: it then has no meaning. `note` warns of a floor that is higher than allowed, or is
    empty.
    """

    points: pd.DataFrame
    accuracy_range: tuple[float, float]
    method: Method
    floors: tuple[float, float] = (0.0, 0.0)
    params: pd.Series = field(default_factory=lambda: pd.Series(np.nan, TERMS))
    bse: pd.Series = field(default_factory=lambda: pd.Series(np.nan, TERMS))
    rsquared: float = np.nan
    floor: float = 0.0
    lapses: float = 0.0
    problems: dict[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def cdf(self) -> float:
        """The complexity decay factor: the slope, in ln(accuracy) a unit of N."""
        return float(self.params["CDF"])

    @property
    def cdo(self) -> float:
        """The contextual decay offset: the line's ln(accuracy) at N = 0."""
        return float(self.params["CDO"])

    @property
    def n_eff(self) -> float:
        """The effective complexity -CDO / CDF, where the line reaches an accuracy of 1.

        NaN where the accuracy does not fall; without meaning where `problems` has N_eff.
        """
        return -self.cdo / self.cdf if self.cdf < 0 else np.nan

    @property
    def curve(self) -> np.ndarray:
        """CDF, CDO, lapses and floor."""
        return np.array([self.cdf, self.cdo, self.lapses, self.floor])

    @property
    def used(self) -> pd.DataFrame:
        """The points that were fitted."""
        return self.points[self.points["used"]]

    def conf_int(self, level: float = CONFIDENCE) -> pd.DataFrame:
        """Return intervals of CDF, CDO and N_eff at a confidence `level`, as columns low and high.

        Of the likelihood, they are all values from which the likelihood falls by no more than
        chi-square allows, whatever the other parameters are; an end that the data leave open is
        infinite. Of least squares, those of CDF and CDO are the coefficient -+ its standard error
        times sqrt(2) erfinv(level) (Appendix B.3.1): normal quantiles, a little narrow with few
        points; N_eff has none. Raises ValueError for a level outside (0, 1).
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be in the open interval (0, 1), got {level!r}")
        ends = pd.DataFrame(np.nan, [*TERMS, "N_eff"], ["low", "high"])
        if self.method == "least squares":
            z = norm.ppf((1 + level) / 2)
            low, high = self.params - z * self.bse, self.params + z * self.bse
            return pd.DataFrame({"low": low, "high": high}).reindex(ends.index)
        if "CDF" not in self.problems:
            counts, drop = count_responses(self.points, self.floors), chi2.ppf(level, 1) / 2
            for name in ends.index if self.cdf < 0 else TERMS:
                ends.loc[name] = _find_interval(counts, self.curve, name, drop)
        return ends

    def predict(self, N: float | np.ndarray) -> np.ndarray:
        """Return the fit's accuracy at N."""
        return predict(self.curve, np.asarray(N, dtype=float))

    def summary(self) -> str:
        """Return the fit as text."""
        low, high = self.accuracy_range
        estimates = pd.concat([self.params, pd.Series({"N_eff": self.n_eff})])
        table = pd.DataFrame({"estimate": estimates}).join(self.conf_int())
        window = (
            f"{len(self.used)} of {len(self.points)} N with accuracies from {low:g} to {high:g}"
        )
        fitted = f"{window}, floor {self.floor:.3f}, lapses {self.lapses:.3f}"
        return "\n\n".join(
            [
                f"Complexity decay: ln(accuracy) = CDF N + CDO by {self.method}, {fitted}",
                table.to_string(float_format="{:.4f}".format),
                *(f"{name}: {problem}" for name, problem in self.problems.items()),
                *filter(None, [self.note]),
            ]
        )


def fit_complexity_decay(
    frame: pd.DataFrame,
    method: Method = "likelihood",
    *,
    accuracy_range: tuple[float, float] = ACCURACY_RANGES["pretrained"],
    floor: float | None = None,
) -> ComplexityDecay:
    """Fit the decay of accuracy with N to one model's responses at one context length.

    `frame` has the columns N and correct: 0 or 1, or a share of a puzzle's attempts (see
    `solve_within`). `ACCURACY_RANGES` has the paper's four ranges (low, high).

    - "likelihood": binomial, over all N from the first at which the running mean of the accuracy
      over 5 N is at most `high` to the first at which it is below `low`. `floor`, from 0 to below
      `low`, is the chance to guess right. By default it is estimated, up to 5 % or half of `low`,
      whichever is less, and all N beyond the window count as well. Lapses of up to 2 % are allowed
      for. Both have a weak half-normal prior (spreads of 0.015 and 0.06).
    - "least squares", the paper's: over the N whose own accuracy lies in the range, ends included,
      each with the same weight. It knows no floor.

    Returns a `ComplexityDecay`. Raises ValueError for a column that is missing or holds other
    values, for several models or contexts, and for another method, range or floor.
    Section 3.4, Appendix B.

    >>> N = np.arange(1, 20)
    >>> frame = pd.DataFrame({"N": N, "correct": np.exp(np.minimum(0.5 - 0.1 * N, 0))})
    >>> fit = fit_complexity_decay(frame, "least squares")
    >>> print(f"{fit.cdf:.3f} {fit.cdo:.3f} {fit.n_eff:.2f}")
    -0.100 0.500 5.00
    """
    check_choice("method", method, get_args(Method))
    low, high = accuracy_range
    if not 0 < low < high <= 1:
        raise ValueError(
            f"accuracy_range must be (low, high) with 0 < low < high <= 1, got {accuracy_range}"
        )
    if method == "least squares" and floor is not None:
        raise ValueError(f"floor is of the likelihood; least squares takes none, got {floor!r}")
    if not (floor is None or 0 <= floor < low):
        raise ValueError(f"floor must be from 0 to below the range's {low:g}, got {floor!r}")
    points = count_points(frame)
    if method == "least squares":
        floors = 0.0, 0.0
        points["used"] = points["accuracy"].between(low, high)
    else:
        floors = (0.0, min(MOST_FLOOR, low / 2)) if floor is None else (floor, floor)
        points["used"] = find_window(points["accuracy"], low, high)
    decay = ComplexityDecay(points, (low, high), method, floors)
    problem = _why_unfitted(decay)
    if not problem and method == "likelihood":
        decay, problem = _fit_curve(decay)
    elif not problem:
        line = pd.DataFrame({"CDF": decay.used["N"], "CDO": 1.0})
        fit = OLS(np.log(decay.used["accuracy"]), line).fit()
        decay = replace(decay, params=fit.params, bse=fit.bse, rsquared=float(fit.rsquared))
    if problem:
        return replace(decay, problems=dict.fromkeys([*TERMS, "N_eff"], problem))
    if decay.cdf >= 0:
        return replace(decay, problems={"N_eff": "the accuracy does not fall with N"})
    if decay.cdo <= 0:
        why = "the CDO is not positive: there is no phase without errors"
        return replace(decay, problems={"N_eff": why})
    effects = load_effects(frame, [COMPLEXITY_LOAD])
    if method == "likelihood" and not any(effect.matters for effect in effects):
        return replace(decay, problems={"N_eff": "accuracy is not known to fall with N"})
    return decay


def _why_unfitted(decay: ComplexityDecay) -> str:
    points, used, (low, high) = decay.points, decay.used, decay.accuracy_range
    accuracy = points["accuracy"]
    if points.empty:
        return "there are no responses"
    if accuracy.max() == 0 or accuracy.min() == 1:
        return f"every response is {'wrong' if accuracy.max() == 0 else 'right'}"
    if used.empty and decay.method == "likelihood":
        return f"accuracy stays above {high:g} up to N = {points['N'].max():g}"
    if len(used) < _POINTS_NEEDED:
        counts = {"used": len(used), "all": len(points), "needed": _POINTS_NEEDED}
        return say("few_points", high=high, low=low, **counts)
    if decay.method == "least squares" and used["accuracy"].nunique() == 1:
        return f"every N in the range has the same accuracy, {used['accuracy'].iloc[0]:g}"
    return ""


def _fit_curve(decay: ComplexityDecay) -> tuple[ComplexityDecay, str]:
    """Fit by the binomial likelihood over a window, and beyond it where the floor is open."""
    counts = count_responses(decay.points, decay.floors)
    curve, best = maximise(counts)
    # else the accuracy may as well fall between two neighbouring N, at any CDF
    if best - maximise(counts, "CDF", _STEEPEST)[1] < chi2.ppf(CONFIDENCE, 1) / 2:
        return decay, "accuracy falls too steeply: the decay lies between two neighbouring N"
    cdf, cdo, lapses, floor = map(float, curve)
    note = ""
    if decay.floors[0] < decay.floors[1]:
        (higher, _, _, high_floor), likelier = maximise(counts._replace(floors=(0.0, HIGH_FLOOR)))
        if likelier >= log_likelihood(counts._replace(floors=(0.0, HIGH_FLOOR)), curve) + LIKELIER:
            floors = {"floor": 100 * high_floor, "most": 100 * decay.floors[1]}
            note = say("high_floor", **floors, cdf=higher)
    params = pd.Series({"CDF": cdf if abs(cdf) > FLAT else 0.0, "CDO": cdo})
    return replace(decay, params=params, lapses=lapses, floor=floor, note=note), ""


def find_window(accuracy: pd.Series, low: float, high: float) -> pd.Series:
    """Return which N are in the window of phase 2, by their accuracies in the order of N.

    It goes from the first N at which the mean over up to 5 N around is at most `high` to the first
    after it at which that mean is below `low`, both included.
    """
    running = accuracy.rolling(_RUNNING_N, center=True, min_periods=1).mean()
    # Sums of decimal fractions may miss the limit by a rounding error.
    begun = (running <= high + 1e-9).cummax()
    over = (begun & (running < low - 1e-9)).cummax()
    return begun & ~over.shift(fill_value=False)


def count_points(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy and the number of responses at each N; errors as in the fit."""
    check_columns(frame, ("N", "correct"), "N and correct")
    check_single(frame, CONDITION)
    rows = frame[["N", "correct"]].apply(pd.to_numeric, errors="coerce").astype(float)
    N, correct = rows["N"], rows["correct"]
    check_values(frame, "N", (N > 0) & (N < np.inf), "a positive number")
    check_values(frame, "correct", correct.between(0, 1), "0, 1 or a share between them")
    return correct.groupby(N).agg(accuracy="mean", responses="size").reset_index()


def by_condition(frame: pd.DataFrame) -> Iterator[tuple[Condition, pd.DataFrame]]:
    """Yield each condition of a frame, in order, with its rows."""
    key: Any  # pandas knows keys as hashable alone
    for key, rows in frame.groupby(list(CONDITION), observed=True):
        model, suite, context, noise = key
        yield (str(model), str(suite), int(context), str(noise)), rows


# --- The likelihood, which the spreads have penalized --------------------------------------------


class Counts(NamedTuple):
    """Right and wrong responses by N; and the least and the greatest floor."""

    N: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    floors: tuple[float, float] = (0.0, MOST_FLOOR)


Ways = list[tuple[float, float]]
"""Directions in which CDF and CDO change together."""


def count_responses(points: pd.DataFrame, floors: tuple[float, float]) -> Counts:
    """Return the right and wrong responses in the window, and beyond it if the floor is open.

    Within the window, a floor and a slower decay look alike. Beyond it, the floor is what is left.
    """
    open_floor = floors[0] < floors[1]
    used = points[points["used"].cummax() if open_floor else points["used"]]
    right = (used["accuracy"] * used["responses"]).to_numpy(float)
    return Counts(used["N"].to_numpy(float), right, used["responses"].to_numpy() - right, floors)


def predict(curve: np.ndarray, N: np.ndarray) -> np.ndarray:
    """Return the chance of a right response by N; a curve is CDF, CDO, lapses and floor."""
    cdf, cdo, lapses, floor = curve
    return floor + (1 - floor - lapses) * np.exp(np.minimum(cdf * N + cdo, 0))


def log_likelihood(counts: Counts, curve: np.ndarray) -> float:
    """Return the penalized log likelihood of a curve."""
    chance = np.clip(predict(curve, counts.N), MARGIN, 1 - MARGIN)
    fit = counts.right @ np.log(chance) + counts.wrong @ np.log1p(-chance)
    return float(fit - _precisions(counts) @ curve**2 / 2)


def _precisions(counts: Counts) -> np.ndarray:
    """Return one over the variances that CDF, CDO, lapses and floor are taken to have."""
    floor = _FLOOR_SPREAD if counts.floors[1] <= MOST_FLOOR else np.inf
    return np.array([np.inf, np.inf, _LAPSES_SPREAD, floor]) ** -2


def _derivatives(counts: Counts, curve: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the second derivatives of the log likelihood by the four of a curve."""
    cdf, cdo, lapses, floor = curve
    line = cdf * counts.N + cdo
    reasoned = np.exp(np.minimum(line, 0))
    chance = np.clip(predict(curve, counts.N), MARGIN, 1 - MARGIN)
    terms = np.array([counts.N, np.ones(len(line))])
    falls = terms * reasoned * (line < 0)
    slopes = np.array([*(1 - floor - lapses) * falls, -reasoned, 1 - reasoned])
    pull = counts.right / chance - counts.wrong / (1 - chance)
    bends = -(slopes * (counts.right / chance**2 + counts.wrong / (1 - chance) ** 2)) @ slopes.T
    bends[:2, :2] += (1 - floor - lapses) * (falls * pull) @ terms.T
    bends[:2, 2:] -= (falls @ pull)[:, None]
    bends[2:, :2] -= falls @ pull
    return slopes @ pull - _precisions(counts) * curve, bends - np.diag(_precisions(counts))


def maximise(counts: Counts, name: str = "", value: float = 0.0) -> tuple[np.ndarray, float]:
    """Return the likeliest curve and its log likelihood; CDF, CDO or N_eff, by `name`, is held.

    The curve is exact to 1e-8, as hardly any optimiser is that compares likelihoods.
    """
    found = [_reach(counts, each, name, value) for each in _find_starts(counts, name, value)]
    curve = max(found, key=lambda each: log_likelihood(counts, each))
    return curve, log_likelihood(counts, curve)


def _reach(counts: Counts, curve: np.ndarray, name: str, value: float) -> np.ndarray:
    """Return the likeliest curve near one, while CDF, CDO or N_eff is held."""
    held: dict[str, Ways] = {"CDF": [(0, 1)], "CDO": [(1, 0)], "N_eff": [(1, -value)]}
    curve, at_edge = _climb(counts, curve, held.get(name, [(1, 0), (0, 1)]))
    if at_edge and name != "N_eff":  # the likelihood has one where the curve bends at an N
        bend = counts.N[abs(curve[0] * counts.N + curve[1]).argmin()]
        cdf = -curve[1] / bend if name == "CDO" else curve[0]
        edge = np.array([cdf, -cdf * bend, *curve[2:]])
        edge, _ = _climb(counts, edge, [] if name else [(1, -bend)])
        curve = max(curve, edge, key=lambda each: log_likelihood(counts, each))
    return curve


def _climb(counts: Counts, curve: np.ndarray, ways: Ways) -> tuple[np.ndarray, bool]:
    """Return the likeliest curve that Newton's steps lead to, and whether they end at an edge.

    `ways` are those in which CDF and CDO may change; lapses and floor may within their bounds.
    """
    kept = [*(0 if way[0] else 1 for way in ways), 2, 3]
    low = np.array([_STEEPEST, -np.inf, 0, counts.floors[0]])[kept]
    high = np.array([-_STEEPEST, np.inf, _MOST_LAPSES, counts.floors[1]])[kept]
    basis = np.array([*((*way, 0, 0) for way in ways), (0, 0, 1, 0), (0, 0, 0, 1)])
    for _ in range(100):
        slope, bends = _derivatives(counts, curve)
        slope, here, best = basis @ slope, curve[kept], log_likelihood(counts, curve)
        free = ((here > low + MARGIN) | (slope > 0)) & ((here < high - MARGIN) | (slope < 0))
        sizes, axes = np.linalg.eigh((basis @ bends @ basis.T)[np.ix_(free, free)])
        step = np.zeros(len(kept))
        step[free] = axes @ (axes.T @ slope[free] / np.maximum(abs(sizes), 1e-9))
        gain = slope @ step
        for size in 0.5 ** np.arange(40):
            new = curve + (np.clip(here + size * step, low, high) - here) @ basis
            if gain < 1e-11 or log_likelihood(counts, new) > best:  # below it, this is noise
                break
        else:
            return curve, True
        curve = new
        if gain < 1e-22:
            return curve, False
    return curve, True


def _find_starts(counts: Counts, name: str, value: float) -> list[np.ndarray]:
    """Return the likeliest curves of a grid on which CDF, CDO or N_eff, by `name`, is held.

    They bend between other N each, since the likelihood may have a maximum for every such place.
    """
    span = counts.N.max() + 1
    floors = {float(np.mean(counts.floors)), float(np.clip(MOST_FLOOR / 2, *counts.floors))}
    many, few = {"": (48, 121), "CDF": (1, 500)}.get(name, (500, 1))
    slopes = [value] if name == "CDF" else -np.geomspace(0.01 / span, 3, many)
    halves = np.linspace(-span, 2 * span, few)  # where the curve has halved
    cdf, half, floor = (each.ravel() for each in np.meshgrid(slopes, halves, sorted(floors)))
    cdo = {"CDO": np.full(len(cdf), value), "N_eff": -cdf * value}.get(
        name, -np.log(2) - cdf * half
    )
    reasoned = np.exp(np.minimum(cdf[:, None] * counts.N + cdo[:, None], 0))
    chance = floor[:, None] + (0.99 - floor[:, None]) * reasoned
    chance = np.clip(chance, MARGIN, 1 - MARGIN)
    best = (np.log(chance) @ counts.right + np.log1p(-chance) @ counts.wrong).argsort()[::-1]
    bends = np.searchsorted(np.sort(counts.N), -cdo[best] / cdf[best])
    found = best[np.sort(np.unique(bends, return_index=True)[1])[:_STARTS]]
    return [np.array([cdf[i], cdo[i], 0.01, floor[i]]) for i in found]


def _find_interval(
    counts: Counts, curve: np.ndarray, name: str, drop: float
) -> tuple[float, float]:
    """Return the ends of the values of CDF, CDO or N_eff whose log likelihood is less than `drop`
    below that of `curve`, the likeliest. An end that lies too far out to be found is infinite.
    """
    cdf, cdo = curve[:2]
    best, slope = log_likelihood(counts, curve), max(abs(cdf), 1 / counts.N.max())
    estimate, unit = {
        "CDF": (cdf, slope),
        "CDO": (cdo, 1.0),
        "N_eff": (-cdo / cdf if cdf else np.nan, 1 / slope),
    }[name]

    def excess(value: float) -> float:
        return best - maximise(counts, name, value)[1] - drop

    def find_end(side: int) -> float:
        inside = estimate
        for distance in _DISTANCES:
            outside = estimate + side * unit * distance
            if excess(outside) >= 0:
                return float(brentq(excess, inside, outside, xtol=1e-9 * unit))
            inside = outside
        return side * np.inf

    return find_end(-1), find_end(1)


# --- Differences of two models -------------------------------------------------------------------

_GROUPS = 20


def compare_decays(frame: pd.DataFrame, pairs: Pairs) -> pd.DataFrame:
    """Return the differences of CDF and CDO for pairs of models, with 95 % intervals.

    Their errors come from a jackknife over puzzles: each of 20 groups of puzzles is left out in
    turn, of both models at once. So it holds for any method of the fit, for puzzles that both
    answered, and for several attempts at a puzzle.

    `frame` has the columns model, suite, context, noise, N, id and correct. A row each for a pair,
    a condition and a measure; columns: first, second, measure, condition, scale, first_value,
    second_value, difference, low, high, p, method and note.
    """
    rows: list[dict[str, object]] = []
    for (suite, context, noise), responses in frame.groupby(list(CONDITION[1:]), observed=True):
        grouped = responses.assign(group=_group_puzzles(responses))
        fits = {
            model: _leave_out(of_model)
            for model, of_model in grouped.groupby("model", observed=True, sort=False)
        }
        condition = f"{suite}, {show_context(float(str(context)))} tokens, noise {noise}"
        for first, second in pairs:
            if not {first, second} <= set(fits):
                continue
            pair = {"first": first, "second": second, "condition": condition}
            rows += [pair | row for row in _compare(fits[first], fits[second])]
    return pd.DataFrame(rows)


def _group_puzzles(responses: pd.DataFrame) -> pd.Series:
    """Return the group of each response's puzzle; every group has puzzles of each N, if it can."""
    puzzles = responses[["N", "id"]].drop_duplicates().astype({"id": str}).sort_values(["N", "id"])
    place = puzzles.groupby("N").cumcount() + puzzles["N"].rank(method="dense").astype(int)
    by_id = pd.Series((place % _GROUPS).to_numpy(), puzzles["id"].to_numpy())
    return responses["id"].astype(str).map(by_id)


def _leave_out(responses: pd.DataFrame) -> np.ndarray:
    """Return CDF and CDO of the whole, and of all but each group: one row per fit."""
    kept = [responses, *(responses[responses["group"] != group] for group in range(_GROUPS))]
    return np.array([fit_complexity_decay(rows).params[list(TERMS)].to_numpy() for rows in kept])


def _compare(first: np.ndarray, second: np.ndarray) -> Iterator[dict[str, object]]:
    differences = first - second
    for place, name in enumerate(TERMS):
        whole, parts = differences[0, place], differences[1:, place]
        error = np.sqrt((_GROUPS - 1) * np.var(parts))
        known = bool(np.isfinite(error) and error > 0)
        margin = student.ppf((1 + CONFIDENCE) / 2, _GROUPS - 1) * error if known else np.nan
        yield {
            "measure": name,
            "scale": "difference",
            "first_value": first[0, place],
            "second_value": second[0, place],
            "difference": whole if known else np.nan,
            "low": whole - margin,
            "high": whole + margin,
            "p": 2 * student.sf(abs(whole) / error, _GROUPS - 1) if known else np.nan,
            "method": "jackknife over puzzles" if known else "",
            "note": "" if known else "the decay of one can't be fitted, whole or in part",
        }
