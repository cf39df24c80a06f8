"""How fast things are: `python benchmarks/benchmark.py grid score`; no name means all.

Compare two versions in turn, on one machine that does nothing else. Seconds are of the processor,
in the median of several runs.
"""

import resource
import subprocess
import sys
import time
from collections import deque
from functools import partial
from pathlib import Path
from random import sample
from statistics import median
from tempfile import TemporaryDirectory
from timeit import repeat

from reasoning_gym import create_dataset

import reasoning_gym_tasks  # noqa: F401 (registers the data sets)
from cogniload_dataset import load_dataset
from cogniload_gen import generate_factor, generate_puzzles, read_steps, score

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/helpers"))
from lm_eval_layout import BETA, make_samples, write_run  # noqa: E402

GRID = {"d": [1, 3, 5, 7, 10], "N": [20, 50, 100, 250], "rho": [5, 10, 25, 50, 75, 90, 95]}
RUN = partial(subprocess.run, check=True, capture_output=True)
COGNILOAD = str(Path(sys.executable).with_name("cogniload"))


def processor():
    """Seconds that this process and those that it waited for took of the processor."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def show(what, work, repeats=5):
    took = median(repeat(work, timer=processor, number=1, repeat=repeats))
    print(f"{what}: {1000 * took:,.1f} ms", flush=True)


def puzzle():
    for N in (20, 250, 1_000, 10_000):
        show(f"one puzzle, d = 5, N = {N}", partial(generate_puzzles, 5, N, 50, num_puzzles=1), 15)
    show("one of FACTOR, N = 20", partial(generate_factor, N=20, num_puzzles=1), 15)


def stream():
    for count in (1, 14_000):
        rows = load_dataset("cogniload", split="test", streaming=True, **GRID).take(count)
        show(f"a stream of the grid, rows: {count}", partial(deque, rows, 0), 3)


def items():
    """Time reasoning-gym's items of each suite, the first in order and others at random."""
    for name, given in (
        *(("cogniload", {"d": 3, "N": 20}), ("cogniload", GRID), ("factor_symbolic", {"N": 20})),
        *(("factor_realistic", {"op": op}) for op in (10, 20)),
    ):
        for order, places in (("order", range(3_000)), ("disorder", sample(range(10**6), 300))):
            made = create_dataset(name, seed=7, size=10**6, **given)
            what = f"{name}, {min(given.items())}: {len(places):,} items in {order}"
            show(what, partial(deque, map(made.__getitem__, places), 0), 1)


def both(what, function):
    """Time a function of a response of 30 KB, the puzzle's text over and over, and its puzzle."""
    tables = generate_puzzles(5, 100, 50, num_puzzles=1), generate_factor(N=20, num_puzzles=1)
    for row in (table.to_pylist()[0] for table in tables):
        text = (row["puzzle"] * 100)[:29_900] + f"\n{row['question']} It is {row['answer']}."
        show(f"{what}, {row['id']}", partial(function, text, row))


def report():
    with TemporaryDirectory() as folder:
        write_run(folder, "model", make_samples(BETA, 10, 1))
        command = (COGNILOAD, "report", folder, "--out", f"{folder}/report")
        show("report of 1,400 responses", partial(RUN, command), 1)


FIGURES = {
    "grid": partial(show, "the paper's grid, 14,000 puzzles", lambda: generate_puzzles(**GRID)),
    "puzzle": puzzle,
    "stream": stream,
    "items": items,
    "score": partial(both, "scoring", score),
    "steps": partial(both, "reading steps", read_steps),
    "report": report,
    "help": partial(show, "cogniload --help", partial(RUN, (COGNILOAD, "--help"))),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or FIGURES:
        FIGURES[name]()
