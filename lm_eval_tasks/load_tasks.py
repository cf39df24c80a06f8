"""The tasks of a run, as lm-eval loads them."""

from collections.abc import Mapping
from typing import Any

from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.tasks import TaskManager
from lm_eval.tasks.manager import TaskDict

from cogniload_gen import benchmarks
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.resume import Run
from lm_eval_tasks.tasks import TASKS, refuse_misspelt
from lm_eval_tasks.until import Search


def load_tasks(
    run: Run, include_path: str | None, model_args: Mapping[str, Any], search: Search | None
) -> TaskDict:
    """Return the tasks of a run, which learns their versions and how many documents they have.

    Tasks may read `model_args` beside their metadata; a `search` has set up its own task. Our own
    tasks need no --include_path, and are found without reading lm-eval's thousands. ValueError for
    a task that there is not, for examples in the prompts of our own, and for unread metadata.
    """
    what = run.what
    names, metadata = what["tasks"], dict(model_args) | what["metadata"]
    manager = TaskManager(include_path=str(TASKS), include_defaults=False, metadata=metadata)
    unknown = [name for name in names if not manager.match_tasks([name])]
    if unknown and not include_path:
        refuse_misspelt(unknown)
    if unknown or include_path:
        paths = [str(TASKS), *filter(None, [include_path])]
        every = EvaluatorConfig(tasks=list(names), include_path=paths)
        manager = every.process_tasks(metadata)
        names = every.tasks
    else:
        names = [task for name in names for task in sorted(manager.match_tasks([name]))]
    loaded = manager.load([search.configuration()] if search else [*dict.fromkeys(names)])
    tasks = loaded["tasks"]
    if what["num_fewshot"] and any(isinstance(task, SharedBudgetTask) for task in tasks.values()):
        raise ValueError(
            f"--num_fewshot {what['num_fewshot']} is refused: our tasks are zero-shot, as in their "
            "papers, and each prompt has to leave its budget to the response"
        )
    read = {(task.config.dataset_kwargs or {}).get("dataset") for task in tasks.values()}
    unread = sorted(what["metadata"].keys() - read)
    if unread and read <= benchmarks.datasets().keys():
        known = " or ".join(f'{{"{name}": {{...}}}}' for name in sorted(map(str, read)))
        raise ValueError(f"metadata must be {known}, got the key {unread[0]!r}")
    what["versions"] |= {"tasks": {name: str(task.VERSION) for name, task in tasks.items()}}
    what["versions"] |= search.fingerprint if search else {}
    run.total = sum(map(len, run.shard(tasks, 1, 1).values()))
    return loaded
