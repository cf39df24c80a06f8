"""How often FACTOR's baselines are right, by complexity.

Run it by `python studies/factor_baselines.py`.

Prints tables in per cent. A thousand puzzles a row.
"""

from collections.abc import Iterator
from typing import Any

from simulated import print_table

from cogniload_gen import generate_factor
from cogniload_gen.factor.baselines import REALISTIC_BASELINES, SYMBOLIC_BASELINES

PUZZLES = 1000


def table(name: str, levels: list[int], **knobs: Any) -> Iterator[list[str]]:
    """Yield the table of a suite: a row for each level of the knob `name`."""
    baselines = REALISTIC_BASELINES if "suite" in knobs else SYMBOLIC_BASELINES
    yield [name, *baselines]
    for level in levels:
        rows = generate_factor(**knobs | {name: level}, num_puzzles=PUZZLES).to_pylist()
        right = (
            sum(answer(row["puzzle"]) == row["answer"] for row in rows)
            for answer in baselines.values()
        )
        yield [str(level), *(f"{100 * count / PUZZLES:.1f}" for count in right)]


if __name__ == "__main__":
    print_table(table("N", [1, 2, 3, 5, 10, 15, 20, 30, 39]))
    print_table(table("N", [2, 3, 5, 10, 15, 20, 30, 39], roots=1))
    print_table(table("op", [2, 3, 4, 5, 10, 20], suite="realistic"))
