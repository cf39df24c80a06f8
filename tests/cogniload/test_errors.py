"""Planted errors: proven by the solver, the same for the same key, and read as planned."""

import os
from collections import Counter

import pyarrow.parquet as pq
import pytest
from command_line import main, run_python

from cogniload_gen import generate_puzzles, score
from cogniload_gen.cogniload.knobs import ERRORS
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.first_error import read_steps
from cogniload_gen.cogniload.steps.planted import STYLES, trace_key, write_trace

PUZZLES = generate_puzzles([1, 2, 3, 5], [4, 8, 15], [25, 50, 75], 12, split="train").to_pylist()


@pytest.fixture(scope="module")
def traces():
    return [write_trace(row["puzzle"], trace_key(row["id"])) for row in PUZZLES]


def test_the_solver_proves_the_first_error(traces):
    for row, trace in zip(PUZZLES, traces, strict=True):
        solution = solve_steps(row["puzzle"])
        truth = [people[solution.poi] for people in solution.states]
        wrong = [t for t in range(len(truth)) if trace.states[t] != truth[t]]
        assert trace.first_error == (wrong[0] if wrong else None)
        assert (trace.error in (None, "answer")) == (trace.first_error is None)


def test_what_follows_the_error_is_consistent_with_it(traces):
    for row, trace in zip(PUZZLES, traces, strict=True):
        if trace.error in (None, "answer", "stopped"):
            continue
        statements = solve_steps(row["puzzle"]).statements
        for t in range(trace.first_error + 1, len(trace.states)):
            (needs, gives), before = statements[t - 1], trace.states[t - 1]
            after = before | gives if needs.items() <= before.items() else before
            assert trace.states[t] == after


def test_every_kind_and_style_is_planted(traces):
    assert Counter(trace.error for trace in traces).keys() == {*ERRORS, None}
    assert Counter(trace.style for trace in traces).keys() == STYLES.keys()


def test_the_shape_is_processbenchs(traces):
    for trace in traces:
        assert "".join(trace.steps) == trace.response
        assert -1 <= trace.label < len(trace.steps) + (trace.error == "stopped")
        assert (trace.label == len(trace.steps)) == (trace.error == "stopped")
        assert (trace.label == -1) == (trace.error is None)


def count_readings(rows):
    """How many traces with planted errors are read as planned, passed over and read otherwise."""
    counts = Counter()
    for row in rows:
        trace = write_trace(row["puzzle"], trace_key(row["id"]))
        steps = read_steps(trace.response, row)
        as_planned = (steps.first_error, steps.error) == (trace.first_error, trace.error)
        counts[as_planned if steps.read else None] += 1
    return counts


def test_the_reader_reads_what_was_planned():
    counts = count_readings(PUZZLES)
    assert counts[True] >= 0.97 * len(PUZZLES)
    assert not counts[False]


@pytest.mark.slow
def test_the_reader_reads_ten_thousand_as_planned():
    rows = generate_puzzles(
        [1, 2, 3, 4, 5], [4, 6, 10, 15, 20], [25, 50, 75, 90], 100, split="train", seed=7
    ).to_pylist()
    counts = count_readings(rows)
    assert counts.total() == 10_000
    assert counts[True] >= 9_840
    assert not counts[False]


def test_a_trace_is_a_function_of_its_puzzle_and_key():
    """In another process with another hash seed too."""
    script = (
        "from cogniload_gen import generate_puzzles\n"
        "from cogniload_gen.cogniload.steps.planted import trace_key, write_trace\n"
        "rows = generate_puzzles([1, 3], 8, 50, 12, split='train').to_pylist()\n"
        "print([write_trace(r['puzzle'], trace_key(r['id'])).response for r in rows])"
    )
    rows = generate_puzzles([1, 3], 8, 50, 12, split="train").to_pylist()
    texts = [write_trace(row["puzzle"], trace_key(row["id"])).response for row in reversed(rows)]
    ran = run_python(script, env=os.environ | {"PYTHONHASHSEED": "0"})
    assert ran.stdout == f"{texts[::-1]}\n"


def test_a_clean_trace_is_right_throughout_in_each_style():
    for key, row in enumerate(PUZZLES[::9]):
        solution = solve_steps(row["puzzle"])
        for style in STYLES:
            trace = write_trace(row["puzzle"], key, "none", style)
            assert (trace.style, trace.label, trace.error) == (style, -1, None)
            assert list(trace.states) == [people[solution.poi] for people in solution.states]
            assert score(trace.response, row).correct


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match="error must be one of initial"):
        write_trace(PUZZLES[-1]["puzzle"], 5, error="big")


def test_traces_are_written_with_their_errors(tmp_path):
    words = ["--d", "3", "--N", "8", "--rho", "50", "--num-puzzles", "20", "--errors"]
    assert main(["generate", str(tmp_path / "traces.parquet"), *words]) == 0
    traces = pq.read_table(tmp_path / "traces.parquet").to_pylist()
    assert len(traces) == 20
    assert len({row["style"] for row in traces}) > 3
    assert {row["error"] for row in traces} > {None}
    for row in traces:
        assert row["answer"] == solve_steps(row["puzzle"]).answer
        assert row["response"] == "".join(row["steps"])
        assert (row["label"] == -1) == (row["error"] is None)
        steps = read_steps(row["response"], row)
        planned = row["first_error"], row["error"]
        assert not steps.read or (steps.first_error, steps.error) == planned
