"""Accuracy by response budget: counted by hand, and against runs whose limit was set."""

import numpy as np
import pandas as pd
import pytest

from cogniload_analysis import budget_curve
from cogniload_analysis.cogniload.sections.budgets import (
    budgets_sections,
    compare_stopped,
    effort_table,
    find_budget,
)
from cogniload_analysis.samples.stop_reasons import CUT, ENDED
from cogniload_analysis.stats import clustered_interval, wilson_interval


def answer(model="m", puzzles=20, seed=0, speed=10):
    """Responses whose tokens grow with N, and which fail more at long N."""
    generator = np.random.default_rng(seed)
    cells = pd.MultiIndex.from_product(
        [[1, 5], [10, 40, 160], [0.25, 0.75]], names=["d", "N", "rho"]
    )
    frame = cells.to_frame(index=False).loc[lambda each: each.index.repeat(puzzles)]
    frame = frame.reset_index(drop=True)
    return frame.assign(
        model=model,
        base_model="M",
        id=[f"p{number}" for number in range(len(frame))],
        correct=generator.random(len(frame)) < 1 / (1 + frame["N"] / 80),
        response_tokens=np.ceil(frame["N"] * speed * generator.lognormal(0, 0.5, len(frame))),
        ending=ENDED,
    )


def stop_at(frame, limit):
    """The same responses from a run whose limit is set."""
    cut = frame["response_tokens"] > limit
    return frame.assign(
        correct=frame["correct"] & ~cut,
        response_tokens=frame["response_tokens"].clip(upper=limit),
        ending=np.where(cut, CUT, ENDED),
    )


def test_a_budget_counts_what_was_right_within_it():
    frame = answer()
    table = budget_curve(frame)
    longest = frame["response_tokens"].max()
    assert table["budget"].tolist() == [256, 512, 1024, 2048, 4096, longest]
    for row in table.to_dict("records"):
        pairs = list(zip(frame["correct"], frame["response_tokens"], strict=True))
        right = sum(correct and tokens <= row["budget"] for correct, tokens in pairs)
        assert row["accuracy"] == row["most"] == pytest.approx(right / 240)
        assert (row["low"], row["high"]) == pytest.approx(wilson_interval(right, 240))
        spent = sum(min(tokens, row["budget"]) for _, tokens in pairs)
        assert row["tokens_per_solved"] == pytest.approx(spent / right)
    assert table["accuracy"].is_monotonic_increasing
    assert table["accuracy"].iloc[-1] == frame["correct"].mean()


@pytest.mark.parametrize("limit", [300, 512, 1024])
def test_a_run_with_that_limit_has_the_accuracy_of_the_curve_and_bounds_beyond_it(limit):
    whole = answer()
    limited = stop_at(whole, limit)
    (row,) = budget_curve(whole, [limit]).to_dict("records")
    assert row["accuracy"] == pytest.approx(limited["correct"].mean())
    same, beyond = budget_curve(limited, [limit, 2 * limit]).to_dict("records")
    assert same["accuracy"] == same["most"] == row["accuracy"]
    (truth,) = budget_curve(whole, [2 * limit])["accuracy"]
    assert beyond["cut"] == (whole["response_tokens"] > limit).sum()
    assert beyond["accuracy"] < truth < beyond["most"]
    assert beyond["low"] < beyond["accuracy"] < beyond["most"] < beyond["high"]


def test_attempts_are_one_cluster_and_responses_without_counts_are_left_out():
    once = answer()
    twice = pd.concat([once, once, once.iloc[:9].assign(response_tokens=np.nan)])
    one, two = (budget_curve(frame, [512]).iloc[0] for frame in (once, twice))
    assert two["responses"] == 2 * one["responses"] == 480
    ends = ["accuracy", "low", "high", "tokens_per_solved"]
    assert two[ends].tolist() == pytest.approx(one[ends].tolist())


@pytest.mark.parametrize(("puzzles", "attempts"), [(40, 1), (40, 4), (200, 8)])
def test_the_interval_over_puzzles_holds_in_95_percent(puzzles, attempts):
    generator = np.random.default_rng(3)
    chance = generator.beta(2, 1, (2000, puzzles))
    shares = generator.binomial(attempts, chance) / attempts
    ends = np.array([clustered_interval(each) for each in shares])
    assert 0.935 < np.mean((ends[:, 0] <= 2 / 3) & (2 / 3 <= ends[:, 1])) < 0.97
    assert clustered_interval(np.ones(9)) == pytest.approx(wilson_interval(9, 9))


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="no column 'response_tokens'"):
        budget_curve(answer().drop(columns="response_tokens"))
    with pytest.raises(ValueError, match="budgets must be 1 or more"):
        budget_curve(answer(), [0])


def effort_of(*runs):
    """Return the table of runs, a row each by their order in tokens, and their responses."""
    frame = pd.concat(runs, ignore_index=True).assign(needles=lambda all: all["N"] * all["rho"])
    return effort_table(frame), frame


def test_a_limit_that_only_stops_is_as_truncation_and_a_plan_is_better():
    whole = answer("whole")
    stopped = stop_at(whole, 512).assign(model="stopped")
    shorter = np.ceil(whole["response_tokens"] / 4)  # as right, with a quarter of the tokens
    planned = whole.assign(model="planned", response_tokens=shorter)
    table, frame = effort_of(whole, stopped, planned)
    rows = table.set_index("model")
    assert table["model"].tolist() == ["planned", "stopped", "whole"]
    assert {*table["of"]} == {"whole"}
    assert rows.loc["stopped", "accuracy"] == rows.loc["stopped", "stopped"]
    assert rows.loc["whole", "difference"] == 0
    gain = (
        whole["correct"].mean()
        - (
            whole["correct"]
            & (whole["response_tokens"] <= find_budget(whole["response_tokens"], shorter.mean()))
        ).mean()
    )
    assert rows.loc["planned", "difference"] == pytest.approx(gain)
    assert 0 < rows.loc["planned", "difference_low"] < gain < rows.loc["planned", "difference_high"]
    needed = (whole["N"] * whole["rho"]).sum()
    assert rows.loc["planned", "tokens_per_needle"] == pytest.approx(shorter.sum() / needed)
    (section,) = budgets_sections(frame)
    assert section.content[-1].heading == "What tokens buy"


def plan(puzzles, seed):
    """Two runs of the same puzzles, of which the second plans to spend 0.7 of the tokens."""
    draws, runs = np.random.default_rng(seed), []
    ease = draws.normal(size=puzzles)
    for tokens, skill in ((400, 0.8), (280, 0.3)):
        spent = np.ceil(tokens * np.exp(0.5 * draws.normal(size=puzzles) - 0.4 * ease))
        right = draws.random(puzzles) < 1 / (1 + np.exp(-skill - 1.2 * ease))
        runs.append(
            pd.DataFrame({"id": range(puzzles), "response_tokens": spent, "correct": right})
        )
    return runs


def test_the_gain_of_a_plan_allows_for_the_budget_being_estimated():
    """At the budget that was found, the interval alone would hold 83 % of the time."""
    longest, run = plan(400_000, 0)
    budget = find_budget(longest["response_tokens"].to_numpy(), run["response_tokens"].mean())
    in_time = longest["response_tokens"] <= budget
    truth = run["correct"].mean() - (longest["correct"] & in_time).mean()
    found = [compare_stopped(*reversed(plan(200, seed))) for seed in range(1, 161)]
    assert 0.91 < np.mean([low <= truth <= high for _, low, high, _ in found])
    assert np.mean([at.value for at in found]) == pytest.approx(truth, abs=0.02)


def test_attempts_change_no_gain_and_other_puzzles_widen_nothing():
    longest, run = plan(60, 1)
    gain = compare_stopped(run, longest)
    twice = compare_stopped(pd.concat([run] * 2), pd.concat([longest.iloc[::-1]] * 3))
    assert twice == pytest.approx(gain, nan_ok=True)


@pytest.mark.parametrize("mean", [1, 57.5, 300, 700])
def test_a_budget_that_spends_a_mean(mean):
    tokens = answer()["response_tokens"].to_numpy()
    assert np.minimum(tokens, find_budget(tokens, mean)).mean() == pytest.approx(mean)


def test_runs_of_other_puzzles_and_without_tokens_are_not_set_beside():
    one = answer("one")
    assert effort_of(one, one.assign(model="other", id="q" + one["id"]))[0].empty
    assert effort_of(one, one.assign(model="other", response_tokens=np.nan))[0].empty
    other = one.assign(model="other", base_model="B")
    assert effort_of(one.assign(base_model="A"), other)[0].empty
    assert len(effort_of(one.assign(base_model="B"), other)[0]) == 2
