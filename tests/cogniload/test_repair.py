"""Responses are cut where their error was planted, and corrected there alone."""

import re
from collections import Counter

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
    for row, trace, ((t, _, kept), (_, _, corrected), (_, _, before)) in cut:
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
