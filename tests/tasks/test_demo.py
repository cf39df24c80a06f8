"""The demo's simulated model. tests/analysis/test_report.py runs the demo."""

from math import sqrt

import pytest
from lm_eval.api.instance import Instance

from cogniload_gen import generate_puzzles, read_steps, score
from lm_eval_tasks.cogniload.simulated import SimulatedModel


def ask(rows, half_at=10):
    requests = [Instance("generate_until", row, (row["puzzle"], {}), 0) for row in rows]
    return SimulatedModel(half_at).generate_until(requests, disable_tqdm=True)


@pytest.mark.parametrize(("N", "rho", "expected"), [
    (20, 50, 1 / 2), (40, 50, 1 / 5), (40, 75, 1 / 2), (20, 100, 1),
])  # fmt: skip
def test_hay_alone_decides_how_many_puzzles_are_solved(N, rho, expected):
    rows = generate_puzzles(1, N, rho, num_puzzles=400).to_pylist()
    solved = sum(score(text, row).correct for text, row in zip(ask(rows), rows, strict=True))
    assert abs(solved / 400 - expected) <= 4 * sqrt(expected * (1 - expected) / 400)


def test_a_wrong_trace_breaks_at_hay_and_a_puzzle_has_one_trace():
    rows = generate_puzzles(1, 20, 50, num_puzzles=60, trace=True).to_pylist()
    traces = ask(rows)
    assert ask(rows[::-1]) == traces[::-1]
    read = [read_steps(text, row) for text, row in zip(traces, rows, strict=True)]
    broken = [(steps, row) for steps, row in zip(read, rows, strict=True) if steps.first_error]
    assert len(broken) > 20
    for steps, row in broken:
        assert row["statements"][steps.first_error - 1]["type"] == "hay"
        assert steps.error == "intruded"
