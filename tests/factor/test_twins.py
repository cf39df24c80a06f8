"""FACTOR's twins: every change leaves the answer, and changes what it says."""

import pytest
from stored import cases

from cogniload_gen import generate_factor, score, solve

GRIDS = {
    "symbolic": {"N": [2, 8, 30], "context": [0, 300, 1000], "num_puzzles": 8},
    "realistic": {"op": [2, 6, 15], "context": [0, 1500], "num_puzzles": 8},
}
TWINS = [
    (suite, twin) for suite in GRIDS for twin in ("again", "context=0", "order=solved", "from=1")
]
TWINS.append(("realistic", "needed"))


@pytest.fixture(scope="module")
def originals():
    return {suite: generate_factor(suite, **grid).to_pylist() for suite, grid in GRIDS.items()}


@pytest.mark.parametrize(("suite", "twin"), TWINS)
def test_the_solver_agrees_and_the_answer_stays(originals, suite, twin):
    rows = generate_factor(suite, **GRIDS[suite], twin=twin).to_pylist()
    for row, original in zip(rows, originals[suite], strict=True):
        assert row["id"] == f"{original['id']}~{twin}"
        assert solve(row["puzzle"]) == row["answer"] == original["answer"]
        assert score(row["solution"], row).correct
        if twin == "again":
            assert row["puzzle"] == original["puzzle"]
        if twin == "context=0":
            assert len(row["puzzle"]) <= len(original["puzzle"])
            assert (row["puzzle"] == original["puzzle"]) == (row["context"] == 0)


def test_what_comes_first_in_order_solved_needs_nothing_that_comes_later():
    for row in generate_factor(
        "symbolic", N=[5, 20], num_puzzles=20, twin="order=solved"
    ).to_pylist():
        order = [line.split()[0] for line in row["solution"].splitlines()[:-1]]
        places = [row["puzzle"].index(f"assign {name} ") for name in order]
        assert places == sorted(places)


@pytest.mark.parametrize(("suite", "twin", "reason"), cases(__file__)["wrong_twins"])
def test_a_wrong_change_is_refused(suite, twin, reason):
    with pytest.raises(ValueError, match=reason):
        generate_factor(suite, **GRIDS[suite], twin=twin)


def test_needed_is_the_least_that_determines_the_answer():
    for row in generate_factor("realistic", op=[3, 8], num_puzzles=5, twin="needed").to_pylist():
        text, question = row["puzzle"].split("\n\n", 1)
        sentences = text.removeprefix("Problem: ").split(". ")
        for left_out in range(len(sentences)):
            rest = sentences[:left_out] + sentences[left_out + 1 :]
            shorter = "Problem: " + ". ".join(rest).removesuffix(".") + ".\n\n" + question
            try:
                assert solve(shorter) != row["answer"]
            except ValueError:
                continue
