"""How often `explain_failures` names the causes of a simulated model, some of them, or others; and
how often the 95 % intervals of the shares of its causes hold what is planted.

A model slips on hay, on needles, on every statement, more the later a statement stands, always on
one kind of needle (a step that it never learnt), or fails by chance alone; some slips do no harm,
and a failure may become a guess, which without hay may be right more often.
The models are in twin_causes.toml. Prints a table in Markdown: a row takes some minutes.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from simulated import percent, print_table

from cogniload_analysis import explain_failures

HARDEST = 0.03
"""Share of needles that are of the kind that is too hard."""

N, NEEDLES, ACCURACY, HARM = 100, 25, 0.5, 2 / 3
"""Statements and needles of a puzzle, the share without harm, and that of slips that do harm."""


class Model(NamedTuple):
    """The shares of a model's slips, and the causes to name with their shares of harmful slips.

    `guesses` are how often guesses are right, with hay in the text and without.
    """

    shares: Mapping[str, float]
    causes: Mapping[str, float]
    guesses: tuple[float, float] = (0, 0)


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
    lost = (draws.random(len(slips)) < HARM).any() or not (lucky or len(needle) == 1)
    right = not lost or draws.random() < model.guesses[int(needle.all())]
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
            f"from={N - N // 10}": slice(N - N // 10, None), f"only={at + 1}": slice(at, at + 1),
            "hay=0": needle,
        }  # fmt: skip
        rows.append((id := f"puzzle-{len(rows)}", right, N, NEEDLES))
        for twin, rule in kept.items():
            result = answer(model, needle[rule], hard[rule], draws)[0]
            rows.append((f"{id}~{twin}", result, N, int(needle[rule].sum())))
    return pd.DataFrame(rows, columns=["id", "correct", "N", "needles"])


def judge(named: Iterable[str], true: Iterable[str]) -> str:
    """Return what the causes that are named are worth."""
    named, true = {*named}, {*true}
    return "none" if not named else "all" if named == true else "some" if named < true else "others"


def rows(runs: int) -> Iterator[list[str]]:
    """Yield what is named of each planted cause, in runs of 60 failures.

    Also without the repeats, as of greedy decoding or of a server that honours one seed.
    """
    heads = ["all planted", "some of them", "none", "others"]
    yield ["planted", "should be named", *heads, "shares held", *(f"{h}, greedy" for h in heads)]
    for planted, model in (PLANTED | HELD_OUT).items():
        frames = [simulate(model, 60, np.random.default_rng([run, 60])) for run in range(runs)]
        whys = [explain_failures(frame) for frame in frames]
        once = [
            explain_failures(frame[~frame["id"].str.contains("~again|~hay=0")]) for frame in frames
        ]
        cells = []
        for explained in (whys, once):
            found = Counter(judge(why.causes, model.causes) for why in explained)
            cells += [percent(found[kind] / runs) for kind in ("all", "some", "none", "others")]
        truth = pd.Series(model.causes, name="true")
        shares = pd.concat(why.shares.set_index("cause").reindex(truth.index) for why in whys)
        held = shares.join(truth).eval("low <= true + 1e-9 and high >= true - 1e-9").mean()
        right = ", ".join(sorted(model.causes))
        yield [planted, right, *cells[:4], percent(held), *cells[4:]]


if __name__ == "__main__":
    print_table(rows(200))
