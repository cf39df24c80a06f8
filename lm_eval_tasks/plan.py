"""What is evaluated: arguments -> tasks, their documents, a description that tells runs apart."""

import json
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from reprlib import repr as brief

from lm_eval.api.model import LM
from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.evaluator_utils import get_sample_size
from lm_eval.tasks import TaskManager
from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable

from cogniload_gen import GENERATOR_VERSION
from cogniload_gen.tasks import TASKS
from lm_eval_tasks.state import differences


def load_tasks(arguments: dict, include_path: str | None) -> TaskDict:
    """The tasks, with their overrides applied as lm-eval's `simple_evaluate` applies them.

    Our own need no --include_path, and are found without reading lm-eval's thousands.
    """
    names, metadata = arguments["tasks"], arguments["model_args"] | arguments["metadata"]
    manager = TaskManager(include_path=str(TASKS), include_defaults=False, metadata=metadata)
    if include_path or not all(manager.match_tasks([name]) for name in names):
        paths = [str(TASKS), *filter(None, [include_path])]
        every = EvaluatorConfig(tasks=names, include_path=paths)
        manager = every.process_tasks(metadata)
        names = every.tasks
    loaded = manager.load(names)
    for task in loaded["tasks"].values():
        if arguments["gen_kwargs"] and task.get_config("output_type") == "generate_until":
            task.set_config("generation_kwargs", dict(arguments["gen_kwargs"]), update=True)
        asked, its_own = arguments["num_fewshot"], task.get_config("num_fewshot")
        if its_own is None or (asked is not None and its_own != 0):
            task.set_config("num_fewshot", asked or 0)
    return loaded


def documents_of(tasks: dict[str, Task], arguments: dict) -> dict[str, Sequence[int]]:
    """The indices of each task's documents that are evaluated, in order.

    ValueError for --samples of a task that is not evaluated, or of documents that it does not have.
    """
    asked = arguments["samples"] or {}
    unknown = sorted(asked.keys() - tasks.keys())
    if unknown:
        raise ValueError(f"samples must be of {', '.join(tasks)}; got {unknown[0]!r}")
    documents = {}
    for name, task in tasks.items():
        everything = range(len(task.eval_docs))
        if name in asked:
            documents[name] = chosen_of(name, asked[name], everything)
        else:
            documents[name] = everything[: get_sample_size(task, arguments["limit"])]
    return documents


def chosen_of(task: str, indices: object, everything: range) -> list[int]:
    """The documents of --samples, in order; ValueError unless it lists some that there are."""
    listed = indices if isinstance(indices, list) else []
    if not listed or not all(type(index) is int and index in everything for index in listed):
        raise ValueError(
            f"samples of {task} must be a list of indices from 0 to {len(everything) - 1}, "
            f"got {brief(indices)}"
        )
    return sorted(set(listed))


def describe(arguments: dict, tasks: dict[str, Task], block_size: int) -> dict:
    """What decides the samples, but for the model itself."""
    return {
        "versions": {"generator": GENERATOR_VERSION, "lm_eval": version("lm_eval")},
        "arguments": plain(arguments),
        "block_size": block_size,
        "tasks": {name: describe_task(task) for name, task in tasks.items()},
    }


def describe_task(task: Task) -> dict:
    """A task's version, and its documents: how many, and by their ids, if they have some, which."""
    documents, told = task.eval_docs, {"version": str(task.VERSION)}
    if "id" in getattr(documents, "column_names", ()):
        told["ids"] = sha256("\n".join(map(str, documents["id"])).encode()).hexdigest()
    return told | {"documents": len(documents)}


def describe_model(model: LM, chat_template: bool | str, served: dict) -> dict:
    """What can be told of a model and its tokenizer; nothing is left out but what is empty."""
    told = model.get_model_info() if hasattr(model, "get_model_info") else {}
    told |= served
    # `tok_encode` comes first: without one, DummyLM's `tokenizer` asks the Hub for another model's
    tokenizer = getattr(model, "tokenizer", None) if hasattr(model, "tok_encode") else None
    if hasattr(tokenizer, "get_vocab"):
        vocabulary = json.dumps(sorted(tokenizer.get_vocab().items()))
        told["tokenizer"] = f"{len(tokenizer)} tokens, {sha256(vocabulary.encode()).hexdigest()}"
    if chat_template:
        told["chat_template"] = model.chat_template(chat_template)
    return plain({name: fact for name, fact in told.items() if fact not in ("", None)})


def plain(values: dict) -> dict:
    """The values as JSON brings them back."""
    return json.loads(json.dumps(values, default=handle_non_serializable))


def refuse_another(folder: Path, begun: dict, now: dict) -> None:
    """ValueError, with both values, if a folder was begun with anything else.

    Of the model, facts that only one of the two knows (the Hub was not reached) say nothing.
    """
    known = begun["model"].keys() & now.get("model", {}).keys()
    begun, now = (
        {name: run[name] for name in ("versions", "arguments", "block_size", "tasks")}
        | {"model": {name: run["model"][name] for name in sorted(known)} if known else {}}
        for run in (begun, now)
    )
    found = differences(begun, now)
    if found:
        raise ValueError(
            f"{folder} was begun with {'; '.join(found[:3])}: "
            "give what it was begun with, or another --output_path"
        )
