"""How few puzzles tell N_eff: `python studies/decay_puzzles.py [--seeds 5] [--processes 2]`.

The published decays of the symbolic suite answer at random, in several worlds: as printed
("line"); with 2 % of all answers lost and 3 % guessed ("lapses"); with what is easy capped at 98 %
and 3 % guessed ("cap"); and, if asked for, with a quarter lost and 3 % guessed ("losses"). Beside
the adaptive design stands an even grid, 5 to 50 puzzles for each N from 1 to 39 (the paper has 50),
read by the same posterior.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from machine import machine
from tqdm import tqdm

from cogniload_analysis import published_table
from cogniload_analysis.factor.decay_design import (
    PUBLISHED,
    DecayDesign,
    DecaySettings,
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
    """The CDF and CDO of each published condition whose goal can be told."""
    tables = pd.concat([published_table(f"factor_{name}") for name in PUBLISHED])
    if goal == "N_eff":
        smallest, largest = DecaySettings().N
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


def run_design(job: tuple[tuple[float, float], str, int], *, goal: str, budget: int) -> list[dict]:
    """One condition in one world, asked adaptively and by the grid: a row a batch."""
    (CDF, CDO), world, seed = job
    rng = np.random.default_rng([seed, WORLDS.index(world), abs(int(1e6 * CDF + 1e4 * CDO))])
    true = truth(CDF, CDO, world)[goal]
    design = DecayDesign(goal=goal, target=min(TARGETS[goal]), budget=budget)
    while not design.done:
        N = np.array([puzzle.N for puzzle in design.ask()])
        design.tell(design.ask(), rng.random(len(N)) < accuracy(N, CDF, CDO, world))
    found = [("adaptive", batch.n, batch) for batch in design.batches[1:]]
    N = design.plan.candidates
    solved = rng.random((max(GRID_EACH), len(N))) < accuracy(N, CDF, CDO, world)
    for each in GRID_EACH:
        right = solved[:each].sum(axis=0)
        belief = find_decay(
            pd.DataFrame({"N": N, "right": right, "total": each}), published_prior()
        )
        found.append(("grid", each * len(N), design.plan.find_goal(belief)))
    return [
        {
            "condition": f"{CDF:.4f} {CDO:+.3f}",
            "world": world,
            "seed": seed,
            "design": name,
            "n": n,
            "true": true,
            "width": design.settings.wanted.half_width(at.low, at.high),
            "inside": at.low <= true <= at.high,
            "error": at.value / true - 1,
        }
        for name, n, at in found
    ]


def at_stop(rows: pd.DataFrame, target: float) -> pd.DataFrame:
    """The batch at which each run would have stopped; its last where it never did."""
    met = (rows["n"] >= DecaySettings.STOP_AFTER) & (rows["width"] <= target)
    runs = rows.assign(met=met).sort_values("n").groupby(["condition", "world", "seed"])
    return pd.concat(
        of_run[of_run["met"]].head(1) if of_run["met"].any() else of_run.tail(1)
        for _, of_run in runs
    )


def print_tables(rows: pd.DataFrame, goal: str) -> None:
    """Puzzles to each target by condition, then what was true at the stop; each design's."""
    stops = pd.concat(
        at_stop(of_one, target).assign(target=target)
        for target in TARGETS[goal]
        for _, of_one in rows.groupby("design")
    )
    stops["asked"] = stops["n"].where(stops["met"], np.inf)
    key = ["condition", "design", "target"]
    table = stops.groupby(key)["asked"].median().unstack(["design", "target"])
    table.columns = [f"{design} ±{target:g}" for design, target in table.columns]
    table.insert(0, goal, rows.groupby("condition")["true"].median())
    print("\nmedian puzzles to the target (inf: not within the budget)")
    print(table.sort_values(goal).to_string(float_format="{:.4g}".format))
    print("median", *table.median().round(1).astype(str).tolist())
    for (design, world, target), group in stops.groupby(["design", "world", "target"]):
        met = group[group["met"]]
        print(
            f"{design:8} {world:6} ±{target:g}: met by {len(met)} of {len(group)}, median "
            f"{group['asked'].median():.0f}; coverage {100 * group['inside'].mean():.1f} %, of "
            f"these {100 * met['inside'].mean():.1f} %; bias {100 * met['error'].mean():+.1f} % "
            f"(median {100 * met['error'].median():+.1f} %)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--goal", choices=list(TARGETS), default="N_eff")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rows", type=Path, help="a CSV file to write every batch to")
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS[:3]))
    arguments = parser.parse_args()
    print(machine())
    jobs = list(product(conditions(arguments.goal), arguments.worlds, range(arguments.seeds)))
    with ProcessPoolExecutor(arguments.processes) as pool:
        run = partial(run_design, goal=arguments.goal, budget=arguments.budget)
        found = tqdm(pool.map(run, jobs), total=len(jobs), disable=None)
        rows = [row for batches in found for row in batches]
    if arguments.rows:
        pd.DataFrame(rows).to_csv(arguments.rows, index=False)
    print_tables(pd.DataFrame(rows), arguments.goal)


if __name__ == "__main__":
    main()
