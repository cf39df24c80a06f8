"""How often adaptive intervals hold truths that are unlike the published models.

Run it by `python studies/adaptive_coverage.py`. It prints the table of
docs/glm_fit.md, a row a truth. `--target 0.001 --budget 605` has all runs go on for as long, as to
see a change with time.
"""

from functools import cache, partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from simulated import Job, percent, print_table, run_all, study_parser
from threshold_puzzles import MODELS, bias, crossing_of, error_of, make_accuracy

from cogniload_analysis import AdaptiveDesign
from cogniload_analysis.cogniload.capacity import next_puzzles
from cogniload_analysis.cogniload.capacity.prior import published_prior

WORLDS = (
    "published",
    "steep",
    "cliff",
    "between cells .05",
    "between cells .10",
    "degrades x .8",
    "degrades x .6",
    "lost as wrong",
)
STEEP = "gemini-2.5-pro"
LIKE_PUBLISHED = [model for model in MODELS if model != "gemini-2.5-flash-lite"]
DEGRADES_AFTER, LOST = 300, 0.10
NOTES = ("from cell to cell", "changed during the run")
HEADS = (
    *("truth", "runs", "held", "held or flagged", "bias", "puzzles (median, mean)", "any flag"),
    *('"from cell to cell"', '"changed"'),
)

prior_without = cache(lambda model: published_prior(without=[model]))
published = cache(lambda model: make_accuracy(model, "FI"))
crossing = cache(lambda model: crossing_of(published(model)))


def run_world(job: Job, lengths: int, least: int, **until: Any) -> list[dict]:
    """One run to its stop in one world."""
    _, world, seed = job
    next_puzzles.ASKED_N_COUNT = lengths
    next_puzzles.CapacityPlan.STOP_AFTER = least
    rng = np.random.default_rng([seed, WORLDS.index(world)])
    model = STEEP if world == "steep" else LIKE_PUBLISHED[seed % len(LIKE_PUBLISHED)]
    truth, curve = crossing(model), published(model)
    if world == "cliff":
        truth = 10 ** rng.uniform(np.log10(15), np.log10(250))
    design = AdaptiveDesign(seed=seed, prior=prior_without(model), **until)
    cells: dict[tuple, float] = {}
    while not design.done:
        puzzles = design.ask()
        d, N, rho, _ = np.array(puzzles).T
        p = np.where(truth > N, 0.95, 0.1) if world == "cliff" else curve(d, N, rho / 100)
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
    estimate = design.estimate()
    return [
        {
            "world": world,
            "n": estimate.n,
            "inside": estimate.ECL50.low <= truth <= estimate.ECL50.high,
            "error": error_of(estimate.ECL50.value, truth),
            "flags": " | ".join(estimate.flags),
        }
    ]


def show_world(rows: pd.DataFrame) -> list[str]:
    """The row of a world, by its runs."""
    flags = rows["flags"]
    shares = [rows["inside"], rows["inside"] | (flags != ""), flags != ""]
    shares += [flags.str.contains(note) for note in NOTES]
    held, either, *noted = [percent(share.mean()) for share in shares]
    n = f"{rows['n'].median():.0f}, {rows['n'].mean():.0f}"
    return [rows["world"].iloc[0], str(len(rows)), held, either, bias(rows["error"]), n, *noted]


def main() -> None:
    parser = study_parser(__doc__, WORLDS, seeds=200, budget=1000)
    parser.add_argument("--lengths", type=int, default=20)
    parser.add_argument("--least", type=int, default=192)
    parser.add_argument("--target", type=float, default=0.2)
    arguments = parser.parse_args()
    until = {"target": arguments.target, "budget": arguments.budget}
    run = partial(run_world, lengths=arguments.lengths, least=arguments.least, **until)
    jobs = {
        world: [("", world, seed) for seed in range(arguments.seeds)] for world in arguments.worlds
    }
    rows = (show_world(run_all(run, of_world, arguments.processes)) for of_world in jobs.values())
    print_table(chain([HEADS], rows))


if __name__ == "__main__":
    main()
