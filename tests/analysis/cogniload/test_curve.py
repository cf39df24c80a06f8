"""The capacity curve: its posterior against dense computations, its crossings, its priors."""

import numpy as np
import pandas as pd
import pytest
from axes import axes_grids
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import refused
from scipy.optimize import brentq
from scipy.special import expit, logsumexp, softmax
from scipy.stats import betabinom, binom

from cogniload_analysis import PAPER_MEANS, estimate_capacity, fit_load_glm, published_table
from cogniload_analysis.cogniload.capacity import curve, prior
from cogniload_analysis.cogniload.capacity.curve import (
    Answers,
    Link,
    count_answers,
    curve_loads,
    describe_capacity,
    largest_root,
    last_crossing,
    make_loads,
    posterior,
)
from cogniload_analysis.cogniload.capacity.goodness_of_fit import (
    PAPER_GRID,
    curve_crossing,
    refit_published,
)
from cogniload_analysis.cogniload.capacity.prior import published_prior

FLOORS = [0.0, 0.45, 0.9]
CORRELATIONS = {0.0: 0.8, 0.05: 0.1, 0.2: 0.1}
DRAWN = 150_000
WIGGLE, LENGTHS = 0.2, (3.0, 0.25, 0.3)
CELLS = make_loads(np.array([5, 5, 6, 5, 2]), np.array([20, 60, 60, 200, 71]), 0.5)
ANSWERS = Answers(CELLS, np.array([18.0, 11, 3, 2, 9]), np.array([20.0, 22, 8, 15, 10]))
LOADS = make_loads(5.2, np.array([30, 60, 120]), 0.5)


def by_hand(loads, floor):
    """Mean and covariance of the logits under the published prior, entry by entry."""
    known = published_prior()[FLOORS.index(floor)]

    def terms(load):
        d, x, u = load[0] - 5.2, load[1] - PAPER_MEANS.log10_N, (load[2] - 0.5) / 0.45
        return np.array([1, d, x, u, u * u, d * x, d * u, x * u, d * x * u])

    mean = np.array([terms(load) @ known.mean for load in loads])
    K = np.empty((len(loads), len(loads)))
    for i, a in enumerate(loads):
        for j, b in enumerate(loads):
            near = sum(np.exp(-((a[k] - b[k]) ** 2) / (2 * LENGTHS[k] ** 2)) for k in range(3))
            K[i, j] = terms(a) @ known.covariance @ terms(b) + WIGGLE**2 * near
    return mean, K


def log_likelihood(logits, floor, correlation=0.0):
    bottom = floor / np.maximum(CELLS[:, 0] + 1, 3)
    p = bottom + (0.99 - bottom) * expit(logits)
    counts = ANSWERS.successes, ANSWERS.totals
    if not correlation:
        return binom.logpmf(*counts, p).sum(axis=-1)
    size = 1 / correlation - 1
    return betabinom.logpmf(*counts, size * p, size * (1 - p)).sum(axis=-1)


def test_draws_are_the_exact_posteriors_over_all_floors_and_correlations():
    """Against brute force: many logits from the prior, weighed by likelihood alone."""
    belief = posterior(ANSWERS, LOADS, published_prior())
    drawn, _ = belief.draw(slice(0, 3), 4000)
    rng = np.random.default_rng(1)
    accuracy, weights = [], []
    for floor in FLOORS:
        mean, K = by_hand(np.concatenate([LOADS, CELLS]), floor)
        root = np.linalg.cholesky(K + 1e-10 * np.eye(len(K)))
        logits = mean + rng.standard_normal((DRAWN, len(K))) @ root.T
        bottom = floor / 6.2
        for correlation, chance in CORRELATIONS.items():
            accuracy.append(bottom + (0.99 - bottom) * expit(logits[:, : len(LOADS)]))
            likelihood = log_likelihood(logits[:, len(LOADS) :], floor, correlation)
            weights.append(likelihood + np.log(chance))
    accuracy, weights = np.concatenate(accuracy), np.concatenate(weights)
    share = np.exp(weights - logsumexp(weights))
    assert 1 / np.sum(share**2) > 1000
    expected = share @ accuracy
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=0.012)
    spread = np.sqrt(share @ (accuracy - expected) ** 2)
    np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.12)
    evidence = logsumexp(weights.reshape(-1, DRAWN), axis=1)
    np.testing.assert_allclose(belief.shares, softmax(evidence), atol=0.03)
    assert belief.best is belief.posteriors[int(np.argmax(evidence))]


def test_a_model_that_fails_below_chance_is_given_a_lower_floor():
    cells = make_loads(5, np.array([10, 50, 400]), 0.5)
    sinks = Answers(cells, np.array([60.0, 30, 0]), np.array([60.0, 60, 120]))
    guesses = Answers(cells, np.array([60.0, 30, 19]), np.array([60.0, 60, 120]))
    assert posterior(sinks, LOADS, published_prior()).best.link.floor == 0
    assert posterior(guesses, LOADS, published_prior()).best.link.floor > 0


@given(arrays(float, (3, 7), elements=st.floats(0, 1)))
def test_crossings_are_the_last_ones(accuracy):
    load = np.array([1.0, 1.5, 3.0, 3.5, 4.0, 8.0, 9.0])
    for row, falls, passes in zip(
        accuracy, last_crossing(load, accuracy), largest_root(load, accuracy), strict=True
    ):
        fine = np.linspace(1, 9, 20_001)
        high = np.interp(fine, load, row) >= 0.5
        fall = fine[:-1][high[:-1] & ~high[1:]]
        if len(fall):
            assert fall.max() <= falls + 1e-9
            assert falls <= fall.max() + 1e-3 or abs(row - 0.5).min() < 1e-3
        elif np.isinf(falls):
            assert falls == (np.inf if row[0] >= 0.5 else -np.inf)
        else:
            assert abs(np.interp(falls, load, row) - 0.5) < 1e-9
        if np.isnan(passes):
            assert high.all() or not high.any()
        else:
            assert np.interp(passes, load, row) == pytest.approx(0.5, abs=1e-9)


def expected_counts(model, puzzles):
    """Return a published curve, and the counts of right answers that it expects."""
    truth = refit_published(model, Link(), interactions=True)
    right = np.round(puzzles * truth.accuracy(*PAPER_GRID[["d", "N", "rho"]].to_numpy().T))
    return truth, PAPER_GRID.assign(successes=right, failures=puzzles - right)


def test_a_whole_grid_has_both_meanings_of_ECL50():
    """Expected counts of a curve with floor and interactions: the crossing, and Table 2's line."""
    truth, counts = expected_counts("Qwen3-32B", 100)
    capacity, glm = (
        estimate_capacity(counts, prior=published_prior(without=["Qwen3-32B"])),
        fit_load_glm(counts),
    )
    projection = glm.thresholds().ECL50.value
    assert curve_crossing(truth) == pytest.approx(46.1, abs=0.1)
    assert capacity.ECL50.value == pytest.approx(curve_crossing(truth), rel=0.04)
    assert capacity.ECL50.low < curve_crossing(truth) < capacity.ECL50.high
    assert projection == pytest.approx(55.4, rel=0.01)
    assert capacity.glm_ECL50 == pytest.approx(projection, rel=0.01)
    assert capacity.n == 14_000
    ID50 = brentq(lambda d: truth.accuracy(d, 10**PAPER_MEANS.log10_N, 0.5)[0] - 0.5, 1, 10)
    assert capacity.ID50.low < ID50 < capacity.ID50.high


@pytest.fixture(scope="module")
def varying_cells():
    """Fixed designs whose cells vary with an intra-class correlation of .2, and their ECL50."""
    model, size = "Qwen3-32B", 1 / 0.2 - 1
    truth, rng = refit_published(model, Link(), interactions=True), np.random.default_rng(5)
    grids = pd.DataFrame(axes_grids()).explode("d").explode("N").explode("rho").astype(float)
    cells = grids.assign(rho=grids["rho"] / 100)
    p = truth.accuracy(*(cells[load].to_numpy() for load in ("d", "N", "rho")))
    total = cells.pop("num_puzzles").to_numpy(int)
    right = rng.binomial(total, rng.beta(size * p, size * (1 - p), (24, len(p))))
    frames = [cells.assign(successes=each, failures=total - each) for each in right]
    return frames, published_prior(without=[model]), curve_crossing(truth)


@pytest.mark.parametrize(("known", "sound"), [(CORRELATIONS, True), ({0.0: 1.0}, False)])
def test_intervals_hold_where_cells_vary_if_that_can_be_believed(
    varying_cells, monkeypatch, known, sound
):
    monkeypatch.setattr(curve, "CORRELATIONS", known)
    frames, believed, truth = varying_cells
    capacities = [estimate_capacity(frame, prior=believed) for frame in frames]
    inside = sum(each.ECL50.low <= truth <= each.ECL50.high for each in capacities)
    assert (binom.cdf(inside, len(frames), 0.95) > 0.01) == sound
    flagged = sum("more from cell to cell" in " ".join(each.flags) for each in capacities)
    assert (flagged > len(frames) / 2) == sound


def test_a_frame_without_answers_is_refused_in_one_line():
    with refused("^the frame must hold answers, got none"):
        estimate_capacity({"d": [], "N": [], "rho": [], "correct": []})


def test_the_shipped_prior_is_the_published_tables_refitted():
    again, ours = prior.refit_models(), published_table("prior")
    assert again["model"].tolist() == ours["model"].tolist()
    np.testing.assert_allclose(again.drop(columns="model"), ours.drop(columns="model"), atol=2e-3)
    assert ours.groupby("floor")["model"].nunique().to_dict() == {0: 22, 0.45: 22, 0.9: 21}
    assert "DS-Qwen-1.5B" not in ours.loc[ours["floor"] == 0.9, "model"].to_list()


def test_a_prior_leaves_out_what_it_must_not_know():
    without = published_prior(without=["gemini-2.5-pro"])
    for less, more in zip(without, published_prior(), strict=True):
        assert less.mean[2] > more.mean[2] + 0.2
        assert less.covariance[2, 2] < more.covariance[2, 2]


def test_a_model_that_guesses_everywhere_has_no_capacity():
    """A real model's answers: a guess or less at every load, and few of them at the longest."""
    asked = {(10.0, 5): (30, 4), (10.0, 6): (73, 10), (40.0, 5): (8, 0), (71.0, 1): (30, 13),
             (71.0, 5): (22, 1), (71.0, 10): (42, 6)}  # fmt: skip
    frame = pd.DataFrame(
        [
            {"d": d, "N": N, "rho": 0.5, "correct": i < right}
            for (N, d), (total, right) in asked.items()
            for i in range(total)
        ]
    )
    belief = posterior(count_answers(frame), curve_loads((10, 40)), published_prior())
    capacity = describe_capacity(belief, (10, 40), (1, 10))
    assert (capacity.ECL50.value, capacity.ECL50.high) == (0, 0)


@pytest.mark.parametrize(("top", "foot", "whole"), [(0.95, 0.1, True), (0.65, 0.4, False)])
def test_a_steep_fall_between_two_lengths_may_be_anywhere_between_them(top, foot, whole):
    """A cliff on the paper's grid: only where no length was asked is its place unknown."""
    cells = [
        (d, N, rho) for d in (1, 3, 5, 7, 10) for N in (20, 50, 100, 250) for rho in (0.25, 0.75)
    ]
    d, N, rho = np.array(cells).T
    right = np.where(N <= 50, top, foot) * 100
    frame = {"d": d, "N": N, "rho": rho, "successes": right, "failures": 100 - right}
    capacity = estimate_capacity(frame)
    holds = capacity.ECL50.low <= 50.001 and capacity.ECL50.high >= 99.999
    assert holds == whole
    assert (capacity.half_width > 0.41) == whole
