"""`--until`: a design decides which puzzles are asked next, and when there are no more.

The design depends on the answers alone, and takes them from the disk. So a run that goes on after a
kill, and a merge, know the same design.
"""

import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from reprlib import repr as brief
from typing import Any

from lm_eval.api.task import Task

from cogniload_analysis import ADAPTIVE
from cogniload_gen import benchmarks
from cogniload_gen.grid import Source, address_columns
from cogniload_gen.sample import was_cut
from cogniload_gen.task_puzzles import EACH
from lm_eval_tasks.answers import Answers, Key
from lm_eval_tasks.links import TASKS
from lm_eval_tasks.lm_eval_private import read_task
from lm_eval_tasks.task_names import yaml_of

Puzzle = tuple[Any, ...]
"""The values of the knobs that a design decides, and the index of a puzzle."""

CONTEXT_BUDGET = "context_budget"


class AdaptiveTask:
    """A task whose puzzles a design chooses: it is ours, or below `include_path`.

    `configuration` is its YAML's, `benchmark` that of its puzzles, `adaptive` how a design asks for
    them, and `defaults` are the parameters that --metadata may set: all that no design decides.
    ValueError if there is no such design, or no such task: one of several grids, or with twins, is
    a fixed design of its own.
    """

    def __init__(self, name: str, include_path: str | None) -> None:
        path = yaml_of(name, include_path)
        self.name, self.configuration = name, read_task(path) if path else {}
        puzzles = self.configuration.get("dataset_kwargs", {})
        given = puzzles.get("defaults", {})
        adaptive = None
        if puzzles and "grids" not in puzzles and given.get("twin") != EACH:
            dataset = benchmarks.datasets()[puzzles["dataset"]]
            suite = {"suite": given["suite"]} if dataset.suites else {}
            self.benchmark, _ = dataset.choose(suite)
            adaptive = ADAPTIVE.get(self.benchmark.name)
        if adaptive is None:
            raise ValueError(
                "--until takes a task of ours, or of --include_path, that is no group and no fixed "
                f"design, got {brief(name)}"
            )
        self.adaptive = adaptive
        self.defaults = {n: value for n, value in given.items() if n not in adaptive.decided}


def read_until(config: Any, until: tuple[Any, Any, Any], shard: tuple[int, int]) -> dict[str, Any]:
    """Return what --until, --budget and --range say, checked, as run.json has it.

    `config` is lm-eval's. ValueError for another goal than the task's design has, for a wrong
    budget or range, and for arguments that say what a design decides itself.
    """
    names = [config.tasks] if isinstance(config.tasks, str) else list(config.tasks or ())
    if len(names) != 1:
        raise ValueError(f"--until takes one task, got {', '.join(map(str, names))}")
    if shard != (1, 1):
        raise ValueError(
            "--shard is refused: with --until each batch follows from all answers; several GPUs "
            "serve one run (data_parallel_size of vllm)"
        )
    for name in ("limit", "samples"):
        if getattr(config, name) is not None:
            raise ValueError(f"--{name} is refused: with --until the design says what is evaluated")
    task = AdaptiveTask(str(names[0]), config.include_path)
    settings = (config.metadata or {}).get(task.benchmark.dataset)
    settings = settings if isinstance(settings, dict) else {}
    if "retrieve" in settings or task.defaults.get("retrieve"):
        raise ValueError("retrieve is refused: --until takes no retrieval")
    if "path" in settings:
        raise ValueError("path is refused: with --until the puzzles are made, not published")
    return task.adaptive.read_until(*until)


class Search:
    """A design of a run's settings, told the answers on the disk.

    `what` is what run.json says of the run. ValueError if the design does not take the settings.
    """

    def __init__(self, what: Mapping[str, Any], include_path: str | None = None) -> None:
        self.task = AdaptiveTask(what["tasks"][0], include_path)
        self.design = self.task.adaptive.make(**what["until"])
        dataset = self.task.benchmark.dataset
        chosen = what["metadata"].get(dataset) or what["model_args"].get(dataset) or {}
        self.parameters = self.task.defaults | chosen

    @property
    def fingerprint(self) -> dict[str, str]:
        """The version of the design and of its prior: others would ask for other puzzles."""
        return self.design.fingerprint

    @cached_property
    def configuration(self) -> dict[str, Any]:
        """The task's configuration for lm-eval.

        Its documents, until the design asks, are its longest. Its metrics are those of the
        dataset's fixed design, if there is one: a task on a whole grid may fit what uneven cells
        don't.
        """
        task, dataset = self.task, self.task.benchmark.dataset
        fixed = TASKS / dataset / f"{dataset}_axes.yaml"
        source = read_task(fixed) if fixed.exists() else task.configuration
        metrics = {part: source[part] for part in ("process_results", "metric_list")}
        longest = list(map(task.adaptive.name_puzzle, self.design.longest))
        puzzles = {"dataset": dataset, "defaults": task.defaults, "grids": longest}
        return task.configuration | metrics | {"task": task.name, "dataset_kwargs": puzzles}

    def catch_up(self, answers: Answers) -> bool:
        """Tell the design what is on the disk; return whether there is nothing left to ask."""
        while waiting := self.design.ask():
            attempts = range(self.task.configuration.get("repeats") or 1)
            keys = {puzzle: self._key(puzzle) for puzzle in waiting}
            known = [
                puzzle
                for puzzle, key in keys.items()
                if all(key._replace(attempt=attempt) in answers for attempt in attempts)
            ]
            records = [answers[keys[puzzle]] for puzzle in known]
            self.design.tell(
                known,
                [record.get("acc") == 1 for record in records],
                [was_cut(record, self.task.benchmark.outcomes) for record in records],
            )
            if len(known) < len(waiting):
                return False
        return True

    def ask_all(self, asking: Any) -> None:
        """Ask batch after batch until the design is done, then make all of them the documents.

        `asking` is the runner's model, with `tasks`, `answers` and `ask`.
        """
        checked = False
        while not self.catch_up(asking.answers):
            print(self.design.line, file=sys.stderr, flush=True)
            if not checked:  # the design's longest puzzles, before the first one is asked
                asking.ask(check=True)
                checked = True
            self._hand_over(self.design.ask(), asking.tasks)
            asking.ask()
        self.read_all(asking.answers, asking.tasks)

    def read_all(self, answers: Answers, tasks: Mapping[str, Task]) -> None:
        """Make all asked puzzles the documents; ValueError if the design is not done."""
        if not self.catch_up(answers):
            raise ValueError(
                f"the design is not done ({self.design.line}): the run's command goes on"
            )
        asked = (puzzle for batch in self.design.batches for puzzle in batch.puzzles)
        self._hand_over(asked, tasks)

    def _source(self, puzzle: Puzzle) -> Source:
        """Return what makes a puzzle; ValueError if the parameters leave several cells."""
        adaptive, benchmark = self.task.adaptive, self.task.benchmark
        settings = {n: value for n, value in self.parameters.items() if n != CONTEXT_BUDGET}
        dataset = benchmarks.datasets()[benchmark.dataset]
        _, chosen = dataset.choose(settings | adaptive.name_puzzle(puzzle))
        source = benchmark.puzzles(**chosen)
        if len(source.selection) != 1:
            names = [knob.name for knob in benchmark.knobs if knob.name not in adaptive.knobs]
            raise ValueError(
                f"--until takes one value of {', '.join(names)}: a design is of one of them; "
                f"{self.task.name} has {len(source.selection)} here"
            )
        return source

    def _key(self, puzzle: Puzzle) -> Key:
        cell = self._source(puzzle).selection
        return Key(self.task.name, str(address_columns(cell, cell.batch(0, 1))["id"][0]), 0, 0)

    def _hand_over(self, puzzles: Iterable[Puzzle], tasks: Mapping[str, Any]) -> None:
        """Make puzzles the documents of lm-eval's task."""
        budget = {CONTEXT_BUDGET: self.parameters[CONTEXT_BUDGET]}
        rows = [self._source(puzzle).rows()[0] | budget for puzzle in puzzles]
        tasks[self.task.name].dataset["test"] = rows
