"""The adaptive design: what it asks, how it goes on after a crash, and what it finds."""

import re
from collections import Counter
from itertools import product
from operator import itemgetter
from random import Random

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import binom
from searches import MEAN_D, accuracy_at, run, solve_all, solves_by_capacity, undisturbed_run
from stored import cases

from cogniload_analysis import AdaptiveDesign, estimate_capacity, published_table
from cogniload_analysis.cogniload.capacity.prior import published_prior

GLM = published_table("glm").set_index("model")
SIMULATIONS = 12
CASES = cases(__file__)


@pytest.fixture
def undisturbed():
    return undisturbed_run("capacity")


def test_puzzles_lie_on_the_axes_with_the_papers_mean_d(undisturbed):
    asked = [puzzle for batch in undisturbed[0] for puzzle in batch]
    for d, N, rho, _ in asked:
        assert ((d in (5, 6)) and (N == 71 or rho == 50)) or (N == 71 and rho == 50)
        assert 1 <= d <= 10
        assert 10 <= N <= 400
        assert 5 <= rho <= 95
    over_N = [d for d, N, _, _ in asked if N != 71]
    assert np.mean(over_N) == pytest.approx(MEAN_D, abs=0.03)


def test_what_another_run_told_counts_from_the_start():
    cells = product((1, 3, 7, 10), (20, 50, 100, 250), (5.0, 25.0, 75.0), range(12))
    grid = list(cells)
    design, alone = AdaptiveDesign(), AdaptiveDesign()
    design.tell(grid, solve_all(grid))
    assert design.estimate().n == len(grid)
    # The pilot's place is taken by a batch that knows where the threshold is, or by none.
    assert design.ask() != alone.ask()
    near = [N for _, N, rho, _ in design.ask() if rho == 50 and 20 < N < 100]
    assert design.done or len(near) > len(design.ask()) / 3


def test_the_run_ends_by_itself_and_says_why():
    design = AdaptiveDesign(target=0.25, budget=1500)
    run(design, solves_by_capacity)
    estimate = design.estimate()
    assert estimate.stopped == "ECL50 is known to ±25 %"
    assert estimate.half_width <= 0.25
    assert estimate.n == len(design.told) >= 192
    assert design.ask() == []
    assert design.line.startswith(f"n {estimate.n}, ECL50 {estimate.ECL50.value:.3g} (")


def test_dropped_cells_are_asked_no_more():
    """A model whose context holds 100 statements: the run ends, on what it can answer."""
    design, order = AdaptiveDesign(budget=100), Random(3)  # noqa: S311
    dropped, asked = set(), []
    while not design.done:
        puzzles = design.ask()
        short = [puzzle for puzzle in puzzles if puzzle.N <= 100]
        assert dropped.isdisjoint(puzzle[:3] for puzzle in puzzles)
        assert asked != puzzles
        design.tell(short, solve_all(short))
        asked, long = puzzles, {puzzle[:3] for puzzle in puzzles} - {p[:3] for p in short}
        dropped |= long
        design.drop(long)
    assert len(design.told) >= 100
    assert min(N for _, N, _ in dropped) > 100
    again, told = AdaptiveDesign(budget=100), list(design.told)
    order.shuffle(told)
    again.drop(sorted(dropped))
    again.tell(told, solve_all(told))
    assert again.batches == design.batches


@pytest.mark.parametrize(("level", "side"), [(-9, "below 10"), (9, "above 400")])
def test_a_threshold_outside_the_range_is_said_to_be_there(level, side):
    design = AdaptiveDesign(prior="vague")
    run(design, solves_by_capacity, level=level)
    estimate = design.estimate()
    assert side in estimate.stopped
    assert estimate.n < 600
    assert estimate.ECL50.status == f"always {'below' if level < 0 else 'above'} 50 %"
    assert any("outside what the design can ask" in flag for flag in estimate.flags)
    assert ("< 10" if level < 0 else "> 400") in design.line


def test_ID50_can_be_the_goal():
    design = AdaptiveDesign(target=0.8, goal="ID50", budget=3000)
    run(design, solves_by_capacity)
    ID50 = design.estimate().ID50
    assert (ID50.high - ID50.low) / 2 <= 0.8
    # By hand: 50 % where 0.9/(d + 1) + (0.99 - 0.9/(d + 1)) expit(eta) is.
    truth = brentq(lambda d: accuracy_at(d, 71) - 0.5, 1, 10)
    assert ID50.low < truth < ID50.high


@pytest.mark.parametrize(("goal", "share"), [("ECL50", 0.5), ("ECL80", 0.8)])
def test_a_weak_model_is_measured_at_its_own_loads(goal, share):
    """One that solves half of the puzzles of 8 statements at d = 1, and few of the paper's."""
    model, at = {"level": -4.0, "slope": -5.0}, {"d": 1, "rho": 20}
    design = AdaptiveDesign(0.2, 1500, (2, 60), goal=goal, at=at)
    asked = [p for batch in run(design, solves_by_capacity, **model) for p in batch]
    assert {(p.d, p.rho) for p in asked} == {(1, 20.0)}
    assert {2, 60} <= {p.N for p in asked} <= {*range(2, 61)}
    truth = brentq(lambda N: accuracy_at(1, N, 20, **model) - share, 0.1, 71)
    estimate = design.estimate()
    found = getattr(estimate, goal)
    assert found.low < truth < found.high
    assert estimate.stopped == f"{goal} is known to ±20 %"
    assert design.wanted == f"{goal} ±20 % at d = 1, rho = 20 %"
    assert f"{goal} {found.value:.3g} (" in " ".join(design.summary())
    rows = [(1, puzzle.N, 0.2, answer.correct) for puzzle, answer in design.told.items()]
    alone = estimate_capacity(pd.DataFrame(rows, columns=["d", "N", "rho", "correct"]))
    assert getattr(alone, goal).value == pytest.approx(found.value, rel=0.02)
    assert alone.at == estimate.at == design.at
    assert np.isnan([estimate.ID50.value, estimate.NT50.value]).all()


def test_planted_thresholds_are_found_with_the_coverage_that_is_claimed():
    """Plain GLM curves of published models, which the prior has never seen and has no floor for."""
    models = ["Qwen3-32B", "DS-Llama-70B", "Phi-4-reasoning", "o4-mini-2025-04-16"]
    priors = {model: published_prior(without=[model]) for model in models}
    inside, errors = 0, []
    for number in range(SIMULATIONS):
        model = models[number % len(models)]
        beta = GLM.loc[model, ["beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2"]]
        beta = beta.to_numpy(dtype=float)
        truth = 10 ** -((beta @ (1, MEAN_D, 0, 0.5, 0.25)) / beta[2])
        rng = np.random.default_rng(number)
        design = AdaptiveDesign(seed=number, prior=priors[model])
        while not design.done:
            puzzles = np.array(design.ask())
            d, N, rho = puzzles[:, 0], np.log10(puzzles[:, 1]), puzzles[:, 2] / 100
            p = expit(np.column_stack([np.ones_like(d), d, N, rho, rho**2]) @ beta)
            design.tell(design.ask(), rng.random(len(p)) < p)
        ECL50 = design.estimate().ECL50
        inside += ECL50.low <= truth <= ECL50.high
        errors.append(np.log(ECL50.value / truth))
    assert binom.cdf(inside, SIMULATIONS, 0.95) > 0.001
    assert abs(np.mean(errors)) < 0.06
    assert np.std(errors) < 0.15


def test_the_curve_covers_a_truth_that_the_intervals_know_nothing_of(undisturbed):
    band = undisturbed[1].estimate().over_N
    truth = np.array([accuracy_at(MEAN_D, N) for N in band.load])
    asked = (band.load >= 10) & (band.load <= 400)
    inside = (band.low <= truth) & (truth <= band.high)
    assert inside[asked].mean() > 0.7
    assert np.all(band.low <= band.accuracy)
    assert np.all(band.accuracy <= band.high)


def cliff(puzzles, told):
    """Answer by a cliff, and after it a long flat foot near 30 %, which no line follows."""
    draws = np.random.default_rng(told).random(len(puzzles))
    return [draw < (0.97 if p.N < 30 else 0.3) for p, draw in zip(puzzles, draws, strict=True)]


def test_the_interval_of_ECL50_holds_a_cliff_and_its_long_foot():
    N = sorted({round(10 * 1.05**step) for step in range(60)})
    wrong = [0 if n < 30 else 7 for n in N]
    counts = {"successes": 10 - np.array(wrong), "failures": wrong}
    cells = pd.DataFrame({"d": 5, "N": N, "rho": 0.5, **counts})
    ECL50 = estimate_capacity(cells).ECL50
    assert ECL50.low <= max(n for n in N if n < 30)
    assert ECL50.high >= min(n for n in N if n >= 30)


def by_cell(puzzles, told, luck=itemgetter(0, 1)):
    """Solve all puzzles of a cell or none, as a line in log10 N leaves it to the cell's luck."""
    chances = [np.random.default_rng(luck(p)).random() for p in puzzles]
    return [luck > np.log10(p.N / 10) / 1.6 for luck, p in zip(chances, puzzles, strict=True)]


def guess(puzzles, told):
    return np.random.default_rng(told).random(len(puzzles)) < 1 / 6


@pytest.mark.parametrize(
    ("flag", "target", "budget", "solve", "cut"),
    [
        ("cut off by a limit", 0.2, 300, lambda p, told: solve_all(p), lambda p: p.index % 4 == 0),
        # As under an output limit that no response meets: no puzzle lies near the threshold.
        ("failures near N = 10, the ", 0.2, 300, lambda p, told: [False] * len(p), lambda p: True),
        (
            r"shortest N \(10\) failed",
            *(0.1, 700, lambda p, told: solve_all(p, slope=-9, lapse=0.4, level=1.5), None),
        ),
        (
            "changed during the run: from about puzzle .* fewer puzzles are solved",
            *(0.01, 512, lambda p, told: solve_all(p, level=2.0 if told < 256 else -3.0), None),
        ),
        ("does not follow a line", 0.01, 900, cliff, None),
        ("more from cell to cell", 0.01, 341, by_cell, None),
        ("not above chance", 0.2, 300, guess, None),
    ],
)
def test_what_speaks_against_a_run_is_flagged(flag, target, budget, solve, cut):
    design = AdaptiveDesign(target=target, budget=budget)
    while not design.done:
        puzzles = design.ask()
        correct = solve(puzzles, len(design.told))
        answers = zip(puzzles, correct, strict=True)
        design.tell(puzzles, correct, [bool(cut and not right and cut(p)) for p, right in answers])
    assert re.search(flag, " ".join(design.estimate().flags))


def test_the_more_alike_answers_to_a_cell_are_the_more_cells_are_asked():
    """How many N would have as many puzzles each, beside the ends and the mean."""

    def spread(luck):
        design = AdaptiveDesign(target=0.01, budget=341)
        while not design.done:
            design.tell(design.ask(), by_cell(design.ask(), 0, luck))
        asked = Counter(p.N for p in design.told if p.N not in (10, 71, 400))
        return asked.total() ** 2 / sum(count**2 for count in asked.values())

    assert spread(itemgetter(0, 1)) > 1.2 * spread(itemgetter(0, 1, 3)) > 1.2 * 15


@pytest.mark.parametrize(("puzzles", "correct", "says"), CASES["told"])
def test_wrong_answers_are_refused_in_one_line_and_leave_no_trace(puzzles, correct, says):
    design = AdaptiveDesign()
    design.tell([(5, 71, 50, 7)], [True])
    with refused(f"^{re.escape(says)}"):
        design.tell([(5, 71, 50, 8), *map(tuple, puzzles)], [True, *correct])
    assert dict(design.told) == {(5, 71, 50, 7): (True, False)}
