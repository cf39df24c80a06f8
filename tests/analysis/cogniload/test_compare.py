"""Differences of thresholds, and what a comparison takes."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import GRID, SMALL, make_samples, write_run
from refusals import assert_refused
from scipy.special import expit
from scipy.stats import binom, norm

from cogniload_analysis import PAPER_MEANS, capacity_thresholds, plan_comparison, published_table
from cogniload_analysis.cogniload.capacity.goodness_of_fit import expected_accuracies
from cogniload_analysis.cogniload.glm import TERMS, fit_load_glm
from cogniload_analysis.cogniload.plan import count_puzzles, least_puzzles, lower_accuracies
from cogniload_analysis.cogniload.threshold_differences import compare_thresholds
from cogniload_analysis.compare.paired import compare_pairs
from cogniload_cli import main

MODELS = published_table("glm").set_index("model")["ECL50"]
TABLE_2 = published_table("glm").set_index("model")[list(TERMS)]
PAIR = [TABLE_2.loc[name].to_numpy(float) for name in ("Qwen3-32B", "DS-R1-0528")]
RHO = (GRID["rho_percent"] / 100).to_numpy()
DESIGN = np.column_stack([np.ones(len(GRID)), GRID["d"], np.log10(GRID["N"]), RHO, RHO**2])
SIMULATIONS = 150


def answer(betas, puzzles, generator, alike=0.6, attempts=1):
    """Responses of models to the same puzzles, each right with the GLM's chance.

    What makes a puzzle hard is partly common to the models, and to a model's attempts: a Gaussian
    copula, which leaves the chances as they are.
    """
    design = np.repeat(DESIGN, puzzles, axis=0)
    ids = np.array([f"p{place}" for place in range(len(design))])
    loads = {"d": design[:, 1], "N": 10 ** design[:, 2], "rho": design[:, 3]}
    common = generator.normal(size=len(design))
    frames = []
    for model, beta in zip("ab", betas, strict=True):
        for _ in range(attempts):
            own = generator.normal(size=len(design))
            ease = norm.cdf(alike**0.5 * common + (1 - alike) ** 0.5 * own)
            right = ease < expit(design @ beta)
            frames.append(pd.DataFrame(loads | {"model": model, "id": ids, "correct": right}))
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def simulated():
    generator = np.random.default_rng(2)
    return pd.concat(
        [compare_thresholds(answer(PAIR, 20, generator), [("a", "b")]) for _ in range(SIMULATIONS)]
    )


@pytest.mark.parametrize("place", [0, 2], ids=["ECL50", "ID50"])
def test_the_intervals_hold_in_95_percent(simulated, place):
    name = ("ECL50", "NT50", "ID50")[place]
    first, second = (capacity_thresholds(*beta, **vars(PAPER_MEANS))[place] for beta in PAIR)
    truth = first / second if name == "ECL50" else first - second
    rows = simulated[simulated["measure"] == name]
    held = ((rows["low"] <= truth) & (truth <= rows["high"])).sum()
    low, high = binom.interval(0.999, SIMULATIONS, 0.95)
    assert low <= held <= high


def test_equal_answers_differ_by_nothing():
    one = answer([PAIR[0], PAIR[0]], 20, np.random.default_rng(0))  # rounding has a variance < 0
    one = one[one["model"] == "a"]
    # In another order the sums of the two fits are rounded otherwise.
    other = one.assign(model="b").sample(frac=1, random_state=4)
    frame = pd.concat([one, other], ignore_index=True)
    found = compare_thresholds(frame, [("a", "b")]).set_index("measure")
    assert found.loc["ECL50", "difference"] == pytest.approx(1)
    assert found.loc["ID50", "difference"] == pytest.approx(0)
    assert (found["p"] == 1).all()
    assert (found["low"] <= found["high"]).all()


def test_both_are_held_at_the_mean_loads_of_all_their_responses():
    frame = answer(PAIR, 20, np.random.default_rng(7))
    frame = frame[(frame["model"] == "a") | (frame["d"] < 7)]
    alone = [fit_load_glm(rows) for _, rows in frame.groupby("model")]
    loads = frame.assign(log10_N=np.log10(frame["N"]))[["d", "log10_N", "rho"]]
    found = compare_thresholds(frame, [("a", "b")]).set_index("measure")
    values = found.loc["ECL50", ["first_value", "second_value"]]
    for glm, value in zip(alone, values, strict=True):
        expected = capacity_thresholds(*glm.params[list(TERMS)], **loads.mean())[0]
        assert value == pytest.approx(expected, rel=1e-6)


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


def test_plan_prints_the_cost_at_a_price(capsys):
    arguments = ["plan", "--detect", "0.05", "--like", "Qwen3-8B", "--price"]
    assert main([*arguments, "0.5,2"]) == 0
    plan = plan_comparison("Qwen3-8B", 0.05)
    millions = plan.same_puzzles * plan.prompt_tokens / 1e6, plan.same_puzzles * 5000 / 1e6
    cost = millions[0] / 2 + millions[1] * 2
    assert f" {cost:,.2f}\n" in capsys.readouterr().out
    assert_refused(capsys, "price must be IN,OUT", *arguments, "2")


def test_a_plan_like_a_run_is_of_its_own_puzzles(tmp_path):
    """With its accuracy, tokens and cells; twins of its puzzles don't count."""
    samples = [*make_samples(TABLE_2.loc["Qwen3-8B"], 40, 2, grid=SMALL, words=2)]
    tokens = np.mean([sample["response_tokens"] for sample in samples])
    write_run(tmp_path, "org/mine", samples)
    plan = plan_comparison(str(tmp_path), 0.05)
    right = np.mean([sample["outcome"].startswith("correct") for sample in samples])
    assert plan.accuracy == pytest.approx(right, abs=0.005)
    assert (plan.response_tokens, plan.cells) == (pytest.approx(tokens), len(SMALL))
    assert plan.slope == pytest.approx(TABLE_2.loc["Qwen3-8B", "beta_N"], rel=0.2)
    write_run(tmp_path, "org/another", samples)
    with pytest.raises(ValueError, match="results of one model, got 2"):
        plan_comparison(str(tmp_path), 0.05)


@pytest.mark.parametrize("floor", [0, 1])
def test_no_design_needs_fewer_puzzles_than_the_bound(floor):
    """By the accuracies on either side of each place: their difference is what an answer tells."""
    x, step = np.linspace(-1, 1, 401), 1e-5
    lowest = floor / 6
    before, here, after = (lowest + (0.99 - lowest) * expit(-3 * (x + s)) for s in (-step, 0, step))
    tells = ((after - before) / (2 * step)) ** 2 / (here * (1 - here))
    known = (np.log10(1.1) / 1.96) ** 2
    assert least_puzzles(3, 0.1, floor=floor) == pytest.approx(1 / tells.max() / known, rel=1e-3)


def test_plan_says_the_bound_at_a_slope(capsys):
    assert main(["plan", "--slope", "3"]) == 0
    assert {"386", "278"} <= set(capsys.readouterr().out.replace(",", " ").split())
    alone = "plan takes --detect and --like, or --slope or --gate alone"
    refused = ("--slope 3 --like Qwen3-8B", "--slope 3 --price 1,2", "--detect 0.05", "")
    for words in map(str.split, refused):
        assert_refused(capsys, alone, "plan", *words)
    assert_refused(capsys, "slope must be a number other than 0", "plan", "--slope", "0")
