"""Several attempts at a puzzle: pass@k, majority@k, and ECL50 at k attempts."""

import numpy as np
import pandas as pd

from cogniload_analysis.cogniload.known_thresholds import known_ECL50
from cogniload_analysis.cogniload.sections.thresholds import ECL50_CROSSING, name_ends
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.page import Section
from cogniload_analysis.stats import (
    chance_of_any,
    chance_of_majority,
    clustered_interval,
    numbers_of_attempts,
)

LOADS = ["d", "N", "rho"]
CAPTION = (
    "Several attempts at a puzzle: at least one of k right (pass@k), the commonest answer of k "
    "right (majority@k), with 95 % intervals over puzzles; and the crossing of pass@k."
)
COLUMNS: tb.Columns = {
    **tb.MODEL,
    "k": "k",
    "puzzles": ("Puzzles", tb.thousands),
    "any": ("pass@k [%]", tb.percent),
    "any_low, any_high": ("pass@k 95 %", tb.percent_interval),
    "majority": ("majority@k [%]", tb.percent),
    "majority_low, majority_high": ("majority@k 95 %", tb.percent_interval),
    **ECL50_CROSSING,
}


def attempts_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section; none where each puzzle was tried once."""
    data = accuracy_by_attempts(frame)
    table = tb.Table("attempts", data, CAPTION, COLUMNS)
    return [Section("Several attempts", [table], "several-attempts", folded=True)] * (len(data) > 0)


def accuracy_by_attempts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return pass@k and majority@k of each model with several attempts at its puzzles.

    `frame` is that of `read_samples`; k doubles from 1 to the fewest attempts that a puzzle has.
    Columns: model, k, puzzles, any (the chance that at least one of k attempts is right, pass@k),
    any_low, any_high, majority (that the commonest answer of k is right; NaN where the samples hold
    no answers), majority_low, majority_high (95 % intervals, clustered by puzzle), ECL50 (the
    crossing of pass@k), ECL50_low, ECL50_high, min_tested and max_tested (N). Both chances are
    means over all choices of k attempts, so they are unbiased.
    """
    rows = []
    for model, mine in frame.groupby("model", observed=True):
        fewest = int(mine.groupby("id", observed=True).size().min())
        if fewest > 1:
            counted = _count_answers(mine)
            rows += [
                {"model": str(model), "k": k} | _describe_attempts(*counted, k)
                for k in numbers_of_attempts(fewest)
            ]
    return pd.DataFrame(rows)


def _count_answers(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[list[int]] | None]:
    """Return each puzzle's loads, right ones and attempts, and the counts of its wrong answers."""
    by_puzzle = frame.groupby("id", observed=True)
    puzzles = by_puzzle[LOADS].first()
    puzzles = puzzles.assign(right=by_puzzle["correct"].sum(), attempts=by_puzzle.size())
    wrong = frame[~frame["correct"].astype(bool)]
    if "answer" not in frame or wrong["answer"].isna().any():
        return puzzles, None
    counts = wrong[wrong["answer"] != ""].groupby(["id", "answer"], observed=True).size()
    votes = counts.groupby(level="id", observed=True).agg(list)
    return puzzles, [votes.get(puzzle, []) for puzzle in puzzles.index]


def _describe_attempts(
    puzzles: pd.DataFrame, others: list[list[int]] | None, k: int
) -> dict[str, float]:
    """Return a row's numbers; the shares of attempts count as single puzzles for ECL50."""
    right, attempts = (puzzles[name].tolist() for name in ("right", "attempts"))
    solved, majority = chance_of_any(right, attempts, k), np.full(len(puzzles), np.nan)
    if others is not None:
        counts = zip(right, others, attempts, strict=True)
        majority = np.array(
            [chance_of_majority(own, wrong, n - own - sum(wrong), k) for own, wrong, n in counts]
        )
    solved_puzzles = puzzles[LOADS].assign(correct=solved, successes=solved, failures=1 - solved)
    row: dict[str, float] = {"puzzles": len(puzzles)}
    for name, shares in (("any", solved), ("majority", majority)):
        row |= {name: float(shares.mean())}
        row |= dict(zip((f"{name}_low", f"{name}_high"), clustered_interval(shares), strict=True))
    row |= name_ends("ECL50", known_ECL50(solved_puzzles))
    return row | {"min_tested": puzzles["N"].min(), "max_tested": puzzles["N"].max()}
