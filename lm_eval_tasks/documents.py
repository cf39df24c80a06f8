"""From a task's parameters to its documents: what the benchmarks' `custom_dataset`s share."""

from collections.abc import Callable
from reprlib import repr

import pyarrow as pa
from datasets import Dataset

from lm_eval_tasks.budget import check_context_budget
from lm_eval_tasks.published import SELECTION


def make_documents(
    benchmark: str,
    defaults: dict,
    given: dict | None,
    *,
    generate: Callable[..., pa.Table],
    load: Callable[..., pa.Table],
) -> dict[str, Dataset]:
    """The puzzles of a task, whose prompt and response share `context_budget` tokens.

    `defaults` are the YAML's parameters and `given` those of --metadata '{"benchmark": {...}}',
    which take their place and go to `generate`. With a `path` among the given, the puzzles are
    those that were published there, by `load`. ValueError names an unknown or wrong parameter,
    what it got and what it takes.
    """
    given = {} if given is None else given
    if not isinstance(given, dict):
        raise ValueError(f"{benchmark} metadata must be an object, got {repr(given)}")
    published = "path" in given
    if published:
        defaults = SELECTION | {"context_budget": defaults["context_budget"]}
    unknown = sorted(set(given) - set(defaults))
    if unknown:
        raise ValueError(f"{benchmark} metadata takes {', '.join(defaults)}; got {unknown[0]!r}")
    parameters = defaults | given
    context_budget = check_context_budget(parameters.pop("context_budget"))
    puzzles = (load if published else generate)(**parameters)
    budgets = pa.array([context_budget] * len(puzzles), pa.int64())
    return {"test": Dataset(puzzles.append_column("context_budget", budgets))}
