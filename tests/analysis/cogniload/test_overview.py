"""The first screen: which models are ranked, in which order, and what is said of the others."""

import numpy as np
import pytest
from lm_eval_layout import GRID, make_samples, write_run

from cogniload_analysis import accuracy_table, fit_load_glm, ranking_table, read_samples
from cogniload_analysis.cogniload import tables
from cogniload_analysis.cogniload.overview import overview_table, say_overview

COARSE = GRID[GRID["rho_percent"].isin([5, 50, 95])]
MODELS = {
    "perfect": ([50, 0, 0, 0, 0], COARSE),
    "good": ([9.5, -0.35, -2.75, -3.21, 2.75], COARSE),
    "poor": ([7.2, -0.35, -2.75, -3.21, 2.75], COARSE),
    "level": ([0, 0, 0, 0, 0], COARSE),
    "easy only": ([9.5, -0.35, -2.75, -3.21, 2.75], COARSE[COARSE["d"] < 5]),
}


@pytest.fixture(scope="module")
def overview(tmp_path_factory):
    """The table of models with the coefficients and the cells of MODELS."""
    folder = tmp_path_factory.mktemp("results")
    for seed, (model, (beta, grid)) in enumerate(MODELS.items()):
        write_run(folder, model, make_samples(beta, 3, seed, grid=grid, words=2))
    frame = read_samples(folder)
    glms = {str(model): fit_load_glm(rows) for model, rows in frame.groupby("model", observed=True)}
    data = {
        "accuracy": accuracy_table(frame),
        "glm": tables.glm_table(glms),
        "ranking": ranking_table(glms),
    }
    return overview_table(frame, data).set_index("model", drop=False)


def test_the_best_comes_first_and_what_has_no_place_last(overview):
    assert overview["rank"].dropna().to_dict() == {"perfect": 1, "good": 2, "poor": 3}
    assert list(overview.index[:3]) == ["perfect", "good", "poor"]
    assert np.isnan(overview.loc["perfect", "ECL50"])


def test_the_reason_why_a_model_is_unranked_is_its_own(overview):
    said = {row["model"]: say_overview(row) for row in overview.to_dict("records")}
    assert said["perfect"].startswith("perfect solves 100.0 %")
    assert not any("unranked" in said[model] for model in ("perfect", "good", "poor"))
    assert said["level"].endswith("; unranked, as it has no ECL50 (projection).")
    easy = said["easy only"]
    assert easy.endswith("; unranked, as its puzzles do not cover the paper's d and N.")
