"""Responses are cut where their error was planted, and corrected or reworded there alone."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from cogniload_gen import benchmarks, generate_puzzles, read_steps
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.planted import STYLES, trace_key, write_trace

ROWS = generate_puzzles([1, 3, 5], [5, 15], [20, 60], num_puzzles=2).to_pylist()


def words_of(text):
    return Counter(re.findall(r"[\w-]+", text.lower()))


def traces(error, style):
    for row in ROWS:
        try:
            yield row, write_trace(row["puzzle"], trace_key(row["id"]), error, style)
        except ValueError:  # no place for it
            continue


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("error", ["wrong_value", "drifted", "missed", "initial"])
def test_a_planted_error_is_cut_at_its_step_and_corrected(error, style):
    made = [(row, trace, benchmarks.of(row).cut_response(trace.response, row))
            for row, trace in traces(error, style)]  # fmt: skip
    cut = [one for one in made if one[2]]
    # a step that is missed in words alone has no value to replace
    assert len(cut) > 0.9 * len(made) or error == "missed"
    for row, trace, cuts in cut:
        (t, _, kept), (_, _, reworded), (_, _, corrected), (_, _, before) = cuts
        told, begin = trace.response, len("".join(trace.steps[: trace.label]))
        assert t == trace.first_error
        assert told.startswith(kept)
        assert begin < len(kept) <= begin + len(trace.steps[trace.label].rstrip("\n")) + 2
        assert kept.startswith(before)
        assert len(before.rstrip()) <= begin + len("After statement 99:\n\n") or not t
        solution = solve_steps(row["puzzle"])
        true, taken = solution.states[t][solution.poi], trace.states[t]
        wrong = [name for name in true if true[name] != taken[name]]
        gone, new = words_of(kept) - words_of(corrected), words_of(corrected) - words_of(kept)
        assert gone
        for changed, state in ((gone, taken), (new, true)):
            assert changed.keys() <= words_of(" ".join(["a an", *map(state.get, wrong)])).keys()
        first = read_steps(corrected, row).first_error
        assert first is None or first > t
        assert_only_reworded(row, t, trace.response, kept, reworded)


def assert_only_reworded(row, t, text, kept, reworded):
    """The same words and three more, none of a value or a doubt; the reader finds what it found."""
    assert reworded.replace(" at this point", "", 1) == kept != reworded
    assert reworded.rstrip().splitlines()[:-1] == kept.rstrip().splitlines()[:-1]
    before, after = (read_steps(said + text[len(kept) :], row) for said in (kept, reworded))
    assert before.read
    assert before.decided == after.decided
    assert (before.first_error, before.error) == (after.first_error, after.error)
    values = [{name: v.value for name, v in each.told[t].items()} for each in (before, after)]
    assert values[0] == values[1]


@pytest.mark.parametrize("style", STYLES)
def test_a_right_step_is_reworded_or_made_wrong(style):
    """At the step of a depth, in the same place, and by one value of its category."""
    made = [(row, trace, benchmarks.of(row).cut_response(trace.response, row, depth))
            for row, trace in traces("none", style) for depth in (0.2, 0.8)]  # fmt: skip
    assert len([cuts for *_, cuts in made if cuts]) > 0.9 * len(made)
    for row, trace, cuts in made:
        for (t, _, kept), (_, _, reworded), (_, _, planted) in [cuts] * bool(cuts):
            assert_only_reworded(row, t, trace.response, kept, reworded)
            assert sum((words_of(planted) - words_of(kept)).values()) <= 2
            assert read_steps(planted + trace.response[len(kept) :], row).first_error in (t, None)


@pytest.mark.parametrize("file", sorted(Path(__file__).parent.glob("data/steps_*.jsonl")), ids=str)
def test_what_writers_and_models_wrote_can_be_reworded(file):
    """In any layout in which a response can be cut."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for row in rows:
        if not {"puzzle", "response"} <= row.keys():
            continue
        for depth in (None, 0.5):
            for t, change, reworded in benchmarks.of(row).cut_response(row["response"], row, depth):
                if change == "kept":
                    kept = reworded
                elif change == "reworded":
                    assert_only_reworded(row, t, row["response"], kept, reworded)
