"""Times the project and a peer in turn, in one run: `make benchmark BESIDE=authors.py`.

The peer's file has a function for each row that it knows, with the row's name and arguments. A row
without one has the project's time alone. Figures are milliseconds of one core, the medians of the
runs; a ratio above 1 says that the project is faster.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from runpy import run_path
from typing import Any

from tqdm import tqdm

from cogniload_dataset import load_dataset
from cogniload_gen import generate_factor, generate_puzzles, read_steps, score
from cogniload_gen.cogniload.knobs import PAPER_D, PAPER_N, PAPER_RHO

Row = tuple[str, Callable[..., object], tuple[Any, ...]]

_SECONDS, _MOST_RUNS = 4.0, 101


def grid(seed: int) -> object:
    """Make the paper's 14,000 puzzles."""
    return generate_puzzles(PAPER_D, PAPER_N, PAPER_RHO, seed=seed)


def stream(seed: int) -> object:
    """Stream the paper's 14,000 puzzles."""
    return sum(1 for _ in load_dataset("cogniload", split="test", streaming=True, seed=seed))


def puzzle(seed: int, N: int) -> object:
    """Make one puzzle of d = 5 and rho = 50 %."""
    return generate_puzzles(5, N, 50, num_puzzles=1, seed=seed)


def factor(seed: int, N: int) -> object:
    """Make one puzzle of FACTOR's symbolic suite."""
    return generate_factor(N=N, num_puzzles=1, seed=seed)


def rows() -> Iterator[Row]:
    """Yield what is timed: its name, what does it, and the arguments behind the seed."""
    row = generate_puzzles(5, 100, 50, num_puzzles=1).to_pylist()[0]
    text = (row["puzzle"] * 99)[:30_000]
    yield from (("puzzle", puzzle, (N,)) for N in (20, 250, 1_000, 10_000))
    yield "factor", factor, (20,)
    yield "score", lambda _, said: score(said, row), (text,)
    yield "steps", lambda _, said: read_steps(said, row), (text,)
    yield from (("grid", grid, ()), ("stream", stream, ()))


def measure(sides: list[Callable[..., object]], arguments: tuple[Any, ...]) -> list[list[float]]:
    """Return the milliseconds of each side, whose runs take turns."""
    took: list[list[float]] = [[] for _ in sides]
    for side in sides:
        side(0, *arguments)
    until = time.monotonic() + _SECONDS
    for seed in range(1, _MOST_RUNS + 1):
        for side, times in zip(sides, took, strict=True):
            began = time.process_time()
            side(seed, *arguments)
            times.append(1000 * (time.process_time() - began))
        if seed > 1 and time.monotonic() > until:
            break
    return took


def main(beside: str = "") -> None:
    """Print a line for each row: median and slowest of the project, of the peer, and the ratio."""
    peer = run_path(beside) if beside else {}
    print(f"{'row':14} {'median':>9} {'slowest':>9} {'peer':>9} {'ratio':>6}")
    for name, mine, arguments in tqdm([*rows()], disable=None, leave=False):
        theirs = peer.get(name)
        ours, *other = measure([mine, *filter(None, [theirs])], arguments)
        middle = statistics.median(ours)
        said = " ".join([name, *(str(each) for each in arguments if isinstance(each, int))])
        line = f"{said:14} {middle:9.2f} {max(ours):9.2f}"
        for times in map(statistics.median, other):
            line += f" {times:9.2f} {times / middle:6.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
