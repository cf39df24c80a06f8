"""The capacity thresholds and their intervals."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cogniload_analysis import PAPER_MEANS, LoadMeans, capacity_thresholds, published_table
from cogniload_analysis.cogniload.glm_thresholds import estimate_thresholds

AT_PAPER_MEANS = vars(PAPER_MEANS)
TABLE_2 = published_table("glm")
COEFFICIENTS = ["beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2"]
PRINTED_STEPS = {"ECL50": 0.1, "NT50": 0.01, "ID50": 0.01}


def within_rounding(coefficients):
    """Every corner of the box in which the printed coefficients may lie."""
    half_units = itertools.product([-0.005, 0.005], repeat=5)
    return capacity_thresholds(*(coefficients + np.array(list(half_units))).T, **AT_PAPER_MEANS)


@pytest.mark.parametrize("row", TABLE_2.to_dict("records"), ids=lambda row: row["model"])
def test_printed_coefficients_give_back_the_printed_thresholds(row):
    coefficients = np.array([row[name] for name in COEFFICIENTS])
    exact = capacity_thresholds(*coefficients, **AT_PAPER_MEANS)
    for name, value, corners in zip(
        PRINTED_STEPS, exact, within_rounding(coefficients), strict=True
    ):
        if np.isnan(row[name]):
            assert np.isnan(value)
            continue
        candidates = np.append(corners, value)
        margin = PRINTED_STEPS[name] / 2 + 1e-9
        assert np.nanmin(candidates) - margin <= row[name] <= np.nanmax(candidates) + margin
    # Section 3.1.4 names the tiers behind a dash: frontier models above 50 %, weak ones below.
    found = estimate_thresholds(coefficients, np.eye(5) * 1e-8, PAPER_MEANS).NT50
    side = "above" if row["ECL50"] > 100 else "below"
    assert found.status == (f"always {side} 50 %" if np.isnan(row["NT50"]) else "crossing")
    assert np.isnan(row["NT50"]) == np.isnan([found.value, found.low, found.high]).all()


def test_nt50_is_the_largest_root_in_the_unit_interval():
    """8 (rho - 0.25)(rho - 0.75), and then with its upper root moved out of the interval."""
    means = {"d": 0, "log10_N": 0, "rho": 0.5}
    assert capacity_thresholds(1.5, 0, 0, -8, 8, **means)[1] == pytest.approx(0.75)
    assert capacity_thresholds(2.5, 0, 0, -12, 8, **means)[1] == pytest.approx(0.25)
    assert np.isnan(capacity_thresholds(24, 0, 0, -28, 8, **means)[1])


coefficient = st.floats(-20, 20).filter(lambda value: abs(value) > 1e-3)


@example(1.0, 17.0, 0.515625, 1.0, 5.0, 9.25, 1.0, 1.0)  # an ECL50 so small that it has few digits
@given(*[coefficient] * 5, st.floats(1, 12), st.floats(0.1, 3), st.floats(0.01, 1))
def test_the_logit_is_zero_at_each_threshold(
    beta_0, beta_d, beta_N, beta_rho, beta_rho2, d, log10_N, rho
):
    ECL50, NT50, ID50 = capacity_thresholds(
        beta_0, beta_d, beta_N, beta_rho, beta_rho2, d=d, log10_N=log10_N, rho=rho
    )

    def logit(d, log10_N, rho):
        terms = beta_d * d, beta_N * log10_N, beta_rho * rho, beta_rho2 * rho**2
        return (beta_0 + sum(terms)) / (1 + abs(beta_0) + sum(map(abs, terms)))

    if 0 < ECL50 < np.inf:
        rounding = np.spacing(ECL50) / ECL50
        assert logit(d, np.log10(ECL50), rho) == pytest.approx(0, abs=1e-9 + rounding)
    assert logit(ID50, log10_N, rho) == pytest.approx(0, abs=1e-9)
    if np.isnan(NT50):
        steps = np.array([logit(d, log10_N, step) for step in np.linspace(0, 1, 101)])
        assert (steps > -1e-9).all() or (steps < 1e-9).all()
    else:
        assert 0 <= NT50 <= 1
        assert logit(d, log10_N, NT50) == pytest.approx(0, abs=1e-6)


def test_a_certain_slope_takes_the_delta_method_and_agrees_with_the_closed_form():
    """log10 ECL50 = -beta_0 / beta_N with independent errors has a textbook variance."""
    beta, means = np.array([4.0, -1.0, -2.0, 0.0, 0.0]), LoadMeans(0, 1, 0)
    covariance = np.diag([0.01, 1e-6, 0.0001, 0, 0])
    ECL50 = estimate_thresholds(beta, covariance, means).ECL50
    margin = 1.959963984540054 * 2 * np.sqrt(0.01 / 4**2 + 0.0001 / 2**2)
    assert ECL50.method == "delta method"
    assert (ECL50.low, ECL50.high) == pytest.approx((10 ** (2 - margin), 10 ** (2 + margin)))


@pytest.mark.parametrize("variance", [0.25, 0.93])
def test_an_uncertain_slope_takes_the_bootstrap_and_agrees_with_fieller(variance):
    """Fieller's exact ends are the roots of a quadratic; at 0.93 the upper one is near infinity."""
    beta, means = np.array([4.0, -1.0, -2.0, 0.0, 0.0]), LoadMeans(0, 1, 0)
    ECL50 = estimate_thresholds(beta, np.diag([0.04, 1e-6, variance, 0, 0]), means).ECL50
    z2 = 1.959963984540054**2
    low, high = np.sort(np.roots([4 - z2 * variance, -16, 16 - z2 * 0.04]))
    assert ECL50.method == "parametric bootstrap"
    assert np.log10(ECL50.low) == pytest.approx(low, rel=0.03)
    assert np.log10(ECL50.high) == pytest.approx(high, rel=0.3)


def test_a_slope_that_may_be_zero_gives_no_threshold():
    beta, means = np.array([4.0, -1.0, -2.0, 0.0, 0.0]), LoadMeans(0, 1, 0)
    ECL50 = estimate_thresholds(beta, np.diag([0.04, 1e-6, 1.1, 0, 0]), means).ECL50
    assert ECL50.status == "not estimated"
    assert ECL50.note == "accuracy does not clearly change with N"
    assert np.isnan([ECL50.value, ECL50.low, ECL50.high]).all()


def test_a_root_that_may_leave_the_interval_takes_the_bootstrap():
    """Roots 0.16 and 1.05: a small move of the upper one makes it the largest in [0, 1]."""
    beta = np.array([3.4 * 0.16 * 1.05, -1.0, -1.0, -3.4 * 1.21, 3.4])
    certain, uncertain = (
        estimate_thresholds(beta, np.eye(5) * variance, LoadMeans(0, 0, 0.5)).NT50
        for variance in (1e-6, 1e-2)
    )
    assert certain.value == uncertain.value == pytest.approx(0.16)
    assert certain.method == "delta method"
    assert not certain.rising
    assert uncertain.method == "parametric bootstrap"
    assert uncertain.low < uncertain.value
    assert 0.9 < uncertain.high <= 1


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("level", "variance", "end"), [(-3.9, 0.1, 1), (-0.5, 0.25, 0)])
def test_draws_that_never_cross_lie_beyond_the_end_they_point_to(sign, level, variance, end):
    """A root near 0 or 1 that many draws put beyond it: the interval reaches the end."""
    beta = sign * np.array([level, 0, 0, 4, 0.05])
    covariance = np.diag([variance, 0, 0, 1, 0])
    NT50 = estimate_thresholds(beta, covariance, LoadMeans(0, 0, 0.5)).NT50
    assert NT50.method == "parametric bootstrap"
    assert NT50.rising == (sign > 0)
    assert NT50.low < NT50.value < NT50.high
    assert end in (NT50.low, NT50.high)
    assert NT50.low > 0.5 if end else NT50.high < 0.6
