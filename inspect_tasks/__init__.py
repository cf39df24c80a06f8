"""Tasks for Inspect: puzzles, response limits and scores are those of the tasks for lm-eval."""

from inspect_tasks.tasks import (
    cogniload,
    cogniload_adaptive,
    cogniload_axes,
    cogniload_lite,
    cogniload_quick,
    cogniload_turns,
    cogniload_twins,
    factor_realistic,
    factor_realistic_adaptive,
    factor_symbolic,
    factor_symbolic_adaptive,
)

__all__ = [
    "cogniload", "cogniload_adaptive", "cogniload_axes", "cogniload_lite", "cogniload_quick",
    "cogniload_turns", "cogniload_twins", "factor_realistic", "factor_realistic_adaptive",
    "factor_symbolic", "factor_symbolic_adaptive",
]  # fmt: skip
