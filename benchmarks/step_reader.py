"""Speed of the step reader and of planted errors on one core: `python benchmarks/step_reader.py`.

Reads responses of 30 KB as models write them: the PoI's state after each of 250 statements, at
length after each of 20, and after each of 100 at d = 1.
"""

import time
import timeit
from collections.abc import Callable

from machine import machine, timed

from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.planted import phrases, trace_key, write_trace
from cogniload_gen.cogniload.steps.rules import read_steps

RESPONSE_BYTES, REPEATS, TRACES = 30_000, 20, 10_000
THOUGHT = " Let me think about that for a moment, since it is easy to lose the thread here."


def write_response(row: dict) -> str:
    """A right response of 30 KB: the PoI's state after each statement, with thoughts between."""
    solution = solve_steps(row["puzzle"])
    states = [people[solution.poi] for people in solution.states]
    lines = [f"{t}. {solution.poi}: {phrases(state)}." for t, state in enumerate(states)]
    room = (RESPONSE_BYTES - len("\n".join(lines))) // len(lines)
    return "\n".join(
        line + (THOUGHT * (room // len(THOUGHT) + 1))[: max(room, 0)] for line in lines
    )


def fastest(work: Callable[[], object]) -> float:
    """The shortest time in seconds of several runs."""
    return min(timeit.repeat(work, timer=time.process_time, number=1, repeat=REPEATS))


def main() -> None:
    """Print milliseconds a response, and traces a second."""
    for d, N in ((5, 250), (3, 20), (1, 100)):
        row = generate_puzzles(d, N, 50, num_puzzles=1).to_pylist()[0]
        text = write_response(row)
        steps = read_steps(text, row)
        assert steps.read and steps.error is None
        seconds = fastest(lambda text=text, row=row: read_steps(text, row))
        print(f"d = {d}, N = {N}: {len(text):,} characters in {1000 * seconds:.1f} ms")
    rows = generate_puzzles([1, 3, 5], [5, 10, 20], [25, 75], num_puzzles=TRACES // 18 + 1)
    puzzles = rows.to_pylist()[:TRACES]
    with timed() as took:
        traces = [write_trace(row["puzzle"], trace_key(row["id"])) for row in puzzles]
    print(f"{TRACES:,} traces with planted errors: {TRACES / took.processor:,.0f} traces/s")
    wrong = 0
    for row, trace in zip(puzzles, traces, strict=True):
        steps = read_steps(trace.response, row, margin=0.5)
        planned = (True, trace.first_error, trace.error)
        wrong += (steps.read, steps.first_error, steps.error) != planned
    print(f"read other than planned: {wrong}")
    print(machine())


if __name__ == "__main__":
    main()
