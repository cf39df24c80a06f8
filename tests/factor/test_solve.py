"""The solvers of FACTOR on texts written by hand, and on relations that a test makes itself."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from stored import cases

from cogniload_gen import generate_factor, solve
from cogniload_gen.factor.score import score_factor

PAPER = cases(__file__, "paper.toml")
CASES = cases(__file__)
SYMBOLIC = PAPER["symbolic"]
REALISTIC = PAPER["realistic"].replace("Fox is 2. ", "Fox is 2. The Deer of South Zoo sleeps. ", 1)


@pytest.mark.parametrize(("target", "answer"), CASES["symbolic_answers"])
def test_the_papers_symbolic_example(target, answer):
    assert solve(SYMBOLIC.replace("equal to 2", f"equal to {target}")) == answer


@pytest.mark.parametrize(("kind", "place", "answer"), CASES["realistic_answers"])
def test_the_papers_realistic_example(kind, place, answer):
    asked = f"How many {kind} does {place} have?"
    assert solve(REALISTIC.replace("How many Fox does Hamilton Farm have?", asked)) == answer


def test_typographic_apostrophes_and_a_total_that_a_sentence_defines():
    assert solve(REALISTIC.replace("'", "’")) == "8"
    defined = "Problem: The number of each South Zoo's Animal is 9."
    assert solve(REALISTIC.replace("Problem:", defined)) == "13"


def test_a_sum_of_two_and_an_amount_more_than_a_sum():
    more = "is 3 more than the sum of South Zoo's Fox and South Zoo's Deer."
    asked = "How many Deer does Bundle Ranch have?"
    text = REALISTIC.replace("is 13.", more)
    assert solve(text.replace("How many Fox does Hamilton Farm have?", asked)) == "7"


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [(SYMBOLIC, *case) for case in CASES["no_symbolic_puzzle"]]
    + [(REALISTIC, *case) for case in CASES["no_realistic_puzzle"]],
)
def test_what_is_no_puzzle(text, old, new, message):
    with refused(message, most=200):
        solve(text.replace(old, new.replace("{ones}", 5000 * "1"), 1))


def test_a_total_of_a_kind_that_is_named_and_not_defined():
    text = REALISTIC.replace("The number of each Bundle Ranch's Deer is 13. ", "")
    with pytest.raises(ValueError, match="definition of every variable; got \"Bundle Ranch's Deer"):
        solve(text.replace("Fox does Hamilton Farm", "Animal does Bundle Ranch"))


def test_a_long_chain_is_no_recursion():
    length = 20 * sys.getrecursionlimit()
    links = "".join(f"@<<<assign v{i} = v{i + 1} + 1>>>@" for i in range(length))
    text = f"{links}<<<assign v{length} = 0>>> the end of the text. equal to 2."
    assert solve(text) == f"v{length - 2}"


@given(st.data(), st.integers(1, 30), st.integers(-3, 12))
def test_any_forest(data, N, target):
    """Values are drawn first and the statements made from them, so no equation is solved here."""
    values = data.draw(st.lists(st.integers(0, 9), min_size=N, max_size=N))
    names = data.draw(st.permutations(range(N)))
    statements = []
    for i, name in enumerate(names):
        parents = [names[j] for j in range(i) if abs(values[names[j]] - values[name]) <= 1]
        if parents and data.draw(st.booleans()):
            parent = data.draw(st.sampled_from(parents))
            step = {0: "", 1: " + 1", -1: " - 1"}[values[name] - values[parent]]
            statements.append(f"@<<<assign v{name} = v{parent}{step}>>>@")
        else:
            statements.append(f"@<<<assign v{name} = {values[name]}>>>@")
    body = " some words. ".join(data.draw(st.permutations(statements)))
    text = f"{body}\nThis is the end of the text.\n\nwhat is, if any, equal to {target}."
    equal = [f"v{i}" for i in range(N) if values[i] == target]
    assert solve(text) == (", ".join(equal) or "none")


def test_puzzles_within_128_thousand_tokens_are_solved():
    """Shorter ones, of both suites and all noises, are solved in test_twins.py and dataset/."""
    for row in generate_factor(N=[1, 39], context=128_000, num_puzzles=10).to_pylist():
        assert solve(row["puzzle"]) == row["answer"]
        keys = {"suite": "symbolic", "answer": row["answer"], "target": row["target"]}
        assert score_factor(row["solution"], **keys).outcome.correct
