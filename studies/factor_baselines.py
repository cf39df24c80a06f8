"""How often FACTOR's baselines are right, by complexity.

Run it by `python studies/factor_baselines.py`.

Prints the tables of lm_eval_tasks/factor/README.md, in per cent. A thousand puzzles a row.
"""

from collections.abc import Mapping
from typing import Any

from cogniload_gen import generate_factor
from cogniload_gen.factor.baselines import REALISTIC_BASELINES, SYMBOLIC_BASELINES, Baseline

PUZZLES = 1000


def table(name: str, levels: list[int], baselines: Mapping[str, Baseline], **knobs: Any) -> None:
    """Print the table of a suite: a row for each level of the knob `name`."""
    print(f"\n| {name} | " + " | ".join(baselines) + " |")
    print("| ---: " * (1 + len(baselines)) + "|")
    for level in levels:
        rows = generate_factor(**knobs | {name: level}, num_puzzles=PUZZLES).to_pylist()
        right = [
            sum(answer(row["puzzle"]) == row["answer"] for row in rows)
            for answer in baselines.values()
        ]
        print(f"| {level} | " + " | ".join(f"{100 * n / PUZZLES:.1f}" for n in right) + " |")


def main() -> None:
    table("N", [1, 2, 3, 5, 10, 15, 20, 30, 39], SYMBOLIC_BASELINES)
    table("N", [2, 3, 5, 10, 15, 20, 30, 39], SYMBOLIC_BASELINES, roots=1)
    table("op", [2, 3, 4, 5, 10, 20], REALISTIC_BASELINES, suite="realistic")


if __name__ == "__main__":
    main()
