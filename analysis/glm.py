"""Stage 2: the paper's load-sensitivity GLMs (section 3.1.1, Appendices B and F)."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from firthmodels import FirthLogisticRegression, detect_separation
from scipy.special import expit
from scipy.stats import chi2
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM, GLMResultsWrapper

from cogniload_analysis.thresholds import (
    CONFIDENCE,
    LoadMeans,
    Threshold,
    Thresholds,
    Z,
    estimate_thresholds,
)

TERMS = ("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2")
INTERACTIONS = ("beta_dN", "beta_drho", "beta_Nrho", "beta_dNrho")
CONVERGENCE = {"maxiter": 100, "tol": 1e-10, "tol_criterion": "params"}
LEVELS_NEEDED = {
    "beta_d": ("d", 2),
    "beta_N": ("N", 2),
    "beta_rho": ("rho", 2),
    "beta_rho2": ("rho", 3),
}


@dataclass(frozen=True, eq=False)
class LoadGLM:
    """The paper's main GLM of one model: the logit of a correct answer on d, log10 N, rho, rho^2.

    `params`, `bse` and `pvalues` are indexed by beta_0, beta_d, beta_N, beta_rho and beta_rho2;
    what the data can't estimate is NaN, and `problems` says why, by term. `llf` and `aic` are
    those of the Bernoulli likelihood (NaN for a penalised fit), `cells` holds the successes and
    failures of each (d, N, rho), and `means` is where the thresholds hold the other knobs.
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

    def predict(
        self, d: float | np.ndarray, N: float | np.ndarray, rho: float | np.ndarray
    ) -> np.ndarray:
        """Return the predicted accuracy at d, N and rho (a fraction), numbers or arrays."""
        design = load_design(d, N, rho)[list(TERMS)]
        return expit(design.to_numpy() @ self.params.fillna(0)) + 0 * self.params["beta_0"]

    def thresholds(self, means: LoadMeans | None = None) -> Thresholds:
        """Return the capacity `Thresholds` with 95 % intervals, at the means of the data.

        With other `means` (a `LoadMeans`), there. Raises ValueError if these move a knob whose
        effect the data can't estimate.
        """
        at = means or self.means
        for knob, term in (("d", "beta_d"), ("log10_N", "beta_N"), ("rho", "beta_rho2")):
            moved = not np.isclose(getattr(at, knob), getattr(self.means, knob), equal_nan=True)
            if term in self.problems and moved:
                raise ValueError(
                    f"can't hold {knob} at {getattr(at, knob):g}, where the data have "
                    f"{getattr(self.means, knob):g}: {self.problems[term]}"
                )
        if "beta_0" in self.problems:
            return Thresholds(*3 * [Threshold(note=self.problems["beta_0"])])
        found = estimate_thresholds(self.params.to_numpy(), self.cov_params.to_numpy(), at)
        return Thresholds(
            self._explain(found.ECL50, "N", "beta_N"),
            self._explain(found.NT50, "rho", "beta_rho2"),
            self._explain(found.ID50, "d", "beta_d"),
        )

    def _explain(self, threshold: Threshold, knob: str, term: str) -> Threshold:
        """Add to a threshold's note why it is missing, or that it lies outside what was tested."""
        tested = self.cells[knob]
        notes = [self.problems.get(term, threshold.note)]
        if threshold.value < tested.min() or threshold.value > tested.max():
            notes.append(f"extrapolated: {knob} was {tested.min():g} to {tested.max():g}")
        if threshold.rising and knob != "rho":
            notes.append(f"accuracy rises with {knob}")
        return replace(threshold, note="; ".join(filter(None, notes)))

    def summary(self) -> str:
        """Return the fit and its thresholds as text."""
        all_right = self.cells["failures"].eq(0).sum()
        all_wrong = self.cells["successes"].eq(0).sum()
        coefficients = pd.DataFrame({"coef": self.params, "std err": self.bse, "p": self.pvalues})
        thresholds = pd.DataFrame(
            {name: vars(threshold) for name, threshold in vars(self.thresholds()).items()}
        )
        return "\n\n".join(
            [
                f"CogniLoad GLM, {self.estimator}: {self.nobs} responses in {len(self.cells)} "
                f"cells ({all_right} all right, {all_wrong} all wrong), AIC {self.aic:.3f}",
                coefficients.join(self.conf_int()).to_string(float_format="{:.4f}".format),
                thresholds.T.drop(columns="rising").to_string(float_format="{:.4g}".format),
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


@dataclass(frozen=True, eq=False)
class _Estimate:
    """What a fit found, for the terms that it has."""

    params: pd.Series = field(default_factory=lambda: pd.Series(dtype=float))
    cov_params: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(dtype=float))
    pvalues: pd.Series = field(default_factory=lambda: pd.Series(dtype=float))
    llf: float = np.nan
    profile: pd.DataFrame | None = None


def fit_load_glm(
    frame: pd.DataFrame, *, penalised: bool = False, clustered: bool = False
) -> LoadGLM:
    """Fit the paper's main GLM to one model's responses and return a `LoadGLM`.

    `frame` has the columns d, N and rho (a fraction), and either `correct` (0 or 1, a row a
    response) or `successes` and `failures` (a row a cell). A term whose knob has too few levels
    is left out. With `penalised`, the fit is Firth's, which is finite under separation. With
    `clustered`, the standard errors allow for several responses to one puzzle, by its `id`.
    What can't be estimated is NaN, with the reason in `problems`. Raises ValueError for a column
    that is missing or holds other values, and for clustering counts or a penalised fit.
    Section 3.1.1.
    """
    if clustered and (penalised or not {"id", "correct"} <= set(frame)):
        raise ValueError(
            "clustered standard errors need the columns id and correct, and no penalised fit: "
            f"got penalised={penalised} and the columns {', '.join(map(str, frame))}"
        )
    cells = count_cells(frame)
    problems = find_problems(cells, TERMS, penalised=penalised)
    estimate = _Estimate()
    if terms := [term for term in TERMS if term not in problems]:
        try:
            if penalised:
                estimate = _penalise(cells, terms)
            else:
                estimate = _estimate(
                    _maximise_rows(frame, terms) if clustered else _maximise(cells, terms)
                )
        except np.linalg.LinAlgError as error:
            problems = dict.fromkeys(TERMS, str(error))
    variances = pd.Series(np.diag(estimate.cov_params), estimate.cov_params.index, dtype=float)
    return LoadGLM(
        params=estimate.params.reindex(TERMS),
        bse=np.sqrt(variances).reindex(TERMS),
        pvalues=estimate.pvalues.reindex(TERMS),
        cov_params=estimate.cov_params.reindex(index=TERMS, columns=TERMS),
        llf=estimate.llf,
        aic=2 * len(terms) - 2 * estimate.llf,
        estimator="Firth's penalised likelihood"
        if penalised
        else "maximum likelihood" + ", standard errors clustered by puzzle" * clustered,
        cells=cells,
        means=_mean_loads(cells),
        problems=problems,
        profile=estimate.profile,
    )


def fit_soundly(frame: pd.DataFrame) -> LoadGLM:
    """Fit the main GLM in the way that one model's responses allow.

    Standard errors are clustered if puzzles repeat, and the fit is penalised if right and wrong
    answers are separated. `frame` is one of rows, with `id`; otherwise as `fit_load_glm`.
    """
    glm = fit_load_glm(frame, clustered=bool(frame["id"].duplicated().any()))
    if "beta_0" in glm.problems:
        penalised = fit_load_glm(frame, penalised=True)
        return glm if "beta_0" in penalised.problems else penalised
    return glm


def compare_rho_terms(frame: pd.DataFrame) -> RhoComparison:
    """Compare the GLM with and without rho^2 by AIC and likelihood ratio: a `RhoComparison`.

    `frame` as for `fit_load_glm`. Appendix F.
    """
    cells = count_cells(frame)
    problems = find_problems(cells, TERMS)
    if problems:
        return RhoComparison(problem=next(iter(problems.values())))
    linear, quadratic = (_maximise(cells, terms) for terms in (TERMS[:-1], TERMS))
    return RhoComparison(
        linear.aic, quadratic.aic, float(chi2.sf(2 * (quadratic.llf - linear.llf), 1))
    )


def fit_interactions(frame: pd.DataFrame) -> InteractionGLM:
    """Fit the GLM with every interaction of the three loads and return an `InteractionGLM`.

    `frame` as for `fit_load_glm`. Appendix B.
    """
    cells = count_cells(frame)
    terms = (*TERMS, *INTERACTIONS)
    problems = find_problems(cells, terms)
    if problems:
        nothing = pd.Series(np.nan, INTERACTIONS)
        return InteractionGLM(nothing, nothing, next(iter(problems.values())))
    full = _maximise(cells, terms)
    dropped = [
        _maximise(cells, [term for term in terms if term != dropped]).llf
        for dropped in INTERACTIONS
    ]
    p_LR = chi2.sf(2 * (full.llf - np.array(dropped)), 1)
    return InteractionGLM(full.params[list(INTERACTIONS)], pd.Series(p_LR, INTERACTIONS))


def count_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Count the successes and failures of each (d, N, rho).

    `frame` and the errors as for `fit_load_glm`.
    """
    outcome = ["successes", "failures"] if "successes" in frame else ["correct"]
    for column in ("d", "N", "rho", *outcome):
        if column not in frame:
            raise ValueError(
                f"the frame has no column {column!r}: needed are d, N, rho and either correct or "
                f"successes and failures; it has {', '.join(map(str, frame))}"
            )
    if "model" in frame and frame["model"].nunique() > 1:
        raise ValueError(
            f"a fit is of one model, and the frame holds {frame['model'].nunique()}: "
            "fit each of frame.groupby('model')"
        )
    _check_values(frame, "d", frame["d"] > 0, "a positive number")
    _check_values(frame, "N", frame["N"] > 0, "a positive number")
    _check_values(frame, "rho", frame["rho"].between(0, 1), "a fraction from 0 to 1, not percent")
    if outcome == ["correct"]:
        _check_values(frame, "correct", frame["correct"].isin([0, 1]), "0 or 1")
        correct = frame["correct"].astype(int)
        frame = frame.assign(successes=correct, failures=1 - correct)
    for column in ("successes", "failures"):
        _check_values(frame, column, frame[column] >= 0, "a count")
    cells = frame.groupby(["d", "N", "rho"])[["successes", "failures"]].sum().reset_index()
    return cells[cells["successes"] + cells["failures"] > 0].reset_index(drop=True)


def load_design(
    d: float | np.ndarray | pd.Series,
    N: float | np.ndarray | pd.Series,
    rho: float | np.ndarray | pd.Series,
) -> pd.DataFrame:
    """Return the columns of the GLMs, named by their coefficients; rho is a fraction."""
    log10_N = np.log10(N)
    columns = {
        "beta_0": 1.0,
        "beta_d": d,
        "beta_N": log10_N,
        "beta_rho": rho,
        "beta_rho2": rho**2,
        "beta_dN": d * log10_N,
        "beta_drho": d * rho,
        "beta_Nrho": log10_N * rho,
        "beta_dNrho": d * log10_N * rho,
    }
    arrays = np.broadcast_arrays(*map(np.atleast_1d, columns.values()))
    return pd.DataFrame(dict(zip(columns, arrays, strict=True)))


def find_problems(
    cells: pd.DataFrame, terms: Sequence[str], *, penalised: bool = False
) -> dict[str, str]:
    """Return why terms can't be estimated from counted cells, by term; empty if all can."""
    successes, failures = cells["successes"].sum(), cells["failures"].sum()
    if not (successes and failures):
        answers = f"all {successes + failures} responses are {'right' if successes else 'wrong'}"
        return dict.fromkeys(terms, answers if len(cells) else "there are no responses")
    problems = {}
    for term, (knob, needed) in LEVELS_NEEDED.items():
        levels = cells[knob].unique()
        if len(levels) < needed:
            listed = ", ".join(f"{level:g}" for level in levels)
            problems[term] = f"{knob} took only {listed}: {needed} levels are needed"
    kept = [term for term in terms if term not in problems]
    if np.linalg.matrix_rank(_design_cells(cells, kept)) < len(kept):
        return dict.fromkeys(terms, f"{len(cells)} cells can't tell the effects of the loads apart")
    separated = "" if penalised else _describe_separation(cells, kept)
    return dict.fromkeys(terms, separated) if separated else problems


def _describe_separation(cells: pd.DataFrame, terms: Sequence[str]) -> str:
    """Name the coefficients that separation drives to infinity; empty if there are none."""
    mixed = cells[cells["successes"].gt(0) & cells["failures"].gt(0)]
    # A separating direction is zero in mixed cells: if these span the design, there is none.
    if np.linalg.matrix_rank(_design_cells(mixed, terms)) == len(terms):
        return ""
    design, answers, counts = _count_answers(cells, terms)
    found = detect_separation(design[counts > 0], answers[counts > 0], fit_intercept=False)
    endless = [
        f"{term} to {'+' if direction > 0 else '-'}infinity"
        for term, direction in zip(terms, found.directions, strict=True)
        if direction
    ]
    if not endless:
        return ""
    return f"right and wrong answers are separated: the likelihood drives {', '.join(endless)}"


def _design_cells(cells: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    return load_design(cells["d"], cells["N"], cells["rho"])[list(terms)]


def _count_answers(
    cells: pd.DataFrame, terms: Sequence[str]
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """The design of each cell's right answers and of its wrong ones, the answers, their counts.

    Weighted so, the likelihood is the Bernoulli one of single responses; statsmodels' own form
    for counts, (successes, failures), adds the binomial constant to it and to the AIC.
    """
    design = _design_cells(cells, terms)
    counts = np.concatenate([cells["successes"], cells["failures"]])
    return pd.concat([design, design]), np.repeat([1.0, 0.0], len(cells)), counts


def _maximise(cells: pd.DataFrame, terms: Sequence[str]) -> GLMResultsWrapper:
    design, answers, counts = _count_answers(cells, terms)
    return GLM(answers, design, family=Binomial(), freq_weights=counts).fit(**CONVERGENCE)


def _maximise_rows(frame: pd.DataFrame, terms: Sequence[str]) -> GLMResultsWrapper:
    design = _design_cells(frame, terms)
    groups = {"groups": pd.factorize(frame["id"])[0]}
    model = GLM(frame["correct"].to_numpy(dtype=float), design, family=Binomial())
    return model.fit(cov_type="cluster", cov_kwds=groups, **CONVERGENCE)


def _estimate(fit: GLMResultsWrapper) -> _Estimate:
    if not fit.converged:
        raise np.linalg.LinAlgError("the maximum of the likelihood was not found")
    return _Estimate(fit.params, fit.cov_params(), fit.pvalues, fit.llf)


def _penalise(cells: pd.DataFrame, terms: Sequence[str]) -> _Estimate:
    """Fit by Firth's likelihood, with p by its ratio and intervals from its profile."""
    design, answers, counts = _count_answers(cells, terms)
    model = FirthLogisticRegression(
        backend="numpy", fit_intercept=False, max_iter=500, gtol=1e-4, xtol=1e-6
    )
    with warnings.catch_warnings():
        # What didn't converge is NaN in the results, or refused below.
        warnings.simplefilter("ignore")
        model.fit(design.to_numpy(), answers, sample_weight=counts)
        if not model.converged_:
            raise np.linalg.LinAlgError("the maximum of the penalised likelihood was not found")
        profile = model.conf_int(alpha=1 - CONFIDENCE, method="pl", max_iter=200)
        pvalues = model.lrt().lrt_pvalues_
    p = expit(design @ model.coef_)
    information = design.T @ design.mul(counts * p * (1 - p), axis=0)
    return _Estimate(
        pd.Series(model.coef_, terms),
        pd.DataFrame(np.linalg.inv(information), terms, terms),
        pd.Series(pvalues, terms),
        profile=pd.DataFrame(profile, terms, ["low", "high"]).reindex(TERMS),
    )


def _mean_loads(cells: pd.DataFrame) -> LoadMeans:
    """The means of the knobs over the responses."""
    total = cells["successes"] + cells["failures"]
    if not total.sum():
        return LoadMeans(np.nan, np.nan, np.nan)
    loads = cells["d"], np.log10(cells["N"]), cells["rho"]
    return LoadMeans(*(float(np.average(load, weights=total)) for load in loads))


def _check_values(frame: pd.DataFrame, column: str, allowed: pd.Series, wanted: str) -> None:
    if not allowed.all():
        raise ValueError(f"{column} must be {wanted}, got {frame[column][~allowed].tolist()[0]!r}")
