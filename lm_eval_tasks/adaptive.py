"""`--until`: a design decides which puzzles are asked next, and when there are no more.

The design depends on the answers alone, and takes them from the disk. So a run that goes on after a
kill, and a merge, know the same design.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from reprlib import repr as brief
from typing import Any

from lm_eval.api.task import Task

from cogniload_analysis import ADAPTIVE, Adaptive, Design
from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.grid import address_columns
from cogniload_gen.sample import was_cut
from cogniload_gen.source import Source
from cogniload_gen.task_puzzles import EACH
from lm_eval_tasks.answers import Answers, Key
from lm_eval_tasks.links import TASKS
from lm_eval_tasks.lm_eval_private import read_task
from lm_eval_tasks.task_names import yaml_of

Puzzle = tuple[Any, ...]
"""The values of the knobs that a design decides, and the index of a puzzle."""

Until = dict[str, Any]
"""The settings of a design as run.json has them: goal, target (a share, or units), budget, N."""

CONTEXT_BUDGET = "context_budget"


@dataclass(frozen=True)
class AdaptiveTask:
    """A task whose puzzles a design chooses.

    `configuration` is its YAML's, `benchmark` that of its puzzles, `adaptive` how a design asks for
    them, and `defaults` are the parameters that --metadata may set: all that no design decides.
    """

    name: str
    configuration: dict[str, Any]
    benchmark: Benchmark
    adaptive: Adaptive
    defaults: dict[str, Any]

    @property
    def dataset(self) -> str:
        """The name that the puzzles' parameters have in --metadata."""
        return self.benchmark.dataset

    def design(self, until: Until) -> Design[Any]:
        """Return a design that knows no answer yet; ValueError if the settings are of none."""
        try:
            design: Design[Any] = self.adaptive.make(**until)
        except TypeError:
            raise ValueError(
                f"arguments.until must be goal, target, budget and perhaps N, got {brief(until)}"
            ) from None
        return design

    def configure(self, design: Design[Any]) -> dict[str, Any]:
        """Return the task's configuration for lm-eval.

        Its documents, until the design asks, are its longest. Its metrics are those of the
        dataset's fixed design, if there is one: a task on a whole grid may fit what uneven cells
        don't.
        """
        fixed = TASKS / self.dataset / f"{self.dataset}_axes.yaml"
        longest = list(map(self.adaptive.name_puzzle, design.plan.longest))
        source = read_task(fixed) if fixed.exists() else self.configuration
        metrics = {part: source[part] for part in ("process_results", "metric_list")}
        puzzles = {"dataset": self.dataset, "defaults": self.defaults, "grids": longest}
        return self.configuration | metrics | {"task": self.name, "dataset_kwargs": puzzles}


@lru_cache(maxsize=8)
def adaptive_task(name: str, include_path: str | None = None) -> AdaptiveTask:
    """Return a task that a design can ask; ValueError if there is no such design, or no such task.

    The task is ours, or below `include_path`. One of several `grids`, or with twins, is a fixed
    design of its own.
    """
    path = yaml_of(name, include_path)
    settings = read_task(path) if path else {}
    puzzles = settings.get("dataset_kwargs", {})
    defaults = puzzles.get("defaults", {})
    if puzzles and "grids" not in puzzles and defaults.get("twin") != EACH:
        dataset = benchmarks.datasets()[puzzles["dataset"]]
        benchmark, _ = dataset.choose({"suite": defaults["suite"]} if dataset.suites else {})
        adaptive = ADAPTIVE.get(benchmark.name)
        if adaptive:
            defaults = {knob: defaults[knob] for knob in defaults if knob not in adaptive.decided}
            return AdaptiveTask(name, settings, benchmark, adaptive, defaults)
    raise ValueError(
        "--until takes a task of ours, or of --include_path, that is no group and no fixed design, "
        f"got {brief(name)}"
    )


def source_of(task: AdaptiveTask, puzzle: Puzzle, parameters: dict[str, Any]) -> Source:
    """Return what makes a puzzle, of the benchmark's test split.

    ValueError if the parameters leave several cells.
    """
    settings = {name: value for name, value in parameters.items() if name != CONTEXT_BUDGET}
    knobs = task.adaptive.name_puzzle(puzzle)
    benchmark, chosen = benchmarks.datasets()[task.dataset].choose(settings | knobs)
    source = benchmark.puzzles(**chosen)
    if len(source.selection) != 1:
        names = [knob.name for knob in benchmark.knobs if knob.name not in task.adaptive.knobs]
        raise ValueError(
            f"--until takes one value of {', '.join(names)}: a design is of one of them; "
            f"{task.name} has {len(source.selection)} here"
        )
    return source


def read_until(
    tasks: object, goal: object, budget: object, span: object, include_path: str | None = None
) -> Until:
    """Return what --until, --budget and --range say, checked.

    The goals are those of the task's design, as `Adaptive.read_until` takes them. ValueError for
    another goal, for a wrong budget or range, and for any tasks but one with a design.
    """
    names = [tasks] if isinstance(tasks, str) else list(tasks or ())  # type: ignore[call-overload]
    if len(names) != 1:
        raise ValueError(f"--until takes one task, got {', '.join(map(str, names))}")
    return adaptive_task(str(names[0]), include_path).adaptive.read_until(goal, budget, span)


def refuse_beside_until(config: Any, shard: tuple[int, int]) -> None:
    """Raise ValueError for arguments that say what a design decides itself, and for shards."""
    if shard != (1, 1):
        raise ValueError(
            "--shard is refused: with --until each batch follows from all answers; several GPUs "
            "serve one run (data_parallel_size of vllm)"
        )
    for name in ("limit", "samples"):
        if getattr(config, name) is not None:
            raise ValueError(f"--{name} is refused: with --until the design says what is evaluated")
    (name,) = [config.tasks] if isinstance(config.tasks, str) else config.tasks
    task = adaptive_task(name, config.include_path)
    settings = (config.metadata or {}).get(task.dataset)
    settings = settings if isinstance(settings, dict) else {}
    if "retrieve" in settings or task.defaults.get("retrieve"):
        raise ValueError("retrieve is refused: --until takes no retrieval")
    if "path" in settings:
        raise ValueError("path is refused: with --until the puzzles are made, not published")


class Search:
    """A design of a run's settings, told the answers on the disk.

    ValueError if the design does not take the settings.
    """

    def __init__(self, settings: Mapping[str, Any], include_path: str | None = None) -> None:
        self.task = adaptive_task(settings["tasks"][0], include_path)
        self.design = self.task.design(settings["until"])
        dataset = self.task.dataset
        chosen = settings["metadata"].get(dataset) or settings["model_args"].get(dataset) or {}
        self.parameters = self.task.defaults | chosen

    @property
    def goal(self) -> str:
        """The goal and its target in words, such as ECL50 ±20 %."""
        return self.design.goal

    @property
    def fingerprint(self) -> dict[str, str]:
        """The version of the design and of its prior, which would ask for other puzzles."""
        return self.design.plan.fingerprint

    @cached_property
    def configuration(self) -> dict[str, Any]:
        """The task's configuration for lm-eval, whose documents are the design's longest."""
        return self.task.configure(self.design)

    def catch_up(self, answers: Answers) -> bool:
        """Tell the design what is on the disk; return whether there is nothing left to ask."""
        while waiting := self.design.ask():
            known = {puzzle: key for puzzle in waiting if (key := self._key(puzzle)) in answers}
            records = [answers[key] for key in known.values()]
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
        self._hand_over(self._asked, asking.tasks)

    def read_all(self, answers: Answers, tasks: Mapping[str, Task]) -> None:
        """Make all asked puzzles the documents; ValueError if the design is not done."""
        if not self.catch_up(answers):
            raise ValueError(
                f"the design is not done ({self.design.line}): the same command again goes on"
            )
        self._hand_over(self._asked, tasks)

    @property
    def _asked(self) -> list[Puzzle]:
        return [puzzle for batch in self.design.batches for puzzle in batch.puzzles]

    def _key(self, puzzle: Puzzle) -> Key:
        cell = source_of(self.task, puzzle, self.parameters).selection
        id = address_columns(cell, cell.batch(0, 1))["id"][0]
        return Key(self.task.name, str(id), 0, 0)

    def _hand_over(self, puzzles: Iterable[Puzzle], tasks: Mapping[str, Any]) -> None:
        """Make puzzles the documents of lm-eval's task."""
        sources = (source_of(self.task, puzzle, self.parameters) for puzzle in puzzles)
        budget = {CONTEXT_BUDGET: self.parameters[CONTEXT_BUDGET]}
        rows: Sequence[dict[str, Any]] = [source.rows()[0] | budget for source in sources]
        tasks[self.task.name].dataset["test"] = rows
