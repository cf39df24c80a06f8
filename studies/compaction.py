"""What a report says of compactors whose losses are planted, 60 puzzles a run; prints a table."""

import sys
from pathlib import Path

from simulated import print_table

sys.path[:0] = [str(Path(__file__).parents[1] / "tests/helpers")]

from compactor import study  # noqa: E402

if __name__ == "__main__":
    print_table(study(range(100)))
