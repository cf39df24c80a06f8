"""Memory systems that are told puzzles session by session."""

import re
from functools import partial
from statistics import fmean

import compactor
import pytest

from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.memory import Lines, best, last, question_memory, solver
from cogniload_gen.cogniload.solve import solve_steps

ROWS = generate_puzzles(d=3, N=30, rho=50, num_puzzles=12, twin="question=state").to_pylist()


def reason(text, question):
    """Track everyone, by the lines alone, up to the statement that is asked about."""
    person, number = re.search(r"state of (\w+) after statement (\d+)", question).groups()
    lines = text.split("\n")
    kept = [li for li in lines if not li[:1].isdigit() or int(li.split(".")[0]) <= int(number)]
    known = compactor.known([("user", "\n".join(kept))]).get(person, {})
    return f"{person}: " + ", ".join(f"{name}: {value}" for name, value in known.items())


def ask(make):
    return [score for row in ROWS for score in question_memory(row, make(), 5)]


def test_an_oracle_is_always_right_bm25_at_times_and_the_last_lines_once_all_are_told():
    pytest.importorskip("bm25s")
    oracle, full = ask(lambda: Lines(solver)), ask(lambda: Lines(reason))
    assert all(score["right"] for score in oracle + full)
    recent = ask(lambda: Lines(reason, partial(last, count=10)))
    found = ask(lambda: Lines(reason, partial(best, count=10)))
    # three people and statements: the last ten lines hold whom the puzzle is about up to seven
    assert all(score["right"] == score["share"] == 1 for score in recent if score["told"] <= 7)
    assert fmean(score["right"] for score in recent if score["told"] > 7) < 0.1
    shares = [fmean(score["share"] for score in each) for each in (recent, found, oracle)]
    assert shares[0] + 0.1 < shares[1] < shares[2] - 0.1


def test_any_person_at_any_time_is_asked_and_texts_are_told_as_they_stand():
    class Told:
        def __init__(self):
            self.texts, self.questions = [], []

        def add(self, text):
            self.texts.append(text)

        def ask(self, question):
            self.questions.append(question)
            return "I forgot."

    asked = set()
    for row in ROWS:
        memory = Told()
        scores = question_memory(row, memory, 7)
        assert scores == question_memory(row, Told(), 7)
        assert [score["told"] for score in scores] == [7, 14, 21, 28, 30]
        assert not any(score["right"] or score["share"] for score in scores)
        assert "\n".join(memory.texts) == row["puzzle"].rpartition("\n\n")[0]
        for score, question in zip(scores, memory.questions, strict=True):
            assert question.startswith(f"What is the state of {score['person']} after statement ")
            assert f" {score['asked']}?" in question
            assert 0 <= score["asked"] <= score["told"]
        names = [*solve_steps(row["puzzle"]).states[0]]
        asked |= {(names.index(s["person"]), s["asked"] < s["told"] / 2) for s in scores}
    assert len(asked) == 6
