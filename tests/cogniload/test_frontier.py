"""The frontier: an endless source of puzzles whose loads follow whoever answers them."""

import json

import pytest
from frontier import KINDS, Learner, follow
from refusals import refused

from cogniload_gen import Frontier, generate_puzzles

LOADS = {"d": [1, 3], "N": range(2, 101), "rho": [25, 50]}


def answers(frontier, count, learner=None, group=8):
    """Ids of the next puzzles, each answered by a group of responses before the next is asked."""
    ids = []
    for number in range(count):
        row = next(frontier)
        ids.append(row["id"])
        rewards = [float((number + k) % 3 == 0) for k in range(group)]
        frontier.observe([row["id"]] * group, learner(row, group) if learner else rewards)
    return ids


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workers", [1, 8])
def test_the_pass_rate_stays_at_the_targets_middle_while_the_learner_moves(kind, workers):
    """Also where 8 workers answer, each in its time: an answer may come 64 puzzles later."""
    frontier = Frontier(d=[1, 3], N=range(2, 151), rho=[25, 50], seed=7)
    rates, mixed = follow(frontier, Learner(f"{kind} 0", **KINDS[kind]), workers, 0, groups=1200)
    assert abs(sum(rates[-600:]) / 600 - 0.5) < 0.1
    assert sum(mixed[100:]) / len(mixed[100:]) > 0.6
    assert frontier.metrics()["groups"] == len(rates)
    assert frontier.metrics()["pass_rate"] == pytest.approx(sum(rates[-100:]) / 100, abs=0.1)


def test_a_row_is_the_puzzle_of_the_train_split_at_its_address():
    frontier = Frontier(**LOADS, seed=7, traces="plain")
    for _ in range(20):
        row = next(frontier)
        frontier.observe([row["id"]], [0.5])
        made = {name: row[name] for name in ("d", "N", "rho")}
        (same,) = generate_puzzles(
            **made, num_puzzles=1, seed=7, split="train", first_index=row["index"]
        ).to_pylist()
        assert row["prompt"] == row["puzzle"]
        assert {name: row[name] for name in same} == same


def test_puzzles_follow_from_the_seed_and_from_what_was_observed_before_each():
    first, second, other = (Frontier(**LOADS, seed=seed) for seed in (7, 7, 8))
    ids = answers(first, 40)
    assert len({*ids}) == 40
    assert answers(second, 40) == ids
    assert answers(other, 40) != ids
    third = Frontier(**LOADS, seed=7)
    third_ids = answers(third, 40, lambda row, group: [1.0] * group)
    assert third_ids != ids
    assert third_ids[:16] == ids[:16]  # which are made before anything is observed


@pytest.mark.parametrize("at", [3, 8, 21])
def test_a_state_goes_on_where_it_was_taken_through_json(at):
    whole, begun = Frontier(**LOADS, seed=7), Frontier(**LOADS, seed=7)
    answers(whole, at)
    answers(begun, at)
    resumed = Frontier(**LOADS, seed=7)
    resumed.load_state_dict(json.loads(json.dumps(begun.state_dict())))
    assert answers(resumed, 30) == answers(whole, 30)
    assert resumed.metrics() == whole.metrics()
    assert resumed.state_dict() == whole.state_dict()


def test_no_two_workers_have_the_same_puzzle():
    workers = [Frontier(**LOADS, seed=7, share=(number, 8)) for number in range(8)]
    ids = [next(worker)["id"] for worker in workers for _ in range(30)]
    assert len({*ids}) == len(ids)


def test_the_loads_follow_what_is_solved():
    able, unable = Frontier(**LOADS), Frontier(**LOADS)
    for frontier, reward, N in ((able, 1.0, 100), (unable, 0.0, 2)):
        ids = answers(frontier, 200, lambda row, group, reward=reward: [reward] * group)
        assert all(f"-N{N}-" in id for id in ids[-150:])
    answers(able, 200, lambda row, group: [float(row["N"] < 20)] * group)
    assert 10 < able.metrics()["N"] < 40


def test_what_has_no_reward_counts_for_nothing():
    one, other = Frontier(**LOADS), Frontier(**LOADS)
    row = next(one)
    one.observe([row["id"], None, row["id"], "gsm8k-1"], [1, None, 0, float("nan")])
    other.observe([row["id"], row["id"]], [1, 0])
    assert one.state_dict() | {"next": 0, "waiting": []} == other.state_dict()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({"target": (0.8, 0.2)}, "target must be two pass rates that rise"),
     ({"target": (0.0, 0.5)}, "target must be two pass rates"),
     ({"target": 0.5}, "target must be two pass rates that rise, in 0..1, got 0.5"),
     ({"share": 3}, "share must be a worker's number and how many, got 3"),
     ({"share": (2, 2)}, "the worker's number must be an integer in 0..1, got 2"),
     ({"N": 0}, "N must be"), ({"num_puzzles": 3}, "num_puzzles is not"),
     ({"split": "test"}, "split is not for a frontier, got 'test'"), ({"x": 1}, "x")],
)  # fmt: skip
def test_wrong_arguments_are_named(arguments, said):
    with refused(said):
        Frontier(**LOADS | arguments)


def test_wrong_observations_are_named_and_nothing_of_them_is_taken_in():
    frontier = Frontier(**LOADS)
    ours = next(frontier)["id"]
    for ids, rewards, said in (
        ([ours, "gsm8k-1"], [1, 1], "an id must be a CogniLoad puzzle's, got 'gsm8k-1'"),
        ([ours, ours], [1, 1.5], "a reward must be a number in 0..1, got 1.5"),
        ([ours], [1, 1], "each id must have a reward, got 1 and 2"),
    ):
        with refused(said):
            frontier.observe(ids, rewards)
    assert frontier.metrics()["groups"] == 0
