"""The GLMs: against statsmodels on rows, closed forms, and responses with known coefficients."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from lm_eval_layout import GRID, simulate_counts, to_rows
from refusals import changed, refused
from scipy.stats import binom
from stored import cases

from cogniload_analysis import (
    PAPER_MEANS,
    LoadMeans,
    capacity_thresholds,
    compare_rho_terms,
    fit_interactions,
    fit_load_glm,
    published_table,
)
from cogniload_analysis.cogniload.fitted import Fitted
from cogniload_analysis.cogniload.glm import INTERACTIONS, TERMS, load_design

CASES = cases(__file__)
TABLE_2 = published_table("glm").set_index("model")
COEFFICIENTS = TABLE_2[list(TERMS)]
SIMULATIONS = 24


def fit_rows(rows, **options):
    """The independent fit: one Bernoulli row a response, by statsmodels alone."""
    log10_N = np.log10(rows["N"])
    design = np.column_stack(
        [np.ones(len(rows)), rows["d"], log10_N, rows["rho"], rows["rho"] ** 2]
    )
    model = sm.GLM(rows["correct"].astype(float), design, family=sm.families.Binomial())
    return model.fit(tol=1e-12, **options)


@pytest.fixture(scope="module")
def cells():
    return simulate_counts(COEFFICIENTS.loc["Qwen3-32B"], 20, np.random.default_rng(7))


def test_counts_and_rows_give_the_same_fit(cells):
    rows = to_rows(cells)
    expected, from_counts, from_rows = fit_rows(rows), fit_load_glm(cells), fit_load_glm(rows)
    for fit in (from_counts, from_rows):
        np.testing.assert_allclose(fit.params, expected.params, rtol=0, atol=1e-8)
        np.testing.assert_allclose(fit.bse, expected.bse, rtol=0, atol=1e-8)
        np.testing.assert_allclose(fit.pvalues, expected.pvalues, rtol=0, atol=1e-8)
        np.testing.assert_allclose(fit.conf_int(), expected.conf_int(), rtol=0, atol=1e-8)
        assert fit.aic == pytest.approx(expected.aic, abs=1e-8)
        assert fit.llf == pytest.approx(expected.llf, abs=1e-8)
        assert fit.nobs == 2800


def test_clustered_errors_are_those_of_statsmodels_and_see_through_repeats(cells):
    once = to_rows(cells)
    thrice = pd.concat([once] * 3, ignore_index=True)
    groups = {"groups": pd.factorize(thrice["id"])[0]}
    expected = fit_rows(thrice, cov_type="cluster", cov_kwds=groups)
    clustered = fit_load_glm(thrice, clustered=True)
    np.testing.assert_allclose(clustered.bse, expected.bse, rtol=1e-6)
    np.testing.assert_allclose(clustered.bse, fit_load_glm(once).bse, rtol=0.1)
    np.testing.assert_allclose(fit_load_glm(thrice).bse * 3**0.5, fit_load_glm(once).bse)
    assert "clustered" in clustered.estimator
    assert "clustered" in Fitted(thrice).glm.estimator
    assert "clustered" not in Fitted(once).glm.estimator


def test_answers_that_are_alike_widen_the_thresholds_and_no_coefficient(cells):
    """By Williams' factor 1 + (n - 1) correlation, where all cells have n answers."""
    counts = cells.assign(successes=20 * cells["successes"], failures=20 * cells["failures"])
    n, alone = (counts["successes"] + counts["failures"]).iloc[0], fit_load_glm(counts)
    alike = replace(alone, correlation=0.001)
    for name, scale in (("ECL50", np.log), ("ID50", np.asarray)):
        widths = [
            np.ptp(scale([at.low, at.high]))
            for at in (getattr(fit.thresholds(), name) for fit in (alone, alike))
        ]
        assert widths[1] / widths[0] == pytest.approx((1 + 0.001 * (n - 1)) ** 0.5)
    assert alike.bse.equals(alone.bse)


@pytest.fixture(scope="module")
def simulated():
    """Fits to responses simulated from each published model, 100 puzzles a cell."""
    fits = []
    for number, (model, beta) in enumerate(COEFFICIENTS.iterrows()):
        generator = np.random.default_rng([3, number])
        for _ in range(SIMULATIONS):
            fit = fit_load_glm(simulate_counts(beta, 100, generator))
            fits.append((model, fit, fit.thresholds()))
    return fits


def assert_nominal(hits, level=0.95):
    """Assert that as many hold as should, within binomial error (99.9 %)."""
    low, high = binom.interval(0.999, len(hits), level)
    assert low <= sum(hits) <= high, f"{sum(hits)} of {len(hits)} hold: {low} to {high} expected"


@pytest.mark.parametrize("name", ["ECL50", "NT50", "ID50"])
def test_intervals_of_thresholds_hold_the_truth_in_95_percent(simulated, name):
    hits, methods = [], set()
    for model, _, thresholds in simulated:
        truth = capacity_thresholds(*COEFFICIENTS.loc[model], **vars(PAPER_MEANS))
        truth = dict(zip(("ECL50", "NT50", "ID50"), truth, strict=True))[name]
        found = getattr(thresholds, name)
        methods.add(found.method)
        if not np.isnan(truth) and found.status == "crossing":
            hits.append(found.low <= truth <= found.high)
    assert "delta method" in methods
    assert_nominal(hits)


def simulate_interaction(beta_dN, generator):
    beta = COEFFICIENTS.loc["Qwen3-32B"]
    rho = GRID["rho_percent"] / 100
    design = load_design(GRID["d"], GRID["N"], rho)
    # Centred, so that the planted effect leaves the accuracies where they were.
    centred = (GRID["d"] - GRID["d"].mean()) * (np.log10(GRID["N"]) - PAPER_MEANS.log10_N)
    logit = design[list(TERMS)] @ beta + beta_dN * centred
    successes = generator.binomial(100, 1 / (1 + np.exp(-logit)))
    return pd.DataFrame({"d": GRID["d"], "N": GRID["N"], "rho": rho}).assign(
        successes=successes, failures=100 - successes
    )


def test_a_planted_interaction_is_found():
    generator = np.random.default_rng(5)
    planted = [fit_interactions(simulate_interaction(-0.2, generator)) for _ in range(10)]
    assert all(fit.p_LR["beta_dN"] < 0.001 for fit in planted)
    assert np.mean([fit.params["beta_dN"] for fit in planted]) == pytest.approx(-0.2, abs=0.05)


def make_cells(d=(1, 5, 10), N=(20, 100, 250), rho=(0.1, 0.5, 0.9), successes=None):
    """Cells of ten responses, of which fewer are right where a load is higher."""
    grid = pd.MultiIndex.from_product([d, N, rho], names=["d", "N", "rho"]).to_frame(index=False)
    if successes is None:
        rank = {knob: grid[knob].rank(method="dense") for knob in ("d", "N")}
        successes = (12 - 2 * rank["d"] - 2 * rank["N"] + 3 * abs(grid["rho"] - 0.5)).astype(int)
    return grid.assign(successes=successes, failures=10 - successes)


def test_cells_without_responses_count_for_nothing(cells):
    empty = cells.iloc[:5].assign(N=1000, successes=0, failures=0)
    fit = fit_load_glm(pd.concat([cells, empty]))
    pd.testing.assert_series_equal(fit.params, fit_load_glm(cells).params)
    one_length = cells.assign(successes=cells["successes"].where(cells["N"] == 20, 0))
    one_length["failures"] = cells["failures"].where(cells["N"] == 20, 0)
    assert set(fit_load_glm(one_length).problems) == {"beta_N"}


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (make_cells(successes=10), "all 270 responses are right"),
        (make_cells(successes=0), "all 270 responses are wrong"),
        (make_cells(successes=5).iloc[:0], "there are no responses"),
        (
            make_cells(successes=5).iloc[[0, 1, 2, 13]],
            "4 cells can't tell the effects of the loads apart",
        ),
    ],
)
def test_what_has_no_fit_is_nan_with_its_reason(frame, reason):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fit_load_glm(frame)
        assert fit.params.isna().all()
        assert set(fit.problems.values()) == {reason}
        assert fit.thresholds().ECL50.note == reason
        assert np.isnan(fit.thresholds().ECL50.value)
        assert reason in fit.summary()
        assert compare_rho_terms(frame).problem == reason
        assert fit_interactions(frame).problem == reason
        assert np.isnan(fit.predict(1, 20, 0.5)).all()


@pytest.mark.parametrize(("levels", "lost", "kept", "reason"), CASES["few_levels"])
def test_too_few_levels_cost_their_own_threshold_alone(levels, lost, kept, reason):
    fit = fit_load_glm(make_cells(**levels))
    thresholds = fit.thresholds()
    assert getattr(thresholds, lost).status == "not estimated"
    assert getattr(thresholds, lost).note == reason
    for name in kept:
        assert getattr(thresholds, name).status != "not estimated"
    with pytest.raises(ValueError, match=f"can't hold .*: {reason}"):
        fit.thresholds(LoadMeans(d=3, log10_N=1.5, rho=0.7))


def test_separation_is_named_and_firth_is_taken():
    frame = make_cells()
    frame["successes"] = np.where(frame["N"] <= 100, 10, 0)
    frame["failures"] = 10 - frame["successes"]
    fit = fit_load_glm(frame)
    assert fit.params.isna().all()
    assert "separated" in fit.problems["beta_N"]
    assert "beta_N to -infinity" in fit.problems["beta_N"]
    assert "beta_d" not in fit.problems["beta_N"].split(":")[1]
    penalised = Fitted(to_rows(frame)).glm
    assert penalised.estimator == "Firth's penalised likelihood"
    assert np.isnan(penalised.aic)


SEPARATED = {
    "N < 30": lambda d, N, rho: N < 30,
    "N < 75": lambda d, N, rho: N < 75,
    "N < 175": lambda d, N, rho: N < 175,
    "d < 2": lambda d, N, rho: d < 2,
    "rho > 0.6": lambda d, N, rho: rho > 0.6,
    "N < 75 and d < 4": lambda d, N, rho: (N < 75) & (d < 4),
    "N < 75 or d < 4": lambda d, N, rho: (N < 75) | (d < 4),
}
"""When both puzzles of a cell are right."""


@pytest.mark.parametrize("d", [(1, 5), (1, 3, 5)])
@pytest.mark.parametrize("N", [(20, 50, 100), (20, 100, 250), (20, 50, 100, 250)])
@pytest.mark.parametrize("rho", [(0.25, 0.5, 0.75, 0.95), (0.05, 0.25, 0.5, 0.75, 0.95)])
def test_each_of_84_separated_designs_has_an_ECL50_or_names_the_load_that_is_missing(d, N, rho):
    for rule, is_right in SEPARATED.items():
        cells = make_cells(d=d, N=N, rho=rho, successes=0)
        right = is_right(cells["d"], cells["N"], cells["rho"])
        cells = cells.assign(successes=2 * right, failures=2 * ~right)
        fit = fit_load_glm(cells, penalised=True)
        ECL50 = fit.thresholds().ECL50
        if rule in ("N < 30", "N < 75"):
            at = int(rule.split()[-1])
            assert max(n for n in N if n < at) < ECL50.value < min(n for n in N if n > at)
        named = re.search("with N$|N was|all .* are", ECL50.note)
        assert np.isfinite(ECL50.value) or named, (rule, ECL50)
        for term, (low, high) in fit.conf_int().iterrows():
            assert not low >= fit.params[term]
            assert not high <= fit.params[term]


def test_firth_in_a_two_by_two_table_adds_a_half_to_each_count():
    """The closed form of the saturated model (Firth 1993, section 3.3)."""
    frame = make_cells(d=(1, 2), N=(20,), rho=(0.5,), successes=5)
    frame[["successes", "failures"]] = [[7, 3], [10, 0]]
    fit = fit_load_glm(frame, penalised=True)
    first, second = np.log(7.5 / 3.5), np.log(10.5 / 0.5)
    assert fit.params["beta_d"] == pytest.approx(second - first, abs=1e-4)
    assert fit.params["beta_0"] == pytest.approx(2 * first - second, abs=1e-4)
    low, high = fit.conf_int().loc["beta_d"]
    assert low < fit.params["beta_d"] < high


def test_means_are_those_of_the_responses_unless_others_are_given(cells):
    fit = fit_load_glm(cells)
    assert fit.means.d == pytest.approx(5.2)
    assert fit.means.log10_N == pytest.approx(1.8495, abs=1e-4)
    assert fit.means.rho == pytest.approx(0.5)
    own, paper = fit.thresholds().ECL50, fit.thresholds(PAPER_MEANS).ECL50
    assert (own.value, own.low, own.high) == pytest.approx((paper.value, paper.low, paper.high))
    hard = fit_load_glm(cells[cells["d"] >= 5])
    assert hard.thresholds().ECL50.value < hard.thresholds(PAPER_MEANS).ECL50.value


@pytest.mark.parametrize("level", [0.5, 0.4, 0.8])
@pytest.mark.parametrize("interactions", [False, True])
def test_at_a_threshold_the_prediction_is_the_level(cells, interactions, level):
    fit = fit_load_glm(cells, interactions=interactions)
    means, name = LoadMeans(4.5, 1.8, 0.4), f"{100 * level:g}"
    found = vars(fit.thresholds(means, level=level))
    assert set(found) == {f"{threshold}{name}" for threshold in ("ECL", "NT", "ID")}
    ECL, NT, ID = (found[f"{threshold}{name}"].value for threshold in ("ECL", "NT", "ID"))
    assert fit.predict(means.d, ECL, means.rho) == pytest.approx(level, abs=1e-6)
    assert fit.predict(ID, 10**means.log10_N, means.rho) == pytest.approx(level, abs=1e-6)
    if not np.isnan(NT):
        assert fit.predict(means.d, 10**means.log10_N, NT) == pytest.approx(level, abs=1e-6)
    for threshold in found.values():
        if threshold.status == "crossing":
            assert threshold.low <= threshold.value <= threshold.high


@pytest.mark.parametrize("level", [-0.1, 0, 1, float("nan")])
def test_a_level_that_is_never_reached_is_one_line(cells, level):
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        fit_load_glm(cells).thresholds(level=level)


def test_interactions_are_those_of_the_glm_that_has_them(cells):
    rows = fit_load_glm(cells, interactions=True)
    d, n, rho = cells["d"], np.log10(cells["N"]), cells["rho"]
    plain = load_design(d, cells["N"], rho)[list(TERMS)]
    wide = np.column_stack([plain, d * n, d * rho, n * rho, d * n * rho])
    counts = cells[["successes", "failures"]].to_numpy()
    expected = sm.GLM(counts, wide, family=sm.families.Binomial()).fit(tol=1e-12)
    assert list(rows.params.index) == [*TERMS, *INTERACTIONS]
    np.testing.assert_allclose(rows.params, expected.params, rtol=1e-5)


response = st.tuples(
    st.sampled_from([1, 3, 5]),
    st.sampled_from([20, 50, 250]),
    st.sampled_from([0.05, 0.5, 0.95]),
    st.booleans(),
)


@settings(max_examples=150)
@given(st.lists(response, max_size=30), st.booleans())
def test_any_handful_of_responses_gives_numbers_or_reasons(responses, penalised):
    """No exception, no warning, and never a number where there is a reason against it."""
    frame = pd.DataFrame(responses, columns=["d", "N", "rho", "correct"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fit_load_glm(frame, penalised=penalised)
        thresholds = vars(fit.thresholds())
        compare_rho_terms(frame)
        fit_interactions(frame)
        fit.summary()
    assert fit.params.isna().equals(pd.Series(TERMS, TERMS).isin(fit.problems))
    for threshold in thresholds.values():
        assert np.isnan(threshold.value) == (threshold.status != "crossing")
        assert threshold.note or threshold.status != "not estimated"
        if threshold.status == "crossing":
            assert threshold.low <= threshold.high
            assert threshold.method in {"delta method", "parametric bootstrap"}


@pytest.mark.parametrize(("by", "change", "options", "message"), CASES["glm_input"])
def test_wrong_input_is_one_clear_line(cells, by, change, options, message):
    frame = to_rows(cells) if by == "rows" else cells.iloc[:2]
    with refused(message):
        fit_load_glm(changed(frame, **change), **options)
