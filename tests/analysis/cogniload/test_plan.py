"""What a comparison takes: against published figures, arithmetic, and simulated runs."""

import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from refusals import assert_refused
from scipy.stats import binom

from cogniload_analysis import plan_comparison, published_table
from cogniload_analysis.cogniload.plan import (
    count_puzzles,
    expected_accuracies,
    lower_accuracies,
    mean_prompt_tokens,
)
from cogniload_analysis.compare.paired import compare_pairs
from cogniload_gen.commands import main

CASES = tomllib.loads((Path(__file__).parents[1] / "data/cases.toml").read_text("utf-8"))
MODELS = published_table("glm").set_index("model")["ECL50"]


def test_accuracies_are_the_printed_ones():
    """The GLM meets the mean; Table 4 rounds to whole percents."""
    table = published_table("outcomes_by_d")
    for model in ("Qwen3-8B", "QwQ-32B", "o4-mini-2025-04-16"):
        printed = table[table["model"] == model]["accuracy_percent"].mean()
        assert 100 * expected_accuracies(model).mean() == pytest.approx(printed, abs=1)


def test_pairs_of_published_models_take_a_hundred_puzzles():
    """Of the 153 pairs of models in the middle of the field, the median."""
    accuracies = [expected_accuracies(model) for model in MODELS.index[MODELS.between(8, 400)]]
    pairs = [
        count_puzzles(*sorted(pair, key=lambda each: -each.mean()))
        for pair in combinations(accuracies, 2)
    ]
    assert len(pairs) == 153
    same, other = np.median(pairs, axis=0)
    assert 65 < same < 90
    assert 100 < other < 120
    near = count_puzzles(*map(expected_accuracies, ("gpt-5-mini-2025-08-07", "o4-mini-2025-04-16")))
    assert 2000 < near[0] < near[1] < 4600


def test_the_puzzles_tell_the_difference_in_80_percent_of_runs():
    better = expected_accuracies("Qwen3-8B")
    worse = lower_accuracies(better, 0.05)
    assert better.mean() - worse.mean() == pytest.approx(0.05)
    plan = plan_comparison("Qwen3-8B", 0.05)
    # Whole puzzles a cell: count with as many as a multiple of the cells.
    per_cell = int(np.ceil(plan.same_puzzles / len(better)))
    puzzles = per_cell * len(better)
    generator = np.random.default_rng(1)
    shape = (1000, per_cell, len(better))
    first, second = (generator.random(shape) < each for each in (better, worse))
    over, under = ((one & ~two).sum(axis=(1, 2)) for one, two in ((first, second), (second, first)))
    told = (compare_pairs(over, under, puzzles).p < 0.05).sum()
    low, high = binom.interval(0.999, 1000, 0.8)
    more = puzzles / plan.same_puzzles
    assert low <= told <= high + 1000 * (more - 1)


def test_the_cost_is_arithmetic():
    plan = plan_comparison("Qwen3-8B", 0.05, response_tokens=4000, throughput=1000)
    assert plan.gpu_hours(900) == pytest.approx(900 * 4000 / 1000 / 3600)
    table = published_table("prompt_tokens").query("model == 'Qwen3-8B'")
    assert plan.prompt_tokens == pytest.approx(table["prompt_tokens_mean"].mean())
    for model in MODELS.index:
        assert 2000 < mean_prompt_tokens(model) < 8000


def test_plan_prints_puzzles_tokens_and_hours(capsys):
    assert main(["plan", "--detect", "0.05", "--like", "Qwen3-8B", "--throughput", "500"]) == 0
    said = capsys.readouterr().out
    plan = plan_comparison("Qwen3-8B", 0.05, throughput=500)
    for number in (f"{plan.same_puzzles:,}", f"{plan.gpu_hours(plan.same_puzzles):.2f}", "500"):
        assert number in said


@pytest.mark.parametrize(("detect", "others", "message"), CASES["plan_arguments"])
def test_wrong_input_is_one_line_and_exit_code_2(capsys, detect, others, message):
    assert_refused(capsys, message, "plan", "--detect", detect, "--like", *others)
