"""From a task's parameters to its samples, each with the share of the budget that is left to it."""

import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from inspect_ai.dataset import MemoryDataset, Sample

from cogniload_gen import benchmarks
from cogniload_gen.checks import Given, check_known
from cogniload_gen.context_budget import Share, check_context_budget, check_fit, prompt_counter
from inspect_tasks.settings import Settings

log = logging.getLogger(__name__)

SHARE = "share"
"""What a sample's metadata says of its budget, under this name: a `Share` by its fields."""


def make_samples(task: str, settings: Settings, given: Mapping[str, Given]) -> MemoryDataset:
    """Return the puzzles that parameters ask for; what is not given is as lm-eval's task has it.

    A sample's id is the puzzle's, its input the prompt, its target the answer; its metadata has the
    other columns. `tokenizer` counts the prompts, and sizes the contexts of a benchmark that takes
    one. ValueError names a parameter that is unknown or wrong, or the longest puzzle if some don't
    fit.
    """
    known = dict.fromkeys([*settings.defaults, "tokenizer"])
    check_known(given, tuple(known), task)
    parameters = {**settings.defaults, **given}
    budget = check_context_budget(parameters.pop("context_budget"))
    count = prompt_counter(parameters.get("tokenizer"))
    if "tokenizer" not in settings.defaults:
        parameters.pop("tokenizer", None)
    source = benchmarks.datasets()[settings.dataset].source(parameters)
    rows = [row for table in source.tables() for row in table.to_pylist()]
    rows = [row | {"context_budget": budget} for row in rows]
    shares = {row["id"]: count(row["puzzle"], budget) for row in rows}
    if not all(share.counted for share in shares.values()):
        log.warning("%s: prompts are estimated by their words: -T tokenizer=NAME counts them", task)
    check_fit(task, rows, shares)
    return MemoryDataset([make_sample(row, shares[row["id"]]) for row in rows], name=task)


def make_sample(row: dict[str, Any], of_budget: Share) -> Sample:
    """Return a puzzle as a sample of Inspect."""
    return Sample(
        id=row["id"],
        input=row["puzzle"],
        target=row["answer"],
        metadata={name: value for name, value in row.items() if name != "puzzle"}
        | {SHARE: asdict(of_budget)},
    )
