"""Several attempts at a puzzle: pass@k and majority@k."""

import numpy as np
import pandas as pd

from cogniload_analysis import stats
from cogniload_analysis.display import tables
from cogniload_analysis.display.page import Section


def attempts_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section; none where each puzzle was tried once."""
    data = accuracy_by_attempts(frame)
    content = [tables.table("attempts", data)]
    return [Section("Several attempts", content, "several-attempts", folded=True)] * bool(len(data))


def accuracy_by_attempts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return pass@k and majority@k of each model with several attempts at its puzzles.

    `frame` is that of `read_samples`; k doubles from 1 to the fewest attempts that a puzzle has.
    Columns: model, k, puzzles, any (the chance that at least one of k attempts is right, pass@k),
    any_low, any_high, majority (that the commonest answer of k is right; NaN where the samples hold
    no answers), majority_low and majority_high (95 % intervals, clustered by puzzle). Both chances
    are means over all choices of k attempts, so they are unbiased.
    """
    rows = []
    for model, mine in frame.groupby("model", observed=True):
        by_puzzle = mine.groupby("id", observed=True)["correct"]
        right, attempts = by_puzzle.sum().tolist(), by_puzzle.size().tolist()
        if min(attempts) == 1:
            continue
        wrong = _count_wrong(mine)
        for k in stats.numbers_of_attempts(min(attempts)):
            majority = [
                stats.chance_of_majority(n, others, of - n - sum(others), k) if wrong else np.nan
                for n, others, of in zip(right, wrong or [[]] * len(right), attempts, strict=True)
            ]
            solved = stats.chance_of_any(right, attempts, k)
            row = {"model": str(model), "k": k, "puzzles": len(right)}
            for name, shares in (("any", solved), ("majority", np.array(majority))):
                low, high = stats.clustered_interval(shares)
                row |= {name: shares.mean(), f"{name}_low": low, f"{name}_high": high}
            rows.append(row)
    return pd.DataFrame(rows)


def _count_wrong(frame: pd.DataFrame) -> list[list[int]] | None:
    """Return the counts of each puzzle's wrong answers; None where one of them is unknown."""
    wrong = frame[~frame["correct"].astype(bool)]
    if "answer" not in frame or wrong["answer"].isna().any():
        return None
    counts = wrong[wrong["answer"] != ""].groupby(["id", "answer"], observed=True).size()
    votes = counts.groupby(level="id", observed=True).agg(list).to_dict()
    return [votes.get(puzzle, []) for puzzle, _ in frame.groupby("id", observed=True)]
