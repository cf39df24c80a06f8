"""Ranks: among the published models and among a report's runs, with their intervals."""

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import GRID, make_samples, simulate_counts, write_run

from cogniload_analysis import fit_load_glm, published_table, ranking_table, read_samples
from cogniload_analysis.cogniload.first_screen import overview_table, rank_runs, say_capacity
from cogniload_analysis.cogniload.fitted import Fitted
from cogniload_analysis.matters import tell_together

PUBLISHED = published_table("glm").set_index("model")
SITE = published_table("site_2026").set_index("model")
NEW = ["gpt-oss-120b-medium", "gpt-oss-120b-high", "Qwen3-Next-80B-A3B-Thinking-FP8"]
NEW += ["gpt-oss-20b-medium", "gpt-oss-20b-high", "GLM-Z1-32B-0414"]
RANKED = pd.concat([PUBLISHED["ECL50"], SITE.loc[NEW, "ECL50"]])
BETA = PUBLISHED[["beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2"]]
COARSE = GRID[GRID["rho_percent"].isin([5, 50, 95])]
MODELS = {
    "perfect": ([50, 0, 0, 0, 0], COARSE),
    "good": ([9.5, -0.35, -2.75, -3.21, 2.75], COARSE),
    "poor": ([7.2, -0.35, -2.75, -3.21, 2.75], COARSE),
    "level": ([0, 0, 0, 0, 0], COARSE),
    "uneven": ([9.5, -0.35, -2.75, -3.21, 2.75], COARSE[COARSE["d"].isin([1, 3, 7, 10])]),
    "easy only": ([9.5, -0.35, -2.75, -3.21, 2.75], COARSE[COARSE["d"] < 5]),
}


def test_new_models_take_their_places_among_the_published():
    generator = np.random.default_rng(4)
    names = ("Qwen3-32B", "o3-2025-04-16", "DS-Qwen-1.5B")
    glms = {
        f"my {name}": fit_load_glm(simulate_counts(BETA.loc[name], 20, generator)) for name in names
    }
    ranking = ranking_table(glms)
    sources = {"published": 22, "authors' site, 2026": 6, "this report": 3}
    assert ranking["source"].value_counts().to_dict() == sources
    assert ranking["ECL50"].is_monotonic_decreasing
    for name in names:
        mine = ranking.set_index("model").loc[f"my {name}"]
        better = [(RANKED > mine[end]).sum() for end in ("high", "ECL50", "low")]
        assert (mine["rank"], mine["rank_worst"]) == (1 + better[0], 1 + better[2])
        assert mine["rank"] <= 1 + better[1] <= mine["rank_worst"]
    published = ranking[ranking["source"] != "this report"].set_index("model")
    assert published["rank"].to_dict() == RANKED.rank(ascending=False, method="min").to_dict()
    assert published.loc["DS-R1-0528", "overflow"] == SITE.loc["DeepSeek-R1-0528", "overflow"]
    assert published["overflow"].notna().sum() == len(SITE)
    assert published["crossing_rank"].notna().sum() == PUBLISHED["ECL50"].between(8, 400).sum()


def test_a_model_that_cannot_be_ranked_says_why():
    cells = simulate_counts([7, -0.3, -2.7, -3, 2.7], 20, np.random.default_rng(1))
    glm = fit_load_glm(cells[cells["d"] == 10])
    last = ranking_table({"hard only": glm}).iloc[-1]
    assert last["model"] == "hard only"
    assert last[["rank", "crossing_rank", "ECL50"]].isna().all()
    assert last["note"].startswith("can't hold d at 5.2, where the data have 10")


USUAL = {"at_chance": False, "loads": "d = 1", "meaning": "crossing"}
RANKING = ["rank", "crossing_rank", "ECL50", "low", "high"]
RANKING += ["crossing", "crossing_low", "crossing_high"]


def rank(rows, perfect=(), **columns_of_runs):
    """The ranks of runs by their rows of a ranking, and why others have none."""
    ranking = pd.DataFrame.from_dict(rows, "index", columns=RANKING, dtype=float)
    ends = ranking[["crossing", "crossing_low", "crossing_high"]]
    ends = ends.set_axis(["ECL50", "ECL50_low", "ECL50_high"], axis=1)
    found = ends.assign(**USUAL | columns_of_runs)
    return rank_runs(found, ranking, pd.Series(found.index.isin(perfect), found.index))


def test_runs_are_ranked_by_what_they_all_have():
    """An adaptive run has a crossing alone, so grids are then ranked by their crossings too."""
    rows = {
        "grid": [1, 1, 90, 80, 100, 60, 55, 65],
        "worse grid": [1, 1, 40, 30, 50, 20, 15, 25],
        "adaptive": [np.nan, 1, np.nan, np.nan, np.nan, 70, 62, 80],
        "short": [np.nan, np.nan, 99, 90, 120, 99, 90, 120],
    }
    ranks = rank(rows)
    found = ranks[["rank", "rank_worst"]].to_numpy().tolist()
    assert found[:3] == [[1, 2], [3, 3], [1, 2]]
    assert np.isnan(found[3]).all()
    assert ranks["unranked"].tolist() == ["", "", "", "alone"]
    grids = {name: rows[name] for name in ("grid", "worse grid")}
    for perfect, expected in ((), [[1, 1], [2, 2]]), (["worse grid"], [[2, 2], [1, 1]]):
        assert rank(grids, perfect)[["rank", "rank_worst"]].to_numpy().tolist() == expected


def test_runs_at_other_loads_are_not_in_one_order():
    """Each set of loads has its own first place; a run alone at its loads, and others, say why."""
    nothing = 5 * [np.nan]
    rows = {
        name: [*nothing, at, at / 1.1, at * 1.1]
        for name, at in {"a": 50, "b": 20, "c": 400, "d": 300, "e": 7}.items()
    }
    rows |= {"unknown": 8 * [np.nan], "guesser": 8 * [np.nan]}
    loads = ["d = 1", "d = 1", "d = 3", "d = 3", "d = 9", "d = 1", "d = 1"]
    ranks = rank(rows, loads=loads, at_chance=[*6 * [False], True])
    assert ranks["rank"].tolist()[:4] == [1, 2, 1, 2]
    reasons = {"e": "alone", "unknown": "no ECL50", "guesser": "at chance"}
    assert ranks.loc[ranks["rank"].isna(), "unranked"].to_dict() == reasons


def test_the_ranks_of_equal_runs_hold_together():
    """All of 20 are first; intervals of each alone would say in a third that one is not."""
    draws, held = np.random.default_rng(5), []
    for _ in range(200):
        logs = draws.normal(size=20)
        rows = {
            str(i): [*5 * [np.nan], *np.exp([at, at - 1.96, at + 1.96])]
            for i, at in enumerate(logs)
        }
        ranks = rank(rows)
        held.append(ranks["rank"].eq(1).all() and ranks["rank_worst"].eq(20).all())
    assert np.mean(held) > 0.95


@pytest.fixture(scope="module")
def overview(tmp_path_factory):
    """The table of models with the coefficients and the cells of MODELS."""
    folder = tmp_path_factory.mktemp("results")
    for seed, (model, (beta, grid)) in enumerate(MODELS.items()):
        write_run(folder, model, make_samples(beta, 6, seed, grid=grid, words=2))
    frame = read_samples(folder)
    models = {str(model): Fitted(rows) for model, rows in frame.groupby("model", observed=True)}
    glms = {model: fitted.glm for model, fitted in models.items()}
    ranking = ranking_table(glms, {model: fitted.capacity for model, fitted in models.items()})
    effects = tell_together({model: fitted.effects for model, fitted in models.items()})
    return overview_table(models, ranking, effects).set_index("model", drop=False)


def test_the_best_comes_first_and_what_has_no_place_last(overview):
    ranks = {"perfect": 1, "good": 2, "uneven": 2, "poor": 4}
    assert overview["rank"].dropna().to_dict() == ranks
    assert overview["rank_worst"].dropna().tolist() == [1, 3, 3, 4]
    assert overview.index[0] == "perfect"
    assert overview.loc["perfect", "ECL50"] > 250


def test_the_headline_says_what_a_model_carries_or_that_it_is_unknown(overview):
    headlines = {row["model"]: say_capacity(row) for row in overview.to_dict("records")}
    assert headlines["perfect"].startswith("Solves every puzzle")
    assert "is not determined: accuracy is not known to change with N." in headlines["level"]
    for model in ("good", "poor"):
        row = overview.loc[model]
        assert headlines[model].startswith(
            f"Solves half of the puzzles at {row['ECL50']:.0f} statements ("
        )
        best, worst = (1 + (RANKED > row[end]).sum() for end in ("ECL50_high", "ECL50_low"))
        assert (
            f", places {best} to {worst} of 29 among the published projections" in headlines[model]
        )
        assert "): ECL50, a projection at d = 5.2, rho = 50 %" in headlines[model]
        assert row["ECL80_low"] < row["ECL80"] < row["ECL80_high"] < row["ECL50_high"]
    assert "place" not in headlines["easy only"]


def test_a_place_is_that_of_the_number_beside_it(overview):
    """The projection of "uneven" is at another mean of d than that of the published models."""
    row = overview.loc["uneven"]
    assert row["covers"]
    assert row["meaning"] == "projection"
    assert np.isnan(row["place"])
    assert row["rank"] > 1
