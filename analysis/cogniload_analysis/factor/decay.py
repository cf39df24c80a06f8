"""FACTOR, stage 2: how accuracy decays with complexity (FACTOR, section 3.4 and Appendix B).

There are two methods. The paper's fits a line to the logarithm of the accuracies, one for each
complexity N, that lie in a range. So luck has a say in which points are fitted: where eight N or
more lie below the range, its 95 % interval of the CDF holds the truth in a third of the runs.

The other, the default, is the binomial likelihood over a contiguous window of N, in which zeros
count as well; and over the N beyond, where guessing shows. docs/factor.md has the coverage of its
intervals, from studies/decay_coverage.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm
from statsmodels.regression.linear_model import OLS

from cogniload_analysis.factor import likelihood
from cogniload_analysis.factor.loads import COMPLEXITY_LOAD
from cogniload_analysis.frame import check_columns, check_single, check_values
from cogniload_analysis.matters import load_effects
from cogniload_analysis.stats import CONFIDENCE
from cogniload_gen.checks import check_choice

# The accuracies of phase 2, ends included (Appendix B.2).
ACCURACY_RANGES = {
    "pretrained": (0.1, 0.9),
    "from scratch": (0.1, 0.8),
    "fine-tuned": (0.2, 0.8),
    "repeated sampling": (0.02, 0.8),
}
POINTS_NEEDED = 3
# The N over which accuracies are averaged to find the window of the likelihood.
RUNNING_N = 5
# The highest floor that a warning looks for: naming the variables that were assigned solves 41 %.
HIGH_FLOOR = 0.5
# A higher floor is worth a warning where it adds this to the log likelihood. Of fits without
# a floor, 1 to 3 in 100 bring the warning (studies/decay_coverage.py).
LIKELIER = 1.0
# A slope this near to 0 is none.
FLAT = 1e-6
TERMS = ("CDF", "CDO")
# A fit is of one level of each of these.
CONDITION = ("model", "suite", "context", "noise")


Method = Literal["likelihood", "least squares"]
Condition = tuple[str, str, int, str]
"""A model, a suite, a context and a noise."""


@dataclass(frozen=True, eq=False)
class ComplexityDecay:
    """The decay ln(accuracy) = CDF N + CDO of phase 2, by one of two methods.

    `params` is indexed by CDF and CDO. Least squares also gives `bse` (standard errors),
    `cov_params` and `rsquared` (the line's R^2), which are NaN otherwise. With the likelihood,
    `floor` is the chance of a right guess and `lapses` the chance of an error at any N; CDF and
    CDO are then of the accuracy without either. `floors` are the least and the greatest floor
    that were tried: one number twice where it was given. `points` holds each N with its
    accuracy, its number of responses and whether it was `used`. What can't be estimated is NaN,
    and `problems` says why, by CDF, CDO or N_eff. N_eff may be a number even if `problems`
    names it, as where the CDO is not positive: it then has no meaning. `note` is a warning, or
    empty.
    """

    params: pd.Series
    bse: pd.Series
    cov_params: pd.DataFrame
    rsquared: float
    points: pd.DataFrame
    accuracy_range: tuple[float, float]
    problems: dict[str, str]
    note: str = ""
    method: Method = "least squares"
    floor: float = 0.0
    lapses: float = 0.0
    floors: tuple[float, float] = (0.0, 0.0)

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
        """CDF, CDO, lapses and floor, as `likelihood` has them."""
        return np.array([self.cdf, self.cdo, self.lapses, self.floor])

    def conf_int(self, level: float = CONFIDENCE) -> pd.DataFrame:
        """Return intervals of CDF, CDO and N_eff at a confidence `level`, as columns low and high.

        Of the likelihood, they are all values from which the likelihood falls by no more than
        chi-square allows, whatever the other parameters are; an end that the data leave open is
        infinite. Of least squares, those of CDF and CDO are the coefficient -+ its standard error
        times sqrt(2) erfinv(level) (Appendix B.3.1): normal quantiles, a little narrow with few
        points. N_eff's are Fieller's (1954): every N at which the line may reach an accuracy of 1,
        or NaN where the slope may be 0. Raises ValueError for a level outside (0, 1).
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be in the open interval (0, 1), got {level!r}")
        if self.method == "likelihood":
            ends = pd.DataFrame(np.nan, [*TERMS, "N_eff"], ["low", "high"])
            if "CDF" in self.problems:
                return ends
            counts = _count(self.points, self.floors)
            best = float(likelihood.log_likelihood(counts, self.curve[None])[0])
            for name in ends.index if self.cdf < 0 else TERMS:
                drop = chi2.ppf(level, 1) / 2
                ends.loc[name] = likelihood.interval(counts, self.curve, best, name, drop)
            return ends
        z = norm.ppf((1 + level) / 2)
        ends = pd.DataFrame({"low": self.params - z * self.bse, "high": self.params + z * self.bse})
        ends.loc["N_eff"] = _fieller(self.params, self.cov_params, z)
        return ends

    def predict(self, N: float | np.ndarray) -> np.ndarray:
        """Return the fit's accuracy at N."""
        N = np.asarray(N, dtype=float)
        return likelihood.predict(self.curve[None], N.ravel())[0].reshape(N.shape)

    def summary(self) -> str:
        """Return the fit as text."""
        low, high = self.accuracy_range
        estimates = pd.concat([self.params, pd.Series({"N_eff": self.n_eff})])
        table = pd.DataFrame({"estimate": estimates})
        used = self.points["N"][self.points["used"]]
        fitted = f"{len(used)} of {len(self.points)} N"
        if self.method == "likelihood":
            fitted += f" from {used.min():g} to {used.max():g}" if len(used) else ""
            fitted += f", floor {self.floor:.3f}, lapses {self.lapses:.3f}"
        else:
            table["std err"] = self.bse.reindex(estimates.index)
            fitted += f" with an accuracy from {low:g} to {high:g}, R^2 {self.rsquared:.3f}"
        return "\n\n".join(
            [
                f"Complexity decay: ln(accuracy) = CDF N + CDO by {self.method}, {fitted}",
                table.join(self.conf_int()).to_string(float_format="{:.4f}".format),
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
      for. Both have a weak half-normal prior (`likelihood.SPREAD`).
    - "least squares", the paper's: over the N whose own accuracy lies in the range, ends included,
      each with the same weight. It knows no floor.

    Returns a `ComplexityDecay`. Raises ValueError for a column that is missing or holds other
    values, for several models or contexts, and for another method, range or floor.
    Section 3.4, Appendix B.
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
    accuracy, nothing = points["accuracy"].to_numpy(), pd.Series(np.nan, TERMS)
    if method == "least squares":
        floors = 0.0, 0.0
        points["used"] = points["accuracy"].between(low, high)
        problem = _question_range(points, low, high)
    else:
        floors = (0.0, min(likelihood.MOST_FLOOR, low / 2)) if floor is None else (floor, floor)
        points["used"] = find_window(accuracy[None], low, high)[0] if len(points) else False
        problem = _question_window(points, low, high)
    decay = ComplexityDecay(
        nothing, nothing, pd.DataFrame(np.nan, TERMS, TERMS), np.nan, points, (low, high), {},
        method=method, floors=floors,
    )  # fmt: skip
    if not problem:
        decay, problem = _fit_line(decay) if method == "least squares" else _fit_curve(decay)
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


def _fit_line(decay: ComplexityDecay) -> tuple[ComplexityDecay, str]:
    """Fit by least squares, as the paper; warn where luck decides which N are used."""
    points, (low, _) = decay.points, decay.accuracy_range
    used = points[points["used"]]
    fit = OLS(np.log(used["accuracy"]), pd.DataFrame({"CDF": used["N"], "CDO": 1.0})).fit()
    last = used["N"].max()
    below = int(((points["accuracy"] < low) & (points["N"] < last)).sum())
    note = below and (
        f"at {below} value{'s' * (below > 1)} of N below {last:g} the accuracy is under the fitted "
        "range; luck decides which points there are fitted, so the line is too flat"
    )
    return replace(
        decay, params=fit.params, bse=fit.bse, cov_params=fit.cov_params(),
        rsquared=float(fit.rsquared), note=note or "",
    ), ""  # fmt: skip


def _fit_curve(decay: ComplexityDecay) -> tuple[ComplexityDecay, str]:
    """Fit by the binomial likelihood over a window, and beyond it where the floor is open."""
    counts = _count(decay.points, decay.floors)
    (curve,), (best,) = likelihood.fit(counts)
    if not likelihood.is_bounded(counts, curve, float(best), chi2.ppf(CONFIDENCE, 1) / 2):
        return decay, "accuracy falls too steeply: the decay lies between two neighbouring N"
    cdf, cdo, lapses, floor = map(float, curve)
    params = pd.Series({"CDF": cdf if abs(cdf) > FLAT else 0.0, "CDO": cdo})
    decay = replace(decay, params=params, lapses=lapses, floor=floor)
    return replace(decay, note=_question_floor(decay)), ""


def _question_range(points: pd.DataFrame, low: float, high: float) -> str:
    """Say why there is no line to fit; return "" if there is one."""
    if points.empty:
        return "there are no responses"
    used = points[points["used"]]
    if len(used) < POINTS_NEEDED:
        number = f"only {len(used)}" if len(used) else "none"
        return (
            f"{number} of {len(points)} N has an accuracy from {low:g} to {high:g} "
            f"({POINTS_NEEDED} are needed)"
        )
    if used["accuracy"].nunique() == 1:
        return f"every N in the range has the same accuracy, {used['accuracy'].iloc[0]:g}"
    return ""


def _question_window(points: pd.DataFrame, low: float, high: float) -> str:
    """Say why there is no window to fit; return "" if there is one."""
    accuracy, used = points["accuracy"], points[points["used"]]
    if points.empty:
        return "there are no responses"
    if accuracy.max() == 0 or accuracy.min() == 1:
        return f"every response is {'wrong' if accuracy.max() == 0 else 'right'}"
    if used.empty:
        return f"accuracy stays above {high:g} up to N = {points['N'].max():g}"
    if used["accuracy"].max() == 0:
        return f"every response is wrong from N = {used['N'].min():g} on"
    if len(used) < POINTS_NEEDED:
        return (
            f"accuracy begins at {accuracy[0]:.3g}, and {len(used)} of {len(points)} N are where "
            f"it falls from {high:g} to {low:g} ({POINTS_NEEDED} are needed)"
        )
    return ""


def find_window(accuracy: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return which N are in the window of phase 2, data sets by N in order.

    It goes from the first N at which the mean over up to 5 N around is at most `high` to the first
    after it at which that mean is below `low`, both included.
    """
    places = np.arange(accuracy.shape[1])
    first = np.maximum(places - RUNNING_N // 2, 0)
    behind = np.minimum(places + RUNNING_N // 2 + 1, len(places))
    sums = np.cumsum(np.pad(accuracy, ((0, 0), (1, 0))), 1)
    running = (sums[:, behind] - sums[:, first]) / (behind - first)
    # Sums of decimal fractions may miss the limit by a rounding error.
    begun = np.logical_or.accumulate(running <= high + 1e-9, 1)
    over = np.logical_or.accumulate(begun & (running < low - 1e-9), 1)
    return begun & ~np.pad(over, ((0, 0), (1, 0)))[:, :-1]


def _count(points: pd.DataFrame, floors: tuple[float, float]) -> likelihood.Counts:
    """Return the right and wrong responses in the window, and beyond it if the floor is open.

    Within the window, a floor and a slower decay look alike. Beyond it, the floor is what is left.
    """
    open_floor = floors[0] < floors[1]
    inside = points["used"].to_numpy()
    used = points[np.logical_or.accumulate(inside) if open_floor else inside]
    right = (used["accuracy"] * used["responses"]).to_numpy(float)
    wrong = used["responses"].to_numpy(float) - right
    return likelihood.Counts(used["N"].to_numpy(float), right[None], wrong[None], floors)


def by_condition(frame: pd.DataFrame) -> Iterator[tuple[Condition, pd.DataFrame]]:
    """Yield each condition of a frame, in order, with its rows."""
    key: Any  # pandas knows keys as hashable alone
    for key, rows in frame.groupby(list(CONDITION), observed=True):
        model, suite, context, noise = key
        yield (str(model), str(suite), int(context), str(noise)), rows


def count_points(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy and the number of responses at each N; errors as in the fit."""
    check_columns(frame, ("N", "correct"), "N and correct")
    check_single(frame, CONDITION)
    rows = frame[["N", "correct"]].apply(pd.to_numeric, errors="coerce").astype(float)
    N, correct = rows["N"], rows["correct"]
    check_values(frame, "N", (N > 0) & (N < np.inf), "a positive number")
    check_values(frame, "correct", correct.between(0, 1), "0, 1 or a share between them")
    return correct.groupby(N).agg(accuracy="mean", responses="size").reset_index()


def _question_floor(decay: ComplexityDecay) -> str:
    """Warn where the floor seems to be higher than any that was tried.

    Then a fit with a higher one is likelier; or, of a given floor, more is right beyond the
    window than the curve allows, as luck would make it.
    """
    points, (lowest, highest) = decay.points, decay.floors
    if lowest < highest:
        counts = _count(points, (0.0, HIGH_FLOOR))
        ((cdf, _, _, floor),), (best,) = likelihood.fit(counts)
        if best < likelihood.log_likelihood(counts, decay.curve[None])[0] + LIKELIER:
            return ""
        return (
            f"a floor of {100 * floor:.0f} % fits better than one of up to {100 * highest:g} %, "
            f"and then the CDF is {cdf:.3f}: guesses make a decay look slower"
        )
    last = points["N"][points["used"]].max()
    beyond = points[points["N"] > last]
    chance, responses = decay.predict(beyond["N"].to_numpy()), beyond["responses"].to_numpy()
    expected = float((chance * responses).sum())
    deviation = np.sqrt((chance * (1 - chance) * responses).sum())
    right = float((beyond["accuracy"] * responses).sum())
    if right <= expected + 4 * deviation + 2:
        return ""
    total = responses.sum()
    return (
        f"beyond N = {last:g}, {100 * right / total:.1f} % are right, where the curve has "
        f"{100 * expected / total:.1f} %; if they are guessed, give that chance as the floor"
    )


def _fieller(params: pd.Series, cov_params: pd.DataFrame, z: float) -> tuple[float, float]:
    """Return the ends of the set of N at which the line is within z standard errors of 0."""
    slope, offset = params["CDF"], params["CDO"]
    covariance = cov_params.loc[list(TERMS), list(TERMS)].to_numpy(float)
    a = slope**2 - z**2 * covariance[0, 0]
    if not (slope < 0 < a):
        return np.nan, np.nan
    b = slope * offset - z**2 * covariance[0, 1]
    c = offset**2 - z**2 * covariance[1, 1]
    # Rounding may leave -1e-20 under the root of a line without errors.
    margin = np.sqrt(max(b**2 - a * c, 0))
    return (-b - margin) / a, (-b + margin) / a
