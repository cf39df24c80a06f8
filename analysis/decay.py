"""FACTOR, stage 2: how accuracy decays with complexity (FACTOR, section 3.4 and Appendix B).

The paper fits a line to the logarithm of the accuracies that lie in a range, one for each
complexity N. The range alone picks the points: at an N far out, where the true accuracy is under
the range, an estimate that luck put into it counts as well, and one that bad luck put under it does
not. Simulated from the published CDF and CDO with the paper's 50 puzzles an N, 95 % intervals of
the CDF hold it in 93 % where accuracy stays above 0.15 (low accuracies err more than equal weights
know), and in 33 % where eight N or more lie under the range: the line is then too flat, by 25 %.
With 20,000 puzzles an N it is 92 % in all. Intervals of the CDO and of N_eff are wide enough where
the range plays no part (98 %). The tests measure this.
"""

import reprlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import erfinv
from statsmodels.regression.linear_model import OLS

from cogniload_analysis.thresholds import CONFIDENCE

# The accuracies of phase 2, whose ends count in (Appendix B.2).
ACCURACY_RANGES = {
    "pretrained": (0.1, 0.9),
    "from scratch": (0.1, 0.8),
    "fine-tuned": (0.2, 0.8),
    "repeated sampling": (0.02, 0.8),
}
POINTS_NEEDED = 3
TERMS = ("CDF", "CDO")
# What a fit is of one of.
CONDITION = ("model", "suite", "context", "noise")


@dataclass(frozen=True, eq=False)
class ComplexityDecay:
    """The line ln(accuracy) = CDF N + CDO through the accuracies of phase 2.

    `params` and `bse` (standard errors) are indexed by CDF and CDO, and `cov_params` by both;
    `rsquared` is the line's R^2. `points` holds each N with its accuracy, its number of responses
    and whether it was `used`. What can't be estimated is NaN, and `problems` says why, by CDF, CDO
    or N_eff; a number that stands there all the same, as an N_eff where the CDO is not positive,
    has no meaning. `note` warns of points that chance has picked.
    """

    params: pd.Series
    bse: pd.Series
    cov_params: pd.DataFrame
    rsquared: float
    points: pd.DataFrame
    accuracy_range: tuple[float, float]
    problems: dict[str, str]
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

    def conf_int(self, level: float = CONFIDENCE) -> pd.DataFrame:
        """Return intervals of CDF, CDO and N_eff at a confidence `level`, as columns low and high.

        Those of CDF and CDO are the coefficient -+ its standard error times sqrt(2) erfinv(level)
        (Appendix B.3.1): normal quantiles, a little narrow with few points. N_eff's are Fieller's
        (1954): every N at which the line may reach an accuracy of 1, or NaN where the slope may
        be 0. Raises ValueError for a level outside (0, 1).
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be in the open interval (0, 1), got {level!r}")
        z = np.sqrt(2) * erfinv(level)
        ends = pd.DataFrame({"low": self.params - z * self.bse, "high": self.params + z * self.bse})
        ends.loc["N_eff"] = _fieller(self.params, self.cov_params, z)
        return ends

    def predict(self, N: float | np.ndarray) -> np.ndarray:
        """Return the line's accuracy at N, at most 1."""
        return np.exp(np.minimum(self.cdf * np.asarray(N, dtype=float) + self.cdo, 0))

    def summary(self) -> str:
        """Return the fit as text."""
        low, high = self.accuracy_range
        estimates = pd.concat([self.params, pd.Series({"N_eff": self.n_eff})])
        table = pd.DataFrame({"estimate": estimates, "std err": self.bse.reindex(estimates.index)})
        return "\n\n".join(
            [
                f"Complexity decay: ln(accuracy) on N by least squares, {self.points['used'].sum()}"
                f" of {len(self.points)} N with an accuracy from {low:g} to {high:g}, "
                f"R^2 {self.rsquared:.3f}",
                table.join(self.conf_int()).to_string(float_format="{:.4f}".format),
                *(f"{name}: {problem}" for name, problem in self.problems.items()),
                *filter(None, [self.note]),
            ]
        )


def fit_complexity_decay(
    frame: pd.DataFrame, accuracy_range: tuple[float, float] = ACCURACY_RANGES["pretrained"]
) -> ComplexityDecay:
    """Fit the decay of accuracy with N to one model's responses at one context length.

    `frame` has the columns N and correct: 0 or 1, or a share of a puzzle's attempts (see
    `solve_within`). The N whose accuracy lies in `accuracy_range`, ends included, are fitted by
    least squares, each with the same weight; `ACCURACY_RANGES` has the paper's four. Returns a
    `ComplexityDecay`. Raises ValueError for a column that is missing or holds other values, for
    several models or contexts, and for a range that is not 0 < low < high <= 1. Section 3.4,
    Appendix B.
    """
    low, high = _check_range(accuracy_range)
    points = count_points(frame)
    points["used"] = points["accuracy"].between(low, high)
    if problem := _find_problem(points, low, high):
        nothing = pd.Series(np.nan, TERMS)
        problems = dict.fromkeys([*TERMS, "N_eff"], problem)
        covariance = pd.DataFrame(np.nan, TERMS, TERMS)
        return ComplexityDecay(nothing, nothing, covariance, np.nan, points, (low, high), problems)
    used = points[points["used"]]
    design = pd.DataFrame({"CDF": used["N"], "CDO": 1.0})
    fit = OLS(np.log(used["accuracy"]), design).fit()
    return ComplexityDecay(
        params=fit.params,
        bse=fit.bse,
        cov_params=fit.cov_params(),
        rsquared=float(fit.rsquared),
        points=points,
        accuracy_range=(low, high),
        problems=_question_n_eff(fit.params),
        note=_question_points(points, low),
    )


def count_points(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy and the number of responses at each N; errors as in the fit."""
    for column in ("N", "correct"):
        if column not in frame:
            raise ValueError(
                f"the frame has no column {column!r}: needed are N and correct; "
                f"it has {reprlib.repr(list(frame))}"
            )
    for column in CONDITION:
        if column in frame and frame[column].nunique() > 1:
            raise ValueError(
                f"a fit is of one {column}, and the frame holds {frame[column].nunique()}: "
                f"fit each of frame.groupby({column!r})"
            )
    N, correct = (
        pd.to_numeric(frame[column], errors="coerce").to_numpy(float, na_value=np.nan)
        for column in ("N", "correct")
    )
    allowed = {
        "N": ((N > 0) & np.isfinite(N), "a positive number"),
        "correct": ((correct >= 0) & (correct <= 1), "0, 1 or a share between them"),
    }
    for column, (fits, wanted) in allowed.items():
        if not fits.all():
            got = reprlib.repr(frame[column][~fits].tolist()[0])
            raise ValueError(f"{column} must be {wanted}, got {got}")
    levels, place = np.unique(N, return_inverse=True)
    responses = np.bincount(place)
    accuracy = np.bincount(place, correct) / responses
    return pd.DataFrame({"N": levels, "accuracy": accuracy, "responses": responses})


def _check_range(accuracy_range: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = map(float, accuracy_range)
        sound = 0 < low < high <= 1
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise ValueError(
            "accuracy_range must be (low, high) with 0 < low < high <= 1, "
            f"got {reprlib.repr(accuracy_range)}"
        )
    return low, high


def _find_problem(points: pd.DataFrame, low: float, high: float) -> str:
    """Say why there is no line to fit; empty if there is."""
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


def _question_points(points: pd.DataFrame, low: float) -> str:
    """Warn where accuracies below the range stand among those that are used."""
    last = points["N"][points["used"]].max()
    below = int(((points["accuracy"] < low) & (points["N"] < last)).sum())
    if not below:
        return ""
    return (
        f"at {below} of the N up to {last:g} accuracy is under the range, so that chance picks the "
        "points there and the line comes out too flat"
    )


def _question_n_eff(params: pd.Series) -> dict[str, str]:
    if params["CDF"] >= 0:
        return {"N_eff": "the accuracy does not fall with N"}
    if params["CDO"] <= 0:
        return {"N_eff": "the CDO is not positive: there is no phase without errors"}
    return {}


def _fieller(params: pd.Series, cov_params: pd.DataFrame, z: float) -> tuple[float, float]:
    """The ends of the set of N where the line is within z standard errors of 0."""
    slope, offset = params["CDF"], params["CDO"]
    a = slope**2 - z**2 * cov_params.loc["CDF", "CDF"]
    if not (slope < 0 < a):
        return np.nan, np.nan
    b = slope * offset - z**2 * cov_params.loc["CDF", "CDO"]
    c = offset**2 - z**2 * cov_params.loc["CDO", "CDO"]
    # Rounding may leave -1e-20 under the root of a line without errors.
    margin = np.sqrt(max(b**2 - a * c, 0))
    return (-b - margin) / a, (-b + margin) / a
