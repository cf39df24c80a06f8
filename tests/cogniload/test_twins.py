"""Twins: every change leaves the answer that it promises, and the text that it does not touch."""

import math
import re
from collections import Counter
from itertools import pairwise

import pytest
from stored import cases

from cogniload_analysis.samples.read import read_chance
from cogniload_gen import generate_puzzles, read_steps, score, solve
from cogniload_gen.cogniload.knobs import TWIN
from cogniload_gen.cogniload.rewards import state_reward
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.planted import clauses

GRID = {"d": range(1, 13), "N": [4, 9, 30], "rho": [5, 40, 95], "num_puzzles": 3}
TWINS = [
    "again", "needles", "tail", "names", "question=first", "question=state", "from=3", "until=3",
    "only=4", "reminder=1", "reminder=3", "hay=0", "hay=5", "hay=40",
]  # fmt: skip
SAME_ANSWER = [twin for twin in TWINS if not re.match("until|only|question=state", twin)]


@pytest.fixture(scope="module")
def originals():
    return generate_puzzles(**GRID, trace=True).to_pylist()


@pytest.fixture(scope="module")
def twins():
    return {twin: generate_puzzles(**GRID, twin=twin).to_pylist() for twin in TWINS}


def lines_of(row):
    """The people, the numbered statements without their numbers, and the question of a text."""
    _, *lines = [line for line in row["puzzle"].split("\n") if line]
    statements = [line.partition(". ")[2] for line in lines if line[0].isdigit()]
    others = [line for line in lines if not line[0].isdigit()]
    people = [line for line in others if line.split()[0] in row["people"]]
    return people, statements, others[-1]


def types_of(row):
    return [statement["type"] for statement in row["statements"]]


def test_all_changes_are_tried():
    forms = {re.sub(r"=\d+", "=", twin) for twin in TWINS}
    others = {form for form in TWIN.choices if form.startswith("language=")}  # test_languages.py
    assert forms == {re.sub("=[A-Z]$", "=", form) for form in TWIN.choices} - others


@pytest.mark.parametrize("twin", TWINS)
def test_the_solver_agrees(twins, twin):
    rows = twins[twin]
    assert [solve(row["puzzle"]) for row in rows] == [row["answer"] for row in rows]


@pytest.mark.parametrize("twin", SAME_ANSWER)
def test_the_answer_stays(originals, twins, twin):
    assert [row["answer"] for row in twins[twin]] == [row["answer"] for row in originals]
    if twin == "again":
        assert [row["puzzle"] for row in twins[twin]] == [row["puzzle"] for row in originals]


@pytest.mark.parametrize("twin", TWINS)
def test_the_address_stays_and_the_id_has_the_change(originals, twins, twin):
    for row, original in zip(twins[twin], originals, strict=True):
        assert row["id"] == f"{original['id']}~{twin}"
        assert all(row[name] == original[name] for name in ("d", "N", "rho", "seed", "index"))
        match = re.fullmatch(r".*-d(\d+)-N(\d+)-rho([\d.]+)-(\d+)~(.*)", row["id"])
        d, N, rho, index, change = match.groups()
        if row["index"] == 2:
            again = generate_puzzles(
                int(d), int(N), float(rho), 1, first_index=int(index), twin=change
            )
            assert again.to_pylist() == [row]


def test_needles_has_the_needles_alone_and_tail_is_as_long(originals, twins):
    for row, needles, tail in zip(originals, twins["needles"], twins["tail"], strict=True):
        people, statements, question = lines_of(row)
        kept = [s for s, kind in zip(statements, types_of(row), strict=True) if kind == "needle"]
        assert lines_of(needles) == (people, kept, question)
        assert lines_of(tail)[1] == statements[len(statements) - len(kept) :]
        assert needles["needles"] == row["needles"] == len(kept)


def test_parts_begin_and_end_at_the_true_states(originals, twins):
    for number, row in enumerate(originals):
        states = solve_steps(row["puzzle"]).states
        _, statements, _ = lines_of(row)
        later, until, only = (
            solve_steps(twins[t][number]["puzzle"]) for t in ("from=3", "until=3", "only=4")
        )
        assert later.states == states[3:]
        assert until.states == states[:4]
        assert only.states == states[3:5]
        assert until.answer == states[3][row["poi"]][row["category"]]
        assert lines_of(twins["from=3"][number])[1] == statements[3:]
        hay = types_of(row)[3:].count("hay")
        assert len(statements) - 3 - hay == twins["from=3"][number]["needles"]


def test_names_differ_and_nothing_else(originals, twins):
    for row, twin in zip(originals, twins["names"], strict=True):
        names = dict(zip(row["people"], twin["people"], strict=True))
        assert len(set(names.values())) == len(names)
        assert all(old != new for old, new in names.items())
        words = re.split(r"\b", row["puzzle"].partition("\n")[2])
        renamed = "".join(names.get(word, word) for word in words)
        assert renamed == twin["puzzle"].partition("\n")[2]


def test_reminders_are_the_only_addition(originals, twins):
    for every in (1, 3):
        for row, twin in zip(originals, twins[f"reminder={every}"], strict=True):
            lines = twin["puzzle"].split("\n")
            reminders = [line for line in lines if line.startswith("At this point, ")]
            assert [line for line in lines if line not in reminders] == row["puzzle"].split("\n")
            assert len(reminders) == (row["N"] - 1) // every
            assert not any(a in reminders and b == "" for a, b in pairwise(lines))


def test_the_question_first_is_the_same_question(originals, twins):
    for row, twin in zip(originals, twins["question=first"], strict=True):
        parts = twin["puzzle"].split("\n\n")
        assert len(parts) == 3
        assert parts[1] == row["question"]
        assert "\n".join([parts[0], parts[2], "", parts[1]]) == row["puzzle"]


@pytest.mark.parametrize("hay", [0, 5, 40])
def test_hay_is_new_and_the_needles_stay(originals, twins, hay):
    for row, twin in zip(originals, twins[f"hay={hay}"], strict=True):
        (people, old, question), (people2, new, question2) = lines_of(row), lines_of(twin)
        assert (people, question) == (people2, question2)
        assert len(new) == row["needles"] + hay
        kept = [s for s, kind in zip(old, types_of(row), strict=True) if kind == "needle"]
        rest = iter(new)
        assert all(statement in rest for statement in kept)  # in their order
        solution = solve_steps(twin["puzzle"])
        poi = [people[solution.poi] for people in solution.states]
        applies = [
            conditions.items() <= before.items()
            for (conditions, _), before in zip(solution.statements, poi, strict=False)
        ]
        assert sum(applies) == twin["needles"] == row["needles"]


def sentence(poi, state):
    return f"{poi} {clauses('state', state)}."


def test_the_whole_state_is_scored_whole(twins):
    for row in twins["question=state"]:
        poi = row["poi"]
        gold = solve_steps(row["puzzle"]).states[-1][poi]
        options = [option.split(": ") for option in row["options"]]
        first, value = next((name, v) for name, v in options if v != gold[name])
        wrong = gold | {first: value}
        assert score(row["answer"], row).correct
        before = f"{poi} has pink hair.\n{sentence(poi, wrong)}\n\n"
        right, half = (score(before + sentence(poi, state), row) for state in (gold, wrong))
        assert (right.outcome, right.details["state_share"]) == ("correct_valid", 1)
        assert half.outcome == "wrong_logic"
        assert half.details["state_share"] == pytest.approx(1 - 1 / row["d"])
        assert first in half.explanation
        assert state_reward(before + sentence(poi, wrong), row) == half.details["state_share"]
        assert state_reward(f"Perhaps {sentence(poi, gold)}?", row) == 0


def test_a_response_without_a_state_is_wrong(twins):
    row = twins["question=state"][0]
    scored = score("I cannot say.", row)
    assert (scored.outcome, scored.details["state_share"], scored.value) == ("wrong_other", 0, None)
    cut = score(row["answer"], row, prompt_tokens=9, response_tokens=1, context_budget=10)
    assert cut.outcome == "wrong_max_context"


def test_a_guess_of_the_whole_state_is_right_as_often_as_its_parts_are(twins):
    for row in twins["question=state"]:
        sizes = Counter(option.split(": ")[0] for option in row["options"]).values()
        assert len(sizes) == row["d"]
        assert read_chance(row) == pytest.approx(1 / math.prod(sizes))
    for row in twins["again"]:
        assert read_chance(row) == 1 / len(row["options"])


def test_steps_are_read_whatever_the_question(twins):
    for twin in ("question=state", "question=first", "reminder=3"):
        row = twins[twin][5]
        poi = row["poi"]
        states = [people[poi] for people in solve_steps(row["puzzle"]).states]
        lines = [f"{t}. {sentence(poi, state)}" for t, state in enumerate(states) if t]
        steps = read_steps("\n".join([*lines, "", f"Answer: {sentence(poi, states[-1])}"]), row)
        assert (steps.read, steps.error) == (True, None)


@pytest.mark.parametrize(("change", "reason"), cases(__file__)["cogniload_twins"])
def test_a_wrong_change_is_refused_in_one_line(change, reason):
    with pytest.raises(ValueError, match=reason) as error:
        generate_puzzles(**GRID, twin=change)
    assert "\n" not in str(error.value)


def test_the_solver_refuses_a_false_reminder(twins):
    row = twins["reminder=1"][40]
    lines = row["puzzle"].split("\n")
    places = [i for i, line in enumerate(lines) if line.startswith("At this point, ")]
    reminders = [lines[i] for i in places]
    wrong = next(i for i, (a, b) in enumerate(pairwise(reminders)) if a != b)
    lines[places[wrong]] = lines[places[wrong + 1]]
    with pytest.raises(ValueError, match=f"line {places[wrong] + 1}: expected a reminder"):
        solve("\n".join(lines))
