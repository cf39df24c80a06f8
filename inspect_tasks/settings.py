"""What a task's parameters are: those of lm-eval's task of the same name, read from its YAML.

The YAMLs are data here: neither lm-eval nor code of its tasks is needed to read them.
"""

from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

import yaml

from cogniload_gen.checks import Given


class Settings(NamedTuple):
    """Of one YAML: dataset, parameters with their defaults, grids, version and temperature."""

    dataset: str
    defaults: dict[str, Given]
    grids: Sequence[dict[str, Given]]
    version: str
    temperature: float


class Loader(yaml.SafeLoader):
    """Reads the functions that lm-eval's YAMLs name as their names."""


Loader.add_constructor("!function", lambda _, node: node.value)


def read_settings(dataset: str, task: str) -> Settings:
    """Return the settings of one of lm-eval's tasks on a dataset."""
    values = read_yaml(yamls(dataset), f"{task}.yaml")
    return Settings(
        dataset,
        values["dataset_kwargs"]["defaults"],
        values["dataset_kwargs"].get("grids", ({},)),
        str(values["metadata"]["version"]),
        values["generation_kwargs"]["temperature"],
    )


def task_of_context(family: str, dataset: str, context: Given) -> str:
    """Return which of lm-eval's tasks, each of one context, has the budget for a context.

    For contexts that no task has, it is the one without any: give a budget to a long one.
    """
    known = isinstance(context, int) and context > 0 and context % 1000 == 0
    task = f"{family}_{context // 1000}k" if known else f"{family}_0"
    return task if (yamls(dataset) / f"{task}.yaml").is_file() else f"{family}_0"


def yamls(dataset: str) -> Traversable:
    """Return the folder of the YAMLs of a dataset's tasks."""
    return files("lm_eval_tasks") / dataset


def read_yaml(folder: Traversable, name: str) -> dict[str, Any]:
    """Return what a YAML says, and what it includes."""
    own = yaml.load((folder / name).read_text("utf-8"), Loader)  # noqa: S506  (a SafeLoader)
    included = read_yaml(folder, own["include"]) if "include" in own else {}
    return {**included, **own}
