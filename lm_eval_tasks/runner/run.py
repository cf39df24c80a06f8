"""Arguments -> what an evaluation is of: its tasks, and the record that tells runs apart."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from reprlib import repr as brief
from typing import Any

from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.tasks import TaskManager
from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable
from msgspec.structs import asdict

from cogniload_gen import benchmarks
from cogniload_gen.files.run_folder import Arguments, Block, RunSpec
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.links import TASKS
from lm_eval_tasks.runner.credentials import public
from lm_eval_tasks.runner.search import BLOCK_SIZE as BLOCK_SIZE_UNTIL
from lm_eval_tasks.runner.search import Search, Until
from lm_eval_tasks.runner.store import Store
from lm_eval_tasks.task_names import refuse_files, refuse_misspelt

BLOCK_SIZE = 350
"""Documents: 40 blocks of the paper's grid, which 2, 4, 5, 8, 10 and 20 shards share evenly."""

FREE = ("batch_size", "max_batch_size", "device", "include_path")
"""lm-eval's arguments that say where and how fast: they may change when a run is continued."""

FREE_OF_MODEL = (
    *("base_url", "num_concurrent", "max_retries", "timeout", "verify_certificate", "ca_cert_path"),
    *("batch_size", "max_batch_size", "device", "gpu_memory_utilization", "tensor_parallel_size"),
    *("data_parallel_size", "max_num_seqs", "swap_space", "enforce_eager"),
)
"""The same among --model_args."""


@dataclass(frozen=True)
class Evaluation:
    """A run whose tasks are loaded. lm-eval has them, with their groups, in `loaded`.

    `search` is that of a run with --until.
    """

    run: RunSpec
    loaded: TaskDict
    search: Search | None

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
        if self.search:
            return self.search.blocks
        ids = {}
        for name, task in self.tasks.items():
            texts = [text for text in ids_of(task) if isinstance(text, str)]
            if len(texts) == len(task.eval_docs):
                ids[name] = texts
        return self.run.blocks(ids)


def resolve(
    config: EvaluatorConfig, store: Store, block_size: int | None, until: Until | None
) -> Evaluation:
    """Return the evaluation that lm-eval's configuration describes, to begin or to go on with.

    ValueError for a task that there is not, for examples in the prompts of our own, for --samples
    of no document, for --metadata that no task reads, and for a folder that was begun with
    something else.
    """
    begun, start = store.read_run(), time.time()
    names = [name for name in Arguments.__struct_fields__ if name != "until"]
    settings = {name: getattr(config, name) for name in names}
    free: dict[str, Any] = public({name: getattr(config, name) for name in FREE})
    tasks = [config.tasks] if isinstance(config.tasks, str) else config.tasks
    model_args = public(config.model_args)
    free["model_args"] = {n: arg for n, arg in model_args.items() if n in FREE_OF_MODEL}
    settings |= {
        "tasks": [name for task in tasks for name in str(task).split(",")],
        "gen_kwargs": config.gen_kwargs,  # without credentials, by `read_configuration`
        "model_args": {n: arg for n, arg in model_args.items() if n not in FREE_OF_MODEL},
        "metadata": public(
            {  # lm-eval has mixed the model's arguments into it
                name: value
                for name, value in config.metadata.items()
                if config.model_args.get(name) != value
            }
        ),
    }
    arguments = Arguments(**settings, until=until)
    usual = BLOCK_SIZE_UNTIL if until else BLOCK_SIZE
    size = block_size or (begun.block_size if begun else usual)
    metadata = arguments.model_args | arguments.metadata
    recorded = {"date": start, "arguments": free}
    evaluation = load(store, arguments, size, config.include_path, metadata, recorded)
    check_metadata(evaluation.loaded["tasks"], arguments.metadata)
    if begun:
        begun.refuse_another(store.folder.parent, evaluation.run)
    return evaluation


def resolve_again(store: Store, run: RunSpec, include_path: str | None) -> Evaluation:
    """Return the evaluation of a run that a folder holds, with the installed tasks.

    The folder may be anyone's: no code of a path that it names is imported, and none of its
    arguments reaches a task of others, which may load code by it. Tasks are the installed ones and
    those below this command's own `include_path`. ValueError for other tasks, and for a run of
    other versions or documents than there are now.
    """
    refuse_files(run.arguments.tasks, include_path)
    metadata = run.model_args | run.arguments.metadata
    if not include_path:
        metadata = {name: metadata[name] for name in benchmarks.datasets() if name in metadata}
    try:
        evaluation = load(store, run.arguments, run.block_size, include_path, metadata, {})
    except ValueError as error:
        if include_path is None and run.recorded["arguments"]["include_path"] is not None:
            raise ValueError(
                f"{error} (the run had an --include_path, which --merge takes from this command "
                "alone: give it if you trust its code)"
            ) from None
        raise
    run.refuse_another(store.folder.parent, evaluation.run)
    return evaluation


def load(
    store: Store,
    arguments: Arguments,
    size: int,
    include_path: str | None,
    metadata: dict[str, Any],
    recorded: dict[str, Any],
) -> Evaluation:
    """Return the evaluation of tasks in blocks of `size` documents, with its tasks loaded.

    `metadata` is what the tasks may read of all arguments.
    """
    generators = {benchmark.name: benchmark.version for benchmark in benchmarks.BENCHMARKS}
    versions: dict[str, Any] = {"generator": generators, "lm_eval": version("lm_eval")}
    search = configuration = None
    if arguments.until is not None:
        search = Search(store, arguments, size, include_path)
        versions |= search.design.plan.fingerprint
        configuration = search.configuration
    loaded = load_tasks(arguments, include_path, metadata, configuration)
    check_samples(loaded["tasks"], arguments.samples or {})
    run = plain(
        {
            "versions": versions,
            "arguments": asdict(arguments),
            "block_size": size,
            "tasks": {name: describe_task(task) for name, task in loaded["tasks"].items()},
            "model": {},
            "recorded": recorded,
            "digests": "sha256",
        }
    )
    return Evaluation(RunSpec.read(run), loaded, search)


def load_tasks(
    arguments: Arguments,
    include_path: str | None,
    metadata: dict[str, Any],
    adaptive: dict[str, Any] | None = None,
) -> TaskDict:
    """Return the tasks, with their overrides applied as lm-eval's `simple_evaluate` applies them.

    `adaptive` is the configuration of a task that a design has set up, in their place. Our own need
    no --include_path, and are found without reading lm-eval's thousands. ValueError for a task that
    there is not, and for examples in the prompts of our own.
    """
    names = arguments.tasks
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
    examples = arguments.num_fewshot
    for name, task in loaded["tasks"].items():
        if examples and isinstance(task, SharedBudgetTask):
            raise ValueError(
                f"--num_fewshot {examples} is refused: {name} is zero-shot, as in its paper, and "
                "each prompt has to leave its budget to the response; leave it out or give 0"
            )
        if arguments.gen_kwargs and task.get_config("output_type") == "generate_until":
            task.set_config("generation_kwargs", dict(arguments.gen_kwargs), update=True)
        its_own = task.get_config("num_fewshot")
        if its_own is None or (examples is not None and its_own != 0):
            task.set_config("num_fewshot", examples or 0)
    return loaded


def expand(name: str, manager: TaskManager) -> list[str]:
    """Return the tasks that a name of --tasks stands for: itself, or those that it matches."""
    return [name] if name in manager.all_tasks else sorted(manager.match_tasks([name]))


def check_metadata(tasks: dict[str, Task], metadata: Mapping[str, object]) -> None:
    """Raise ValueError for --metadata that no task reads, where all tasks are our own."""
    read = {(task.config.dataset_kwargs or {}).get("dataset") for task in tasks.values()}
    unread = sorted(metadata.keys() - read)
    if unread and read <= benchmarks.datasets().keys():
        known = ", ".join(sorted(map(str, read)))
        key = [*metadata].index(unread[0]) + 1  # it may be a credential: it is not repeated
        raise ValueError(f"metadata must be of {known}; its key {key} is none of these")


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


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values as JSON brings them back."""
    read: dict[str, Any] = json.loads(json.dumps(values, default=handle_non_serializable))
    return read
