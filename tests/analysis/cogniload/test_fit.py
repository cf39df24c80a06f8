"""How well the GLM fits: the page's figures, published projections, and a planted misfit."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from lm_eval_layout import simulate_counts
from published_fits import compare_published_fits, published_margins
from scipy.optimize import brentq

from cogniload_analysis import fit_load_glm, goodness_of_fit, published_table
from cogniload_analysis.cogniload.capacity.curve import Link
from cogniload_analysis.cogniload.capacity.goodness_of_fit import (
    GLM_LINK,
    PAPER_GRID,
    covers_grid,
    curve_crossing,
    refit_published,
)
from cogniload_analysis.cogniload.glm import TERMS

PAGE = " ".join((Path(__file__).parents[3] / "docs/glm_fit.md").read_text("utf-8").split())
TABLE_2 = published_table("glm").set_index("model")


def test_the_pages_chi_squares_and_misses_are_those_of_the_tables():
    fits, of_both = compare_published_fits()
    plain, both = fits.median(), of_both.median()
    assert f"by {plain.miss:.1f} points in the median" in PAGE
    assert f"by up to {fits['miss'].max():.1f}" in PAGE
    assert f"it is {both.miss:.1f} points" in PAGE
    assert f"median from {plain.chi_square:.0f} to {both.chi_square:.0f}" in PAGE


def test_the_pages_crossings_are_where_the_curves_pass_half():
    models = TABLE_2.index[TABLE_2["ECL50"].between(8, 400)]
    apart = pd.Series(dtype=float)
    for model in models:
        found = []
        for link, interactions in ((GLM_LINK, False), (Link(), True)):
            curve = refit_published(model, link, interactions=interactions)
            root = brentq(lambda N, c=curve: c.accuracy(5.2, N, 0.5)[0] - 0.5, 1, 2000)
            assert curve_crossing(curve) == pytest.approx(root, rel=1e-6)
            found.append(root)
        assert found[0] == pytest.approx(TABLE_2.loc[model, "ECL50"], rel=0.03)
        apart[model] = 100 * (found[1] / found[0] - 1)
    assert f"{-apart.median():.0f} % below the projection" in PAGE
    assert f"the {len(models)} published models" in PAGE
    least, most = (f"{apart[at]:+.0f} % ({at})" for at in (apart.idxmin(), apart.idxmax()))
    assert f"from {least} to {most}" in PAGE


def test_the_pages_sampling_errors_are_those_of_the_counts():
    margins = published_margins()
    error = 100 * np.sqrt(margins["accuracy"] * (1 - margins["accuracy"]) / margins["n"])
    large = margins["n"] > 1000
    printed = re.search(r"about ([\d.]+) points for .* and ([\d.]+) for", PAGE)
    assert printed.groups() == (f"{error[large].median():.1f}", f"{error[~large].median():.1f}")


@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("model", ["gemini-2.5-pro", "Qwen3-32B", "DS-Qwen-7B"])
def test_the_glm_of_a_refitted_curve_is_table_2s(model, interactions):
    """Fitted by statsmodels alone, to the curve's own accuracies on the paper's grid."""
    curve = refit_published(model, Link(), interactions=interactions)
    assert curve.solved
    d, N, rho = (PAPER_GRID[load].to_numpy(float) for load in ("d", "N", "rho"))
    design = np.column_stack([np.ones(140), d, np.log10(N), rho, rho**2])
    with np.errstate(all="ignore"):
        fit = sm.GLM(curve.accuracy(d, N, rho), design, family=sm.families.Binomial()).fit(
            tol=1e-12
        )
    np.testing.assert_allclose(fit.params, TABLE_2.loc[model, list(TERMS)].astype(float), atol=1e-3)


def test_the_interactions_are_table_3s():
    """The fourth differences of the logits over d, N and rho give the printed coefficients back."""
    curve = refit_published("QwQ-32B", Link(), interactions=True)

    def logit(d, N, rho):
        bottom = 0.9 / max(d + 1, 3)
        share = (curve.accuracy(d, N, rho)[0] - bottom) / (0.99 - bottom)
        return np.log(share / (1 - share))

    def by_d_and_N(rho):
        return logit(4, 100, rho) - logit(3, 100, rho) - logit(4, 10, rho) + logit(3, 10, rho)

    printed = published_table("interactions").set_index("model").loc["QwQ-32B"]
    assert by_d_and_N(1) - by_d_and_N(0) == pytest.approx(printed["beta_dNrho"], abs=1e-6)
    assert by_d_and_N(0) == pytest.approx(printed["beta_dN"], abs=1e-6)


def test_a_fit_that_is_right_has_a_small_chi_square():
    counts = simulate_counts(TABLE_2.loc["Qwen3-32B", list(TERMS)], 100, np.random.default_rng(3))
    glm = fit_load_glm(counts)
    fit = goodness_of_fit(glm)
    assert fit.miss < 4 * fit.sampling_error
    assert fit.p > 0.01


def test_a_planted_misfit_is_found_where_it_is():
    rng = np.random.default_rng(4)
    counts = simulate_counts(TABLE_2.loc["Qwen3-32B", list(TERMS)], 100, rng)
    bent = counts["d"] == 3
    moved = (counts["failures"] * 0.4).round().astype(int).where(bent, 0)
    counts["successes"] += moved
    counts["failures"] -= moved
    glm = fit_load_glm(counts)
    fit = goodness_of_fit(glm)
    assert fit.where == "d = 3"
    assert fit.miss > 5
    assert fit.p < 1e-6


def answer_grid(link, *, interactions, seed):
    """Return a GLM of a whole grid that a published curve answered: 100 a cell."""
    curve = refit_published("Qwen3-32B", link, interactions=interactions)
    chance = curve.accuracy(*PAPER_GRID[["d", "N", "rho"]].to_numpy().T)
    right = np.random.default_rng(seed).binomial(100, chance)
    return fit_load_glm(PAPER_GRID.assign(successes=right, failures=100 - right))


def test_the_margins_of_a_grid_with_a_floor_are_missed():
    """The chi-square by a loop over the levels."""
    glm = answer_grid(Link(), interactions=True, seed=5)
    fit = goodness_of_fit(glm)
    cells, by_hand = glm.cells, 0.0
    fitted = glm.predict(cells["d"], cells["N"], cells["rho"])
    for load in ("d", "N", "rho"):
        for level in cells[load].unique():
            at = (cells[load] == level).to_numpy()
            expected, spread = 100 * fitted[at].sum(), 100 * (fitted * (1 - fitted))[at].sum()
            by_hand += (cells["successes"][at].sum() - expected) ** 2 / spread
    assert fit.chi_square == pytest.approx(by_hand)
    assert fit.degrees == 4 + 3 + 6 - 4
    assert fit.chi_square > 25
    assert fit.p < 0.001
    assert goodness_of_fit(answer_grid(GLM_LINK, interactions=False, seed=2)).chi_square < 25


def test_axes_are_no_grid_and_a_grid_that_lacks_some_cells_is():
    assert covers_grid(PAPER_GRID)
    assert covers_grid(PAPER_GRID.iloc[:100])
    axes = PAPER_GRID[(PAPER_GRID["rho"] == 0.5) & (PAPER_GRID["d"] == 5)]
    more = PAPER_GRID[(PAPER_GRID["N"] == 50) & (PAPER_GRID["d"] == 5)]
    third = PAPER_GRID[(PAPER_GRID["N"] == 50) & (PAPER_GRID["rho"] == 0.5)]
    assert not covers_grid(pd.concat([axes, more, third]).drop_duplicates())
