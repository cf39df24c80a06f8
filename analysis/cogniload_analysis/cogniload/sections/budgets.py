"""Accuracy by the tokens of responses: within a budget, and of one model at several efforts.

A model that plans for its budget solves more than its longest responses would, had they been
stopped at the same tokens.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from cogniload_analysis.cogniload.sections.thresholds import name_ends
from cogniload_analysis.compare.paired import Difference, compare_means
from cogniload_analysis.display.figures import Figure, Panel, series_by_model
from cogniload_analysis.display.page import Content, Section
from cogniload_analysis.display.tables import table
from cogniload_analysis.frame import check_columns
from cogniload_analysis.samples.stop_reasons import CUT
from cogniload_analysis.stats import CONFIDENCE, clustered_interval
from cogniload_analysis.words import say

_LEAST_BUDGET = 256


def budgets_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section on budgets and efforts.

    None where no model's curve has several budgets, nor several runs of the same puzzles.
    """
    curves, efforts = budget_curve(frame), effort_table(frame)
    content: list[Content] = []
    if len(curves) and curves["model"].duplicated().any():
        content += [_draw_budgets(curves), table("budgets", curves)]
    if len(efforts):
        content.append(Section("What tokens buy", [table("effort", efforts)], "what-tokens-buy"))
    section = Section("Response budgets", content, "response-budgets", folded=True)
    return [section] if content else []


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
        for budget in budgets or _list_budgets(mine)
    )


def _list_budgets(frame: pd.DataFrame) -> list[int]:
    """Return the budgets of a model's curve: doubled from 256, up to its longest response."""
    longest, budgets = int(frame["response_tokens"].max()), [_LEAST_BUDGET]
    while budgets[-1] < longest:
        budgets.append(2 * budgets[-1])
    return [*budgets[:-1], longest]


def _describe_budget(frame: pd.DataFrame, budget: int) -> dict[str, float]:
    tokens = frame["response_tokens"]
    solved = frame["correct"].astype(bool) & (tokens <= budget)
    cut = frame["lost"] & (tokens < budget)
    right = pd.DataFrame({"least": solved, "most": solved | cut})
    least, most = right.groupby(frame["id"], observed=True).mean().to_numpy().T
    return {
        "responses": len(frame),
        "cut": int(cut.sum()),
        "accuracy": least.mean(),
        "most": most.mean(),
        "low": clustered_interval(least)[0],
        "high": clustered_interval(most)[1],
        "tokens_per_solved": tokens.clip(upper=budget).sum() / (solved.sum() or np.nan),
    }


def _draw_budgets(curves: pd.DataFrame) -> Figure:
    """Draw each model's accuracy by the response budget: rows of `budget_curve`."""

    def finish(axes: Any) -> None:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:,.0f}")

    series = series_by_model(curves, "budget", "accuracy", "low", "high")
    panel = Panel(series, "Response budget (tokens)", "Accuracy", finish=finish)
    return Figure("budgets", say("budgets"), [panel])


# --- What tokens buy ---

# More runs of the same puzzles are compared by the first screen alone.
_MOST_RUNS = 12

# Draws of the bootstrap, and the columns that it takes.
_DRAWS, _ANSWERS = 500, ["response_tokens", "correct"]


def effort_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each run of puzzles that several runs of a model answered, by tokens spent.

    `tokens` is the mean of a response, `tokens_per_needle` that over the statements that concern
    the person of interest. `accuracy`, `low` and `high` are the run's (clustered by puzzle),
    `stopped` that of the run with the longest responses of the same puzzles, each stopped at the
    budget that spends as many tokens; `difference` is that of `compare_stopped`.
    """
    known = frame[frame.groupby("model", observed=True)["response_tokens"].transform("count") > 0]
    known = known.assign(response_tokens=known["response_tokens"].fillna(0))
    alike: dict[tuple[str, frozenset[str]], dict[str, pd.DataFrame]] = {}
    for model, rows in known.groupby("model", observed=True):
        key = str(rows["base_model"].iloc[0]), frozenset(rows["id"])
        alike.setdefault(key, {})[str(model)] = rows
    described = []
    for runs in alike.values():
        if 1 < len(runs) <= _MOST_RUNS:
            order = sorted(runs, key=lambda model: runs[model]["response_tokens"].mean())
            of = order[-1]
            described += [{"model": it, "of": of} | _beside(runs[it], runs[of]) for it in order]
    return pd.DataFrame(described)


def _beside(run: pd.DataFrame, longest: pd.DataFrame) -> dict[str, Any]:
    shares = run.groupby("id", observed=True)["correct"].mean().to_numpy(float)
    low, high = clustered_interval(shares)
    difference = compare_stopped(run, longest)
    return {
        "tokens": run["response_tokens"].mean(),
        "tokens_per_needle": run["response_tokens"].sum() / run["needles"].sum(),
        "accuracy": shares.mean(),
        "low": low,
        "high": high,
        "stopped": shares.mean() - difference.value,
        **name_ends("difference", difference),
    }


def compare_stopped(run: pd.DataFrame, longest: pd.DataFrame) -> Difference:
    """Return a run's accuracy less that of the longest responses, stopped to spend as many tokens.

    Both frames have the columns id, correct and response_tokens, and the same puzzles. The budget
    is estimated with the rest: the error is that of a bootstrap of puzzles, each draw with its own
    budget. The interval is no narrower than that of `compare_means` at the budget found; p is NaN.
    """
    place = {id: number for number, id in enumerate(sorted({*run["id"]}))}
    (at, spent, right), (there, tokens, solved) = (
        (rows["id"].map(place).to_numpy(int), *rows[_ANSWERS].to_numpy(float).T)
        for rows in (run, longest)
    )
    own = np.bincount(at, right) / np.bincount(at)
    parts = solved / np.bincount(there)[there]

    def subtract(counts: np.ndarray) -> np.ndarray:
        mean = np.average(spent, weights=counts[at])
        in_time = tokens <= find_budget(tokens, mean, counts[there])
        return counts * (own - np.bincount(there, parts * in_time, len(own)))

    puzzles = len(own)
    apart = subtract(np.ones(puzzles))
    draws = np.random.default_rng(0).multinomial(puzzles, np.ones(puzzles) / puzzles, _DRAWS)
    error = float(np.std([subtract(counts).mean() for counts in draws]))
    value, low, high, _ = compare_means(apart)
    margin = error * student.ppf((1 + CONFIDENCE) / 2, max(puzzles - 1, 1))
    return Difference(value, min(low, value - margin), max(high, value + margin), np.nan)


def find_budget(tokens: np.ndarray, mean: float, counts: np.ndarray | float = 1.0) -> float:
    """Return the budget at which responses, stopped there, have a mean number of tokens.

    `counts` says how often each response counts.
    """
    order = np.argsort(tokens)
    ends = np.append(0, tokens[order])
    counts = np.broadcast_to(counts, tokens.shape)[order]
    longer = counts[::-1].cumsum()[::-1]  # the responses that a little more budget lengthens
    means = np.append(0, (np.diff(ends) * longer).cumsum()) / counts.sum()
    return round(float(np.interp(mean, means, ends)), 6)  # no response is stopped by an ulp
