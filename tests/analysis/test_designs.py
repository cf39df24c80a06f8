"""What both adaptive designs hold: their questions, how they go on after a crash, refusals."""

import re
from collections import defaultdict
from hashlib import sha256
from random import Random

import numpy as np
import pytest
from refusals import refused
from searches import CDF, MODELS, N_EFF, undisturbed_run
from stored import cases

import cogniload_analysis
from cogniload_analysis import AdaptiveDesign, DecayDesign
from cogniload_analysis.stats import Interval

CASES = cases(__file__)


@pytest.mark.parametrize("kind", MODELS)
def test_a_run_that_dies_and_comes_back_in_parts_goes_on_exactly(kind):
    (make, solves), (asked, whole) = MODELS[kind], undisturbed_run(kind)
    random, told, design = Random(3), {}, make()  # noqa: S311
    for batch in asked:
        left = random.sample(batch, len(batch))
        while left:
            assert sorted(design.ask()) == sorted(left)
            size = random.randint(1, len(left))
            part, left = left[:size], left[size:]
            told |= {puzzle: solves(puzzle) for puzzle in part}
            if random.random() < 0.5:  # killed: a new process reads the answers in its own order
                design = make()
                part = random.sample(sorted(told), len(told))
            design.tell(part, [told[puzzle] for puzzle in part])
    assert design.done
    assert design.batches == whole.batches
    assert repr(design.estimate()) == repr(whole.estimate())


@pytest.mark.parametrize("kind", MODELS)
def test_lost_puzzles_are_neither_repeated_nor_wrong(kind):
    """One in six never comes back; one of them comes late, after the run is over."""
    make, solves = MODELS[kind]
    design, again, alone = make(), make(), make()
    lost, random = [], Random(3)  # noqa: S311
    while not design.done:
        puzzles = design.ask()
        assert not set(puzzles) & {*lost, *design.told}
        gone = puzzles[::6]
        left = [puzzle for puzzle in puzzles if puzzle not in gone]
        design.tell(left[1:], [solves(puzzle) for puzzle in left[1:]])
        design.lose(map(list, gone))
        assert design.ask() == left[:1]
        design.tell(left[:1], [solves(puzzle) for puzzle in left[:1]])
        lost += gone
    n = len(design.told)
    assert design.estimate().n == design.batches[-1].n == n
    assert n + len(lost) == sum(len(batch.puzzles) for batch in design.batches)
    assert f"{len(lost)} of {n + len(lost)} puzzles are lost" in " ".join(design.estimate().flags)
    batches = design.batches
    design.tell(lost[:1], [solves(lost[0])])
    answered = random.sample(sorted(design.told), n + 1)
    for other in (again, alone):
        other.tell(answered, [solves(puzzle) for puzzle in answered])
    again.lose(random.sample(lost, len(lost)))
    assert again.batches == design.batches == batches
    goal = design.goal
    assert getattr(design.estimate(), goal) == getattr(alone.estimate(), goal)
    with pytest.raises(ValueError, match="must be"):
        design.lose([(5, 71, 50, 0, 0)])


@pytest.mark.parametrize("kind", MODELS)
def test_no_puzzle_is_asked_twice_and_indices_leave_no_gap(kind):
    batches, design = undisturbed_run(kind)
    asked = [puzzle for batch in batches for puzzle in batch]
    assert len(set(asked)) == len(asked) == len(design.told)
    indices = defaultdict(list)
    for *cell, index in asked:
        indices[tuple(cell)].append(index)
    assert all(each == list(range(len(each))) for each in indices.values())


@pytest.mark.parametrize("design", [AdaptiveDesign(), DecayDesign()])
def test_when_a_run_ends(design):
    settings = design
    smallest, largest = settings.extents[settings.goal]
    first, budget = settings.STOP_AFTER, settings.budget
    narrow, wide = Interval(20, 19, 21), Interval(20, smallest, 10 * largest)
    assert settings.reason_to_stop(first, 0, narrow).startswith(f"{settings.goal} is known to")
    assert not settings.reason_to_stop(first - 1, 0, narrow)
    assert "budget" in settings.reason_to_stop(first, budget, wide)
    for known in (first, 2 * budget):  # with answers of another run
        assert not settings.reason_to_stop(known, budget - 1, wide)


@pytest.mark.parametrize("design", [AdaptiveDesign(), DecayDesign()])
def test_the_last_batches_are_what_is_missing(design):
    """Twice as wide takes four times the answers; no batch is above a third, or below 32."""
    goal, first = 20.0, design.STOP_AFTER

    def size(known, times, spent=0):
        apart = 1 + design.target * times
        return design.batch_size(known, spent, Interval(goal, goal / apart, goal * apart))

    assert size(first, 0.5) == size(600, 1.001) == 32
    assert size(600, 1.1) == pytest.approx(600 * 0.21, abs=1)
    assert size(600, 2) == 200
    assert size(3000, 2) == 256
    assert size(first - 64, 0.5) == 64
    assert size(600, 2, design.budget - 9) == 9


@pytest.mark.parametrize(
    ("design", "batches", "solves", "golden"),
    [
        (
            AdaptiveDesign(target=0.05),
            2,
            lambda p: p.index % 3 < (p.N < 60) + (p.N < 30) - (p.d > 6),
            {"4": "01ce6d0599c32fb1"},
        ),
        (
            DecayDesign(target=0.05),
            3,
            lambda p: p.index % 10 < 10 * np.exp(min(0, CDF * (p.N - N_EFF))),
            {"3": "bc86e08f47655bc1"},
        ),
    ],
)
def test_other_questions_have_another_version(design, batches, solves, golden):
    """What is asked first for fixed answers; none of the choices is near a tie."""
    asked = []
    for _ in range(batches):
        batch = design.ask()
        asked += map(tuple, batch)
        design.tell(batch, [bool(solves(puzzle)) for puzzle in batch])
    digest = sha256(" ".join(map(str, asked)).encode()).hexdigest()[:16]
    assert digest == golden[design.VERSION]


@pytest.mark.parametrize(("make", "options", "says"), CASES["design_settings"])
def test_wrong_settings_are_refused_in_one_line(make, options, says):
    with refused("^" + re.escape(says)):
        getattr(cogniload_analysis, make)(**options)
