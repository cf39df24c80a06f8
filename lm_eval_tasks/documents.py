"""From a task's parameters to its documents: what the benchmarks' `custom_dataset`s share."""

import pyarrow as pa
from datasets import Dataset

from lm_eval_tasks.budget import check_context_budget


def task_parameters(benchmark: str, defaults: dict, given: dict | None) -> dict:
    """The YAML's parameters, with those of --metadata '{"benchmark": {...}}' in their place.

    ValueError names a parameter that the task does not have, or a wrong context_budget.
    """
    unknown = sorted(set(given or {}) - set(defaults))
    if unknown:
        raise ValueError(f"{benchmark} metadata takes {', '.join(defaults)}; got {unknown[0]!r}")
    parameters = defaults | (given or {})
    check_context_budget(parameters["context_budget"])
    return parameters


def as_documents(puzzles: pa.Table, context_budget: int) -> dict[str, Dataset]:
    """The documents of puzzles, whose prompt and response share so many tokens."""
    budgets = pa.array([context_budget] * len(puzzles), pa.int64())
    return {"test": Dataset(puzzles.append_column("context_budget", budgets))}
