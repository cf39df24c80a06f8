"""How few puzzles tell ECL50.

Run it by `python studies/threshold_puzzles.py [--seeds 20] [--processes 2]`.

The published models answer at random, as their curves say, in several worlds: the paper's GLM is
true ("GLM"); a guessing floor and Table 3's interactions are ("FI"); that with one in twenty
answers lost, on every puzzle ("lapses"); with a floor of exactly one over the options and no
ceiling ("hard floor"); with a cliff in N ("cliff"). The prior always leaves the model itself out.
Beside the adaptive design stand the paper's grid, evenly, and the fixed design on the axes.
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from simulated import Job, at_stop, percent, run_all, study_parser

from cogniload_analysis import PAPER_MEANS, AdaptiveDesign, published_table
from cogniload_analysis.adaptive.design import half_width
from cogniload_analysis.cogniload.capacity.curve import Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import (
    GLM_LINK,
    PAPER_GRID,
    refit_published,
)
from cogniload_analysis.cogniload.capacity.next_puzzles import (
    CapacityPlan,
    axes_grids,
    estimate_capacity,
)
from cogniload_analysis.cogniload.capacity.prior import published_prior

TABLE_2 = published_table("glm").set_index("model")
MODELS = TABLE_2.index[TABLE_2["ECL50"].between(8, 400)].tolist()
WORLDS = ("GLM", "FI", "lapses", "hard floor", "cliff")
TARGETS = (0.25, 0.20, 0.10)
LAPSES, CLIFF_SLOPE, CLIFF_TOP, CLIFF_FOOT = 0.05, 40, 0.95, 0.15
Accuracy = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def make_accuracy(model: str, world: str) -> Accuracy:
    """The accuracy of a model in a world, by d, N and rho (a fraction)."""
    if world == "GLM":
        return refit_published(model, GLM_LINK, interactions=False).accuracy
    link = Link(1, 1) if world == "hard floor" else Link()
    curve = refit_published(model, link, interactions=True).accuracy
    if world == "lapses":
        return lambda d, N, rho: (1 - LAPSES) * curve(d, N, rho)
    if world == "cliff":
        edge = np.log10(crossing_of(curve))
        return lambda d, N, rho: (
            CLIFF_FOOT
            + (CLIFF_TOP - CLIFF_FOOT)
            * expit(CLIFF_SLOPE * (edge - np.log10(N)) - 0.3 * (d - PAPER_MEANS.d) + 0 * rho)
        )
    return curve


def crossing_of(accuracy: Accuracy) -> float:
    """The true ECL50: where the accuracy at the mean d and rho is 50 %."""

    def above(x: float) -> float:
        return float(np.ravel(accuracy(PAPER_MEANS.d, 10**x, PAPER_MEANS.rho))[0]) - 0.5

    return 10 ** brentq(above, -3, 6)


def answer(accuracy: Accuracy, rng: np.random.Generator, cells: np.ndarray) -> np.ndarray:
    """Answers to cells (d, N, rho in percent)."""
    return rng.random(len(cells)) < accuracy(cells[:, 0], cells[:, 1], cells[:, 2] / 100)


def error_of(value: float, truth: float) -> float:
    """The error of an estimate of ECL50, as the common logarithm of a ratio."""
    return np.log10(np.clip(value, 1, 4000) / truth)


def compare(job: Job, estimate: Any, truth: float) -> dict[str, Any]:
    """What a row has of a job, and of its estimate beside the truth."""
    inside = estimate.low <= truth <= estimate.high
    return dict(zip(("model", "world", "seed"), job, strict=True)) | {
        "inside": inside,
        "error": error_of(estimate.value, truth),
    }


def run_design(job: Job, *, budget: int, target: float) -> list[dict]:
    """One model in one world, with adaptively chosen puzzles: a row a batch."""
    model, world, seed = job
    accuracy = make_accuracy(model, world)
    rng = np.random.default_rng([seed, MODELS.index(model), WORLDS.index(world)])
    prior = published_prior(without=[model])
    design = AdaptiveDesign(target=target, budget=budget, seed=seed, prior=prior)
    while not design.done:
        puzzles = design.ask()
        design.tell(puzzles, answer(accuracy, rng, np.array(puzzles)))
    truth = crossing_of(accuracy)
    return [
        {"n": batch.n, "width": half_width(batch.low, batch.high)} | compare(job, batch, truth)
        for batch in design.batches[1:]
    ]


def fixed_cells(name: str) -> np.ndarray:
    """The cells of a fixed design, a row a puzzle, with rho in percent."""
    if name == "axes":
        parts = [
            np.repeat([*product(axis["d"], axis["N"], axis["rho"])], axis["num_puzzles"], axis=0)
            for axis in axes_grids()
        ]
        return np.concatenate(parts)
    grid = PAPER_GRID.assign(rho=100 * PAPER_GRID["rho"]).to_numpy()
    return np.repeat(grid, int(name.removeprefix("grid ")) // len(grid), axis=0)


def run_fixed(job: Job, name: str) -> list[dict]:
    """One model in one world on a fixed design."""
    model, world, seed = job
    accuracy = make_accuracy(model, world)
    rng = np.random.default_rng([seed, MODELS.index(model), WORLDS.index(world), 1])
    cells = fixed_cells(name)
    d, N, rho = cells.T
    frame = {"d": d, "N": N, "rho": rho / 100, "correct": answer(accuracy, rng, cells)}
    capacity = estimate_capacity(frame, prior=published_prior(without=[model]))
    truth = crossing_of(accuracy)
    about = {"design": name, "n": len(cells), "width": capacity.half_width}
    glm_error = error_of(capacity.glm_ECL50, truth)
    return [about | compare(job, capacity.ECL50, truth) | {"glm_error": glm_error}]


def bound(model: str, target: float) -> float:
    """The fewest puzzles by which any design could reach a half-width, if the GLM holds.

    The variance of log10 ECL50 is at least 4 / (n beta_N^2) (Elfving 1952).
    """
    width = np.log10(1 + target) / 1.96
    return 4 / (TABLE_2.loc[model, "beta_N"] * width) ** 2


def coverage(rows: pd.DataFrame) -> str:
    """How often the intervals hold the truth."""
    return percent(rows["inside"].mean())


def bias(errors: pd.Series) -> str:
    """The bias of estimates, by the mean of their logarithmic errors."""
    return f"{100 * (10 ** errors.mean() - 1):+.1f} %"


def print_designs(rows: pd.DataFrame, budget: int) -> None:
    """Puzzles to each target by model and world, then what was true at the stop."""
    least, run = CapacityPlan.STOP_AFTER, ["model", "world", "seed"]
    stops = pd.concat([at_stop(rows, target, least, run) for target in TARGETS])
    needed = stops.assign(n=stops["n"].where(stops["met"], np.inf))
    median = needed.groupby(["model", "target", "world"])["n"].median().unstack()
    print(f"\nmedian puzzles to the target (inf: not within {budget:,})")
    worlds = [world for world in WORLDS if world in median]
    table = median[worlds].unstack("target").reindex(MODELS)
    table = table.reindex(columns=[(w, t) for w in worlds for t in TARGETS])
    table["bound", 0.10] = [bound(model, 0.10) for model in MODELS]
    print(table.to_string(float_format="{:.0f}".format))
    print("median", *table.median().round().astype(str).tolist())
    print("\nat the stop, all runs of a world")
    for (world, target), group in stops.groupby(["world", "target"], sort=False):
        met, medians = group[group["met"]], median.xs(target, level="target")[world]
        print(
            f"{world:10} ±{100 * target:.0f} %: coverage {coverage(group)}, of those that met it "
            f"{coverage(met)}, bias {bias(group['error'])}, met within 700 by "
            f"{(medians <= 700).sum()}, within 1,000 by {(medians <= 1000).sum()} of "
            f"{len(MODELS)} models"
        )
        if world == "GLM" and len(met):
            best = met.groupby("model")["n"].mean()
            shares = pd.Series({model: bound(model, target) / n for model, n in best.items()})
            print(
                f"{'':10} share of the bound: median {100 * shares.median():.0f} %, "
                f"most {100 * shares.max():.0f} % ({shares.idxmax()})"
            )
    for world, group in rows[rows["n"] == 341].groupby("world", sort=False):
        print(f"{world:10} n = 341: coverage {coverage(group)}, bias {bias(group['error'])}")


def print_fixed(rows: pd.DataFrame) -> None:
    """The same for the fixed designs, at their one size."""
    print("\nfixed designs")
    for (name, world), group in rows.groupby(["design", "world"], sort=False):
        widths = group.groupby("model")["width"].median()
        print(
            f"{name:9} {world:10} n = {group['n'].iloc[0]:5}: median half-width "
            f"{100 * widths.median():.0f} %, ±20 % for {(widths <= 0.20).sum()} of {len(MODELS)}, "
            f"coverage {coverage(group)}, bias {bias(group['error'])} "
            f"(plain GLM {bias(group['glm_error'])})"
        )


def main() -> None:
    parser = study_parser(__doc__, WORLDS, seeds=20, budget=4000)
    parser.add_argument("--target", type=float, default=min(TARGETS))
    arguments = parser.parse_args()
    jobs = list(product(MODELS, arguments.worlds, range(arguments.seeds)))
    processes = arguments.processes
    run = partial(run_design, budget=arguments.budget, target=arguments.target)
    print_designs(run_all(run, jobs, processes), arguments.budget)
    names = ("grid 700", "grid 1400", "axes")
    fixed = [run_all(partial(run_fixed, name=name), jobs, processes) for name in names]
    print_fixed(pd.concat(fixed))


if __name__ == "__main__":
    main()
