"""Thresholds at other levels of accuracy, and of a GLM with interactions."""

import numpy as np
import pytest
import statsmodels.api as sm
from lm_eval_layout import GRID
from scipy.special import expit

from cogniload_analysis import LoadMeans, fit_load_glm, published_table
from cogniload_analysis.cogniload.glm import INTERACTIONS, TERMS

BETA = published_table("glm").set_index("model").loc["Qwen3-8B", list(TERMS)].to_numpy(float)
RHO = (GRID["rho_percent"] / 100).to_numpy()
DESIGN = np.column_stack([np.ones(len(GRID)), GRID["d"], np.log10(GRID["N"]), RHO, RHO**2])


@pytest.fixture(scope="module")
def cells():
    right = np.random.default_rng(1).binomial(100, expit(DESIGN @ BETA))
    loads = GRID[["d", "N"]].assign(rho=RHO)
    return loads.assign(successes=right, failures=100 - right)


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
    d, n = DESIGN[:, 1], DESIGN[:, 2]
    wide = np.column_stack([DESIGN, d * n, d * RHO, n * RHO, d * n * RHO])
    counts = cells[["successes", "failures"]].to_numpy()
    expected = sm.GLM(counts, wide, family=sm.families.Binomial()).fit(tol=1e-12)
    assert list(rows.params.index) == [*TERMS, *INTERACTIONS]
    np.testing.assert_allclose(rows.params, expected.params, rtol=1e-5)
