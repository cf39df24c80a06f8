"""Accuracy as a function of the response budget, from the token counts of a run that has ended."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.figures import Figure, Panel, series_by_model
from cogniload_analysis.display.page import Section
from cogniload_analysis.frame import check_columns
from cogniload_analysis.samples.stop_reasons import CUT
from cogniload_analysis.stats import clustered_interval

LEAST_BUDGET = 256

CAPTION = (
    "Puzzles solved within a budget of response tokens, had the responses been stopped there. A "
    "response that a limit cut before the budget counts as wrong, and as right in “at most”; the "
    "95 % interval holds both."
)
COLUMNS: tb.Columns = {
    **tb.MODEL,
    "budget": ("Budget", tb.thousands),
    "responses": ("Responses", tb.thousands),
    "cut": ("Cut before", tb.thousands),
    "accuracy": ("Acc [%]", tb.percent),
    "most": ("at most [%]", tb.percent),
    "low, high": ("95 % interval", tb.percent_interval),
    "tokens_per_solved": ("Tokens per solved puzzle", tb.thousands),
}


def budgets_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section; none where no model's curve has several budgets."""
    curves = budget_curve(frame)
    if curves.empty or not curves["model"].duplicated().any():
        return []
    content = [draw_budgets(curves), tb.Table("budgets", curves, CAPTION, COLUMNS)]
    return [Section("Response budgets", content, "response-budgets", folded=True)]


def budget_curve(frame: pd.DataFrame, budgets: Sequence[int] | None = None) -> pd.DataFrame:
    """Return what each model would solve with smaller budgets, one row per model and budget.

    `frame` is that of `read_samples`. `budgets` are in response tokens; they double from 256 to the
    model's longest response unless given. A puzzle is solved within a budget if a right response
    has no more tokens. A wrong response that a limit cut earlier may have become right later: it
    counts as wrong in `accuracy`, and as right in `most`. `low` and `high` are the ends of 95 %
    intervals (clustered by puzzle), the lower of `accuracy` and the upper of `most`.

    The other columns: responses (those with a token count), cut (those that a limit cut before the
    budget) and tokens_per_solved (tokens up to the budget, also of wrong responses, over the solved
    puzzles; NaN for none). Raises ValueError for a column that is missing and a budget below 1.
    """
    check_columns(frame, ("model", "id", "correct", "response_tokens"))
    if budgets is not None and not all(budget >= 1 for budget in budgets):
        raise ValueError(f"budgets must be 1 or more tokens, got {list(budgets)}")
    known = frame.dropna(subset="response_tokens")
    limited = known["ending"] == CUT if "ending" in known else False
    known = known.assign(lost=limited & ~known["correct"].astype(bool))
    return pd.DataFrame(
        {"model": str(model), "budget": budget} | _describe_budget(mine, budget)
        for model, mine in known.groupby("model", observed=True)
        for budget in budgets or list_budgets(mine)
    )


def list_budgets(frame: pd.DataFrame) -> list[int]:
    """Return the budgets of a model's curve: doubled from 256, up to its longest response."""
    longest, budgets = int(frame["response_tokens"].max()), [LEAST_BUDGET]
    while budgets[-1] < longest:
        budgets.append(2 * budgets[-1])
    return [*budgets[:-1], longest]


def _describe_budget(frame: pd.DataFrame, budget: int) -> dict[str, float]:
    tokens = frame["response_tokens"]
    solved = frame["correct"].astype(bool) & (tokens <= budget)
    cut = frame["lost"] & (tokens < budget)
    by_puzzle = (
        pd.DataFrame({"least": solved, "most": solved | cut})
        .groupby(frame["id"], observed=True)
        .mean()
    )
    least, most = (by_puzzle[name].to_numpy() for name in ("least", "most"))
    return {
        "responses": len(frame),
        "cut": int(cut.sum()),
        "accuracy": least.mean(),
        "most": most.mean(),
        "low": clustered_interval(least)[0],
        "high": clustered_interval(most)[1],
        "tokens_per_solved": tokens.clip(upper=budget).sum() / (solved.sum() or np.nan),
    }


def draw_budgets(curves: pd.DataFrame) -> Figure:
    """Draw each model's accuracy by the response budget: rows of `budget_curve`."""

    def finish(axes: Any) -> None:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:,.0f}")

    series = series_by_model(curves, "budget", "accuracy", "low", "high")
    panel = Panel(series, "Response budget (tokens)", "Accuracy", finish=finish)
    caption = (
        "Accuracy within a budget of response tokens, each run on its own puzzles, with 95 % "
        "intervals; a response that a limit cut counts as wrong, and the interval reaches to where "
        "it counts as right."
    )
    return Figure("budgets", caption, [panel])
