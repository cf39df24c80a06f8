"""What `explain_repairs` says of first errors that are simulated, at temperature 1 and at 0.

A model errs with a hazard at each statement, and an error heals with a chance or stays to the end.
Prints a table in Markdown.
"""

import numpy as np
import pandas as pd
from simulated import percent, print_table

from cogniload_analysis.compare.repair_effects import explain_repairs

N, HAZARD, PUZZLES = 20, 0.05, 60
MODELS = {
    "an error by chance, which stays": (0.0, HAZARD, ("error", "chance")),
    "a step that it can't take": (0.0, 1.0, ("error", "inability")),
    "errors of which half heal": (0.5, HAZARD, None),
    "errors that do no harm, and others follow": (1.0, HAZARD, ("heals",)),
}
"""By what is planted: the chance that an error heals, that of a second one at the same step, and
the causes to name, None where it is either of two.

At temperature 0 nothing is drawn again before a step, so that chance and inability stay open."""


def simulate(name: str, greedy: bool, draws: np.random.Generator) -> tuple[pd.DataFrame, float]:
    """Return failures and right responses with their repairs, and the share that an error costs.

    Greedy decoding repeats what it goes on from as it stands; any other text is drawn anew.
    """
    heals, again, _ = MODELS[name]
    rows, steps = [], draws.integers(1, N, PUZZLES)
    right = (1 - HAZARD) ** (N - steps)
    chance = {"kept": heals * right, "reworded": heals * right, "corrected": right}
    chance["redrawn"] = (1 - again * (1 - heals)) * right
    asked = {False: chance, True: {"kept": right, "reworded": right, "planted": heals * right}}
    for solved, changes in asked.items():
        ids = [f"{'right' if solved else 'wrong'}{number}" for number in range(PUZZLES)]
        rows += [(id, solved, id) for id in ids]
        for change, share in changes.items():
            repeats = greedy and change in ("kept", "redrawn")
            ended = np.full(PUZZLES, solved) if repeats else draws.random(PUZZLES) < share
            rows += [
                (f"{id}~{change}={step}", end, id if repeats else f"{id} {change}")
                for id, step, end in zip(ids, steps, ended, strict=True)
            ]
    frame = pd.DataFrame(rows, columns=["id", "correct", "said"])
    return frame.assign(N=N, greedy=greedy), float(((1 - heals) * right).mean())


def judge(name: str, greedy: bool, runs: int) -> list[str]:
    """Return a row of the table: what is named, and the estimates against the truth, in points."""
    causes = MODELS[name][2]
    causes = causes if causes is None or not greedy else causes[:1]
    named, blamed, apart, held = [], [], [], []
    for run in range(runs):
        frame, truth = simulate(name, greedy, np.random.default_rng([run, PUZZLES, greedy]))
        repair = explain_repairs(frame)
        effects = repair.effects[repair.effects["depth"] == "all"]
        rows = [effects[effects["change"] == "corrected"], effects[effects["against"] == "planted"]]
        both = pd.concat(rows)
        named.append(repair.causes == causes)
        blamed.append("error" in repair.causes)
        apart.append(both["difference"] - truth)
        held.append(both["low"].le(truth) & both["high"].ge(truth))
    bias = [f"{100 * value:+.1f}" for value in np.mean(apart, axis=0)]
    return [
        name, str(int(not greedy)), ", ".join(causes or ["either"]),
        percent(np.mean(named)) if causes else "", percent(np.mean(blamed)),
        *bias, *map(percent, np.mean(held, axis=0)),
    ]  # fmt: skip


if __name__ == "__main__":
    headings = ["planted", "temperature", "should be named", "named, and nothing else", "“error”"]
    headings += ["bias, corrected", "bias, planted", "interval holds, corrected", "planted"]
    rows = (judge(name, greedy, 200) for name in MODELS for greedy in (False, True))
    print_table([headings, *rows])
