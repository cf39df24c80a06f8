"""The levels of difficulty, and how they follow a model's rewards."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_gen.benchmarks import BENCHMARKS
from cogniload_gen.rewards import Climb, at_level, highest_level


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda each: each.name)
def test_levels_are_values_that_the_knobs_take(benchmark):
    assert highest_level(benchmark) > 3
    for knob in benchmark.knobs:
        assert not knob.levels or knob.check(knob.levels) == knob.levels
    steps = [at_level(benchmark, level) for level in range(highest_level(benchmark) + 1)]
    assert all(before != after for before, after in itertools.pairwise(steps))
    assert at_level(benchmark, 99) == steps[-1]


def test_it_climbs_on_success_falls_on_failure_and_stays_between():
    climb = Climb(highest=2, window=4, rise=0.75, fall=0.25)
    went = []
    for reward in [1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1]:
        climb.tell(climb.level, reward)
        went.append(climb.level)
    assert went == [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]


def test_a_late_reward_of_another_level_counts_for_nothing():
    climb = Climb(highest=2, window=2)
    for level, reward in [(1, 1), (2, 1), (0, 1), (1, 1), (0, 0)]:
        climb.tell(level, reward)
    assert (climb.level, list(climb.recent)) == (0, [0])


@given(st.lists(st.floats(0, 1)), st.integers(0, 5), st.integers(1, 6))
def test_it_stays_within_the_levels_and_moves_by_one(rewards, highest, window):
    climb, again = (Climb(highest, window) for _ in range(2))
    for reward in rewards:
        before = climb.level
        climb.tell(before, reward)
        again.tell(before, reward)
        assert abs(climb.level - before) <= 1
        assert 0 <= climb.level <= highest
        assert len(climb.recent) < window
    assert climb == again
