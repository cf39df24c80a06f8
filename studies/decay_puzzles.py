"""How few puzzles tell N_eff.

Run it by `python studies/decay_puzzles.py [--seeds 5] [--processes 2]`.

The published decays of the symbolic suite answer at random, in several worlds: as printed
("line"); with 2 % of all answers lost and 3 % guessed ("lapses"); with what is easy capped at 98 %
and 3 % guessed ("cap"); with a quarter lost and 3 % guessed ("losses", by --worlds alone). Beside
the adaptive design stands an even grid, 5 to 50 puzzles for each N from 1 to 39 (the paper has 50),
read by the same posterior.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from simulated import Job, at_stop, percent, print_table, run_all, study_parser

from cogniload_analysis import published_table
from cogniload_analysis.factor.decay_design import (
    PUBLISHED,
    DecayDesign,
    DecayPlan,
    find_decay,
    published_prior,
)

LAPSE, FLOOR = 0.02, 0.03
LOST = {"lapses": LAPSE, "losses": 0.25}
WORLDS = ("line", "lapses", "cap", "losses")
TARGETS = {"N_eff": (0.25, 0.20, 0.10), "CDF": (0.25, 0.20, 0.10), "CDO": (0.2, 0.1)}
GRID_EACH = (5, 10, 15, 20, 30, 40, 50)
LEAST_N_EFF = 2.0
"""Below this, ±20 % of N_eff is less than half a variable."""


def conditions(goal: str) -> list[tuple[float, float]]:
    """The CDF and CDO of the published conditions that have the goal's value in the range of N."""
    tables = pd.concat([published_table(f"factor_{name}") for name in PUBLISHED])
    if goal == "N_eff":
        smallest, largest = DecayDesign().plan.N
        place = -tables["CDO"] / tables["CDF"]
        tables = tables[place.between(max(LEAST_N_EFF, smallest), largest)]
    return list(tables[["CDF", "CDO"]].itertuples(index=False, name=None))


def accuracy(N: np.ndarray, CDF: float, CDO: float, world: str) -> np.ndarray:
    """The accuracy of a condition in a world."""
    line = np.exp(np.minimum(CDF * N + CDO, 0))
    if world in LOST:
        return FLOOR + (1 - FLOOR - LOST[world]) * line
    if world == "cap":
        return FLOOR + (1 - FLOOR) * np.minimum(line, 1 - LAPSE)
    return line


def truth(CDF: float, CDO: float, world: str) -> dict[str, float]:
    """The goals' true values: the line of what is neither guessed nor lost reaches 1 at N_eff."""
    if world in LOST:
        CDO += np.log((1 - FLOOR - LOST[world]) / (1 - FLOOR))
    return {"N_eff": -CDO / CDF, "CDF": CDF, "CDO": CDO}


def run_design(job: Job, *, goal: str, budget: int) -> list[dict]:
    """One condition in one world, with adaptively chosen puzzles and the grid's: a row a batch."""
    (CDF, CDO), world, seed = job
    rng = np.random.default_rng([seed, WORLDS.index(world), abs(int(1e6 * CDF + 1e4 * CDO))])
    true = truth(CDF, CDO, world)[goal]
    design = DecayDesign(goal=goal, target=min(TARGETS[goal]), budget=budget)
    while not design.done:
        N = np.array([puzzle.N for puzzle in design.ask()])
        design.tell(design.ask(), rng.random(len(N)) < accuracy(N, CDF, CDO, world))
    estimates = [("adaptive", batch.n, batch) for batch in design.batches[1:]]
    N = design.plan.candidates
    solved = rng.random((max(GRID_EACH), len(N))) < accuracy(N, CDF, CDO, world)
    for puzzles in GRID_EACH:
        counts = {"N": N, "right": solved[:puzzles].sum(axis=0), "total": puzzles}
        belief = find_decay(pd.DataFrame(counts), published_prior())
        estimates.append(("grid", puzzles * len(N), design.plan.find_goal(belief)))
    return [
        {
            "condition": f"{CDF:.4f} {CDO:+.3f}",
            "world": world,
            "seed": seed,
            "design": name,
            "n": n,
            "true": true,
            "width": design.plan.half_width(at),
            "inside": at.low <= true <= at.high,
            "error": at.value / true - 1,
        }
        for name, n, at in estimates
    ]


def print_tables(rows: pd.DataFrame, goal: str) -> None:
    """Puzzles to each target by condition, then what was true at the stop; each design's."""
    least, run = DecayPlan.STOP_AFTER, ["design", "condition", "world", "seed"]
    stops = pd.concat([at_stop(rows, target, least, run) for target in TARGETS[goal]])
    stops["needed"] = stops["n"].where(stops["met"], np.inf)
    key = ["condition", "design", "target"]
    table = stops.groupby(key)["needed"].median().unstack(["design", "target"])
    table.columns = [f"{design} ±{target:g}" for design, target in table.columns]
    table.insert(0, goal, rows.groupby("condition")["true"].median())
    print("\nmedian puzzles to the target (inf: not within the budget)")
    print(table.sort_values(goal).to_string(float_format="{:.4g}".format))
    print("median", *table.median().round(1).astype(str).tolist())
    print_table(by_world(stops))


def by_world(stops: pd.DataFrame) -> Iterator[list[str]]:
    """The page's table: runs that met a target, their puzzles, intervals that held, mean error.

    Those of the design come first, and then those of the grid.
    """
    yield ["world", "target", *2 * ["met", "puzzles", "held", "error"]]
    for (world, target), group in stops.groupby(["world", "target"], sort=False):
        row = [world, f"±{target:g}"]
        for _, runs in group.groupby("design"):
            row += [percent(runs["met"].mean()), f"{runs['needed'].median():.0f}"]
            row += [percent(runs["inside"].mean()), percent(runs.loc[runs["met"], "error"].mean())]
        yield row


def main() -> None:
    parser = study_parser(__doc__, WORLDS, seeds=5, budget=2000)
    parser.set_defaults(worlds=list(WORLDS[:3]))
    parser.add_argument("--goal", choices=list(TARGETS), default="N_eff")
    parser.add_argument("--rows", type=Path, help="a CSV file to write every batch to")
    arguments = parser.parse_args()
    jobs = list(product(conditions(arguments.goal), arguments.worlds, range(arguments.seeds)))
    run = partial(run_design, goal=arguments.goal, budget=arguments.budget)
    rows = run_all(run, jobs, arguments.processes)
    if arguments.rows:
        rows.to_csv(arguments.rows, index=False)
    print_tables(rows, arguments.goal)


if __name__ == "__main__":
    main()
