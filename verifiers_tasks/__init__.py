"""The environment for verifiers: `vf-eval verifiers_tasks` finds its task set, seat and program.

Puzzles, response limits and scores are those of the tasks for lm-eval.
"""

from verifiers_tasks.program import PuzzleEnv, PuzzleHarness
from verifiers_tasks.taskset import PuzzleTaskset

__all__ = ["PuzzleEnv", "PuzzleHarness", "PuzzleTaskset"]
