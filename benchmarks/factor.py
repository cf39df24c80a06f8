"""How fast FACTOR's puzzles are made, on one core.

Both suites over the paper's grids, and with filler or noise; the training sets. Tokens by estimate.
"""

from itertools import product

import pyarrow as pa
from grids import factor_grid, factor_source
from machine import machine, peak_memory, timed

from cogniload_gen.factor.knobs import PAPER_CONTEXTS
from cogniload_gen.factor.training import TrainingSet


def measure(name: str, puzzles, start: int = 0, stop: int | None = None) -> None:
    """Print the speed of making the tables of a grid or training set."""
    source = factor_source(puzzles)
    next(source.tables(0, 1))  # what is made once: words counted, templates read
    count, megabytes = 0, 0.0
    with timed() as took:
        for table in source.tables(start, stop):
            count += len(table)
            megabytes += table["puzzle"].nbytes / 1e6
    speed = f"{count / took.wall:10,.0f} puzzles/s, {megabytes / took.wall:4.0f} MB/s"
    print(f"{name}: {speed}, peak memory {peak_memory()}")


def main() -> None:
    print(machine(1), "Arrow", pa.__version__)

    print("\nsymbolic suite with solutions, N = 1..39, by tokens of filler")
    for context in PAPER_CONTEXTS:
        count = 1000 if context == 0 else 10
        measure(f"{context:7,}", factor_grid(context=context, num_puzzles=count))

    print("\ntraining sets, the first 20,000 puzzles")
    for name in ("pretrain", "mixed"):
        measure(f"{name:8}", TrainingSet(name), 0, 20_000)

    print("\nrealistic suite with solutions, without noise, by op")
    for op in (2, 5, 10, 20, 50, 100):
        measure(f"{op:3}", factor_grid("realistic", op=op))

    print("\nrealistic suite at op = 10, by noise and tokens")
    for (context, count), noise in product([(8000, 400), (128_000, 50)], ["close", "general"]):
        grid = factor_grid("realistic", op=10, context=context, noise=noise, num_puzzles=count)
        measure(f"{noise:7} {context:7,}", grid)


if __name__ == "__main__":
    main()
