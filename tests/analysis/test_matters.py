"""Which loads matter: planted ones alone, by the numbers of their levels."""

import numpy as np
import pandas as pd
import pytest

from cogniload_analysis.cogniload.loads import LOADS
from cogniload_analysis.display.sentences import say_breaks
from cogniload_analysis.frame import Load
from cogniload_analysis.matters import LoadEffect, is_at_chance, load_effects, tell_together


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
    symbol = "ρ" if load == "rho" else load
    scale, unit = (100, " %") if load == "rho" else (1, "")
    ends = (
        f"{100 * by_level[level]:.0f} % at {symbol} = {scale * level:g}{unit}"
        for level in by_level.index
    )
    said = f"Accuracy falls with {symbol}: from {' to '.join(ends)}"
    assert say_breaks(load_effects(frame, LOADS)).startswith(said)


def test_a_load_of_one_level_is_no_test_of_chance():
    """Half of 20 puzzles at 1 of 4: more than chance, but not if each load were a further test."""
    frame = pd.DataFrame({"d": 1, "N": 5, "rho": 0.5, "chance": 0.25, "correct": [1, 0] * 10})
    assert not is_at_chance(frame, LOADS)


def test_one_load_or_one_accuracy_names_no_load():
    frame = make_frame(3, lambda *_: 0.5)
    assert "none can break" in say_breaks(load_effects(frame[:20], LOADS))
    assert "No load is known" in say_breaks(load_effects(frame.iloc[::20], LOADS))  # a few of each
    assert "No load is known" in say_breaks(load_effects(frame.assign(correct=True), LOADS))
    level = [load_effects(make_frame(seed, lambda *_: 0.5), LOADS) for seed in range(200)]
    named = ["No load" not in say_breaks(effects) for effects in level]
    assert np.mean(named) <= 0.08


def test_accuracy_that_rises_breaks_nothing():
    """Nor do single puzzles, of which 1 of 1 at N = 24 is no level to fall from."""
    frame = make_frame(4, lambda d, N, rho: 0.9 if N == 100 else 0.1)
    effects = {effect.load.name: effect for effect in load_effects(frame, LOADS)}
    assert effects["N"].p < 0.001
    assert not effects["N"].matters
    single = pd.DataFrame({"N": range(1, 25), "correct": [False] * 23 + [True]})
    (effect,) = load_effects(single, [Load("N", "N", harder=True)])
    assert len(effect.bands) == 2
    assert not effect.matters


def test_the_other_loads_are_held():
    """d and N fall together in the design, and only N lowers accuracy."""
    rng = np.random.default_rng(5)
    rows = [(d, N) for d, N, count in ((1, 10, 90), (1, 100, 30), (5, 10, 30), (5, 100, 90))
            for _ in range(count)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["d", "N"]).assign(rho=0.5)
    frame["correct"] = rng.random(len(frame)) < np.where(frame["N"] == 10, 0.9, 0.3)
    assert [one.load.name for one in load_effects(frame, LOADS) if one.matters] == ["N"]


def test_attempts_at_one_puzzle_count_once():
    frame = make_frame(6, lambda d, N, rho: 0.6 if N == 10 else 0.5).reset_index(names="id")
    again = pd.concat([frame] * 30)
    p = [one.p for one in load_effects(frame, LOADS)]
    assert [one.p for one in load_effects(again, LOADS)] == pytest.approx(p)


def test_a_leaderboard_of_runs_that_no_load_breaks_names_one_in_at_most_5_percent():
    """Each run's own p, which are Bonferroni's over its loads, would in 64 % of these."""
    draws, flat = np.random.default_rng(4), pd.DataFrame({"accuracy": [0.6, 0.5]})
    named = []
    for _ in range(200):
        p = np.minimum(1, len(LOADS) * draws.random((20, len(LOADS))))
        runs = {
            run: [LoadEffect(load, flat, each) for load, each in zip(LOADS, row, strict=True)]
            for run, row in enumerate(p)
        }
        together = tell_together(runs)
        named.append(any(effect.p < 0.05 for mine in together.values() for effect in mine))
    assert 0 < np.mean(named) < 0.09
    assert [it.p for it in tell_together({"one": runs[0]})["one"]] == [it.p for it in runs[0]]
