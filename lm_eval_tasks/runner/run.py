"""Arguments -> what an evaluation is of: its tasks, and the record that tells runs apart."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from cogniload_gen.files.run_folder import Block, RunSpec
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.links import TASKS
from lm_eval_tasks.runner.credentials import public
from lm_eval_tasks.runner.search import adaptive_task
from lm_eval_tasks.task_names import our_tasks, refuse_misspelt


@dataclass(frozen=True)
class Evaluation:
    """A run whose tasks are loaded. lm-eval has them, with their groups, in `loaded`."""

    run: RunSpec
    loaded: TaskDict

    @property
    def tasks(self) -> dict[str, Task]:
        """The tasks by their names."""
        tasks: dict[str, Task] = self.loaded["tasks"]
        return tasks

    @property
    def context_budget(self) -> int:
        """The largest context_budget of the tasks' documents, in tokens; 0 if none has one."""
        shared = (t.eval_docs for t in self.tasks.values() if isinstance(t, SharedBudgetTask))
        return max((max(documents["context_budget"]) for documents in shared), default=0)

    def blocks(self) -> list[Block]:
        """Return the run's blocks, with the ids of their documents where these are texts."""
        ids = {}
        for name, task in self.tasks.items():
            texts = [text for text in ids_of(task) if isinstance(text, str)]
            if len(texts) == len(task.eval_docs):
                ids[name] = texts
        return self.run.blocks(ids)


def resolve(
    arguments: dict[str, Any], size: int, *, include_path: str | None, metadata: dict[str, Any]
) -> Evaluation:
    """Return the evaluation of tasks in blocks of `size` documents, with its tasks loaded.

    `metadata` is what the tasks may read of all arguments. ValueError for a task that there is not,
    for examples in the prompts of our own, and for --samples of no document.
    """
    generators = {benchmark.name: benchmark.version for benchmark in benchmarks.BENCHMARKS}
    versions: dict[str, Any] = {"generator": generators, "lm_eval": version("lm_eval")}
    adaptive = None
    if "until" in arguments:
        task = adaptive_task(arguments["tasks"][0])
        design = task.design(arguments["until"])
        versions |= design.plan.fingerprint
        adaptive = task.configure(design)
    loaded = load_tasks(arguments, include_path, metadata, adaptive)
    check_samples(loaded["tasks"], arguments["samples"] or {})
    run = {
        "versions": versions,
        "arguments": arguments,
        "block_size": size,
        "tasks": {name: describe_task(task) for name, task in loaded["tasks"].items()},
        "model": {},
        "recorded": {},
        "digests": "sha256",
    }
    return Evaluation(RunSpec.read(plain(run)), loaded)


def resolve_again(run: RunSpec, include_path: str | None) -> Evaluation:
    """Return the evaluation of a run that a folder holds, with the installed tasks.

    The folder may be anyone's: no code of a path that it names is imported, and none of its
    arguments reaches a task of others, which may load code by it. Tasks are the installed ones and
    those below this command's own `include_path`. ValueError for other tasks, and for a run of
    other versions or documents than there are now.
    """
    trusted = Path(include_path).resolve() if include_path else None
    for name in (part for names in run.arguments.tasks for part in names.split(",")):
        is_file = name.endswith(".yaml") or (Path(name).is_dir() and name not in our_tasks())
        if is_file and not (trusted and Path(name).resolve().is_relative_to(trusted)):
            raise ValueError(
                f"the task {brief(name)} is a file of the run's own, which --merge does not load: "
                "give its folder as --include_path if you trust its code"
            )
    arguments = run.facts["arguments"]
    metadata = run.model_args | run.arguments.metadata
    if trusted is None:
        metadata = {name: metadata[name] for name in benchmarks.datasets() if name in metadata}
    try:
        return resolve(arguments, run.block_size, include_path=include_path, metadata=metadata)
    except ValueError as error:
        if include_path is None and run.recorded["arguments"]["include_path"] is not None:
            raise ValueError(
                f"{error} (the run had an --include_path, which --merge takes from this command "
                "alone: give it if you trust its code)"
            ) from None
        raise


def load_tasks(
    arguments: dict[str, Any],
    include_path: str | None,
    metadata: dict[str, Any],
    adaptive: dict[str, Any] | None = None,
) -> TaskDict:
    """Return the tasks, with their overrides applied as lm-eval's `simple_evaluate` applies them.

    `adaptive` is the configuration of a task that a design has set up, in their place. Our own need
    no --include_path, and are found without reading lm-eval's thousands. ValueError for a task that
    there is not, and for examples in the prompts of our own.
    """
    names = arguments["tasks"]
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
        names = [*dict.fromkeys(task for name in names for task in expand(name, manager))]
    loaded = manager.load([adaptive] if adaptive else names)
    examples = arguments["num_fewshot"]
    for name, task in loaded["tasks"].items():
        if examples and isinstance(task, SharedBudgetTask):
            raise ValueError(
                f"--num_fewshot {examples} is refused: {name} is zero-shot, as in its paper, and "
                "each prompt has to leave its budget to the response; leave it out or give 0"
            )
        if arguments["gen_kwargs"] and task.get_config("output_type") == "generate_until":
            task.set_config("generation_kwargs", dict(arguments["gen_kwargs"]), update=True)
        its_own = task.get_config("num_fewshot")
        if its_own is None or (examples is not None and its_own != 0):
            task.set_config("num_fewshot", examples or 0)
    return loaded


def expand(name: str, manager: TaskManager) -> list[str]:
    """Return the tasks that a name of --tasks stands for: itself, or those that it matches."""
    return [name] if name in manager.all_tasks else sorted(manager.match_tasks([name]))


def check_samples(tasks: dict[str, Task], samples: Mapping[str, object]) -> None:
    """Raise ValueError unless --samples lists documents, by index, of tasks that are evaluated."""
    unknown = sorted(samples.keys() - tasks.keys())
    if unknown:
        raise ValueError(f"samples must be of {', '.join(tasks)}; got {unknown[0]!r}")
    for name, indices in samples.items():
        count, listed = len(tasks[name].eval_docs), indices if isinstance(indices, list) else []
        if not listed or not all(type(index) is int and 0 <= index < count for index in listed):
            raise ValueError(
                f"samples of {name} must be a list of indices from 0 to {count - 1}, "
                f"got {brief(indices)}"
            )


def ids_of(task: Task) -> Sequence[object]:
    """Return the ids of a task's documents; none where they have no ids."""
    documents = task.eval_docs
    return list(documents["id"]) if "id" in (getattr(documents, "column_names", None) or ()) else []


def describe_task(task: Task) -> dict[str, Any]:
    """Return a task's version and its documents: how many, and by their ids, if any, which."""
    ids, facts = ids_of(task), {"version": str(task.VERSION)}
    if ids:
        facts["ids"] = sha256("\n".join(map(str, ids)).encode()).hexdigest()
    return facts | {"documents": len(task.eval_docs)}


def describe_model(
    model: LM, chat_template: bool | str, served: Mapping[str, str | None]
) -> dict[str, Any]:
    """Return what is known of a model and its tokenizer: all that is not empty."""
    facts = model.get_model_info() if hasattr(model, "get_model_info") else {}
    facts = public(facts | dict(served))
    # `tok_encode` comes first: without one, DummyLM's `tokenizer` asks the Hub for another model's
    tokenizer = getattr(model, "tokenizer", None) if hasattr(model, "tok_encode") else None
    if tokenizer is not None and hasattr(tokenizer, "get_vocab"):
        vocabulary = json.dumps(sorted(tokenizer.get_vocab().items()))
        facts["tokenizer"] = f"{len(tokenizer)} tokens, {sha256(vocabulary.encode()).hexdigest()}"
    if chat_template:
        facts["chat_template"] = model.chat_template(chat_template)
    return plain({name: fact for name, fact in facts.items() if fact not in ("", None)})


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values as JSON brings them back."""
    read: dict[str, Any] = json.loads(json.dumps(values, default=handle_non_serializable))
    return read
