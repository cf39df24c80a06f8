"""How few puzzles tell ECL50, and how often its intervals hold the truth.

Run it by `python studies/thresholds.py [--seeds 20] [--processes 2] [--worlds GLM cliff ...]`.

Prints the figures of README.md, then the table of docs/glm_fit.md. The published models answer at
random, as their curves say. The first table has worlds where the paper's
GLM is true ("GLM"), a guessing floor and Table 3's interactions are ("FI"), and one in twenty
answers is lost besides ("lapses"). The second has truths that are unlike the published models. The
prior always leaves the model itself out.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from simulated import Job, at_stop, percent, print_table, run_all, study_parser

from cogniload_analysis import PAPER_MEANS, AdaptiveDesign, published_table
from cogniload_analysis.adaptive.design import half_width
from cogniload_analysis.cogniload.capacity.curve import Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import GLM_LINK, refit_published
from cogniload_analysis.cogniload.capacity.prior import published_prior

TABLE_2 = published_table("glm").set_index("model")
MODELS = TABLE_2.index[TABLE_2["ECL50"].between(8, 400)].tolist()
LIKE_PUBLISHED = [model for model in MODELS if model != "gemini-2.5-flash-lite"]
WORLDS = ("GLM", "FI", "lapses")
TRUTHS = (
    *("published", "steep", "cliff", "between cells .05", "between cells .10"),
    *("degrades x .8", "degrades x .6", "lost as wrong"),
)
LAPSES, DEGRADES_AFTER, LOST, TARGET = 0.05, 300, 0.10, 0.20
prior_without = cache(lambda model: published_prior(without=[model]))


@cache
def known(model: str, world: str) -> tuple[Callable, float]:
    """Return a model's accuracy by d, N and rho (a fraction), and its true ECL50."""
    link, share = GLM_LINK if world == "GLM" else Link(), 1 - LAPSES if world == "lapses" else 1
    curve = refit_published(model, link, interactions=world != "GLM").accuracy

    def above_half(x: float) -> float:
        return float(np.ravel(share * curve(PAPER_MEANS.d, 10**x, PAPER_MEANS.rho))[0]) - 0.5

    return lambda *loads: share * curve(*loads), 10 ** brentq(above_half, -3, 6)


def run_design(job: Job) -> list[dict]:
    """One model in one world, with adaptively chosen puzzles: a row a batch."""
    model, world, seed = job
    key = [MODELS.index(model), WORLDS.index(world)] if world in WORLDS else [TRUTHS.index(world)]
    rng = np.random.default_rng([seed, *key])
    accuracy, truth = known(model, world)
    if world == "cliff":
        truth = 10 ** rng.uniform(np.log10(15), np.log10(250))
    budget = 1600 if world in WORLDS else 1000
    design = AdaptiveDesign(TARGET, budget, seed=seed, prior=prior_without(model))
    cells: dict[tuple, float] = {}
    while not design.done:
        puzzles = design.ask()
        d, N, rho, _ = np.array(puzzles).T
        p = np.where(truth > N, 0.95, 0.1) if world == "cliff" else accuracy(d, N, rho / 100)
        if world.startswith("between"):
            total = 1 / float(world.split()[-1]) - 1
            for puzzle, mean in zip(puzzles, np.clip(p, 1e-6, 1 - 1e-6), strict=True):
                if puzzle[:3] not in cells:
                    cells[puzzle[:3]] = rng.beta(mean * total, (1 - mean) * total)
            p = np.array([cells[puzzle[:3]] for puzzle in puzzles])
        if world.startswith("degrades"):
            late = len(design.told) + np.arange(len(puzzles)) >= DEGRADES_AFTER
            p = np.where(late, float(world.split()[-1]) * p, p)
        solved, lost = rng.random(len(p)) < p, np.zeros(len(p), bool)
        if world == "lost as wrong":
            lost = rng.random(len(p)) < LOST
        design.tell(puzzles, solved & ~lost, lost)
    about = dict(zip(("model", "world", "seed"), job, strict=True))
    about["flags"] = " | ".join(design.estimate().flags)
    return [
        about
        | {"n": batch.n, "width": half_width(batch.low, batch.high)}
        | {"inside": batch.low <= truth <= batch.high}
        | {"error": np.log10(np.clip(batch.value, 1, 4000) / truth)}
        for batch in design.batches[1:]
    ]


def puzzles(seeds: int, worlds: list[str], processes: int) -> Iterator[list[str]]:
    """Yield in how many models the median run meets the target, and what was true at the stop."""
    yield ["world", "models in 700 puzzles", "in 1,000", "in all", "held", "bias"]
    for world in worlds:
        rows = run_all(run_design, [*product(MODELS, [world], range(seeds))], processes)
        stops = at_stop(rows, [TARGET], AdaptiveDesign.STOP_AFTER, ["model", "seed"])
        medians = stops.groupby("model")["needed"].median()
        met = [f"{(medians <= most).sum()} of {len(MODELS)}" for most in (700, 1000, 1600)]
        yield [world, *met, percent(stops["inside"].mean()), bias(stops["error"])]


def coverage(seeds: int, worlds: list[str], processes: int) -> Iterator[list[str]]:
    """Yield what intervals hold in each world, and which flags a run has: the page's table."""
    yield [
        *("truth", "runs", "held", "held or flagged", "bias", "puzzles (median, mean)"),
        *("any flag", '"from cell to cell"', '"changed"'),
    ]
    for world in worlds:
        models = ["gemini-2.5-pro"] if world == "steep" else LIKE_PUBLISHED
        jobs = [(models[seed % len(models)], world, seed) for seed in range(seeds)]
        rows = run_all(run_design, jobs, processes).groupby("seed").tail(1)
        flags, held, n = rows["flags"], rows["inside"], rows["n"]
        noted = map(flags.str.contains, ("from cell to cell", "changed during the run"))
        shares = [
            percent(share.mean()) for share in (held, held | (flags != ""), flags != "", *noted)
        ]
        about = [bias(rows["error"]), f"{n.median():.0f}, {n.mean():.0f}"]
        yield [world, str(len(rows)), *shares[:2], *about, *shares[2:]]


def bias(errors: pd.Series) -> str:
    """Return the bias of estimates, by the mean of their logarithmic errors."""
    return f"{100 * (10 ** errors.mean() - 1):+.1f} %"


if __name__ == "__main__":
    arguments = study_parser(__doc__, (*WORLDS, *TRUTHS)).parse_args()
    for table, worlds, seeds in ((puzzles, WORLDS, 20), (coverage, TRUTHS, 200)):
        chosen = [world for world in worlds if world in arguments.worlds]
        print_table(table(arguments.seeds or seeds, chosen, arguments.processes))
