"""Tasks for the LM Evaluation Harness; `budget` is what those of every benchmark share.

`Evaluation` and `Results` are the Python door of `cogniload eval`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lm_eval_tasks.evaluation import Evaluation as Evaluation
    from lm_eval_tasks.runner import Results as Results

_HOMES = {"Evaluation": "evaluation", "Results": "runner"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is used: the tasks alone need no more than their own files."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
