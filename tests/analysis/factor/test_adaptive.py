"""FACTOR's adaptive design: what it asks, how it goes on after a crash, and what it finds."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm
from searches import CDF, N_EFF, run, solves_by_decay, undisturbed_run

from cogniload_analysis import DecayDesign
from cogniload_analysis.factor import decay_design as adaptive
from cogniload_analysis.factor.decay_design import CAPS, FLOORS, find_decay, published_prior
from cogniload_gen.factor import REALISTIC, SYMBOLIC


@pytest.mark.parametrize("benchmark", [SYMBOLIC, REALISTIC], ids=lambda each: each.suite)
def test_the_pilot_covers_the_papers_grid(benchmark):
    complexity = benchmark.knobs[0].default
    pilot = DecayDesign(suite=benchmark.suite).ask()
    assert {puzzle.N for puzzle in pilot} == set(complexity)


def test_it_asks_around_the_decay_and_says_how_well_it_knows_it():
    asked, design = undisturbed_run("decay")
    later = [puzzle.N for batch in asked[1:] for puzzle in batch]
    assert np.mean([N_EFF - 3 <= N for N in later]) > 0.9
    widths = [batch.high - batch.low for batch in design.batches]
    assert widths[-1] < widths[1] / 1.5
    estimate = design.estimate()
    assert estimate.N_eff.low < N_EFF < estimate.N_eff.high
    assert estimate.CDF.low < CDF < estimate.CDF.high
    assert estimate.CDO.value == pytest.approx(-estimate.CDF.value * estimate.N_eff.value, rel=0.1)


def test_the_posterior_is_that_of_a_fine_sum():
    """The median N_eff, by a fine grid over N_eff and ln(-CDF), for each cap and floor."""
    prior, right = published_prior(), {4: 30, 12: 29, 16: 19, 22: 11, 30: 4}
    rows = [(N, count, 30) for N, count in right.items()]
    belief = find_decay(pd.DataFrame(rows, columns=["N", "right", "total"]), prior)
    place, slope = np.linspace(0, 24, 481), np.linspace(-4, -0.5, 281)[:, None]
    mass = np.zeros(len(place))
    for (cap, first), (floor, second) in product(CAPS.items(), FLOORS.items()):
        likelihood = first * second * norm.pdf(slope, prior.mean, prior.deviation)
        for N, count in right.items():
            decay = np.exp(-np.exp(slope) * (N - place))
            chance = floor + (1 - floor) * np.minimum(decay, cap)
            likelihood = likelihood * binom.pmf(count, 30, chance)
        mass += likelihood.sum(axis=0)
    ends = np.interp((0.025, 0.5, 0.975), np.cumsum(mass) / mass.sum(), place)
    found = belief.interval(belief.N_eff)
    assert (found.low, found.value, found.high) == pytest.approx(ends, abs=0.03 * np.ptp(ends))


@pytest.mark.parametrize(
    ("place", "decay", "reason"),
    [
        (80, -0.1, "N_eff lies above 39, the most that can be asked"),
        (-10, -0.15, "N_eff lies below 1, the least that can be asked"),
        (20, -0.3, "N_eff is known to ±20 %"),
    ],
)
def test_the_run_ends_by_itself_and_says_why(place, decay, reason):
    design = DecayDesign(budget=400)
    run(design, solves_by_decay, place=place, decay=decay)
    assert design.estimate().stopped == reason
    assert design.summary()[0] == f"stopped after {len(design.told)} puzzles: {reason}"


@pytest.mark.parametrize("lapse", [0.0, 0.25])
def test_flags(lapse):
    """A quarter of all answers lost is no early decay; where none is, no flag rises."""
    design = DecayDesign(target=0.1, budget=256)
    while not design.done:
        batch = design.ask()
        right = [solves_by_decay(puzzle, lapse=lapse) for puzzle in batch]
        design.tell(batch, right, [lapse > 0 and not each for each in right])
    flags = " ".join(design.estimate().flags)
    assert ("were cut off by a limit" in flags) == (lapse > 0)
    assert ("something besides complexity may make the model fail" in flags) == (lapse > 0)


def test_where_every_answer_is_wrong_the_decay_is_not_determined():
    design = DecayDesign(budget=64)
    run(design, lambda _: False)
    assert [line.split()[1:] for line in design.summary()[2:4]] == 2 * [["not", "determined"]]


def test_another_version_has_another_fingerprint(monkeypatch):
    before = DecayDesign().fingerprint
    assert before == DecayDesign(suite="realistic", target=0.1).fingerprint
    monkeypatch.setattr(adaptive, "CAPS", {1.0: 0.5, 0.9: 0.5})
    assert DecayDesign().fingerprint["prior"] != before["prior"]
