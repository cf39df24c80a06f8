"""Both meanings of the thresholds, and how well the GLM fits, against computations made apart."""

import numpy as np
import pandas as pd
import pytest

from cogniload_analysis import (
    PAPER_MEANS,
    estimate_capacity,
    fit_load_glm,
    goodness_of_fit,
)
from cogniload_analysis.cogniload import tables
from cogniload_analysis.cogniload.capacity.curve import Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import (
    GLM_LINK,
    PAPER_GRID,
    compare_fits,
    covers_grid,
    curve_crossing,
    refit_published,
)

TRUTH = refit_published("Qwen3-32B", Link(), interactions=True)


@pytest.fixture(scope="module")
def grid():
    """A whole grid that was answered by a curve with a floor and interactions: 100 a cell."""
    d, N, rho = (PAPER_GRID[load].to_numpy() for load in ("d", "N", "rho"))
    right = np.random.default_rng(5).binomial(100, TRUTH.accuracy(d, N, rho))
    return PAPER_GRID.assign(successes=right, failures=100 - right)


def test_on_a_grid_the_crossing_is_near_the_truth_and_the_projection_elsewhere(grid):
    glm, capacity = fit_load_glm(grid), estimate_capacity(grid)
    table = tables.meaning_table({"m": glm}, {"m": capacity}).set_index("threshold")
    row = table.loc["ECL50"]
    assert curve_crossing(TRUTH) == pytest.approx(46.1, abs=0.1)
    assert row["crossing"] == pytest.approx(46.1, rel=0.06)
    assert row["crossing_low"] < 46.1 < row["crossing_high"]
    assert row["projection"] == pytest.approx(55.4, rel=0.05)
    assert not row["projection_low"] < 46.1 < row["projection_high"]
    assert row["difference"] == pytest.approx(row["crossing"] / row["projection"] - 1)
    apart = capacity.ID50.value - glm.thresholds(PAPER_MEANS).ID50.value
    assert table.loc["ID50", "difference"] == pytest.approx(apart)


def test_the_fit_of_a_grid_with_a_floor_is_best_with_a_floor(grid):
    """The chi-square by a loop over the levels; the floor's curves meet the GLM's own equations."""
    glm = fit_load_glm(grid)
    found = compare_fits(glm)
    cells, by_hand = glm.cells, 0.0
    fitted = glm.predict(cells["d"], cells["N"], cells["rho"])
    for load in ("d", "N", "rho"):
        for level in cells[load].unique():
            at = (cells[load] == level).to_numpy()
            expected, total = 100 * fitted[at], 100 * at.sum()
            spread = (expected * (1 - fitted[at])).sum()
            by_hand += (cells["successes"][at].sum() - expected.sum()) ** 2 / spread
            assert total
    assert found["plain"] == pytest.approx(by_hand)
    assert found["degrees"] == 4 + 3 + 6 - 4
    assert found["both"] < 25 < found["plain"]
    assert found["p"] < 0.001
    (row,) = tables.fit_table({"m": glm}).to_dict("records")
    assert row["miss"] == goodness_of_fit(glm).miss


def test_the_fit_of_a_grid_by_the_glm_is_said_to_fit():
    plain = refit_published("Qwen3-32B", GLM_LINK, interactions=False)
    d, N, rho = (PAPER_GRID[load].to_numpy() for load in ("d", "N", "rho"))
    right = np.random.default_rng(2).binomial(100, plain.accuracy(d, N, rho))
    glm = fit_load_glm(PAPER_GRID.assign(successes=right, failures=100 - right))
    (row,) = tables.fit_table({"m": glm}).to_dict("records")
    assert row["plain"] < 25 < row["floor"]


def test_axes_are_no_grid_and_a_grid_that_lacks_some_cells_is():
    assert covers_grid(PAPER_GRID)
    assert covers_grid(PAPER_GRID.iloc[:100])
    axes = PAPER_GRID[(PAPER_GRID["rho"] == 0.5) & (PAPER_GRID["d"] == 5)]
    more = PAPER_GRID[(PAPER_GRID["N"] == 50) & (PAPER_GRID["d"] == 5)]
    third = PAPER_GRID[(PAPER_GRID["N"] == 50) & (PAPER_GRID["rho"] == 0.5)]
    assert not covers_grid(pd.concat([axes, more, third]).drop_duplicates())
