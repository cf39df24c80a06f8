"""How often `explain_failures` names the cause that a simulated model has, and nothing else; and
how often the 95 % intervals of its effects hold the truth, that of very many failures.

A model slips on hay, on needles, on every statement, more the later a statement stands, always on
one kind of needle (a step that it never learnt), or fails by chance alone; a third of slips do no
harm. Prints a table in Markdown; `--quick` simulates a tenth.
"""

import argparse
from collections import Counter

import numpy as np
import pandas as pd
from tqdm import tqdm

from cogniload_analysis import explain_failures

NEEDLES, HAY = 25, 75
HARMFUL = 2 / 3
HARDEST = 0.03
"""Share of needles that are of the kind that is too hard."""

PLANTED = {
    "hay": {"distraction"},
    "needles": {"work"},
    "each": {"length"},
    "position": {"length"},
    "step": {"step"},
    "luck": {"luck"},
    "hay and position": {"distraction"},
    "needles and position": {"work"},
    "step and hay": {"step", "distraction"},
}
"""The causes that should be named for each planted one."""


def hazards(cause: str, needle: np.ndarray, hard: np.ndarray) -> np.ndarray:
    """Return the chance of a slip at each statement; a model solves half of the puzzles."""
    place = np.arange(len(needle)) + 1
    total = np.log(2) / HARMFUL
    kinds = {
        "hay": total / HAY * ~needle,
        "needles": total / NEEDLES * needle,
        "each": np.full(len(needle), total / (NEEDLES + HAY)),
        "position": total * 2 / (NEEDLES + HAY) ** 2 * place,
        "step": 1.0 * hard,
    }
    causes = cause.split(" and ")
    return np.clip(sum(kinds[name] for name in causes) / (1 if "step" in causes else len(causes)),
                   0, 1)  # fmt: skip


def answer(cause: str, needle: np.ndarray, hard: np.ndarray, draws: np.random.Generator):
    """Return whether an attempt is right, and the statement of its first slip (-1 for none)."""
    if cause == "luck":
        return draws.random() < 0.5, -1
    slips = np.flatnonzero(draws.random(len(needle)) < hazards(cause, needle, hard))
    right = not (draws.random(len(slips)) < HARMFUL).any()
    return right, int(slips[0]) if len(slips) else -1


def simulate(cause: str, failures: int, draws: np.random.Generator) -> pd.DataFrame:
    """Return the responses of a model to puzzles, as many failures as solved, and their twins."""
    rows, left, index = [], {False: failures, True: failures}, 0
    while any(left.values()):
        index += 1
        needle = np.arange(NEEDLES + HAY) < NEEDLES
        draws.shuffle(needle)
        hard = needle & (draws.random(len(needle)) < HARDEST)
        right, broken = answer(cause, needle, hard, draws)
        if not left[right]:
            continue
        left[right] -= 1
        at = broken if broken >= 0 else int(draws.choice(np.flatnonzero(needle)))
        kept = {
            "again": slice(None), "needles": needle, "tail": slice(-NEEDLES, None),
            "from=50": slice(50, None), f"only={at + 1}": slice(at, at + 1),
        }  # fmt: skip
        rows.append((f"puzzle-{index}", right))
        rows += [
            (f"puzzle-{index}~{twin}", answer(cause, needle[rule], hard[rule], draws)[0])
            for twin, rule in kept.items()
        ]
    return pd.DataFrame(rows, columns=["id", "correct"])


def effects_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the effects on failures, by the change and what it is compared with."""
    effects = explain_failures(frame).effects.query("of == 'failed'")
    return effects.set_index(["change", "against"])[["difference", "low", "high"]]


def coverage(frames: list[pd.DataFrame], truth: pd.Series) -> float:
    """Return the share of intervals, of all effects and frames, that hold the truth."""
    held = [
        effects["low"].le(truth + 1e-9) & effects["high"].ge(truth - 1e-9)
        for effects in map(effects_of, frames)
    ]
    return float(pd.concat(held).mean())


def main() -> None:
    """Print how often each planted cause is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    runs, many = (20, 2_000) if parser.parse_args().quick else (200, 20_000)
    headings = "planted", "failures", "all named [%]", "none but these [%]", "coverage [%]", "named"
    print(f"| {' | '.join(headings)} |\n{'| --- ' * len(headings)}|")
    for cause, expected in tqdm(PLANTED.items(), disable=None):
        truth = effects_of(simulate(cause, many, np.random.default_rng(many)))["difference"]
        for failures in (60, 120):
            frames = [
                simulate(cause, failures, np.random.default_rng([run, failures]))
                for run in range(runs)
            ]
            named = Counter(explain_failures(frame).causes for frame in frames)
            exact = sum(named[causes] for causes in named if {*causes} == expected)
            true = sum(named[causes] for causes in named if causes and {*causes} <= expected)
            texts = (f"{' + '.join(causes) or 'none'} {count}" for causes, count in named.items())
            shares = f"{100 * exact / runs:.0f} | {100 * true / runs:.0f}"
            shares += f" | {100 * coverage(frames, truth):.1f}"
            print(f"| {cause} | {failures} | {shares} | {'; '.join(texts)} |")


if __name__ == "__main__":
    main()
