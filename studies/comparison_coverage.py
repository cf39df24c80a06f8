"""How often the intervals of comparisons and of thresholds hold, by simulation.

Prints the tables of docs/compare.md (coverage of paired differences; how soon the anytime-valid p
decides, beside one look; the thresholds' differences from the joint GLM) and of docs/glm_fit.md
(ECL50 by the GLM with and without a guess rate and a lapse rate). `--quick` runs a tenth of the
simulations.
"""

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm
from simulated import percent, print_table
from tqdm import tqdm

from cogniload_analysis import PAPER_MEANS, capacity_thresholds, fit_load_glm, published_table
from cogniload_analysis.cogniload.capacity.goodness_of_fit import PAPER_GRID
from cogniload_analysis.cogniload.fits.glm import TERMS, load_design
from cogniload_analysis.cogniload.threshold_differences import compare_thresholds
from cogniload_analysis.compare.paired import anytime_p, compare_means, compare_pairs

BETAS = published_table("glm").set_index("model")[list(TERMS)]
DESIGN = load_design(PAPER_GRID["d"], PAPER_GRID["N"], PAPER_GRID["rho"])[list(TERMS)].to_numpy()
CHANCE = 1 / np.maximum(PAPER_GRID["d"].to_numpy() + 1, 3)
MODELS = ("Qwen3-8B", "DS-Qwen-7B", "Qwen3-32B", "o4-mini-2025-04-16")
PAIRS = (
    ("Qwen3-32B", "DS-R1-0528"),
    ("Qwen3-8B", "Qwen3-8B"),
    ("DS-Llama-70B", "DS-Qwen-32B"),  # these have an NT50
)
LAPSE = 0.05
ATTEMPTS = (1, 2, 4, 8)
LOOKS = "points apart", "anytime-valid", "McNemar, one look", "McNemar, each look", "mean puzzles"
FIRST_LOOK = 30
"""Before this puzzle nobody looks at McNemar's p."""


def hold(intervals: pd.DataFrame, truth: float) -> float:
    """Return the share of intervals that hold the truth."""
    return ((intervals["low"] <= truth) & (truth <= intervals["high"])).mean()


def paired(simulations: int) -> Iterator[list[str]]:
    """Yield the coverage of differences in accuracy of models that answer the same puzzles."""
    yield ["points apart", "puzzles", *(f"{n} attempt{'s' * (n > 1)}" for n in ATTEMPTS)]
    for gap, puzzles in product((0, 0.03), (54, 140, 1400)):
        row = [f"{100 * gap:.0f}", f"{puzzles:,}"]
        for attempts in ATTEMPTS:
            generator = np.random.default_rng([1, puzzles, attempts])
            chance = generator.beta(1, 1, (simulations, puzzles))
            better = np.where(chance < 1 - 2 * gap, chance + gap / (1 - 2 * gap), chance)
            apart = generator.binomial(attempts, better) - generator.binomial(attempts, chance)
            if attempts == 1:
                intervals = compare_pairs((apart > 0).sum(axis=1), (apart < 0).sum(axis=1), puzzles)
            else:
                intervals = compare_means(apart / attempts)
            row.append(percent(np.mean((intervals.low <= gap) & (gap <= intervals.high))))
        yield row


def looks(simulations: int) -> Iterator[list[str]]:
    """Yield how often p falls to 5 % within 2,000 puzzles, by looking at each or once at the end.

    Puzzles are those of `paired`, each answered once by both models.
    """
    yield list(LOOKS)
    puzzles = np.arange(1, 2001)
    for gap in (0, 0.02, 0.05, 0.1, 0.15, 0.2):
        generator = np.random.default_rng(4)
        stops, decided = np.full(simulations, len(puzzles)), np.zeros((3, simulations), dtype=bool)
        for run in range(simulations):
            chance = generator.beta(1, 1, len(puzzles))
            better = np.where(chance < 1 - 2 * gap, chance + gap / (1 - 2 * gap), chance)
            solved = generator.random((2, len(puzzles))) < [better, chance]
            first = (solved[0] & ~solved[1]).cumsum()
            second = (solved[1] & ~solved[0]).cumsum()
            anytime = anytime_p(first, second) <= 0.05
            mcnemar = compare_pairs(first, second, puzzles).p <= 0.05
            if anytime.any():
                stops[run] = anytime.argmax() + 1
            decided[:, run] = anytime.any(), mcnemar[-1], mcnemar[FIRST_LOOK:].any()
        yield [f"{100 * gap:.0f}", *map(percent, decided.mean(axis=1)), f"{stops.mean():,.0f}"]


def thresholds(simulations: int) -> Iterator[list[str]]:
    """Yield the coverage of the differences of thresholds, 10 puzzles a cell, 1,400 in all."""
    yield ["models", "measure", "coverage"]
    for first, second in PAIRS:
        betas = [BETAS.loc[name].to_numpy(float) for name in (first, second)]
        ours, theirs = (capacity_thresholds(*beta, **vars(PAPER_MEANS)) for beta in betas)
        truth = {"ECL50": ours[0] / theirs[0], "ID50": ours[2] - theirs[2]}
        truth["NT50"] = ours[1] - theirs[1]
        generator = np.random.default_rng(2)
        differences = [
            compare_thresholds(answer(betas, 10, generator), [("a", "b")])
            for _ in tqdm(range(simulations), f"{first}, {second}", disable=None)
        ]
        table = pd.concat(differences)
        models = f"twice {first}" if first == second else f"{first}, {second}"
        for measure, value in truth.items():
            matches = table[(table["measure"] == measure) & table["p"].notna()]
            if not np.isnan(value) and len(matches):
                yield [models, measure, percent(hold(matches, value))]


def answer(betas: list[np.ndarray], puzzles: int, generator: np.random.Generator) -> pd.DataFrame:
    """Return two models' responses to the same puzzles, alike in which are hard."""
    design = np.repeat(DESIGN, puzzles, axis=0)
    loads = {"d": design[:, 1], "N": 10 ** design[:, 2], "rho": design[:, 3]}
    common = generator.normal(size=len(design))
    frames = []
    for model, beta in zip("ab", betas, strict=True):
        ease = norm.cdf((common + generator.normal(size=len(design))) / 2**0.5)
        right = ease < expit(design @ beta)
        frames.append(pd.DataFrame(loads | {"model": model, "correct": right}))
    return pd.concat([frame.assign(id=np.arange(len(design))) for frame in frames])


def guesses(simulations: int) -> Iterator[list[str]]:
    """Yield bias and coverage of ECL50 where models guess and lapse, 1,400 puzzles."""
    fits = "plain", "guess and lapse"
    yield [
        "model",
        "true ECL50",
        *(f"{fit}: {what}" for fit in fits for what in ("bias", "coverage")),
    ]
    for model in MODELS:
        beta = BETAS.loc[model].to_numpy(float)
        p = CHANCE + (1 - CHANCE - LAPSE) * expit(DESIGN @ beta)
        generator, estimates = np.random.default_rng(3), []
        for _ in tqdm(range(simulations), model, disable=None):
            successes = generator.binomial(10, p)
            cells = PAPER_GRID.assign(successes=successes, failures=10 - successes)
            made = fit_load_glm(cells), fit_load_glm(cells, "options", lapse=True)
            for name, fit in zip(fits, made, strict=True):
                threshold = fit.thresholds().ECL50
                estimates.append((name, threshold.value, threshold.low, threshold.high))
        table = pd.DataFrame(estimates, columns=["fit", "value", "low", "high"])
        guess = 1 / (PAPER_MEANS.d + 1)
        eta = np.log((0.5 - guess) / (0.5 - LAPSE))
        truth = capacity_thresholds(beta[0] - eta, *beta[1:], **vars(PAPER_MEANS))[0]
        row = [model, f"{truth:.1f}"]
        for name in fits:
            matches = table[(table["fit"] == name) & table["value"].notna()]
            row.append(f"{100 * (matches['value'].median() / truth - 1):+.0f} %")
            row.append(f"{100 * hold(matches, truth):.0f} %")
        yield row


TABLES = {paired: 4000, looks: 2000, thresholds: 1000, guesses: 60}
"""The tables, and the simulations of each row."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    share = 10 if parser.parse_args().quick else 1
    for table, simulations in TABLES.items():
        print_table(table(simulations // share))


if __name__ == "__main__":
    main()
