"""How often `explain_repairs` names what simulated first errors are, and its intervals hold.

A model errs with a hazard at each statement, and an error heals with a chance or stays to the end.
Prints a table in Markdown.
"""

import numpy as np
import pandas as pd
from simulated import percent, print_table

from cogniload_analysis.compare.repair_effects import explain_repairs

N, HAZARD = 20, 0.05
MODELS = {
    "an error by chance, which stays": (0.0, HAZARD, ("error", "chance")),
    "a step that it can't take": (0.0, 1.0, ("error", "inability")),
    "errors that heal, and others follow": (1.0, HAZARD, ("heals",)),
}
"""By what is planted: the chance that an error heals, that of a second one at the same step, and
the causes to name."""


def simulate(name: str, failures: int, draws: np.random.Generator) -> tuple[pd.DataFrame, float]:
    """Return failures and their repairs, and the share of failures that the error causes."""
    heals, again, _ = MODELS[name]
    steps = draws.integers(1, N, failures)
    corrected = (1 - HAZARD * (1 - heals)) ** (N - steps)
    redrawn = (1 - again * (1 - heals)) * corrected
    chance = {"kept": heals * corrected, "corrected": corrected, "redrawn": redrawn}
    rows = [(f"p-{place}", False) for place in range(failures)]
    for change, solved in chance.items():
        right = draws.random(failures) < solved
        rows += [(f"p-{i}~{change}={steps[i]}", right[i]) for i in range(failures)]
    frame = pd.DataFrame(rows, columns=["id", "correct"]).assign(N=N)
    return frame, float((corrected - chance["kept"]).mean())


def count_right(name: str, runs: int) -> tuple[int, int]:
    """Return how often the causes are named, and the interval holds, in runs of 60 failures."""
    named = held = 0
    for run in range(runs):
        frame, apart = simulate(name, 60, np.random.default_rng([run, 60]))
        repair = explain_repairs(frame)
        first = repair.effects.iloc[0]
        named += repair.causes == MODELS[name][2]
        held += bool(first["low"] <= apart <= first["high"])
    return named, held


if __name__ == "__main__":
    headings = ["planted", "should be named", "named, and nothing else", "the interval holds"]
    counted = {name: count_right(name, 200) for name in MODELS}
    shares = ([name, ", ".join(MODELS[name][2]), *(percent(n / 200) for n in counts)]
              for name, counts in counted.items())  # fmt: skip
    print_table([headings, *shares])
