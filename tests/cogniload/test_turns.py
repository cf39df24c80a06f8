"""CogniLoad turn by turn: the texts, and what is planted."""

import gzip
import json
import re

import pytest
from source_tree import ROOT
from tracker import QUESTION

from cogniload_gen import benchmarks, generate_puzzles
from cogniload_gen.answers.conversations import make_conversation, script_of
from cogniload_gen.benchmark import planted_turn
from cogniload_gen.cogniload.render import turns_of
from cogniload_gen.cogniload.score import attributes, score_state
from cogniload_gen.cogniload.solve import solve_steps

COUNT = 12


def rows(**others):
    grid = {"d": [3, 5], "N": [10, 12], "rho": 50, "num_puzzles": 3, "twin": "question=state"}
    return generate_puzzles(**grid | others).to_pylist()


@pytest.mark.parametrize("k", [1, 3, 5, 100])
def test_the_turns_of_a_puzzle_hold_its_text_once_and_the_solvers_states(k):
    for row in rows():
        turns, solution = list(turns_of(row, k)), solve_steps(row["puzzle"])
        text = "\n".join(turn.message.partition("\n\nWhat is the state")[0] for turn in turns)
        assert row["puzzle"].startswith(text + "\n\nWhat")
        assert turns[-1].answer == row["answer"]
        for number, turn in enumerate(turns, 1):
            state = solution.states[min(number * k, row["N"])][row["poi"]]
            assert attributes(turn.answer) == state
            assert score_state(turn.reply, {**row, "answer": turn.answer}).correct


@pytest.mark.parametrize("k", [1, 3, 5, 100])
def test_a_planted_error_is_one_wrong_value_and_what_the_statements_make_of_it(k):
    """The solver says so, of a puzzle of one person that begins in the planted state."""
    healed = 0
    for row in rows():
        turns = list(turns_of(row, k))
        half, lines = planted_turn(len(turns)), re.findall(r"(?m)^\d+(\. .*)$", row["puzzle"])
        for number, turn in enumerate(turns):
            question = {**row, "answer": turn.planted_answer}
            assert score_state(turn.planted_reply, question).correct
            if number < half:
                assert turn.planted_answer == turn.answer
            elif number == half:
                share = score_state(turn.planted_reply, {**row, "answer": turn.answer})
                assert share.details["state_share"] == pytest.approx(1 - 1 / row["d"])
            else:
                later = lines[(half + 1) * k : (number + 1) * k]
                numbered = (f"{place}{line}" for place, line in enumerate(later, 1))
                text = "\n".join([turns[half].planted_reply, *numbered])
                states = solve_steps(text + QUESTION.format(row["poi"])).states
                assert attributes(turn.planted_answer) == states[-1][row["poi"]]
        healed += turns[-1].planted_answer == row["answer"]
    assert k == 100 or 0 < healed < COUNT


def test_what_takes_the_place_of_replies():
    row = rows()[0]
    turns = list(turns_of(row, 2))
    assert planted_turn(len(turns)) == 2
    true = [turn.reply for turn in turns]
    error, *led = (turn.planted_reply for turn in turns[2:])
    places = {"own": [None] * 5, "true": true, "planted": [*true[:2], error, *led]}
    for history, instead in places.items():
        messages = [turn.message for turn in turns]
        script = script_of(make_conversation(row, 2, history))
        assert script == list(zip(messages, instead, strict=True))


def turn_of(statement, k):
    return None if statement is None else (statement - 1) // k


def first_wrong(scores):
    return scores["right"].index(0) if 0 in scores["right"] else None


def test_of_a_real_model_the_reader_finds_the_first_error_in_the_turn_that_is_wrong_first():
    (log,) = (ROOT / "examples/checks/turns").glob("*.json.gz")
    samples = json.loads(gzip.decompress(log.read_bytes()))["samples"]
    alike, conversations = [], 0
    for sample in samples:
        row, replies = sample["metadata"], sample["store"]["replies"]
        if row["history"] == "own":
            address = {name: row[name] for name in ("d", "N", "rho", "seed")}
            (puzzle,) = generate_puzzles(
                **address, num_puzzles=1, first_index=row["index"]
            ).to_pylist()
            ends = range(row["k"], row["N"] + row["k"], row["k"])
            said = "\n".join(f"{end}. {reply}" for end, reply in zip(ends, replies, strict=True))
            read = benchmarks.read_steps(said, puzzle)
            scores = (score for score in sample["scores"].values())
            wrong = first_wrong(next(scores)["metadata"])
            conversations += 1
            if read.read:
                alike.append(turn_of(read.first_error, row["k"]) == wrong)
    assert (sum(alike), len(alike), conversations) == (3, 3, 8)
