"""The tables: against the paper's printed figures and formulas."""

import numpy as np
import pandas as pd
import pytest

from cogniload_analysis import accuracy_table, published_table, token_table
from cogniload_analysis.cogniload.sections.errors import (
    WRONG_OUTCOMES,
    outcomes_by,
    tabulate_tokens,
)
from cogniload_gen.cogniload.score import Outcome


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
    assert list(shown.columns) == ["Model", knob, "Samples", "Acc [%]", *WRONG_OUTCOMES.values()]
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
    shown = tabulate_tokens(table).shown
    assert shown.to_dict("records") == [{"Model": "m", "N": "20", "d = 1": "P305[309] | O500[900]"}]
