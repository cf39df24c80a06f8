"""What a text asserts: no question, condition or plan; and an error stays one that is noticed."""

import numpy as np
import pytest
from stored import cases

from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.first_error import read_steps
from cogniload_gen.cogniload.steps.planted import clauses, phrases, write_trace

PUZZLES = generate_puzzles([1, 2, 3], [6, 12], [25, 50, 75], 10, split="train", seed=46).to_pylist()
TEXTS = cases(__file__, "assertions.toml")
KINDS = ("initial", "missed", "intruded", "wrong_value", "drifted")


def told(poi, states, start, end):
    """The states of the person after statements, in a line each."""
    pairs = [(t or "Start", ", ".join(phrases(states[t]))) for t in range(start, end + 1)]
    return "".join(f"{label}. {poi}: {state}.\n" for label, state in pairs)


def solved(row):
    solution = solve_steps(row["puzzle"])
    return solution, solution.poi, [people[solution.poi] for people in solution.states]


@pytest.mark.parametrize("question", TEXTS["questions"])
def test_a_question_asserts_nothing_and_a_state_after_it_is_read(question):
    for row in PUZZLES[::6]:
        solution, poi, truth = solved(row)
        answer = f"\n{poi} {clauses('state', {solution.category: row['answer']})}."
        asked = told_after = ""
        for t, (needs, _) in enumerate(solution.statements, 1):
            asked += f"{t}. {question.format(poi=poi, needs=clauses('condition', needs))}\n"
            told_after += f"{asked.splitlines()[-1]} {poi} {clauses('state', truth[t])}.\n"
        assert not read_steps(asked, row).read
        assert not read_steps(asked + answer, row).read
        assert read_steps(told(poi, truth, 0, 0) + asked, row).error in (None, "stopped")
        steps = read_steps(told_after + answer, row)
        assert (steps.read, steps.error) == (True, None)


@pytest.mark.parametrize("plan", TEXTS["plans"])
def test_a_numbered_plan_is_not_accused(plan):
    for row in PUZZLES[::6]:
        _, poi, truth = solved(row)
        lines = enumerate(plan.format(poi=poi).split(" | "), 1)
        text = "\n".join(f"{t}. {line}" for t, line in lines) + "\n\n"
        assert not read_steps(text, row).read
        assert not read_steps(text + told(poi, truth, 0, len(truth) - 1), row).error


def retold(row, key, error):
    """A text that tells states again at some place, all of them, or from the error that it had."""
    rng = np.random.default_rng(key)
    solution, poi, truth = solved(row)
    trace = write_trace(row["puzzle"], key, error, "numbered")
    at = trace.first_error or 0
    end = min(len(truth) - 1, at + rng.integers(1, 8))
    wrong = [trace.states[t] != truth[t] for t in range(at, end + 1)]
    if error is None and not (trace.error in KINDS and all(wrong) and at < end):
        return None
    notice = rng.choice(TEXTS["rechecks" if error else "notices"])
    quote = " ".join(map(clauses, ("condition", "update"), solution.statements[max(0, at - 1)]))
    other = next(name for name in solution.states[0] if name != poi)
    first = told(poi, trace.states, 0, end)
    noticed = notice.format(t=at, other=other, quote=f"the people {quote}")
    last = told(poi, truth, rng.choice([0, at]), len(truth) - 1)
    return f"{first}{noticed}\n{last}\n{poi} {clauses('state', truth[-1])}.", at, len(first)


def test_an_error_that_is_noticed_later_stays_the_first_error():
    made = [(row, *text) for k, row in enumerate(PUZZLES * 2) if (text := retold(row, k, None))]
    read = [(read_steps(text, row), at, length) for row, text, at, length in made]
    claimed = [(steps, at, length) for steps, at, length in read if steps.read]
    assert len(claimed) >= 0.85 * len(made) > 40
    right = [s.first_error == at and s.recovered for s, at, _ in claimed]
    assert sum(right) >= 0.95 * len(claimed)
    places = [max(s.corrections, default=-1) >= length for s, _, length in claimed]
    assert sum(places) >= 0.9 * len(places)


def test_a_recheck_is_no_error():
    read = [read_steps(retold(row, key, "none")[0], row) for key, row in enumerate(PUZZLES)]
    assert not any(steps.error for steps in read)
    assert sum(steps.read for steps in read) >= 0.9 * len(read)


def changes(name, states):
    """One person's states: at the start, and where a statement changes them."""
    pairs = [(t, s) for t, s in enumerate(states) if not t or s != states[t - 1]]
    return "".join(f"{t or f'**{name}** start'}: {', '.join(phrases(s))}\n" for t, s in pairs)


@pytest.mark.parametrize("layout", ["sections", "tag"])
def test_other_peoples_sections_are_not_the_persons_and_the_answer_in_a_tag_is_read(layout):
    read = []
    for row in PUZZLES[::3]:
        solution, poi, truth = solved(row)
        text, tags = told(poi, truth, 0, len(truth) - 1), "<answer>{}</answer>"
        if layout == "sections":
            people, tags = solution.states[0], "\n{}"
            text = "\n".join(changes(name, [s[name] for s in solution.states]) for name in people)
        for answer in {part.get(solution.category, row["answer"]) for part in solution.parts}:
            wrong = "answer" if answer != row["answer"] else None
            final = tags.format(f"{poi} {clauses('state', {solution.category: answer})}.")
            steps = read_steps(f"{text}{final}", row)
            assert steps.error == wrong or not steps.read
            read.append(steps.read)
    assert layout == "sections" or sum(read) >= 0.85 * len(read)
