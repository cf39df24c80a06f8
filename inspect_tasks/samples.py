"""From a task's parameters to its samples, each with the share of the budget that is left to it."""

import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from inspect_ai.dataset import MemoryDataset, Sample

from cogniload_gen.checks import Given, check_known
from cogniload_gen.responses.context_budget import check_fit, prompt_counter
from cogniload_gen.task_puzzles import make_puzzles, parameters_of
from inspect_tasks.settings import Settings

log = logging.getLogger(__name__)

SHARE = "share"
"""What a sample's metadata says of its budget, under this name: a `Share` by its fields."""


def make_samples(task: str, settings: Settings, parameters: Mapping[str, Given]) -> MemoryDataset:
    """Return the puzzles that parameters ask for; what is left out is as lm-eval's task has it.

    A sample's id is the puzzle's, its input the prompt, its target the answer; its metadata has the
    other columns. `tokenizer` counts the prompts, and sizes the contexts of a benchmark that takes
    one. ValueError names a parameter that is unknown or wrong, or the longest puzzle if some don't
    fit.
    """
    rows = make_rows(task, settings, parameters)
    return MemoryDataset(share_budget(task, rows, read_tokenizer(task, parameters)), name=task)


def make_rows(
    task: str, settings: Settings, parameters: Mapping[str, Given]
) -> list[dict[str, Any]]:
    """Return the rows of the puzzles; ValueError for a parameter that is unknown or wrong."""
    takes = parameters_of(settings.dataset, settings.defaults, parameters)
    check_known(parameters, tuple(dict.fromkeys([*takes, "tokenizer"])), task)
    own = {name: value for name, value in parameters.items() if name in takes}
    table = make_puzzles(settings.dataset, settings.defaults, own, grids=settings.grids, task=task)
    return table.to_pylist()


def read_tokenizer(task: str, parameters: Mapping[str, Given]) -> str | None:
    """Return the tokenizer that is to count prompts; the log says if there is none."""
    tokenizer: str | None = parameters.get("tokenizer")
    if tokenizer is None:
        log.warning("%s: prompts are estimated by their words: -T tokenizer=NAME counts them", task)
    return tokenizer


def share_budget(task: str, rows: list[dict[str, Any]], tokenizer: str | None) -> list[Sample]:
    """Return puzzles, which have a `context_budget`, as samples; ValueError if some don't fit."""
    count = prompt_counter(tokenizer)
    shares = {row["id"]: count(row["puzzle"], row["context_budget"]) for row in rows}
    check_fit(task, rows, shares)
    return [
        Sample(
            id=row["id"],
            input=row.pop("puzzle"),
            target=row["answer"],
            metadata=row | {SHARE: asdict(shares[row["id"]])},
        )
        for row in rows
    ]
