"""How often the bounds of a run with many cut responses hold the truth, by simulation.

A published model answers the paper's grid, and a limit cuts a quarter of its responses: the more
the longer the puzzle, right ones as often as wrong ones. The truth is what it would have solved.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import expit
from simulated import percent, print_table

from cogniload_analysis import published_table
from cogniload_analysis.cogniload.capacity.goodness_of_fit import PAPER_GRID
from cogniload_analysis.cogniload.fitted import REACH, Fitted
from cogniload_analysis.cogniload.glm import TERMS, load_design
from cogniload_analysis.cogniload.glm_thresholds import Threshold
from cogniload_analysis.stats import wilson_interval

MODELS = published_table("glm").set_index("model").loc[["Qwen3-8B", "DS-Qwen-7B", "QwQ-32B"]]
PUZZLES, SIMULATIONS = 4, 200  # in a cell; runs
LEAST = PAPER_GRID["N"].min() / REACH  # below it, a report prints "< 5"


def simulate(betas: pd.Series, seed: int) -> pd.DataFrame:
    """Return responses: whether they would have been right (`whole`), and were (`correct`)."""
    draws = np.random.default_rng([3, seed])
    frame = pd.concat([PAPER_GRID] * PUZZLES, ignore_index=True)
    loads = load_design(frame["d"], frame["N"], frame["rho"])[list(TERMS)]
    frame["whole"] = draws.random(len(frame)) < expit(loads @ betas[list(TERMS)].astype(float))
    length = np.log10(frame["N"])
    frame["cut"] = draws.random(len(frame)) < expit(3 * (length - length.mean()) - 1.5)
    return frame.assign(correct=frame["whole"] & ~frame["cut"], id=frame.index.astype(str))


def find_ECL50(run: pd.DataFrame) -> Threshold:
    """Return the projection as a report knows it: not at all where accuracy doesn't fall with N."""
    return Fitted(run).projections.ECL50


def coverage() -> Iterator[list[str]]:
    """Yield, for each model, the share cut, both scores, and how often bounds hold the truth."""
    yield ["model", "cut", "accuracy", "uncut", "it holds", "ECL50", "no upper bound", "it holds"]
    for model, betas in MODELS.iterrows():
        truth, rows = float(betas["ECL50"]), []
        for run in map(simulate, [betas] * SIMULATIONS, range(SIMULATIONS)):
            strict, lenient = run["correct"], run["correct"] | run["cut"]
            low, _ = wilson_interval(strict.sum(), len(run))
            _, high = wilson_interval(lenient.sum(), len(run))
            least, most = find_ECL50(run), find_ECL50(run.assign(correct=lenient))
            row = [run["cut"].mean(), strict.mean(), strict[~run["cut"]].mean()]
            row += [low <= run["whole"].mean() <= high, np.isnan(most.value)]
            rows.append([*row, not least.low > max(truth, LEAST) and not most.high < truth])
        cut, strict, uncut, holds, open_, held = map(percent, np.mean(rows, axis=0))
        yield [str(model), cut, strict, uncut, holds, f"{truth:.0f}", open_, held]


if __name__ == "__main__":
    print_table(coverage())
