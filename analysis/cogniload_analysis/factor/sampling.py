"""FACTOR, stage 4: what several attempts at a puzzle win back (FACTOR, section 5.3)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.regression.linear_model import OLS

from cogniload_analysis.display.page import Section
from cogniload_analysis.display.tables import table
from cogniload_analysis.factor import decay
from cogniload_analysis.factor.sections.contexts import HERE
from cogniload_analysis.published import published_table
from cogniload_analysis.stats import chance_of_any, numbers_of_attempts

_ATTEMPTS_NEEDED = 3


@dataclass(frozen=True)
class RepeatedSampling:
    """The line ln(N_clean - N_eff(t)) = k ln(t) + b over the numbers of attempts t. Table 7.

    NaN if there is none, with the reason in `problem`; `points` is the number of t that are fitted.
    """

    k: float = np.nan
    b: float = np.nan
    rsquared: float = np.nan
    points: int = 0
    problem: str = ""


def solve_within(frame: pd.DataFrame, t: int) -> pd.DataFrame:
    """Estimate for each puzzle the chance that at least one of `t` attempts solves it.

    `frame` has the columns id, N and correct, one row per attempt. Of n attempts with c right, the
    estimate is 1 - C(n - c, t) / C(n, t), which is unbiased. Returns one row per puzzle with id, N
    and correct, which `fit_complexity_decay` takes. Raises ValueError for a t that is not from 1 to
    the fewest attempts that a puzzle has.

    >>> frame = pd.DataFrame({"id": ["a", "a", "a"], "N": 5, "correct": [1, 0, 0]})
    >>> solve_within(frame, t=2).to_dict("records")
    [{'id': 'a', 'N': 5, 'correct': 0.6666666666666667}]
    """
    puzzles = frame.groupby("id", observed=True).agg(
        N=("N", "first"), right=("correct", "sum"), attempts=("correct", "size")
    )
    fewest = int(puzzles["attempts"].min()) if len(puzzles) else 0
    if not 1 <= t <= fewest:
        raise ValueError(f"t must be from 1 to the {fewest} attempts at a puzzle, got {t!r}")
    chance = chance_of_any(puzzles["right"], puzzles["attempts"], t)
    return puzzles.assign(correct=chance).reset_index()[["id", "N", "correct"]]


def n_eff_by_attempts(
    frame: pd.DataFrame,
    accuracy_range: tuple[float, float] = decay.ACCURACY_RANGES["repeated sampling"],
) -> pd.DataFrame:
    """Return accuracy, CDF, CDO and N_eff with at least one of t attempts right, one row per t.

    `frame` is of one model and one context, with the columns id, N and correct; t doubles from 1
    to the fewest attempts that a puzzle has. Columns: t, accuracy, CDF, CDO, N_eff and problem (why
    N_eff is unknown or has no meaning). Section 5.3.

    >>> frame = pd.DataFrame({"id": [1, 1, 2, 2], "N": [1, 1, 9, 9], "correct": [1, 1, 1, 0]})
    >>> n_eff_by_attempts(frame)[["t", "accuracy"]].to_dict("list")
    {'t': [1, 2], 'accuracy': [0.75, 1.0]}
    """
    fewest = int(frame.groupby("id", observed=True).size().min()) if len(frame) else 0
    rows = []
    for t in numbers_of_attempts(fewest):
        solved = solve_within(frame, t)
        fit = decay.fit_complexity_decay(solved, "least squares", accuracy_range=accuracy_range)
        rows.append(
            {"t": t, "accuracy": solved["correct"].mean(), "CDF": fit.cdf, "CDO": fit.cdo}
            | {"N_eff": fit.n_eff, "problem": fit.problems.get("N_eff", "")}
        )
    return pd.DataFrame(rows, columns=["t", "accuracy", "CDF", "CDO", "N_eff", "problem"])


def fit_repeated_sampling(by_attempts: pd.DataFrame, n_clean: float) -> RepeatedSampling:
    """Fit how the gap to the clean context's N_eff closes with t, by least squares on logarithms.

    `by_attempts` has the columns t and N_eff; `n_clean` is the N_eff to reach. Logarithms are
    natural: no other base gives intercepts of the size that Table 7 has. A t without an N_eff, or
    whose N_eff reaches `n_clean`, is left out. Section 5.3.

    >>> fit = fit_repeated_sampling(pd.DataFrame({"t": [1, 2, 4], "N_eff": [2, 6, 8]}), n_clean=10)
    >>> print(f"{fit.k:.2f} {fit.b:.2f}")
    -1.00 2.08
    """
    if not np.isfinite(n_clean):
        return RepeatedSampling(problem="there is no Neff of a clean context to compare with")
    gap = n_clean - by_attempts["N_eff"]
    open_gap = gap > 0
    number = int(open_gap.sum())
    if number < _ATTEMPTS_NEEDED:
        problem = (
            f"Neff is below Nclean at {number} of {len(gap)} t ({_ATTEMPTS_NEEDED} are needed)"
        )
        return RepeatedSampling(points=number, problem=problem)
    log_t, log_gap = np.log(by_attempts["t"][open_gap]), np.log(gap[open_gap])
    if np.ptp(log_gap) == 0:
        return RepeatedSampling(points=number, problem="Neff is the same for every t")
    fit = OLS(log_gap, pd.DataFrame({"k": log_t, "b": 1.0})).fit()
    return RepeatedSampling(
        float(fit.params["k"]), float(fit.params["b"]), float(fit.rsquared), number
    )


# --- In the report -------------------------------------------------------------------------------


def attempts_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section; none where every puzzle was answered once."""
    attempts = attempts_table(frame)
    if attempts.empty:
        return []
    sampled = table("factor_sampling", sampling_table(attempts))
    content = [table("factor_attempts", attempts), sampled]
    return [Section("Several attempts", content, "attempted", folded=True)]


def attempts_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return `n_eff_by_attempts` of each model, suite, context and noise with several attempts."""
    tables = [
        n_eff_by_attempts(rows).assign(model=model, suite=suite, context=context, noise=noise)
        for (model, suite, context, noise), rows in decay.by_condition(frame)
        if rows.groupby("id", observed=True).size().min() > 1
    ]
    columns = [*decay.CONDITION, *n_eff_by_attempts(frame[:0])]
    return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame()


def sampling_table(attempts: pd.DataFrame) -> pd.DataFrame:
    """Return the regression of each condition's gap on the number of attempts, with Table 7's.

    The gap is to the N_eff of the model's own single attempts without filler or noise, the paper's
    to that of a model trained on clean contexts.
    """
    single = attempts[(attempts["context"] == 0) & (attempts["t"] == 1)]
    clean = single[single["problem"] == ""].set_index(["model", "suite"])["N_eff"]
    rows = []
    for condition, mine in decay.by_condition(attempts):
        about: dict[str, Any] = dict(zip(decay.CONDITION, condition, strict=True))
        goal = clean.get((about["model"], about["suite"]), np.nan) if about["context"] else np.nan
        fit = vars(fit_repeated_sampling(mine, goal))
        if about["context"] == 0:
            fit |= {"problem": "this is the clean context"}
        rows.append(about | fit | {"N_clean": goal, "source": HERE})
    published = published_table("factor_repeated_sampling").assign(
        model="Course", suite="symbolic", source="published, Table 7", problem=""
    )
    published["noise"] = published["context"].map(lambda context: "filler" if context else "none")
    return pd.concat([pd.DataFrame(rows), published], ignore_index=True)
