"""Tasks for Inspect: puzzles, response limits and scores are those of the tasks for lm-eval."""

from inspect_tasks.tasks import *  # noqa: F403
from inspect_tasks.tasks import __all__ as __all__
