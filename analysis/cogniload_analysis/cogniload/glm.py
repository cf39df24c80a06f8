"""Stage 2: the paper's load-sensitivity GLMs (section 3.1.1, Appendices B and F).

statsmodels fits them, and firthmodels those of separated answers.
"""

import random
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from scipy.stats import chi2, norm
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from cogniload_analysis.cogniload import glm_thresholds
from cogniload_analysis.cogniload.glm_thresholds import LoadMeans, Threshold, Thresholds, Z
from cogniload_analysis.frame import check_columns, check_single, check_values
from cogniload_analysis.stats import CONFIDENCE, Numbers

TERMS = ("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2")
INTERACTIONS = ("beta_dN", "beta_drho", "beta_Nrho", "beta_dNrho")
HALF = 0.5
_MOST_STEPS = 100
_LEVELS_NEEDED = {
    "beta_d": ("d", 2),
    "beta_N": ("N", 2),
    "beta_rho": ("rho", 2),
    "beta_rho2": ("rho", 3),
}


@dataclass(frozen=True, eq=False)
class LoadGLM:
    """The GLM of one model: the logit of a correct answer on d, log10 N, rho, rho^2.

    `params`, `bse` and `pvalues` are indexed by beta_0, beta_d, beta_N, beta_rho and beta_rho2,
    then, where the fit has them, by beta_dN, beta_drho, beta_Nrho and beta_dNrho. What the data
    can't estimate is NaN, and `problems` says why, by term. `llf` and `aic` are those of the
    Bernoulli likelihood (NaN for a penalised fit), `cells` holds the successes and failures of each
    (d, N, rho), and `means` is where the thresholds hold the other knobs. `correlation` is that of
    answers to one cell beyond the fit, if it is known from elsewhere: the thresholds' intervals are
    wider for it. `unknown` says of thresholds, by name, why they are unknown to the reader of a
    report.
    """

    params: pd.Series
    bse: pd.Series
    pvalues: pd.Series
    cov_params: pd.DataFrame
    llf: float
    aic: float
    estimator: str
    cells: pd.DataFrame
    means: LoadMeans
    problems: dict[str, str]
    profile: pd.DataFrame | None = None
    correlation: float = 0.0
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def nobs(self) -> int:
        """The number of responses."""
        return int(self.cells[["successes", "failures"]].to_numpy().sum())

    def conf_int(self) -> pd.DataFrame:
        """Return the 95 % intervals of the coefficients, in the columns low and high.

        They are Wald's, or the profile's where the fit is Firth's, since Wald's fail under
        separation (Heinze and Schemper 2002).
        """
        if self.profile is not None:
            return self.profile
        return pd.DataFrame({"low": self.params - Z * self.bse, "high": self.params + Z * self.bse})

    def predict(self, d: Numbers, N: Numbers, rho: Numbers) -> np.ndarray:
        """Return the predicted accuracy at d, N and rho (a fraction), numbers or arrays."""
        coefficients = self.params.fillna(0)
        eta = load_design(d, N, rho)[list(coefficients.index)].to_numpy() @ coefficients
        return expit(eta) + 0 * self.params["beta_0"]

    def thresholds(self, means: LoadMeans | None = None, *, level: float = HALF) -> Any:
        """Return the capacity `Thresholds` with 95 % intervals, at the means of the data.

        Other `means` (a `LoadMeans`) may be given. At another `level` of accuracy, a fraction, the
        thresholds are called by it, as in `glm.thresholds(level=0.8).ECL80`, `.NT80` and `.ID80`.
        Raises ValueError if the means move a knob whose effect the data can't estimate, and for
        a level that no load reaches.
        """
        means = self.means if means is None else means
        for load, term in (("d", "beta_d"), ("log10_N", "beta_N"), ("rho", "beta_rho2")):
            held, tested = getattr(means, load), getattr(self.means, load)
            if term in self.problems and not np.isclose(held, tested, equal_nan=True):
                raise ValueError(
                    f"can't hold {load} at {held:g}, where the data have {tested:g}: "
                    f"{self.problems[term]}"
                )
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}")
        named = ("ECL50", "N", "beta_N"), ("NT50", "rho", "beta_rho2"), ("ID50", "d", "beta_d")
        # without interactions, the terms are the same along each load
        apart = self.params.index.isin(INTERACTIONS).any()
        along = {
            load: glm_thresholds.estimate_thresholds(*self._main_terms(means, level, load), means)
            for load in (("N", "rho", "d") if apart else ("N",))
        }
        found = Thresholds(
            *(
                self._note(getattr(along[load if apart else "N"], name), load, term, level)
                for name, load, term in named
            )
        )
        if level == HALF:
            return found
        percent = f"{100 * level:g}"
        return SimpleNamespace(**{n.replace("50", percent): at for n, at in vars(found).items()})

    def _note(self, threshold: Threshold, load: str, term: str, level: float) -> Threshold:
        """Return a threshold, noting why it is missing, or lies outside what was tested."""
        tested, percent = self.cells[load], f"{100 * level:g} %"
        notes = [self.problems.get(term, threshold.note.replace("50 %", percent))]
        if threshold.value < tested.min() or threshold.value > tested.max():
            notes.append(f"extrapolated: {load} was {tested.min():g} to {tested.max():g}")
        if threshold.rising and load != "rho":
            notes.append(f"accuracy rises with {load}")
        status = threshold.status.replace("50 %", percent)
        return replace(threshold, status=status, note="; ".join(filter(None, notes)))

    def _main_terms(
        self, means: LoadMeans, level: float, along: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the five main coefficients that have the same threshold, and their covariance.

        Along one load, with the others at their means, interactions add to the slope and to the
        constant; an accuracy of `level` is an eta of 0 when the constant is less by the eta there.
        """
        names = self.params.index
        to_main = pd.DataFrame(np.eye(len(TERMS), len(names)), TERMS, names)
        at = {"d": means.d, "N": means.log10_N, "rho": means.rho}
        for term in names.intersection([*INTERACTIONS]):
            loads = [load for load in at if load in term.removeprefix("beta_")]
            others = float(np.prod([at[load] for load in loads if load != along]))
            to_main.loc[f"beta_{along}" if along in loads else "beta_0", term] = others
        # how many times the variance of single answers the right ones of a cell have, on average:
        # 1 + (n - 1) correlation of n answers (Williams 1982), averaged over the answers
        dispersion = 1.0
        if self.correlation:
            total = self.cells[["successes", "failures"]].sum(axis=1)
            dispersion += self.correlation * float(np.average(total, weights=total) - 1)
        covariance = dispersion * to_main @ self.cov_params.fillna(0) @ to_main.T
        main = to_main @ self.params.fillna(0)
        main["beta_0"] -= logit(level)
        return main.where(self.params[list(TERMS)].notna()).to_numpy(), covariance.to_numpy()

    def summary(self) -> str:
        """Return the fit and its thresholds as text."""
        all_right = self.cells["failures"].eq(0).sum()
        all_wrong = self.cells["successes"].eq(0).sum()
        coefficients = pd.DataFrame({"coef": self.params, "std err": self.bse, "p": self.pvalues})
        estimates = pd.DataFrame({name: vars(at) for name, at in vars(self.thresholds()).items()})
        return "\n\n".join(
            [
                f"CogniLoad GLM, {self.estimator}: {self.nobs} responses in {len(self.cells)} "
                f"cells ({all_right} all right, {all_wrong} all wrong), AIC {self.aic:.3f}",
                coefficients.join(self.conf_int()).to_string(float_format="{:.4f}".format),
                estimates.T.drop(columns="rising").to_string(float_format="{:.4g}".format),
                *(f"{term}: {problem}" for term, problem in self.problems.items()),
            ]
        )


@dataclass(frozen=True)
class RhoComparison:
    """AIC of the GLM with rho alone and with rho^2, and the likelihood-ratio p (Appendix F)."""

    aic_linear: float = np.nan
    aic_quadratic: float = np.nan
    p_LR: float = np.nan
    problem: str = ""


@dataclass(frozen=True, eq=False)
class InteractionGLM:
    """The GLM with every interaction of d, log10 N and rho, and rho^2 (Appendix B).

    `params` and `p_LR`, the likelihood-ratio p of dropping each, are indexed by beta_dN,
    beta_drho, beta_Nrho and beta_dNrho; NaN where `problem` says why there is no fit.
    """

    params: pd.Series
    p_LR: pd.Series
    problem: str = ""


class _Estimate(NamedTuple):
    """What a fit found, for the terms that it has; Wald's p, unless it has others."""

    params: pd.Series
    covariance: pd.DataFrame
    llf: float = np.nan
    pvalues: pd.Series | None = None
    profile: pd.DataFrame | None = None


def fit_load_glm(
    frame: pd.DataFrame,
    interactions: bool = False,
    *,
    penalised: bool = False,
    clustered: bool = False,
) -> LoadGLM:
    """Fit the paper's main GLM to one model's responses and return a `LoadGLM`.

    `frame` has the columns d, N and rho (a fraction), and either `correct` (0 or 1, a row a
    response) or `successes` and `failures` (one row per cell). A term whose knob has too few levels
    is left out. What can't be estimated is NaN, with the reason in `problems`. Section 3.1.1.

    `interactions` adds those of d, log10 N and rho (Appendix B).
    With `penalised`, the fit is Firth's, which is finite under separation. With `clustered`, the
    standard errors allow for several responses to one puzzle, by its `id`.

    Raises ValueError for a column that is missing or holds other values, for clustering counts, and
    for a penalised fit with clustering.

    >>> loads = {"d": [1, 5], "N": [20, 90], "rho": [0.1, 0.5, 1]}
    >>> grid = pd.MultiIndex.from_product(loads.values(), names=loads).to_frame(index=False)
    >>> cells = grid.assign(successes=range(120, 0, -10), failures=60)
    >>> print(f"{fit_load_glm(cells).thresholds().ECL50.value:.0f} statements")
    48 statements
    """
    if clustered and (penalised or not {"id", "correct"} <= set(frame)):
        raise ValueError(
            "clustered standard errors need the columns id and correct, and no penalised fit: "
            f"got penalised={penalised} and the columns {', '.join(map(str, frame))}"
        )
    cells = count_cells(frame)
    names = [*TERMS, *INTERACTIONS] if interactions else [*TERMS]
    problems = _find_problems(cells, names, penalised=penalised)
    terms = [term for term in names if term not in problems]
    estimate = _Estimate(pd.Series(dtype=float), pd.DataFrame(dtype=float))
    try:
        if terms and penalised:
            estimate = _penalise(cells, terms)
        elif terms:
            if clustered:
                design, answers = _design_cells(frame, terms), frame["correct"].to_numpy(float)
                fit = fit_logistic(design, answers, clusters=frame["id"])
            else:
                fit = fit_logistic(*_count_answers(cells, terms))
            estimate = _Estimate(fit.params, fit.cov_params(), fit.llf)
    except np.linalg.LinAlgError as error:
        problems = dict.fromkeys(names, str(error))
    params = estimate.params.reindex(names)
    variances = pd.Series(np.diag(estimate.covariance), estimate.covariance.index, dtype=float)
    bse = variances.where(variances > 0).pow(0.5).reindex(names)
    wald = pd.Series(2 * norm.sf(abs(params / bse)), names)
    estimator = "Firth's penalised likelihood" if penalised else "maximum likelihood"
    estimator += ", standard errors clustered by puzzle" * clustered
    total = cells["successes"] + cells["failures"]
    means = LoadMeans(*3 * [np.nan])
    if len(cells):
        loads = cells["d"], np.log10(cells["N"]), cells["rho"]
        means = LoadMeans(*(float(np.average(load, weights=total)) for load in loads))
    return LoadGLM(
        params=params,
        bse=bse,
        pvalues=wald if estimate.pvalues is None else estimate.pvalues.reindex(names),
        cov_params=estimate.covariance.reindex(index=names, columns=names),
        llf=estimate.llf,
        aic=2 * len(estimate.params) - 2 * estimate.llf if len(estimate.params) else np.nan,
        estimator=estimator,
        cells=cells,
        means=means,
        problems=problems,
        profile=estimate.profile,
    )


def fit_logistic(
    design: pd.DataFrame,
    answers: np.ndarray,
    counts: np.ndarray | None = None,
    clusters: pd.Series | None = None,
) -> Any:
    """Return statsmodels' results of a logistic GLM; LinAlgError where it does not converge."""
    robust: dict[str, Any] = {}
    if clusters is not None:
        robust = {"cov_type": "cluster", "cov_kwds": {"groups": pd.factorize(clusters)[0]}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GLM(answers, design, Binomial(), freq_weights=counts)
        fit = model.fit(tol=1e-8, tol_criterion="params", maxiter=_MOST_STEPS, **robust)
    if not fit.converged:
        raise np.linalg.LinAlgError("the maximum of the likelihood was not found")
    return fit


def compare_rho_terms(frame: pd.DataFrame) -> RhoComparison:
    """Compare the GLM with and without rho^2 by AIC and likelihood ratio: a `RhoComparison`.

    `frame` as for `fit_load_glm`. Appendix F.
    """
    quadratic = fit_load_glm(frame)
    if quadratic.problems:
        return RhoComparison(problem=next(iter(quadratic.problems.values())))
    linear = fit_logistic(*_count_answers(quadratic.cells, TERMS[:-1]))
    p_LR = float(chi2.sf(2 * (quadratic.llf - linear.llf), 1))
    return RhoComparison(linear.aic, quadratic.aic, p_LR)


def fit_interactions(frame: pd.DataFrame) -> InteractionGLM:
    """Fit the GLM with every interaction of the three loads and return an `InteractionGLM`.

    `frame` as for `fit_load_glm`. Appendix B.
    """
    full = fit_load_glm(frame, interactions=True)
    if full.problems:
        nothing = pd.Series(np.nan, INTERACTIONS)
        return InteractionGLM(nothing, nothing, next(iter(full.problems.values())))
    design, answers, counts = _count_answers(full.cells, (*TERMS, *INTERACTIONS))
    without = [
        fit_logistic(design.drop(columns=term), answers, counts).llf for term in INTERACTIONS
    ]
    p_LR = pd.Series(chi2.sf(2 * (full.llf - np.array(without)), 1), INTERACTIONS)
    return InteractionGLM(full.params[list(INTERACTIONS)], p_LR)


def count_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Count the successes and failures of each (d, N, rho).

    `frame` and the errors as for `fit_load_glm`.
    """
    outcome = ["successes", "failures"] if "successes" in frame else ["correct"]
    needed = "d, N, rho and either correct or successes and failures"
    check_columns(frame, ("d", "N", "rho", *outcome), needed)
    check_single(frame, ["model"])
    for load in ("d", "N"):
        check_values(frame, load, frame[load] > 0, "a positive number")
    allowed = "a fraction from 0 to 1, not percent"
    check_values(frame, "rho", frame["rho"].between(0, 1), allowed)
    if outcome == ["correct"]:
        check_values(frame, "correct", frame["correct"].isin([0, 1]), "0 or 1")
        correct = frame["correct"].astype(int)
        frame = frame.assign(successes=correct, failures=1 - correct)
    for count in ("successes", "failures"):
        check_values(frame, count, frame[count] >= 0, "a count")
    cells = frame.groupby(["d", "N", "rho"])[["successes", "failures"]].sum().reset_index()
    return cells[cells["successes"] + cells["failures"] > 0].reset_index(drop=True)


def load_design(d: ArrayLike, N: ArrayLike, rho: ArrayLike) -> pd.DataFrame:
    """Return the design of the GLMs, its columns named by their coefficients; rho is a fraction."""
    d, x, rho = map(np.atleast_1d, np.broadcast_arrays(d, np.log10(N), rho))
    one = np.ones(len(x))
    terms = one, d, x, rho, rho**2, d * x, d * rho, x * rho, d * x * rho
    return pd.DataFrame(dict(zip((*TERMS, *INTERACTIONS), terms, strict=True)))


def _find_problems(
    cells: pd.DataFrame, terms: Sequence[str], *, penalised: bool = False
) -> dict[str, str]:
    """Return why terms can't be estimated from counted cells, by term; empty if all can."""
    successes, failures = cells["successes"].sum(), cells["failures"].sum()
    if not (successes and failures):
        answers = f"all {successes + failures} responses are {'right' if successes else 'wrong'}"
        return dict.fromkeys(terms, answers if len(cells) else "there are no responses")
    problems = {}
    for term, (knob, needed) in _LEVELS_NEEDED.items():
        levels = cells[knob].unique()
        if len(levels) < needed:
            unit, scale = (" %", 100) if knob == "rho" else ("", 1)
            listed = ", ".join(f"{scale * level:g}{unit}" for level in levels)
            problems[term] = f"{knob} took only {listed}: {needed} levels are needed"
    kept = [term for term in terms if term not in problems]
    if np.linalg.matrix_rank(_design_cells(cells, kept)) < len(kept):
        return dict.fromkeys(terms, f"{len(cells)} cells can't tell the effects of the loads apart")
    separated = "" if penalised else _describe_separation(cells, kept)
    return dict.fromkeys(terms, separated) if separated else problems


def _describe_separation(cells: pd.DataFrame, terms: Sequence[str]) -> str:
    """Name the coefficients that separation drives to infinity; return "" if there are none."""
    mixed = cells[cells["successes"].gt(0) & cells["failures"].gt(0)]
    # A separating direction is zero in mixed cells: if these span the design, there is none. NumPy
    # before 2.4 has no rank for a matrix without rows.
    if len(mixed) and np.linalg.matrix_rank(_design_cells(mixed, terms)) == len(terms):
        return ""
    design, answers, _ = _count_answers(cells, terms)
    separation = _import_firthmodels().detect_separation(design, answers, fit_intercept=False)
    endless = ", ".join(
        f"{term} to {'+' if direction > 0 else '-'}infinity"
        for term, direction in zip(terms, separation.directions, strict=True)
        if direction
    )
    cause = f"right and wrong answers are separated: the likelihood drives {endless}"
    return cause if endless else ""


def _design_cells(cells: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    return load_design(cells["d"], cells["N"], cells["rho"])[list(terms)]


def _count_answers(
    cells: pd.DataFrame, terms: Sequence[str]
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return the design of each cell's right and wrong answers, the answers, and their counts.

    With counts as weights, the likelihood is the Bernoulli one of single responses. statsmodels'
    own form for counts, (successes, failures), adds the binomial constant to it and to the AIC.
    """
    design = _design_cells(cells, terms)
    counts = np.concatenate([cells["successes"], cells["failures"]]).astype(float)
    some = counts > 0
    answers = np.repeat([1.0, 0.0], len(cells))
    return pd.concat([design, design], ignore_index=True)[some], answers[some], counts[some]


def _import_firthmodels() -> ModuleType:
    """Return a package that takes long to import, and draws from Python's generator meanwhile."""
    state = random.getstate()
    import firthmodels

    random.setstate(state)
    return firthmodels


def _penalise(cells: pd.DataFrame, terms: Sequence[str]) -> _Estimate:
    """Fit by Firth's likelihood, with p by its ratio and intervals from its profile."""
    design, answers, counts = _count_answers(cells, terms)
    model = _import_firthmodels().FirthLogisticRegression(
        backend="numpy", fit_intercept=False, max_iter=500, gtol=1e-4, xtol=1e-6
    )
    found = pd.DataFrame(np.nan, [*terms], ["params", "p", "low", "high"])
    for term in terms:
        # Of loads on scales of their own, or of rho beside its square, the search may miss the
        # maximum. Beside an orthonormal basis of the other columns, what a column has apart from
        # them keeps its coefficient.
        basis = np.linalg.qr(design.drop(columns=term))[0] * len(design) ** 0.5
        apart = design[term] - basis @ (basis.T @ design[term]) / len(design)
        scale = (apart**2).mean() ** 0.5
        with warnings.catch_warnings():
            # What didn't converge is NaN in the results, or refused below.
            warnings.simplefilter("ignore")
            model.fit(np.column_stack([apart / scale, basis]), answers, sample_weight=counts)
            if not model.converged_:
                raise np.linalg.LinAlgError("the maximum of the penalised likelihood was not found")
            low, high = model.conf_int(1 - CONFIDENCE, method="pl", features=[0], max_iter=200)[0]
            p = model.lrt(features=[0]).lrt_pvalues_[0]
        at = model.coef_[0]
        # The search for an end may stop at another place, on the wrong side.
        low, high = low if low < at else np.nan, high if high > at else np.nan
        found.loc[term] = [at / scale, p, low / scale, high / scale]
    p = expit(design @ found["params"])
    information = design.T @ design.mul(counts * p * (1 - p), axis=0)
    covariance = pd.DataFrame(np.linalg.inv(information), [*terms], [*terms])
    profile = found[["low", "high"]].reindex(TERMS)
    return _Estimate(found["params"], covariance, pvalues=found["p"], profile=profile)
