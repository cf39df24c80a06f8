"""What several commands print."""

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from cogniload_gen.files.inputs import one_line


def counted(count: int, what: str) -> str:
    """Return "1 file" or "2,000 files"."""
    return f"{count:,} {what}{'s' * (count != 1)}"


def print_outcomes(outcomes: Counter[Any], remark: str) -> None:
    """Print the accuracy and the share of every outcome."""
    total = outcomes.total()
    correct = sum(count for outcome, count in outcomes.items() if outcome.correct)
    print(f"{total} responses, {correct} correct ({correct / total:.2%}), {remark}")
    kinds: dict[Any, None] = dict.fromkeys(map(type, outcomes))
    for kind in kinds:
        for outcome in kind:
            print(f"{outcome:26} {outcomes[outcome]:7} {outcomes[outcome] / total:8.2%}")


def print_problems(problems: Sequence[str]) -> None:
    """Print what was wrong with some files, a line each, on standard error."""
    for problem in problems:
        print(one_line(problem), file=sys.stderr)
