"""The solver on texts written by hand; test_rules.py has it solve the paper's whole grid."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from questions import CLAUSES, QUESTIONS
from stored import cases

from cogniload_gen.cogniload.solve import solve, solve_steps

CASES = cases(__file__, "solve.toml")
PUZZLE = CASES["puzzle"]


@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.parametrize(("before", "after"), [("red", "blue"), ("sci-fi", "non-fiction")])
@pytest.mark.parametrize("stop", [".", ""])
def test_every_clause(clause, before, after, stop):
    """Each alone and among others; without full stops as well, as the authors' release has them."""
    category, state, condition, update = clause
    before_state, before_condition = state.format(before), condition.format(before)
    new = update.format(after)
    other = {"clothes_hat": "socks"}.get(category, "hat")
    for statement in (
        f"{before_condition} {new}",
        f"{before_condition} and wearing a black {other} {new}",
        f"wearing a black {other} and {before_condition} put on a white {other} and {new}",
    ):
        text = f"""Solve it.
            Al {before_state} and is wearing a black {other}{stop}
            Bo is wearing a black {other} and {before_state}{stop}
            1. The people {statement}{stop}

            """
        for question in (form for form, asked in QUESTIONS.items() if asked == category):
            solution = solve_steps(text + question.format("Al"))
            assert (solution.category, solution.answer) == (category, after)
            assert [states["Bo"][category] for states in solution.states] == [before, after]


def test_people_who_are_not_listed_and_values_that_are_not_known():
    """The authors' release lists only people whom some statement was made from."""
    text = """Al is wearing a red hat.
    Bo is wearing red socks.
    1. The people wearing green socks put on a pink hat.
    2. The people wearing red socks put on a blue hat.

    What color hat is Al wearing?"""
    solution = solve_steps(text)
    assert solution.answer == "red"
    assert solution.states[2] == {
        "Al": {"clothes_hat": "red"},
        "Bo": {"clothes_socks": "red", "clothes_hat": "blue"},
    }


def test_line_ends_and_blank_lines_do_not_matter():
    assert solve_steps(PUZZLE.replace("\n", "\r\n")) == solve_steps(PUZZLE)
    assert solve_steps("\n\n" + PUZZLE.replace("\n", "\n \n")) == solve_steps(PUZZLE)
    assert solve_steps(PUZZLE.split("\n", 1)[1]) == solve_steps(PUZZLE)


BROKEN = [(PUZZLE.replace(old, new), message) for old, new, message in CASES["broken"]]
BROKEN += [
    ("", "line 1: expected a puzzle, got an empty text"),
    ('{"id": 1}', "expected the text of one puzzle, its column puzzle, and got a row"),
    ("Hello", "line 1: expected a puzzle's text (people, statements, a question); got 'Hello'"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_broken_text(text, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)) as raised:
        solve(text)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 250


PIECES = st.sampled_from([*PUZZLE.split("\n"), "1. a", "9" * 5000 + ". x", "What is it?", "\n"])


def solved_or_refused(text):
    """Whether a text is solved or else refused in one line."""
    try:
        return solve(text) in text
    except ValueError as error:
        return re.fullmatch(r"line \d+: expected .*", str(error)) is not None


@given(st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text())).map("\n".join)))
def test_any_text(text):
    assert solved_or_refused(text)
