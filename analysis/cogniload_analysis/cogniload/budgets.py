"""Accuracy as a function of the response budget, from the token counts of a run that has ended."""

from collections.abc import Sequence
from itertools import takewhile

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload import tables
from cogniload_analysis.cogniload.known_thresholds import known_ECL50
from cogniload_analysis.display.tables import read_tables
from cogniload_analysis.frame import check_columns
from cogniload_analysis.samples.stop_reasons import LIMIT, WINDOW
from cogniload_analysis.stats import clustered_interval

LEAST_BUDGET, DOUBLINGS = 256, 24


def budget_curve(frame: pd.DataFrame, budgets: Sequence[int] | None = None) -> pd.DataFrame:
    """Return what each model would solve with smaller response budgets, a row a model and budget.

    `frame` is that of `read_samples`. `budgets` are in response tokens; they double from 256 to the
    model's longest response unless given. A puzzle is solved within a budget if a right response
    has no more tokens. A wrong response that a limit cut earlier may have become right later: it
    counts as wrong in `accuracy`, and as right in `most`. `low` and `high` are the ends of 95 %
    intervals (clustered by puzzle), the lower of `accuracy` and the upper of `most`.

    The other columns: responses (those with a token count), cut (those that a limit cut before the
    budget), tokens_per_solved (tokens up to the budget, also of wrong responses, over the solved
    puzzles), ECL50 (the crossing, cut ones counted as wrong) with ECL50_low and ECL50_high, and the
    least and the largest N, min_tested and max_tested. Raises ValueError for a column that is
    missing and a budget below 1.
    """
    check_columns(frame, ("model", "id", "d", "N", "rho", "correct", "response_tokens"))
    if budgets is not None and not all(budget >= 1 for budget in budgets):
        raise ValueError(f"budgets must be 1 or more tokens, got {list(budgets)}")
    known = frame.dropna(subset="response_tokens")
    limited = known["ending"].isin([LIMIT, WINDOW]) if "ending" in known else False
    known = known.assign(lost=limited & ~known["correct"].astype(bool))
    rows = [
        {"model": str(model), "budget": budget} | _describe_budget(mine, budget)
        for model, mine in known.groupby("model", observed=True)
        for budget in budgets or list_budgets(mine)
    ]
    return pd.DataFrame(rows)


def list_budgets(frame: pd.DataFrame) -> list[int]:
    """Return the budgets of a model's curve: doubled from 256, up to its longest response."""
    longest = int(frame["response_tokens"].max())
    doubled = (LEAST_BUDGET * 2**power for power in range(DOUBLINGS))
    return [*takewhile(lambda budget: budget < longest, doubled), longest]


def _describe_budget(frame: pd.DataFrame, budget: int) -> dict[str, float]:
    tokens = frame["response_tokens"]
    solved = frame["correct"].astype(bool) & (tokens <= budget)
    cut = frame["lost"] & (tokens < budget)
    by_puzzle = pd.DataFrame({"least": solved, "most": solved | cut}).groupby(frame["id"]).mean()
    least, most = (by_puzzle[name].to_numpy() for name in ("least", "most"))
    within = frame.assign(correct=solved)
    tested = frame["N"].min(), frame["N"].max()
    ECL50 = known_ECL50(within)
    spent = tokens.clip(upper=budget).sum()
    return {
        "responses": len(frame),
        "cut": int(cut.sum()),
        "accuracy": least.mean(),
        "most": most.mean(),
        "low": clustered_interval(least)[0],
        "high": clustered_interval(most)[1],
        "tokens_per_solved": spent / solved.sum() if solved.any() else np.inf,
        **tables.name_ends("ECL50", ECL50),
        "min_tested": tested[0],
        "max_tested": tested[1],
    }


def show_tokens(tokens: float) -> str:
    return f"{tokens:,.0f}" if np.isfinite(tokens) else "none solved"


BUDGETS = read_tables("budgets", show_tokens, tables.show_threshold, tables.show_ends)["budgets"]
