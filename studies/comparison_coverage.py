"""How often the intervals of comparisons and of thresholds hold, by simulation.

Prints the coverage of paired differences, and of the thresholds' differences from the joint GLM.
Takes some hours.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm
from simulated import percent, print_table
from tqdm import tqdm

from cogniload_analysis import PAPER_MEANS, capacity_thresholds, published_table
from cogniload_analysis.cogniload.capacity.goodness_of_fit import PAPER_GRID
from cogniload_analysis.cogniload.glm import TERMS, load_design
from cogniload_analysis.cogniload.threshold_differences import compare_thresholds
from cogniload_analysis.compare.paired import compare_means, compare_pairs

BETAS = published_table("glm").set_index("model")[list(TERMS)].astype(float)
DESIGN = load_design(PAPER_GRID["d"], PAPER_GRID["N"], PAPER_GRID["rho"])[list(TERMS)].to_numpy()
PAIRS = (
    ("Qwen3-32B", "DS-R1-0528"),
    ("Qwen3-8B", "Qwen3-8B"),
    ("DS-Llama-70B", "DS-Qwen-32B"),  # these have an NT50
)
PUZZLES = 10  # in a cell
ATTEMPTS = (1, 2, 4, 8)


def hold(intervals: Any, truth: float) -> str:
    """Return the share of intervals that hold the truth."""
    return percent(np.mean((intervals.low <= truth) & (truth <= intervals.high)))


def paired(simulations: int) -> Iterator[list[str]]:
    """Yield the coverage of differences in accuracy of models that answer the same puzzles."""
    yield ["points apart", "puzzles", *(f"{n} attempt{'s' * (n > 1)}" for n in ATTEMPTS)]
    for gap, puzzles in product((0, 0.03), (54, 140, 1400)):
        row = [f"{100 * gap:.0f}", f"{puzzles:,}"]
        for attempts in ATTEMPTS:
            draws = np.random.default_rng([1, puzzles, attempts])
            chance = draws.beta(1, 1, (simulations, puzzles))
            better = np.where(chance < 1 - 2 * gap, chance + gap / (1 - 2 * gap), chance)
            apart = draws.binomial(attempts, better) - draws.binomial(attempts, chance)
            if attempts == 1:
                intervals = compare_pairs((apart > 0).sum(axis=1), (apart < 0).sum(axis=1), puzzles)
            else:
                intervals = compare_means(apart / attempts)
            row.append(hold(intervals, gap))
        yield row


def thresholds(simulations: int) -> Iterator[list[str]]:
    """Yield the coverage of the differences of thresholds, 10 puzzles per cell, 1,400 in all."""
    yield ["models", "measure", "coverage"]
    for pair in PAIRS:
        betas = [BETAS.loc[name].to_numpy() for name in pair]
        ours, theirs = (capacity_thresholds(*beta, **vars(PAPER_MEANS)) for beta in betas)
        NT50, ID50 = ours[1] - theirs[1], ours[2] - theirs[2]
        truth = {"ECL50": ours[0] / theirs[0], "ID50": ID50, "NT50": NT50}
        draws = np.random.default_rng(2)
        runs = tqdm(range(simulations), ", ".join(pair), disable=None)
        table = pd.concat(compare_thresholds(answer(betas, draws), [("a", "b")]) for _ in runs)
        table = table[table["p"].notna()]
        models = ", ".join(pair) if len({*pair}) == 2 else f"twice {pair[0]}"
        for measure, value in truth.items():
            matches = table[table["measure"] == measure]
            if not np.isnan(value) and len(matches):
                yield [models, measure, hold(matches, value)]


def answer(betas: list[np.ndarray], draws: np.random.Generator) -> pd.DataFrame:
    """Return two models' responses to the same puzzles, alike in which are hard."""
    design = np.repeat(DESIGN, PUZZLES, axis=0)
    loads = {"d": design[:, 1], "N": 10 ** design[:, 2], "rho": design[:, 3]}
    common, frames = draws.normal(size=len(design)), []
    for model, beta in zip("ab", betas, strict=True):
        ease = norm.cdf((common + draws.normal(size=len(design))) / 2**0.5)
        answers = {"id": np.arange(len(design)), "correct": ease < expit(design @ beta)}
        frames.append(pd.DataFrame(loads | answers | {"model": model}))
    return pd.concat(frames)


if __name__ == "__main__":
    for table, simulations in {paired: 4000, thresholds: 1000}.items():
        print_table(table(simulations))
