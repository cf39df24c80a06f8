"""Arguments -> tasks, the documents of each, and a description that tells runs apart."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from reprlib import repr as brief
from typing import Any

from lm_eval.api.model import LM
from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.tasks import TaskManager
from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable

from cogniload_gen import benchmarks
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.links import TASKS
from lm_eval_tasks.runner.begun import Run, differences
from lm_eval_tasks.runner.credentials import public
from lm_eval_tasks.runner.cut import indices_of
from lm_eval_tasks.runner.names import refuse_misspelt
from lm_eval_tasks.runner.until import design_of, task_of_design


def load_tasks(arguments: dict[str, Any], include_path: str | None) -> TaskDict:
    """Return the tasks, with their overrides applied as lm-eval's `simple_evaluate` applies them.

    Our own need no --include_path, and are found without reading lm-eval's thousands. ValueError
    for a task that there is not, and for examples in the prompts of our own.
    """
    names, metadata = arguments["tasks"], arguments["model_args"] | arguments["metadata"]
    manager = TaskManager(include_path=str(TASKS), include_defaults=False, metadata=metadata)
    unknown = [name for name in names if not manager.match_tasks([name])]
    if unknown and not include_path:
        refuse_misspelt(unknown)
    if unknown or include_path:
        paths = [str(TASKS), *filter(None, [include_path])]
        every = EvaluatorConfig(tasks=names, include_path=paths)
        manager = every.process_tasks(metadata)
        names = every.tasks
    else:
        names = [*dict.fromkeys(each for name in names for each in expand(name, manager))]
    loaded = manager.load([task_of_design(arguments)] if "until" in arguments else names)
    asked = arguments["num_fewshot"]
    for name, task in loaded["tasks"].items():
        if asked and isinstance(task, SharedBudgetTask):
            raise ValueError(
                f"--num_fewshot {asked} is refused: {name} is zero-shot, as in its paper, and each "
                "prompt has to leave its budget to the response; leave it out or give 0"
            )
        if arguments["gen_kwargs"] and task.get_config("output_type") == "generate_until":
            task.set_config("generation_kwargs", dict(arguments["gen_kwargs"]), update=True)
        its_own = task.get_config("num_fewshot")
        if its_own is None or (asked is not None and its_own != 0):
            task.set_config("num_fewshot", asked or 0)
    return loaded


def expand(name: str, manager: TaskManager) -> list[str]:
    """Return the tasks that a name of --tasks stands for: itself, or those that it matches."""
    return [name] if name in manager.all_tasks else sorted(manager.match_tasks([name]))


def documents_of(tasks: dict[str, Task], arguments: dict[str, Any]) -> dict[str, Sequence[int]]:
    """Return the indices of each task's documents that are evaluated, in order.

    ValueError for --samples of a task that is not evaluated, or of documents that it does not have.
    """
    asked = arguments["samples"] or {}
    unknown = sorted(asked.keys() - tasks.keys())
    if unknown:
        raise ValueError(f"samples must be of {', '.join(tasks)}; got {unknown[0]!r}")
    documents = {}
    for name, task in tasks.items():
        count = len(task.eval_docs)
        if name in asked:
            check_samples(name, asked[name], count)
        documents[name] = indices_of(name, count, arguments["limit"], asked)
    return documents


def ids_of(tasks: dict[str, Task]) -> dict[str, Sequence[str]]:
    """Return the ids of each task's documents, of those whose ids are texts."""
    documents = {name: task.eval_docs for name, task in tasks.items()}
    return {
        name: list(rows["id"])
        for name, rows in documents.items()
        if "id" in (getattr(rows, "column_names", None) or ())
        and all(isinstance(each, str) for each in rows["id"])
    }


def check_samples(task: str, indices: object, count: int) -> None:
    """Raise ValueError unless --samples lists some of a task's `count` documents."""
    listed = indices if isinstance(indices, list) else []
    if not listed or not all(type(index) is int and 0 <= index < count for index in listed):
        raise ValueError(
            f"samples of {task} must be a list of indices from 0 to {count - 1}, "
            f"got {brief(indices)}"
        )


def describe(arguments: dict[str, Any], tasks: dict[str, Task], block_size: int) -> Run:
    """Return what decides the samples, except for the model itself."""
    generators = {each.name: each.version for each in benchmarks.BENCHMARKS}
    versions: dict[str, Any] = {"generator": generators, "lm_eval": version("lm_eval")}
    if "until" in arguments:
        versions |= design_of(arguments).plan.fingerprint
    return {
        "versions": versions,
        "arguments": plain(arguments),
        "block_size": block_size,
        "tasks": {name: describe_task(task) for name, task in tasks.items()},
    }


def describe_task(task: Task) -> dict[str, Any]:
    """Return a task's version and its documents: how many, and by their ids, if any, which."""
    documents, told = task.eval_docs, {"version": str(task.VERSION)}
    if "id" in (getattr(documents, "column_names", None) or ()):
        told["ids"] = sha256("\n".join(map(str, documents["id"])).encode()).hexdigest()
    return told | {"documents": len(documents)}


def describe_model(
    model: LM, chat_template: bool | str, served: Mapping[str, str | None]
) -> dict[str, Any]:
    """Return what can be told of a model and its tokenizer: all that is not empty."""
    told = model.get_model_info() if hasattr(model, "get_model_info") else {}
    told = public(told | dict(served))
    # `tok_encode` comes first: without one, DummyLM's `tokenizer` asks the Hub for another model's
    tokenizer = getattr(model, "tokenizer", None) if hasattr(model, "tok_encode") else None
    if tokenizer is not None and hasattr(tokenizer, "get_vocab"):
        vocabulary = json.dumps(sorted(tokenizer.get_vocab().items()))
        told["tokenizer"] = f"{len(tokenizer)} tokens, {sha256(vocabulary.encode()).hexdigest()}"
    if chat_template:
        told["chat_template"] = model.chat_template(chat_template)
    return plain({name: fact for name, fact in told.items() if fact not in ("", None)})


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values as JSON brings them back."""
    read: dict[str, Any] = json.loads(json.dumps(values, default=handle_non_serializable))
    return read


def refuse_another(folder: Path, begun: Run, now: Run) -> None:
    """Raise ValueError, with both values, if a folder was begun with anything else.

    Facts of the model that only one of the two knows (the Hub was not reached) are not compared.
    """
    known = begun["model"].keys() & now.get("model", {}).keys()
    begun, now = (
        {name: run[name] for name in ("arguments", "versions", "block_size", "tasks")}
        | {"model": {name: run["model"][name] for name in sorted(known)} if known else {}}
        for run in (begun, now)
    )
    found = differences(begun, now)
    if found:
        raise ValueError(
            f"{folder} was begun with {'; '.join(found[:3])}: "
            "give what it was begun with, or another --output_path"
        )
