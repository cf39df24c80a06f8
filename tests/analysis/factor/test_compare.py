"""FACTOR: differences of CDF and CDO, against simulated decays."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, t

from cogniload_analysis import compare_runs, fit_complexity_decay
from cogniload_analysis.factor.decay import compare_decays

N = np.arange(1, 25)
SIMULATIONS = 20
PAIRS = [("a", "b")]


def answer(decays, puzzles, generator, context=4000):
    """Responses of models to the same puzzles, alike in which of them are hard."""
    complexity = np.repeat(N, puzzles)
    ids = np.array([f"p{place}" for place in range(len(complexity))])
    common = generator.random(len(complexity))
    frames = []
    for model, (cdf, cdo) in decays.items():
        own = generator.random(len(complexity))
        # Half of the puzzles are as hard for one model as for the other.
        ease = np.where(np.arange(len(complexity)) % 2, common, own)
        correct = ease < np.exp(np.minimum(cdf * complexity + cdo, 0))
        about = {"model": model, "suite": "symbolic", "noise": "filler", "context": context}
        frames.append(
            pd.DataFrame({"N": complexity, "id": ids, "correct": correct}).assign(**about)
        )
    return pd.concat(frames, ignore_index=True)


def test_intervals_of_the_cdf_are_as_wide_as_it_varies_and_hold_the_planted_difference():
    """Above the fitted range's low end, where luck decides nothing."""
    generator = np.random.default_rng(1)
    decays = {"a": (-0.05, -0.15), "b": (-0.065, -0.15)}
    found = pd.concat(
        [compare_decays(answer(decays, 60, generator), PAIRS) for _ in range(SIMULATIONS)]
    )
    cdf = found[found["measure"] == "CDF"]
    held = ((cdf["low"] <= 0.015) & (0.015 <= cdf["high"])).sum()
    low, _ = binom.interval(0.999, SIMULATIONS, 0.95)
    assert held >= low
    error = ((cdf["high"] - cdf["low"]) / 2 / t.ppf(0.975, 19)).mean()
    assert 0.65 < error / cdf["difference"].std() < 1.5


def test_the_differences_are_those_of_the_models_fits():
    frame = pd.concat(
        [
            answer({"a": (-0.05, 0.3), "b": (-0.1, 0.3)}, 40, np.random.default_rng(2), context)
            for context in (0, 8000)
        ]
    )
    found = compare_runs(frame).measures
    assert len(found) == 4
    assert set(found["condition"]) == {
        "symbolic, 0 tokens, noise filler",
        "symbolic, 8K tokens, noise filler",
    }
    for context, label in ((0, "0"), (8000, "8K")):
        there = frame[frame["context"] == context]
        fits = [fit_complexity_decay(there[there["model"] == model]) for model in "ab"]
        rows = found[found["condition"].str.contains(f" {label} tokens")].set_index("measure")
        assert rows.loc["CDF", "difference"] == pytest.approx(fits[0].cdf - fits[1].cdf)
        assert rows.loc["CDO", "first_value"] == pytest.approx(fits[0].cdo)
        assert rows.loc["CDF", "low"] < rows.loc["CDF", "difference"] < rows.loc["CDF", "high"]


def test_what_has_no_decay_says_so():
    frame = answer({"a": (-0.05, 0.3), "b": (0, 0)}, 20, np.random.default_rng(3))
    found = compare_decays(frame, PAIRS)
    assert found["difference"].isna().all()
    assert found["p"].isna().all()
    assert found["note"].str.contains("can't be fitted").all()
