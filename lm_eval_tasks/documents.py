"""From a task's parameters to its documents: what every `custom_dataset` is."""

from collections.abc import Sequence
from reprlib import repr as brief
from typing import Any

from datasets import Dataset

from cogniload_gen.task_puzzles import make_puzzles


def make_dataset(
    *,
    dataset: str,
    defaults: dict[str, Any],
    grids: Sequence[dict[str, Any]] = ({},),
    **metadata: Any,
) -> dict[str, Dataset]:
    """Return the puzzles of a task, whose prompt and response share `context_budget` tokens.

    `dataset`, `defaults` and `grids` are the YAML's, as `make_puzzles` takes them. The puzzles'
    parameters stand in --metadata '{"DATASET": {...}}'; lm-eval mixes model arguments and its own
    keys into the same mapping: those are ignored. ValueError names an unknown or wrong parameter,
    what it got and what it takes.
    """
    parameters = metadata.get(dataset)
    parameters = {} if parameters is None else parameters
    if not isinstance(parameters, dict):
        raise ValueError(f"{dataset} metadata must be an object, got {brief(parameters)}")
    task = f"{dataset} metadata"
    return {"test": Dataset(make_puzzles(dataset, defaults, parameters, grids=grids, task=task))}
