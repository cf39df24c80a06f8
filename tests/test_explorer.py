"""The explorer: the page builds, and its callbacks show what the package says."""

import runpy
from pathlib import Path

import pytest
from harness import random_state_put_back

from cogniload_gen import generate_factor, generate_puzzles, read_steps, score
from cogniload_gen.cogniload.steps.planted import write_trace

pytest.importorskip("gradio")
APP = runpy.run_path(str(Path(__file__).parents[1] / "spaces/explorer/app.py"))
PUZZLES = generate_puzzles([1, 4, 12], [3, 12], [20, 80], num_puzzles=4, trace=True).to_pylist()


def test_the_page_builds_with_its_callbacks():
    with random_state_put_back():  # Gradio names a page by chance
        page = APP["build"]()
    names = {getattr(function.fn, "__name__", "") for function in page.fns.values()}
    assert {"start_steps", "show_step", "judge"} <= names


def test_the_sliders_choose_the_puzzle_of_their_levels():
    row, puzzle = APP["show_puzzle"]("CogniLoad", 4, 12, 20, 3)
    (made,) = generate_puzzles(4, 12, 20, num_puzzles=1, first_index=3).to_pylist()
    assert row["puzzle"] == puzzle == made["puzzle"]
    _, puzzle = APP["show_puzzle"]("FACTOR", 6, 0, 2)
    assert puzzle == generate_factor(N=6, num_puzzles=3).to_pylist()[2]["puzzle"]
    assert APP["show_puzzle"]("CogniLoad", 13, 5, 50, 0)[0] is None


@pytest.mark.parametrize("row", PUZZLES, ids=lambda row: row["id"])
def test_each_step_shows_the_state_of_the_trace(row):
    at = sorted(range(len(row["categories"])), key=row["categories"].__getitem__)
    first = row["initial_state"][row["people"].index(row["poi"])]
    for t, values in enumerate([first, *row["poi_states"]]):
        said, state = APP["show_step"](row, t)
        assert said in row["puzzle"]
        assert state["headers"][1:] == sorted(row["categories"])
        assert {line[0] for line in state["data"]} == set(row["people"])
        assert state["data"][0][0] == row["poi"]
        assert [value.rstrip("*") for value in state["data"][0][1:]] == [values[i] for i in at]
    assert APP["show_step"](row, row["N"] + 1) == ("", None)


def test_the_variables_of_factor_end_with_the_answer():
    for row in generate_factor(N=[1, 9, 20], num_puzzles=2).to_pylist():
        _, state = APP["show_step"](row, row["N"])
        names = [name for name, value, _ in state["data"] if value == str(row["target"])]
        listed = ", ".join(sorted(names, key=lambda name: int(name[1:])))
        assert (listed or "none") == row["answer"]


@pytest.mark.parametrize("row", PUZZLES[-2:], ids=lambda row: row["id"])
def test_a_response_is_judged_as_the_package_judges_it_and_shown_whole(row):
    for response in (
        "",
        row["answer"],
        write_trace(row["puzzle"], 5, "initial", "numbered").response,
    ):
        said, marked = APP["judge"](response, row)
        assert "".join(text for text, _ in marked) == response
        scored, steps = score(response, row), read_steps(response, row)
        assert said.startswith(("Wrong", "Right")[scored.correct])
        assert ("could not be read" in said) == (not steps.read)
        assert ("first error" in dict(map(reversed, marked))) == (steps.first_error == 0)


def test_the_first_wrong_variable_is_marked():
    (row,) = generate_factor(N=3, num_puzzles=1).to_pylist()
    first, _, rest = row["solution"].partition("\n")
    said, marked = APP["judge"](f"{first}7\n{rest}", row)
    assert "First error: invented, at v" in said
    assert (f"{first}7", "first error") in marked
