"""Tasks for Inspect: puzzles, response limits and scores are those of the tasks for lm-eval."""

from typing import TYPE_CHECKING, Any

from cogniload_gen.lazy import public_name

if TYPE_CHECKING:
    from inspect_tasks.tasks import cogniload as cogniload
    from inspect_tasks.tasks import cogniload_adaptive as cogniload_adaptive
    from inspect_tasks.tasks import cogniload_axes as cogniload_axes
    from inspect_tasks.tasks import cogniload_lite as cogniload_lite
    from inspect_tasks.tasks import cogniload_quick as cogniload_quick
    from inspect_tasks.tasks import cogniload_turns as cogniload_turns
    from inspect_tasks.tasks import cogniload_twins as cogniload_twins
    from inspect_tasks.tasks import factor_realistic as factor_realistic
    from inspect_tasks.tasks import factor_realistic_adaptive as factor_realistic_adaptive
    from inspect_tasks.tasks import factor_symbolic as factor_symbolic
    from inspect_tasks.tasks import factor_symbolic_adaptive as factor_symbolic_adaptive


def __getattr__(name: str) -> Any:
    """Return a task, imported at its first use: it needs Inspect."""
    return public_name(__name__, name)
