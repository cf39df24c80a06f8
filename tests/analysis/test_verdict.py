"""The verdict of the first screen, against responses whose causes are known."""

import numpy as np
import pandas as pd
import pytest

from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.display.verdict import (
    is_at_chance,
    measured_spans,
    say_spans,
)


def make_frame(seed, accuracy, puzzles=20, chance=0.25):
    """Return responses to a grid of d, N and rho, right with the chance `accuracy(d, N, rho)`."""
    rng, rows = np.random.default_rng(seed), []
    for d in (1, 5):
        for N in (10, 100):
            for rho in (0.1, 0.9):
                right = rng.random(puzzles) < accuracy(d, N, rho)
                rows += [{"d": d, "N": N, "rho": rho, "correct": each} for each in right]
    outcome = ["correct" if row["correct"] else "wrong_logic" for row in rows]
    return pd.DataFrame(rows).assign(model="m", chance=chance, outcome=outcome)


def test_who_guesses_is_at_chance_in_19_of_20_runs_and_who_knows_easy_puzzles_is_not():
    guessing = [is_at_chance(make_frame(seed, lambda *_: 0.25), LOADS) for seed in range(200)]
    assert np.mean(guessing) >= 0.93
    knows_easy = [
        is_at_chance(make_frame(seed, lambda d, N, rho: 0.6 if N == 10 else 0.0), LOADS)
        for seed in range(50)
    ]
    assert not any(knows_easy)
    assert not is_at_chance(make_frame(1, lambda *_: 0.0, chance=np.nan), LOADS)


@pytest.mark.parametrize("load", ["d", "N", "rho"])
def test_the_load_that_lowers_accuracy_is_named_with_its_levels(load):
    def accuracy(**loads):
        return 0.9 if loads[load] == {"d": 1, "N": 10, "rho": 0.1}[load] else 0.1

    frame = make_frame(2, lambda d, N, rho: accuracy(d=d, N=N, rho=rho))
    by_level = frame.groupby(load)["correct"].mean()
    sentence = say_spans(measured_spans(frame, LOADS))
    symbol = "ρ" if load == "rho" else load
    scale, unit = (100, " %") if load == "rho" else (1, "")
    ends = (
        f"{100 * by_level[level]:.0f} % at {symbol} = {scale * level:g}{unit}"
        for level in by_level.index
    )
    assert sentence.startswith(f"{symbol} breaks it most: accuracy falls from {' to '.join(ends)}")


def test_one_load_or_one_accuracy_names_no_load():
    frame = make_frame(3, lambda *_: 0.5)
    assert "none can break" in say_spans(measured_spans(frame[:20], LOADS))
    assert "No load is known" in say_spans(measured_spans(frame.assign(correct=True), LOADS))
    level = [measured_spans(make_frame(seed, lambda *_: 0.5), LOADS) for seed in range(200)]
    named = ["breaks it" in say_spans(spans) for spans in level]
    assert np.mean(named) <= 0.08
