"""The data sets as reasoning-gym's own tests check all of theirs, and against the benchmarks."""

import pickle

import numpy as np
import pytest
import reasoning_gym
from reasoning_gym.factory import create_curriculum, get_score_answer_fn
from stored import cases

import reasoning_gym_tasks  # noqa: F401 (registers the data sets)
from cogniload_gen import benchmarks

SMALL = {
    "cogniload": {"d": [1, 3], "N": [5, 20], "rho": 50},
    "factor_symbolic": {"N": [1, 4, 7], "context": 0},
    "factor_realistic": {"op": [2, 3], "context": [0, 2000], "noise": "close"},
}
SIZE = 20
"""Items of a data set here: of several blocks that are made at once."""


def create(name, **given):
    return reasoning_gym.create_dataset(name, **{"seed": 7, "size": SIZE} | SMALL[name] | given)


@pytest.mark.parametrize("name", SMALL)
def test_iteration_is_deterministic_and_ends(name):
    dataset = create(name)
    items = list(dataset)
    assert len(dataset) == len(items) == SIZE
    assert items == list(dataset) == list(create(name))
    assert [dataset[place] for place in (17, 3, 16, 15)] == [items[p] for p in (17, 3, 16, 15)]
    shuffled = np.random.default_rng(1).permutation(SIZE + 2).tolist()
    mixed = {place: dataset[place] for place in shuffled}  # two are beyond the size
    assert [mixed[place] for place in range(SIZE)] == items
    assert items != list(create(name, seed=8))
    for made in (dataset, create(name, seed=None)):
        assert pickle.loads(pickle.dumps(made))[18] == made[18]  # noqa: S301
    assert all("-train-" in item["metadata"]["id"] for item in items)
    tests = {item["question"] for item in create(name, split="test")}
    assert name != "cogniload" or not tests & {item["question"] for item in items}


@pytest.mark.parametrize("name", SMALL)
def test_the_gold_answer_scores_1_and_no_answer_0(name):
    dataset = create(name)
    for item in dataset:
        assert isinstance(item["answer"], str)
        assert dataset.score_answer(item["answer"], item) == 1.0
        assert get_score_answer_fn(name)(item["answer"], item) == 1.0
        for response in (None, "", " \n", "Who knows?"):
            assert dataset.score_answer(response, item) == 0.0


@pytest.mark.parametrize(("name", "given", "said"), cases(__file__)["reasoning_gym"])
def test_a_wrong_configuration_is_refused_in_one_line(name, given, said):
    with pytest.raises(ValueError, match=said) as error:
        create(name, **given)
    assert "\n" not in str(error.value)


def test_a_puzzle_that_leaves_no_tokens_is_refused():
    with pytest.raises(ValueError, match=r"documents do not fit: cogniload-v1-train-.*1024 must"):
        create("cogniload", N=200, context_budget=1024)[0]
    with pytest.raises(ValueError, match=r"the index of an item must be .*, got -1"):
        create("cogniload")[-1]


@pytest.mark.parametrize("name", SMALL)
def test_a_curriculum_steps_through_levels_that_the_knobs_take(name):
    """A knob with fewer levels than others stays at its last."""
    curriculum, benchmark = create_curriculum(name), benchmarks.named(name.replace("_", "-"))
    levels = {knob.name: knob.levels for knob in benchmark.knobs if knob.levels}
    assert set(curriculum.attributes) == set(levels)
    for knob in benchmark.knobs:
        assert not knob.levels or knob.check(knob.levels) == knob.levels
    highest = max(map(len, levels.values())) - 1
    for level in range(highest + 1):
        configuration = curriculum.generate_configuration({"seed": 1, "size": 2})
        expected = {knob: each[min(level, len(each) - 1)] for knob, each in levels.items()}
        assert {knob: getattr(configuration, knob) for knob in levels} == expected
        assert (configuration.seed, configuration.size) == (1, 2)
        assert curriculum.increment_global_level() == (level < highest)
    first = next(iter(levels))
    assert curriculum.decrement_attr_level(first)
    assert getattr(curriculum.generate_configuration(), first) == levels[first][-2]
