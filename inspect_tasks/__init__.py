"""Tasks for Inspect: puzzles, response limits and scores are those of the tasks for lm-eval."""

from inspect_tasks.tasks import (
    cogniload,
    cogniload_adaptive,
    cogniload_lite,
    cogniload_quick,
    cogniload_turns,
    cogniload_twins,
    factor_realistic,
    factor_symbolic,
)

__all__ = [
    "cogniload", "cogniload_adaptive", "cogniload_lite", "cogniload_quick",
    "cogniload_turns", "cogniload_twins", "factor_realistic", "factor_symbolic",
]  # fmt: skip
