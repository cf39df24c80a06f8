"""The hazard of the first error: how many bring it of 1,000 statements, and what stays right."""

import numpy as np
import pandas as pd
from statsmodels.duration.survfunc import SurvfuncRight
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM

from cogniload_analysis.stats import wilson_interval

SLIPS = ("missed", "intruded", "wrong_value", "skipped", "drifted")
"""The kinds of an error that happens at a statement; the others are no slips of tracking."""


def _last_trials(read: pd.DataFrame) -> pd.Series:
    """Return the last statement at which each response that was read is at risk, 0 for none.

    A slip's is the statement of the slip; a response that stops counts up to where it stops.
    """
    before = read["first_error"] - ~read["error"].isin(SLIPS)
    return before.fillna(read["N"]).clip(lower=0).astype(int)


def slip_rate(read: pd.DataFrame) -> np.ndarray:
    """Return the slips per 1,000 statements at risk, and the ends of the 95 % interval.

    The interval takes statements of one puzzle as alike. NaN without any slip, and of one puzzle.
    """
    counts = pd.DataFrame({"slips": read["error"].isin(SLIPS), "statements": _last_trials(read)})
    counts = counts.groupby(read["id"], observed=True).sum().query("statements > 0").astype(float)
    slips, statements = (counts[name].to_numpy() for name in counts)
    if len(counts) < 2 or not slips.any():
        return np.full(3, np.nan)
    model = GLM(slips, np.ones(len(counts)), Poisson(), exposure=statements)
    fit = model.fit(cov_type="HC0")
    return 1000 * np.exp([*fit.params, *fit.conf_int().ravel()])


def survival_curve(read: pd.DataFrame) -> pd.DataFrame:
    """Return the share of responses whose tracking is still right, by statement.

    The Kaplan-Meier estimate: a response counts up to the last statement of its puzzle, or to where
    it stops. Rows: statement 0 (the initial state), each one with a first error, and the last.
    Columns: statement, at_risk, share, low and high: Wilson's 95 % interval at the number of
    responses that would give Greenwood's variance. Without responses that end early it is Wilson's
    of the share itself. Responses to one puzzle count as independent.
    """
    last = _last_trials(read)
    fit = SurvfuncRight(last, read["error"].isin([*SLIPS, "initial"]).astype(int))
    steps = {"at_risk": fit.n_risk, "share": fit.surv_prob, "spread": fit.surv_prob_se}
    start = pd.DataFrame({"at_risk": len(read), "share": 1.0, "spread": 0.0}, [0])
    table = pd.concat([start, pd.DataFrame(steps, fit.surv_times)])
    table = table[~table.index.duplicated(keep="last")]
    table = table.reindex(table.index.union([last.max()]), method="ffill")
    share = table["share"]
    # a share of 0 or 1 has no variance to tell it
    effective = (share * (1 - share) / table.pop("spread") ** 2).fillna(table["at_risk"])
    low, high = wilson_interval(share * effective, effective)
    table = table.assign(low=low.clip(0, share), high=high.clip(share, 1))
    return table.rename_axis("statement").reset_index()
