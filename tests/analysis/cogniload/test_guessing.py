"""The GLM with a guess rate and a lapse rate: planted values, and other libraries' fits."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from lm_eval_layout import GRID
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import binom

from cogniload_analysis import LoadMeans, capacity_thresholds, fit_load_glm, published_table
from cogniload_analysis.cogniload.glm import INTERACTIONS, TERMS

TABLE_2 = published_table("glm").set_index("model")[list(TERMS)]
WEAK = TABLE_2.loc["Qwen3-8B"].to_numpy(float)
SIMULATIONS = 60
RHO = (GRID["rho_percent"] / 100).to_numpy()
DESIGN = np.column_stack([np.ones(len(GRID)), GRID["d"], np.log10(GRID["N"]), RHO, RHO**2])
CHANCE = 1 / np.maximum(GRID["d"].to_numpy() + 1, 3)


def simulate(beta, lapse, puzzles, generator, chance=CHANCE):
    p = chance + (1 - chance - lapse) * expit(DESIGN @ beta)
    successes = generator.binomial(puzzles, p)
    cells = pd.DataFrame({"d": GRID["d"], "N": GRID["N"], "rho": RHO})
    return cells.assign(successes=successes, failures=puzzles - successes)


@pytest.fixture(scope="module")
def cells():
    return simulate(WEAK, 0.05, 100, np.random.default_rng(1))


@pytest.fixture(scope="module")
def simulated():
    """Fits of runs with a guess rate and lapses, by the GLM that has them and by the plain one."""
    generator = np.random.default_rng(2)
    runs = [simulate(WEAK, 0.05, 20, generator) for _ in range(SIMULATIONS)]
    return [(fit_load_glm(run, "options", True), fit_load_glm(run)) for run in runs]


def test_without_guesses_it_is_the_plain_glm(cells):
    plain, same = fit_load_glm(cells), fit_load_glm(cells, guess=0)
    np.testing.assert_allclose(same.params, plain.params, rtol=1e-5)
    np.testing.assert_allclose(same.bse, plain.bse, rtol=1e-4)
    assert same.llf == pytest.approx(plain.llf, abs=1e-7)
    assert same.aic == pytest.approx(plain.aic, abs=1e-6)


def test_no_other_values_are_likelier(cells):
    """Against a search that knows the likelihood alone."""
    found = fit_load_glm(cells, "options", True)
    right, wrong = cells["successes"].to_numpy(), cells["failures"].to_numpy()

    def loss(theta):
        p = CHANCE + (1 - CHANCE - theta[5]) * expit(DESIGN @ theta[:5])
        p = np.clip(p, 1e-9, 1 - 1e-9)
        return -(right @ np.log(p) + wrong @ np.log1p(-p))

    searched = minimize(loss, [*WEAK, 0.05], method="Nelder-Mead", options={"maxiter": 400})
    assert found.llf == pytest.approx(-loss(found.params.to_numpy()), abs=1e-6)
    assert found.llf >= -searched.fun - 1e-9
    assert found.llf == pytest.approx(-searched.fun, abs=1)


def test_planted_values_come_back(simulated):
    truth = np.append(WEAK, 0.05)
    params = np.array([guessed.params for guessed, _ in simulated])
    errors = params.std(axis=0, ddof=1) / SIMULATIONS**0.5
    assert (abs(np.median(params, axis=0) - truth) < 4 * 1.25 * errors).all()


def test_thresholds_hold_their_rate_where_those_of_the_plain_glm_are_bent(simulated):
    """The ability's own thresholds: where logistic(eta) leaves half, at the accuracy there."""
    means = simulated[0][0].means
    guess = 1 / (means.d + 1)
    eta = np.log((0.5 - guess) / (1 - 0.5 - 0.05))
    truth = capacity_thresholds(WEAK[0] - eta, *WEAK[1:], **vars(means))[0]
    held = {"guess": 0, "plain": 0}
    for guessed, plain in simulated:
        for name, fit in (("guess", guessed), ("plain", plain)):
            found = fit.thresholds().ECL50
            held[name] += found.low <= truth <= found.high
    low, _ = binom.interval(0.999, SIMULATIONS, 0.95)
    assert held["guess"] >= low
    assert held["plain"] < held["guess"]


@pytest.mark.parametrize("level", [0.5, 0.4, 0.8])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"guess": 0.2},
        {"guess": "options"},
        {"guess": "options", "lapse": True},
        {"interactions": True},
        {"guess": "options", "lapse": True, "interactions": True},
    ],
    ids=str,
)
def test_at_a_threshold_the_prediction_is_the_level(cells, options, level):
    fit = fit_load_glm(cells, **options)
    means, name = LoadMeans(4.5, 1.8, 0.4), f"{100 * level:g}"
    found = vars(fit.thresholds(means, level=level))
    assert set(found) == {f"{threshold}{name}" for threshold in ("ECL", "NT", "ID")}
    ECL, NT, ID = (found[f"{threshold}{name}"].value for threshold in ("ECL", "NT", "ID"))
    assert fit.predict(means.d, ECL, means.rho) == pytest.approx(level, abs=1e-6)
    assert fit.predict(ID, 10**means.log10_N, means.rho) == pytest.approx(level, abs=2e-4)
    if not np.isnan(NT):
        assert fit.predict(means.d, 10**means.log10_N, NT) == pytest.approx(level, abs=1e-6)
    for threshold in found.values():
        if threshold.status == "crossing":
            assert threshold.low <= threshold.value <= threshold.high


def test_a_level_that_is_never_reached_is_one_line(cells):
    fit = fit_load_glm(cells, "options", True)
    for level in (0.1, 0.99, 0, 1, float("nan")):
        with pytest.raises(ValueError, match="level must lie between the guess rate at the mean d"):
            fit.thresholds(level=level)
    assert fit.thresholds(level=0.8).NT80.status == "always below 80 %"


@pytest.mark.parametrize("guess", [0.5, 0.7])
def test_guesses_that_solve_half_leave_no_threshold_but_a_reason(cells, guess):
    right = (guess * (cells["successes"] + cells["failures"])).round()
    right += ((1 - guess) * cells["successes"]).round()
    failures = cells["successes"] + cells["failures"] - right
    fit = fit_load_glm(cells.assign(successes=right, failures=failures), guess=guess)
    for threshold in vars(fit.thresholds()).values():
        assert threshold.note == "guesses solve half of the puzzles or more"
        assert np.isnan(threshold.value)
    assert "guesses solve half" in fit.summary()
    assert fit.thresholds(level=(1 + guess) / 2)


def test_no_lapses_are_a_rate_of_0_without_an_error():
    run = simulate(TABLE_2.loc["o4-mini-2025-04-16"].to_numpy(float), 0, 100,
                   np.random.default_rng(4), 0 * CHANCE)  # fmt: skip
    run = run[run["N"] > 20]  # nothing near 100 % to tell lapses by
    fit = fit_load_glm(run, lapse=True)
    assert fit.lapse == 0
    assert np.isnan(fit.bse["lapse"])
    assert "its bound" in fit.problems["lapse"]
    plain = fit_load_glm(run)
    assert fit.llf >= plain.llf - 1e-6


def test_interactions_are_those_of_the_glm_that_has_them(cells):
    rows = fit_load_glm(cells, interactions=True)
    d, n = DESIGN[:, 1], DESIGN[:, 2]
    wide = np.column_stack([DESIGN, d * n, d * RHO, n * RHO, d * n * RHO])
    counts = cells[["successes", "failures"]].to_numpy()
    expected = sm.GLM(counts, wide, family=sm.families.Binomial()).fit(tol=1e-12)
    assert list(rows.params.index) == [*TERMS, *INTERACTIONS]
    np.testing.assert_allclose(rows.params, expected.params, rtol=1e-5)
