"""From a task's parameters to its samples, each with the share of the budget that is left to it.

The parameters are those of lm-eval's task of the same name. Its YAML is data here: neither lm-eval
nor code of its tasks is needed to read it.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any, NamedTuple

import yaml
from inspect_ai.dataset import MemoryDataset, Sample

from cogniload_gen.budget import check_fit, prompt_counter
from cogniload_gen.grid import change_of
from cogniload_gen.task_puzzles import make_puzzles, parameters_of

log = logging.getLogger(__name__)

SHARE = "share"
"""What a sample's metadata says of its budget, under this name: a `Share` by its fields."""


class Settings(NamedTuple):
    """Of one YAML: dataset, parameters with their defaults, grids, version and temperature."""

    dataset: str
    defaults: dict[str, Any]
    grids: Sequence[dict[str, Any]]
    version: str
    temperature: float


class Loader(yaml.SafeLoader):
    """Reads the functions that lm-eval's YAMLs name as their names."""


Loader.add_constructor("!function", lambda _, node: node.value)


def read_settings(dataset: str, task: str) -> Settings:
    """Return the settings of one of lm-eval's tasks on a dataset."""
    values: dict[str, Any] = {"include": f"{task}.yaml"}
    while included := values.pop("include", None):
        text = (files("lm_eval_tasks") / dataset / included).read_text("utf-8")
        values = yaml.load(text, Loader) | values  # noqa: S506  (a SafeLoader)
    puzzles, version = values["dataset_kwargs"], str(values["metadata"]["version"])
    temperature = values["generation_kwargs"]["temperature"]
    return Settings(dataset, puzzles["defaults"], puzzles.get("grids", ({},)), version, temperature)


def task_of_context(suite: str, context: Any) -> str:
    """Return which of FACTOR's tasks for lm-eval, each of one context, has the budget for it.

    For contexts that no task has, it is the one without any: give a budget to a long one.
    """
    known = isinstance(context, int) and context > 0 and context % 1000 == 0
    task = f"{suite}_{context // 1000}k" if known else f"{suite}_0"
    return task if (files("lm_eval_tasks") / f"factor/{task}.yaml").is_file() else f"{suite}_0"


def make_samples(task: str, settings: Settings, parameters: Mapping[str, Any]) -> MemoryDataset:
    """Return the puzzles that parameters ask for; what is left out is as lm-eval's task has it.

    A sample's id is the puzzle's, its input the prompt, its target the answer; its metadata has the
    other columns. `tokenizer` counts the prompts, and sizes the contexts of a benchmark that takes
    one. ValueError names a parameter that is unknown or wrong, or the longest puzzle if some don't
    fit.
    """
    rows = make_rows(task, settings, parameters)
    return share_budget(task, rows, parameters.get("tokenizer"))


def make_rows(task: str, settings: Settings, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the puzzles; ValueError for a parameter that is unknown or wrong."""
    dataset, defaults, grids, *_ = settings
    takes = parameters_of(dataset, defaults, parameters)
    own = {name: parameters[name] for name in parameters if name in takes or name != "tokenizer"}
    return make_puzzles(dataset, defaults, own, grids=grids, task=task).to_pylist()


def share_budget(task: str, rows: list[dict[str, Any]], tokenizer: Any) -> MemoryDataset:
    """Return puzzles, which have a `context_budget`, as samples; ValueError if some don't fit.

    `tokenizer` counts the prompts; the log says if there is none.
    """
    if tokenizer is None:
        log.warning("%s: prompts are estimated by their words: -T tokenizer=NAME counts them", task)
    count = prompt_counter(tokenizer)
    shares = {row["id"]: count(row["puzzle"], row["context_budget"]) for row in rows}
    check_fit(task, rows, shares)
    samples = []
    for row in rows:
        prompt = row.pop("puzzle")
        metadata = row | {"change": change_of(row["id"]), SHARE: asdict(shares[row["id"]])}
        samples.append(Sample(prompt, target=row["answer"], id=row["id"], metadata=metadata))
    return MemoryDataset(samples, name=task)
