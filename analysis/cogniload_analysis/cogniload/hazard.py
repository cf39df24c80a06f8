"""Where the reasoning breaks: a discrete-time model of the first error, statement by statement.

Each statement that a response reaches without an error is a trial; its hazard is the probability
that the first error happens there. The hazard's logit is linear in what the statement is like, and
the likelihood is that of a binomial GLM on the trials (Allison 1982, "Discrete-time methods for
the analysis of event histories"). Trials of one puzzle are alike: standard errors are clustered.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import chi2
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.tools.sm_exceptions import PerfectSeparationError

from cogniload_analysis.cogniload.thresholds import Z
from cogniload_analysis.frame import check_columns, check_single
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.rules import read_steps

TERMS = ("const", "needle", "k", "m", "position", "since", "near", "d", "log10_N")
"""The terms of the hazard's logit.

`needle` is 1 for a statement that applies to the PoI, 0 for hay; `k` and `m` are its numbers of
conditions and updates; `position` is t / N; `since` the logarithm of 1 + the statements since the
PoI last changed; `near`, of hay alone, the share of its conditions that hold for the PoI.
"""

SLIPS = ("missed", "intruded", "wrong_value", "skipped", "drifted")
"""The kinds of an error that happens at a statement; the others are no slips of tracking."""

NEEDED = ("id", "puzzle", "d", "N", "correct", "read", "first_error", "error")


@dataclass(frozen=True, eq=False)
class StepHazard:
    """The hazard of the first error at a statement, fitted to the responses of one model.

    `params`, `bse` and `pvalues` are indexed by TERMS; what the data can't estimate is NaN, and
    `problems` says why, by term. `trials` has a row for each statement at risk, with the TERMS and
    `error`. `slips` are the first errors per 1,000 statements by kind. `trend_p` is the
    likelihood-ratio p of dropping `position`: small where the hazard grows or falls along the
    response. `responses` and `unread` are counts.
    """

    params: pd.Series
    bse: pd.Series
    pvalues: pd.Series
    trials: pd.DataFrame
    slips: pd.DataFrame
    trend_p: float
    responses: int
    unread: int
    problems: dict[str, str]

    def conf_int(self) -> pd.DataFrame:
        """Return the 95 % Wald intervals of the coefficients, in the columns low and high."""
        return pd.DataFrame({"low": self.params - Z * self.bse, "high": self.params + Z * self.bse})


def add_steps(frame: pd.DataFrame) -> pd.DataFrame:
    """Add columns for the result of `read_steps`.

    `frame` has the columns `response` and `puzzle` (the puzzle's text). The new columns are read,
    first_error (NaN for none), error, recovered and coverage.
    """
    readings = [
        read_steps(response, {"puzzle": puzzle})
        for response, puzzle in zip(frame["response"], frame["puzzle"], strict=True)
    ]
    names = ("read", "first_error", "error", "recovered", "coverage")
    columns = {name: [getattr(steps, name) for steps in readings] for name in names}
    columns["first_error"] = [np.nan if t is None else t for t in columns["first_error"]]
    return frame.assign(**columns)


def fit_step_hazard(frame: pd.DataFrame) -> StepHazard:
    """Fit the hazard of the first error to the responses of one model: a `StepHazard`.

    `frame` has one row per response with the columns id, puzzle (its text), d, N, correct, read,
    first_error (NaN for none) and error as `add_steps` gives them. Only responses that were read
    count. A response is at risk from statement 1 up to its first error or, without one, to its end;
    one that stops early counts up to there.

    Raises ValueError, in one line, for a missing column and for the responses of several models.
    """
    check_columns(frame, NEEDED)
    check_single(frame, ["model"])
    read = frame[frame["read"].astype(bool)].reset_index(drop=True)
    features = {id_: statement_features(text) for id_, text in read[["id", "puzzle"]].to_numpy()}
    trials = _expand_trials(read, features)
    found, trend_p, problems = _fit_trials(trials)
    return StepHazard(
        **{str(name): values.rename(None) for name, values in found.items()},
        trials=trials,
        slips=slip_rates(trials),
        trend_p=trend_p,
        responses=len(read),
        unread=len(frame) - len(read),
        problems=problems,
    )


def statement_features(puzzle: str) -> pd.DataFrame:
    """Return the TERMS of each statement of a puzzle's text, along the true states.

    Raises ValueError if the text is no puzzle.
    """
    solution = solve_steps(puzzle)
    states = [people[solution.poi] for people in solution.states]
    N, d = len(solution.statements), len(states[0])
    rows = []
    since = 0
    for t, (conditions, updates) in enumerate(solution.statements, 1):
        before = states[t - 1]
        holding = sum(before[category] == value for category, value in conditions.items())
        needle = holding == len(conditions)
        near = 0.0 if needle else holding / len(conditions)
        terms = (1.0, needle, len(conditions), len(updates), t / N, math.log1p(since), near, d)
        rows.append((*terms, math.log10(N), t))
        since = 0 if states[t] != before else since + 1
    return pd.DataFrame(np.array(rows, float), columns=[*TERMS, "statement"])


def last_trials(read: pd.DataFrame) -> pd.Series:
    """Return the last statement at which each response that was read is at risk, 0 for none.

    A slip's is the statement of the slip; a response that stops counts up to where it stops.
    """
    before = read["first_error"] - ~read["error"].isin(SLIPS)
    return before.fillna(read["N"]).clip(lower=0).astype(int)


def _expand_trials(read: pd.DataFrame, features: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a row for each statement at risk in the responses that were read."""
    last = last_trials(read)
    nothing = pd.DataFrame(columns=[*TERMS, "statement"], dtype=float)
    tables = [features[id_].iloc[:end] for id_, end in zip(read["id"], last, strict=True)]
    trials = pd.concat(tables or [nothing], ignore_index=True).astype({"statement": int})
    if len(trials) != last.sum():
        raise ValueError("N must be the number of statements of each puzzle, got a larger one")
    return trials.join(slip_trials(read))


def slip_trials(read: pd.DataFrame) -> pd.DataFrame:
    """Return the trials, leaving out the TERMS columns, so that no puzzle text is needed."""
    last = last_trials(read).to_numpy()
    response = np.repeat(np.arange(len(read)), last)
    final = ~pd.Series(response).duplicated(keep="last")
    kinds = pd.Series(pd.Categorical(read["error"].where(read["error"].isin(SLIPS)), SLIPS))
    kind = kinds.iloc[response].reset_index(drop=True).where(final)
    ids = np.repeat(read["id"].to_numpy(), last)
    return pd.DataFrame(
        {"error": kind.notna().astype(int), "kind": kind, "response": response, "id": ids}
    )


def _fit_trials(
    trials: pd.DataFrame,
) -> tuple[pd.DataFrame, float, dict[str, str]]:
    """Return coefficients, standard errors and p, the trend's p, and what has no estimate."""
    nothing = pd.DataFrame(np.nan, TERMS, ["params", "bse", "pvalues"])
    errors = int(trials["error"].sum()) if len(trials) else 0
    if errors in (0, len(trials)):
        problem = f"{errors} first errors in {len(trials)} statements at risk"
        return nothing, np.nan, dict.fromkeys(TERMS, problem)
    problems = {
        term: f"{term} took only {trials[term].iloc[0]:g}"
        for term in TERMS[1:]
        if trials[term].nunique() < 2
    }
    kept = [term for term in TERMS if term not in problems]
    design = trials[kept].astype(float)
    if np.linalg.matrix_rank(design.to_numpy()) < len(kept):
        problem = f"{len(trials)} statements can't tell the effects of the terms apart"
        return nothing, np.nan, dict.fromkeys(TERMS, problem)
    hit, groups = trials["error"].astype(float), {"groups": pd.factorize(trials["id"])[0]}
    try:
        fit = GLM(hit, design, family=Binomial()).fit(cov_type="cluster", cov_kwds=groups)
        still = design.drop(columns="position", errors="ignore")
        plain = GLM(hit, still, family=Binomial()).fit()
    except (PerfectSeparationError, np.linalg.LinAlgError):
        problem = "the first errors are separated by the terms"
        return nothing, np.nan, dict.fromkeys(TERMS, problem)
    trend_p = float(chi2.sf(2 * (fit.llf - plain.llf), 1)) if "position" in kept else np.nan
    found = pd.DataFrame({name: getattr(fit, str(name)) for name in nothing})
    return found.reindex(TERMS), trend_p, problems


def slip_rates(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the first errors per 1,000 statements at risk by kind, with 95 % intervals.

    The intervals take statements of one puzzle as alike: the ratio estimate's, clustered by puzzle;
    without any error, the upper end is the rule of three's.
    """
    rows = []
    n = len(trials)
    for kind in (*SLIPS, "any"):
        hit = trials["error"].astype(float) if kind == "any" else (trials["kind"] == kind) * 1.0
        rate = hit.mean() if n else np.nan
        low, high = (0.0, 3 / n) if n else (np.nan, np.nan)
        if hit.sum():
            residuals = (hit - rate).groupby(trials["id"]).sum()
            clusters = len(residuals)
            error = np.sqrt((residuals**2).sum() * clusters / max(clusters - 1, 1)) / n
            spread = np.exp(Z * error / rate)
            low, high = rate / spread, rate * spread
        rows.append((int(hit.sum()), 1000 * rate, 1000 * low, 1000 * high))
    index = pd.Index([*SLIPS, "any"], name="kind")
    return pd.DataFrame(rows, index, ["errors", "per_1000", "low", "high"])
