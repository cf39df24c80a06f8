"""What answers to right traces foretell, of simulated models whose hazards are known."""

import numpy as np
import pandas as pd
import pytest

from cogniload_analysis.cogniload.sections.next_values import foretell, free_running, next_findings

LEVELS, PUZZLES = (10, 40, 160), 12


def ask(hazards, seed, d=1):
    """A simulated model's answers to all questions of some puzzles, one row a question.

    `hazards` are those of a needle and of a hay.
    """
    rng = np.random.default_rng(seed)
    rows = [
        (N, f"{N}-{number}", kind, hazard)
        for N in LEVELS for number in range(PUZZLES)
        for kind, hazard in zip(("needle", "hay"), hazards, strict=True) for _ in range(N * d // 2)
    ]  # fmt: skip
    data = pd.DataFrame(rows, columns=["N", "id", "kind", "hazard"])
    return data.assign(wrong=rng.random(len(data)) < data["hazard"])


@pytest.mark.parametrize("hazards", [(0.05, 0.01), (0.002, 0.03)])
def test_hazards_and_the_foretold_length_lie_in_their_intervals_in_19_of_20(hazards):
    """Of 60 seeds; at such hazards, some levels have no error at all."""
    inside = {"needle": [], "hay": [], "ECL50": []}
    # by itself: 1/3 + 2/3 s = 1/2 where s, the product over N/2 of either kind, is 1/4
    length = np.log(4) / -(np.log1p(-np.array(hazards)) / 2).sum()
    for seed in range(60):
        found = foretell(ask(hazards, seed), 1).numbers(0.5)
        for name, true in zip(inside, (*hazards, length), strict=True):
            inside[name].append(found[name].low <= true <= found[name].high)
    assert all(np.mean(each) >= 0.88 for each in inside.values()), inside


def test_intervals_are_by_puzzle():
    """Questions of one puzzle that err together say less than as many apart."""
    rows = ask((0.1, 0.1), 3)
    alike = rows.assign(wrong=rows.groupby("id")["wrong"].transform("first"))
    widths = []
    for asked in (rows, alike):
        found = foretell(asked, 1).numbers(0.5)["needle"]
        widths.append(found.high - found.low)
    assert widths[1] > 3 * widths[0]


@pytest.mark.parametrize("d", [1, 3, 8])
def test_accuracy_is_the_product_of_the_chances_and_falls_to_a_guess(d):
    of = foretell(ask((0.02, 0.01), 0, d), d)
    h = of.hazards[0]
    for place, N in enumerate(LEVELS):
        told = (1 - h[place, 0]) ** (d * N / 4) * (1 - h[place, 1]) ** (d * 3 * N / 4)
        guess = 1 / max(d + 1, 3)
        assert of.accuracy(np.array([N]), 0.25)[0, 0] == pytest.approx(
            told + (1 - told) * guess, rel=1e-6
        )
    assert of.accuracy(np.array([1e5]), 0.5)[0, 0] == pytest.approx(1 / max(d + 1, 3))
    length = of.numbers(0.5)["ECL50"].value
    assert of.accuracy(np.array([length]), 0.5)[0, 0] == pytest.approx(0.5, abs=0.01)


def test_a_model_without_an_error_has_no_end_and_yet_a_hazard():
    found = foretell(ask((0, 0), 0), 1).numbers(0.5)
    assert found["ECL50"].value == found["ECL50"].high == np.inf
    assert found["needle"].value == 0 < found["needle"].low < found["needle"].high < 0.02


def frame_of(model, questions, d=1):
    """The same answers as logged samples: a row a puzzle."""
    rows = []
    for (N, id), asked in questions.groupby(["N", "id"]):
        answered = [
            {
                "statement": place % N + 1,
                "category": "hair",
                "kind": kind,
                "wrong": wrong,
                "bits": 0.5,
            }
            for place, (kind, wrong) in enumerate(zip(asked["kind"], asked["wrong"], strict=True))
        ]
        rows.append(
            {"N": N, "id": f"p{id}", "answered": answered, "correct": not asked["wrong"].any()}
        )
    return pd.DataFrame(rows).assign(model=model, served=model, d=d, rho=0.5)


def test_the_section_tells_hazards_by_model_and_what_reasoning_aloud_adds():
    good, bad = (ask(hazards, 1) for hazards in ((0.01, 0.001), (0.1, 0.2)))
    frame = pd.concat([frame_of("good", good), frame_of("bad", bad)])
    findings = next_findings(frame, {})
    (section,) = findings.sections
    figure, table, _ = section.content
    assert [panel.title for panel in figure.panels] == ["Behind a hay", "Behind a needle"]
    found = table.data.set_index("model")
    assert found.loc["bad", "hay"] > 10 * found.loc["good", "hay"]
    assert found.loc["bad", "ECL50"] < found.loc["good", "ECL50"]
    assert [verdict.name for verdict in findings.verdicts] == ["bad", "good"]
    N = np.repeat([10, 40, 5000], 400)
    shares = foretell(good, 1).accuracy(N, np.full(len(N), 0.5))[0]
    rng = np.random.default_rng(0)
    for shift in (0, -0.3):
        aloud = pd.DataFrame({"model": "good", "served": "runs/good", "d": 1, "N": N, "rho": 0.5})
        aloud["correct"] = rng.random(len(N)) < shares + shift
        (beside,) = free_running(frame, {"CogniLoad": aloud})
        (row,) = beside.content[0].data.to_dict("records")
        assert row["responses"] == 800  # none is foretold at an N that was not asked about
        assert row["low"] < shift < row["high"]
    assert free_running(frame, {"CogniLoad": aloud.assign(served="other")}) == []
    assert free_running(frame, {}) == []
