"""How fast puzzles are made, on one core: `python benchmarks/generate.py`.

The paper's grid as a table, the growth with N, and the time to a first puzzle.
"""

import subprocess
import sys

from machine import machine, peak_memory, timed

from cogniload_gen import generate_puzzles
from cogniload_gen.cogniload.knobs import PAPER_D, PAPER_N, PAPER_RHO

FIRST = "from cogniload_gen import generate_puzzles; generate_puzzles(5, 100, 25, num_puzzles=1)"


def main() -> None:
    print(machine(1))

    with timed() as took:
        subprocess.run([sys.executable, "-c", FIRST], check=True)
    print(f"a first puzzle in a new process: {took.wall:.2f} s")

    print("\nthe paper's grid, 14,000 puzzles (the authors' script: 35 s)")
    for run in range(1, 4):
        with timed() as took:
            table = generate_puzzles(PAPER_D, PAPER_N, PAPER_RHO)
        megabytes, statements = table["puzzle"].nbytes / 1e6, sum(table["N"].to_pylist())
        print(
            f"run {run}: {took.wall:.2f} s, {statements / took.wall:,.0f} statements/s, "
            f"{megabytes / took.wall:.0f} MB/s, peak memory {peak_memory()}"
        )
        del table

    print("\ngrowth with N: 100 puzzles, d = 5, rho = 50")
    for N in (10, 100, 1_000, 10_000):
        with timed() as took:
            generate_puzzles(5, N, 50)
        print(f"N = {N:6,}: {took.wall:7.3f} s, {1e6 * took.wall / (100 * N):6.2f} us/statement")


if __name__ == "__main__":
    main()
