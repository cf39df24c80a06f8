"""How few puzzles tell N_eff.

Run it by `python studies/decay_puzzles.py [--seeds 5] [--processes 2]`.

The published decays of the symbolic suite answer at random, in three worlds: as printed ("line");
with 2 % of all answers lost and 3 % guessed ("lapses"); with what is easy capped at 98 % and 3 %
guessed ("cap"). Beside the adaptive design stands an even grid, 5 to 50 puzzles for each N from 1
to 39 (the paper has 50), read by the same posterior. Prints the table of docs/factor.md.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from simulated import Job, at_stop, percent, print_table, run_all, study_parser

from cogniload_analysis import published_table
from cogniload_analysis.factor.decay_design import (
    PUBLISHED,
    DecayDesign,
    find_decay,
    published_prior,
)

LAPSE, FLOOR = 0.02, 0.03
WORLDS = ("line", "lapses", "cap")
TARGETS = (0.25, 0.20, 0.10)
GRID_EACH = (5, 10, 15, 20, 30, 40, 50)
LEAST_N_EFF = 2.0
"""Below this, ±20 % of N_eff is less than half a variable."""


def conditions() -> list[tuple[float, float]]:
    """Return the CDF and CDO of the published conditions that have N_eff in the range of N."""
    tables = pd.concat([published_table(f"factor_{name}") for name in PUBLISHED])
    smallest, largest = DecayDesign().N
    within = (-tables["CDO"] / tables["CDF"]).between(max(LEAST_N_EFF, smallest), largest)
    return list(tables.loc[within, ["CDF", "CDO"]].itertuples(index=False, name=None))


def accuracy(N: np.ndarray, CDF: float, CDO: float, world: str) -> np.ndarray:
    """Return the accuracy of a condition in a world."""
    line = np.exp(np.minimum(CDF * N + CDO, 0))
    if world == "lapses":
        return FLOOR + (1 - FLOOR - LAPSE) * line
    return FLOOR + (1 - FLOOR) * np.minimum(line, 1 - LAPSE) if world == "cap" else line


def run_design(job: Job) -> list[dict]:
    """One condition in one world, with adaptively chosen puzzles and the grid's: a row a batch."""
    (CDF, CDO), world, seed = job
    rng = np.random.default_rng([seed, WORLDS.index(world), abs(int(1e6 * CDF + 1e4 * CDO))])
    lapsed = np.log((1 - FLOOR - LAPSE) / (1 - FLOOR)) if world == "lapses" else 0
    true = -(CDO + lapsed) / CDF  # where the line of what is neither guessed nor lost reaches 1
    design = DecayDesign(goal="N_eff", target=min(TARGETS), budget=2000)
    while not design.done:
        N = np.array([puzzle.N for puzzle in design.ask()])
        design.tell(design.ask(), rng.random(len(N)) < accuracy(N, CDF, CDO, world))
    estimates = [("adaptive", batch.n, batch) for batch in design.batches[1:]]
    N = design.candidates
    solved = rng.random((max(GRID_EACH), len(N))) < accuracy(N, CDF, CDO, world)
    for puzzles in GRID_EACH:
        counts = {"N": N, "right": solved[:puzzles].sum(axis=0), "total": puzzles}
        belief = find_decay(pd.DataFrame(counts), published_prior())
        estimates.append(("grid", puzzles * len(N), design.find_goal(belief)))
    return [
        {"condition": job[0], "world": world, "seed": seed, "design": name, "n": n}
        | {"width": design.half_width(at)}
        | {"inside": at.low <= true <= at.high, "error": at.value / true - 1}
        for name, n, at in estimates
    ]


def by_world(stops: pd.DataFrame) -> Iterator[list[str]]:
    """Yield the runs that met a target, their puzzles, intervals that held, mean error."""
    columns = ("met", "puzzles", "held", "error")
    yield ["world", "target", "adaptive: met", *columns[1:], "grid: met", *columns[1:]]
    for (target, world), group in stops.groupby(["target", "world"], sort=False):
        row = [world, f"±{100 * target:g} %"]
        for _, runs in group.groupby("design"):
            row += [f"{100 * runs['met'].mean():.0f} %", f"{runs['needed'].median():,.0f}"]
            row += [f"{100 * runs['inside'].mean():.0f} %"]
            row += [percent(runs.loc[runs["met"], "error"].mean())]
        yield row


if __name__ == "__main__":
    arguments = study_parser(__doc__, WORLDS).parse_args()
    jobs = list(product(conditions(), arguments.worlds, range(arguments.seeds or 5)))
    rows = run_all(run_design, jobs, arguments.processes)
    run = ["design", "condition", "world", "seed"]
    print_table(by_world(at_stop(rows, TARGETS, DecayDesign.STOP_AFTER, run)))
