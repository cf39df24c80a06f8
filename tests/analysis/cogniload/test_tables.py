"""The tables: against the paper's printed figures and formulas."""

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import GRID, make_samples, simulate_counts, write_run

from cogniload_analysis import (
    accuracy_table,
    fit_load_glm,
    published_table,
    ranking_table,
    read_samples,
    token_table,
)
from cogniload_analysis.cogniload.sections.errors import WRONG_OUTCOMES, outcomes_by, tokens_at
from cogniload_analysis.cogniload.sections.first_screen import (
    choose_threshold,
    overview_table,
    say_capacity,
)
from cogniload_analysis.stats import wilson_interval
from cogniload_gen.cogniload.score import Outcome

COLUMNS = ["beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2"]


def rebuild_samples(table, knob):
    """The responses that the counts of a published table stand for, a row each."""
    wrong = list(WRONG_OUTCOMES)
    counts = table.rename(columns=WRONG_OUTCOMES)
    counts["correct_valid"] = counts["samples"] - table[wrong].sum(axis=1)
    long = counts.melt(["model", knob], [*WRONG_OUTCOMES.values(), "correct_valid"])
    rows = long.loc[long.index.repeat(long["value"])].reset_index(drop=True)
    outcome = rows["variable"].astype(pd.CategoricalDtype(list(Outcome)))
    rows["model"] = rows["model"].astype("category")
    return rows.assign(outcome=outcome, correct=outcome.str.startswith("correct"))


@pytest.mark.parametrize("knob", ["d", "N"])
def test_rebuilt_samples_give_back_every_printed_percentage_and_count(knob):
    published = published_table(f"outcomes_by_{knob}")
    samples = rebuild_samples(published, knob)
    expected = published.sort_values(["model", knob], ignore_index=True)
    shown = outcomes_by(samples, knob, 4).shown
    errors = ["ctx", "valid-logic", "poi-logic", "last-logic", "other"]
    assert list(shown.columns) == ["Model", knob, "Samples", "Acc [%]", *errors]
    printed = shown.drop(columns="Model").astype(int).to_numpy()
    np.testing.assert_array_equal(printed, expected.drop(columns="model").to_numpy())
    assert len(shown) == {"d": 110, "N": 88}[knob]


def test_wilson_intervals_are_the_papers_formula():
    """Appendix C, with its z."""
    k, n, z = np.array([0, 3, 50, 99, 100]), 100, 1.644853627
    p = k / n
    centre, spread = p + z**2 / (2 * n), z * np.sqrt((p * (1 - p) + z**2 / (4 * n)) / n)
    frame = pd.DataFrame(
        [(str(right), index < right) for right in k for index in range(n)],
        columns=["model", "correct"],
    ).astype({"model": pd.CategoricalDtype(list(map(str, k)))})
    table = accuracy_table(frame)
    np.testing.assert_allclose(table["low"], (centre - spread) / (1 + z**2 / n), atol=1e-9)
    np.testing.assert_allclose(table["high"], (centre + spread) / (1 + z**2 / n), atol=1e-9)
    assert table["correct"].tolist() == k.tolist()


def test_rounding_leads_no_interval_astray():
    n = np.arange(1.0, 100.0)
    for low, high in (wilson_interval(0 * n, n), wilson_interval(n, n)):
        assert (low >= 0).all() and (high <= 1).all()


def test_tokens_are_set_as_in_the_paper():
    frame = pd.DataFrame(
        {
            "model": pd.Categorical(["m"] * 11 + ["n"]),
            "N": 20,
            "d": 1,
            "prompt_tokens": [*range(300, 311), np.nan],
            "response_tokens": [*range(0, 1100, 100), np.nan],
        }
    )
    table = token_table(frame)
    assert table[["model", "prompt_tokens_mean", "prompt_tokens_p90"]].to_numpy().tolist() == [
        ["m", 305, 309]
    ]
    shown = tokens_at(20, table).shown
    assert shown.to_dict("records") == [{"Model": "m", "d = 1": "P305[309] | O500[900]"}]


@pytest.fixture(scope="module")
def glms():
    table = published_table("glm").set_index("model")[COLUMNS]
    generator = np.random.default_rng(4)
    return {
        f"my {model}": fit_load_glm(simulate_counts(table.loc[model], 20, generator))
        for model in ("Qwen3-32B", "o3-2025-04-16", "DS-Qwen-1.5B")
    }


def test_new_models_take_their_place_among_the_published(glms):
    ranking = ranking_table(glms)
    assert ranking["source"].value_counts().to_dict() == {"published": 22, "this report": 3}
    placed = ranking.dropna(subset="ECL50")
    assert ranking["crossing"].fillna(ranking["ECL50"]).is_monotonic_decreasing
    mine = ranking.set_index("model").loc["my Qwen3-32B"]
    assert mine["low"] < mine["ECL50"] < mine["high"]
    assert mine["rank"] == 1 + (placed["ECL50"] > mine["ECL50"]).sum()


def test_a_model_that_cannot_be_ranked_says_why():
    cells = simulate_counts([7, -0.3, -2.7, -3, 2.7], 20, np.random.default_rng(1))
    glm = fit_load_glm(cells[cells["d"] == 10])
    last = ranking_table({"hard only": glm}).iloc[-1]
    assert last["model"] == "hard only"
    assert np.isnan(last["ECL50"])
    assert last["note"].startswith("can't hold d at 5.2, where the data have 10")


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
    return overview_table(frame, ranking_table(glms)).set_index("model", drop=False)


def test_the_best_comes_first_and_what_has_no_place_last(overview):
    assert overview["rank"].dropna().to_dict() == {"perfect": 1, "good": 2, "poor": 3}
    assert list(overview.index[:3]) == ["perfect", "good", "poor"]
    assert np.isnan(overview.loc["perfect", "ECL50"])


def test_the_headline_says_what_a_model_carries_or_that_it_is_unknown(overview):
    headlines = {row["model"]: say_capacity(row) for row in overview.to_dict("records")}
    assert headlines["perfect"].startswith("Solves every puzzle")
    assert headlines["level"].endswith("is not determined.")
    for model in ("good", "poor"):
        row = overview.loc[model]
        assert headlines[model].startswith(f"Carries {row['ECL50']:.0f} statements: ECL50 (proj")
        assert f"place {row['place']:.0f} of 23" in headlines[model]
        published = published_table("glm")["ECL50"]
        assert row["place"] == 1 + (published > row["ECL50"]).sum()
    assert "place" not in headlines["easy only"]


def test_without_a_projection_the_crossing_fills_its_place_and_ranks(overview):
    mine = pd.DataFrame({"N": [10, 400]})
    ranked = pd.Series({"ECL50": np.nan, "low": np.nan, "high": np.nan, "crossing": 56.0})
    ranked = pd.concat([ranked, pd.Series({"crossing_low": 49.0, "crossing_high": 65.0})])
    ranked = pd.concat([ranked, pd.Series({"min_tested": 10, "max_tested": 400})])
    others = pd.DataFrame({"ECL50": [300.0, 80.0, 20.0], "crossing": [np.nan, 55.0, 21.0]})
    chosen = choose_threshold(mine, ranked, others)
    assert (chosen["meaning"], chosen["ECL50"], chosen["place"]) == ("crossing", 56, 2)
    outside = choose_threshold(mine, ranked.replace({56.0: np.inf}), others)
    assert np.isnan(outside["place"])
    anywhere = choose_threshold(mine, ranked.replace({49.0: 9.0, 65.0: 401.0}), others)
    assert np.isnan(
        [anywhere[name] for name in ("ECL50", "ECL50_low", "ECL50_high", "place")]
    ).all()
