"""FACTOR's likelihood: against a grid written apart, and over simulated responses."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from cogniload_analysis import fit_complexity_decay
from cogniload_analysis.factor import likelihood
from cogniload_analysis.factor.decay import find_window

N = np.arange(1, 40)


def curve(cdf, cdo, floor=0.0, lapses=0.0):
    return floor + (1 - floor - lapses) * np.exp(np.minimum(cdf * N + cdo, 0))


def responses(chance, puzzles, seed):
    """A row a response, with `puzzles` at each N."""
    right = np.random.default_rng(seed).binomial(puzzles, chance)
    correct = np.arange(puzzles) < right[:, None]
    return pd.DataFrame({"N": np.repeat(N, puzzles), "correct": correct.ravel()})


@pytest.mark.parametrize(
    ("cdf", "cdo", "floor"), [(-0.06, 0.5, 0), (-0.07, -0.46, 0), (-0.08, 0.3, 0.03)]
)
def test_intervals_are_those_of_a_grid_of_curves(cdf, cdo, floor):
    """Every curve of a grid, one after another: those within 1.92 of the best span the interval.

    The floor's prior is the same for all, since the floor is known.
    """
    fit = fit_complexity_decay(responses(curve(cdf, cdo, floor), 50, 4), floor=floor)
    assert fit.floor == floor
    used = fit.points[fit.points["used"]]
    right = np.rint(used["accuracy"] * used["responses"]).to_numpy()
    tried, fits = [], []
    for lapses in (0, 0.005, 0.01, 0.015, 0.02):
        for slope in np.linspace(1.5 * cdf, 0.6 * cdf, 181):
            offsets = np.linspace(cdo - 0.6, cdo + 0.6, 241)[:, None]
            reasoned = np.exp(np.minimum(slope * used["N"].to_numpy() + offsets, 0))
            chance = np.clip(floor + (1 - floor - lapses) * reasoned, 1e-12, 1 - 1e-12)
            prior = -((lapses / 0.015) ** 2) / 2
            fits.append(np.log(chance) @ right + np.log1p(-chance) @ (50 - right) + prior)
            tried.append(np.column_stack([np.full(len(offsets), slope), offsets]))
    fits, tried = np.concatenate(fits), np.concatenate(tried)
    inside = tried[fits > fits.max() - 1.9207]
    found = fit.conf_int()
    for name, values, step in (
        ("CDF", inside[:, 0], 0.005 * abs(cdf)),
        ("CDO", inside[:, 1], 0.005),
        ("N_eff", -inside[:, 1] / inside[:, 0], 0.15),
    ):
        ends = [values.min(), values.max()]
        assert found.loc[name].tolist() == pytest.approx(ends, abs=3 * step)


def window_counts(right, puzzles, floors):
    """The counts from the window's first N on; to its last, where the floor is known."""
    window = find_window(right / puzzles, 0.1, 0.9)
    used = window if floors[0] == floors[1] else np.logical_or.accumulate(window, 1)
    return likelihood.Counts(
        N, np.where(used, right, 0), np.where(used, puzzles - right, 0), floors
    )


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("lapses", "floor"), [(0, 0), (0.02, 0), (0, 0.03)])
@pytest.mark.parametrize(("cdf", "cdo"), [(-0.0694, -0.4615), (-0.0401, 0.4303)])
def test_intervals_hold_the_truth_as_often_as_they_say(cdf, cdo, lapses, floor, known):
    """An interval holds what lies less than 1.92 below the best likelihood (the test above)."""
    runs = 600
    chance = np.tile((1 - lapses) * curve(cdf, cdo, floor), (runs, 1))
    right = np.random.default_rng(5).binomial(50, chance)
    counts = window_counts(right, 50, (floor, floor) if known else (0, likelihood.MOST_FLOOR))
    found, best = likelihood.fit(counts)
    assert np.median(found[:, 0]) == pytest.approx(cdf, rel=0.03 if known else 0.06)
    runs = 150
    found, best = found[:runs], best[:runs]
    counts = replace(counts, right=counts.right[:runs], wrong=counts.wrong[:runs])
    for name, truth in (("CDF", cdf), ("CDO", cdo), ("N_eff", -cdo / cdf)):
        fall = best - likelihood.profile(counts, found, name, np.full(runs, truth))
        assert fall.min() > -1e-4
        held = int((fall < 1.9207).sum())
        assert binom.ppf(0.0005, runs, 0.94) <= held
        # intervals of half the confidence must miss it now and then: none is wide at will
        assert int((fall < 0.2275).sum()) <= binom.ppf(0.9995, runs, 0.8)


def test_one_lapse_in_the_first_phase_and_zeros_in_the_second_do_no_harm():
    frame = responses(curve(-0.06, 1), 50, 1)
    lapsed = frame.copy()
    lapsed.loc[0, "correct"] = ~lapsed.loc[0, "correct"]
    whole, hurt = fit_complexity_decay(frame), fit_complexity_decay(lapsed)
    assert (hurt.cdf, hurt.cdo) == pytest.approx((whole.cdf, whole.cdo))


def test_a_floor_is_found_and_one_out_of_reach_is_noticed():
    frame = responses(curve(-0.12, 0.2, 0.03), 500, 2)
    fit = fit_complexity_decay(frame)
    assert (fit.floor, fit.cdf) == pytest.approx((0.03, -0.12), rel=0.1)
    assert fit.note == ""
    assert "give that chance as the floor" in fit_complexity_decay(frame, floor=0).note
    higher = responses(curve(-0.12, 0.2, 0.08), 500, 2)
    assert "more than 5 % seem to be guessed" in fit_complexity_decay(higher).note
    assert fit_complexity_decay(higher, floor=0.08).note == ""


def test_the_cdf_is_less_certain_where_the_floor_is_not_known():
    """The lower end, where a floor and a steeper decay look alike, lies further out."""
    frame = responses(curve(-0.06, 0.3, 0.02), 50, 3)
    open_ends = fit_complexity_decay(frame).conf_int().loc["CDF"]
    known = fit_complexity_decay(frame, floor=0.02).conf_int().loc["CDF"]
    assert open_ends["low"] < known["low"]
    assert open_ends["high"] > -0.06 > open_ends["low"]
