"""How often `explain_failures` names the causes that a simulated model has, and nothing else; and
how often the 95 % intervals of the shares of the named causes hold what is planted.

A model slips on hay, on needles, on every statement, more the later a statement stands, always on
one kind of needle (a step that it never learnt), or fails by chance alone; some slips do no harm.
The models are in twin_causes.toml. Prints a table in Markdown: a row takes some minutes.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from simulated import percent, print_table

from cogniload_analysis import explain_failures

HARDEST = 0.03
"""Share of needles that are of the kind that is too hard."""

N, NEEDLES, ACCURACY, HARM, GUESS = 100, 25, 0.5, 2 / 3, 0.0
"""Statements and needles of a puzzle, the share that is solved, of slips that do harm, and of
harmed attempts that a guess makes right."""


class Model(NamedTuple):
    """The shares of a model's slips, and the causes to name with their shares of harmful slips."""

    shares: Mapping[str, float]
    causes: Mapping[str, float]


MODELS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PLANTED, HELD_OUT = (
    {name: Model(**model) for name, model in models.items()} for models in MODELS.values()
)


def hazards(model: Model, needle: np.ndarray, hard: np.ndarray) -> np.ndarray:
    """Return the chance of a slip at each statement of a text."""
    place = np.arange(len(needle)) + 1
    kinds = {
        "hay": ~needle / (N - NEEDLES), "needles": needle / NEEDLES, "each": 0 * place + 1 / N,
        "position": place * 2 / N**2, "late": place**2 * 3 / N**3,
    }  # fmt: skip
    total = -np.log(ACCURACY) / HARM
    slips = sum(share * total * kinds.get(name, 0 * place) for name, share in model.shares.items())
    return np.clip(slips + ("step" in model.shares) * hard, 0, 1)


def answer(
    model: Model, needle: np.ndarray, hard: np.ndarray, draws: np.random.Generator
) -> tuple[bool, int]:
    """Return whether an attempt is right, and the statement of its first slip (-1 for none)."""
    lucky = draws.random() < ACCURACY ** model.shares.get("luck", 0)
    slips = np.flatnonzero(draws.random(len(needle)) < hazards(model, needle, hard))
    lost = (draws.random(len(slips)) < HARM).any()
    right = lucky and (not lost or draws.random() < GUESS)
    return right, int(slips[0]) if len(slips) else -1


def simulate(model: Model, failures: int, draws: np.random.Generator) -> pd.DataFrame:
    """Return the responses of a model to puzzles, as many failures as solved, and their twins."""
    rows, left = [], {False: failures, True: failures}
    while any(left.values()):
        needle = np.arange(N) < NEEDLES
        draws.shuffle(needle)
        hard = needle & (draws.random(N) < HARDEST)
        right, broken = answer(model, needle, hard, draws)
        if not left[right]:
            continue
        left[right] -= 1
        at = broken if broken >= 0 else int(draws.choice(np.flatnonzero(needle)))
        kept = {
            "again": slice(None), "needles": needle, "tail": slice(-NEEDLES, None),
            f"from={N // 2}": slice(N // 2, None), f"only={at + 1}": slice(at, at + 1),
            "hay=0": needle,
        }  # fmt: skip
        rows.append((id := f"puzzle-{len(rows)}", right, N, NEEDLES))
        for twin, rule in kept.items():
            result = answer(model, needle[rule], hard[rule], draws)[0]
            rows.append((f"{id}~{twin}", result, N, int(needle[rule].sum())))
    return pd.DataFrame(rows, columns=["id", "correct", "N", "needles"])


def rows(runs: int) -> Iterator[list[str]]:
    """Yield how often each planted cause is named, in runs of 60 failures.

    Also without the repeats, as of greedy decoding or of a server that honours one seed.
    """
    heading = ["planted", "should be named", "named, and nothing else", "most often otherwise"]
    yield [*heading, "held", "named without repeats"]
    for planted, model in (PLANTED | HELD_OUT).items():
        draws = (np.random.default_rng([run, 60]) for run in range(runs))
        frames = [simulate(model, 60, rng) for rng in draws]
        whys = [explain_failures(frame) for frame in frames]
        once = [frame[~frame["id"].str.contains("~again|~hay")] for frame in frames]
        greedy = [{*explain_failures(frame).causes} == {*model.causes} for frame in once]
        named = Counter(", ".join(sorted(why.causes)) or "none" for why in whys)
        right, truth = ", ".join(sorted(model.causes)), pd.Series(model.causes, name="true")
        alone = percent(named.pop(right, 0) / runs)
        others = "; ".join(f"{some} {percent(n / runs)}" for some, n in named.most_common(2))
        shares = pd.concat(why.shares.set_index("cause").reindex(truth.index) for why in whys)
        shares = shares.join(truth)
        held = shares.eval("low <= true + 1e-9 and high >= true - 1e-9").mean()
        yield [planted, right, alone, others, percent(held), percent(np.mean(greedy))]


if __name__ == "__main__":
    print_table(rows(200))
