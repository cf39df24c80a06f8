"""`--until`: the adaptive design decides which puzzles come next, and when there are no more.

The design depends on the answers alone, and reads them from the blocks on the disk. So every
process of a run, and one that goes on after a crash, knows the same design.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from reprlib import repr as brief
from typing import Any

from cogniload_analysis import ADAPTIVE, Adaptive, Design
from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.files.run_folder import Arguments, Block, RunSpec, differences
from cogniload_gen.grid import address_columns
from cogniload_gen.sample import was_cut
from cogniload_gen.source import Source
from cogniload_gen.task_puzzles import EACH
from lm_eval_tasks.links import TASKS
from lm_eval_tasks.lm_eval_private import read_task
from lm_eval_tasks.runner.store import Lock, Store
from lm_eval_tasks.task_names import yaml_of

BLOCK_SIZE = 64
"""Puzzles: a design's first batches, so that shards can share the larger ones that follow."""

POLL = 0.2
"""Seconds between two looks at the blocks of other shards."""

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


def read_until(
    tasks: object,
    goal: object,
    budget: object = None,
    span: object = None,
    include_path: str | None = None,
) -> Until | None:
    """Return what --until, --budget and --range say, checked; None if there is no --until.

    The goals are those of the task's design, as `Adaptive.read_until` takes them. ValueError for
    another goal, for a wrong budget or range or one without a goal, and for any tasks but one with
    a design.
    """
    if goal is None:
        for name, value in (("budget", budget), ("range", span)):
            if value is not None:
                raise ValueError(f"{name} is of a run with --until, which is not given")
        return None
    names = [tasks] if isinstance(tasks, str) else list(tasks or ())  # type: ignore[call-overload]
    if len(names) != 1:
        raise ValueError(f"--until takes one task, got {', '.join(map(str, names))}")
    return adaptive_task(str(names[0]), include_path).adaptive.read_until(goal, budget, span)


def refuse_beside_until(config: Any) -> None:
    """Raise ValueError for arguments of lm-eval that say what a design decides itself."""
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


class Documents:
    """The documents of the task, in the order of asking: each is made when it is read."""

    def __init__(
        self, task: AdaptiveTask, puzzles: Sequence[Puzzle], parameters: dict[str, Any]
    ) -> None:
        self.task, self.puzzles, self.parameters = task, puzzles, parameters

    def __len__(self) -> int:
        return len(self.puzzles)

    def __getitem__(self, index: int) -> dict[str, Any]:
        row = source_of(self.task, self.puzzles[index], self.parameters).rows()[0]
        return row | {CONTEXT_BUDGET: self.parameters[CONTEXT_BUDGET]}


class Search:
    """A design, the blocks that its batches are cut into, and which of them it knows.

    `size` is the number of puzzles in a block. ValueError if the design does not take the settings.
    """

    def __init__(
        self, store: Store, arguments: Arguments, size: int, include_path: str | None = None
    ) -> None:
        self.store, self.arguments, self.size = store, arguments, size
        self.task = adaptive_task(arguments.tasks[0], include_path)
        self.design = self.task.design(arguments.until or {})
        self.blocks: list[Block] = []
        self.puzzles: list[Puzzle] = []
        self.known: set[int] = set()
        self.batches_cut = 0

    @classmethod
    def of(cls, store: Store, run: RunSpec, include_path: str | None = None) -> "Search":
        """Return the search of a run that was begun.

        ValueError if that was with another version of the design or another prior, which would ask
        for other puzzles.
        """
        search = cls(store, run.arguments, run.block_size, include_path)
        fingerprint = search.design.plan.fingerprint
        begun = {name: run.versions.get(name) for name in fingerprint}
        if changes := differences(begun, fingerprint, "versions"):
            raise ValueError(f"{store.folder.parent} was begun with {'; '.join(changes)}")
        return search

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the puzzles that no design decides; the task has checked them."""
        arguments, dataset = self.arguments, self.task.dataset
        chosen = arguments.metadata.get(dataset) or arguments.model_args.get(dataset) or {}
        return self.task.defaults | chosen

    @property
    def configuration(self) -> dict[str, Any]:
        """The task's configuration for lm-eval, whose documents are the design's longest."""
        return self.task.configure(self.design)

    def catch_up(self) -> list[Block]:
        """Tell the design what is on the disk; return the blocks of its batch that are not done.

        There are none when the design is done. ValueError for a damaged block.
        """
        while True:
            self.cut_new_batches()
            pending = [block for block in self.blocks if block.number not in self.known]
            done = [block for block in pending if self.store.is_done(block)]
            if not done:
                return pending
            for block in done:
                self.tell(block)

    def cut_new_batches(self) -> None:
        """Cut the design's batches since the last call into blocks."""
        batches = self.design.batches
        for batch in batches[self.batches_cut :]:
            for start in range(0, len(batch.puzzles), self.size):
                puzzles = batch.puzzles[start : start + self.size]
                documents = range(len(self.puzzles), len(self.puzzles) + len(puzzles))
                sources = (source_of(self.task, puzzle, self.parameters) for puzzle in puzzles)
                cells = (source.selection for source in sources)
                ids = (address_columns(cell, cell.batch(0, 1))["id"][0] for cell in cells)
                number, name = len(self.blocks) + 1, self.task.name
                self.blocks.append(Block(number, name, tuple(documents), tuple(map(str, ids))))
                self.puzzles += puzzles
        self.batches_cut = len(batches)

    def tell(self, block: Block) -> None:
        """Tell the design the answers in a done block."""
        samples = [sample for _, sample in self.store.read_block(block)]
        self.design.tell(
            [self.puzzles[sample["doc_id"]] for sample in samples],
            [sample.get("acc") == 1 for sample in samples],
            [was_cut(sample, self.task.benchmark.outcomes) for sample in samples],
        )
        self.known.add(block.number)

    def take_block(self, lock: Lock, say: Callable[[str], None], *, wait: bool) -> Block | None:
        """Take a block that is neither done nor another process's; None when the design is done.

        Where all are another's, wait for them, or, without `wait`, raise ValueError.
        """
        waiting = False
        while pending := self.catch_up():
            for block in pending:
                if lock.take(block.number):
                    if self.store.is_done(block):  # since it was looked at
                        break
                    self.store.clean(block)
                    return block
                if not wait:
                    raise ValueError(
                        f"{self.store.folder.parent}: another process is evaluating "
                        f"block {block.number}"
                    )
            else:
                if not waiting:
                    numbers = ", ".join(str(block.number) for block in pending)
                    say(f"waiting for the other shards' blocks: {numbers}")
                    waiting = True
                time.sleep(POLL)
        return None

    def hand_documents(self, tasks: Mapping[str, Any]) -> None:
        """Make the design's puzzles, in the order of asking, the documents of lm-eval's task."""
        documents = Documents(self.task, self.puzzles, self.parameters)
        tasks[self.task.name].dataset["test"] = documents
