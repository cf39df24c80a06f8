"""`--until`: the adaptive design decides which puzzles come next, and when there are no more.

The design depends on what it was told alone, and it is told what the blocks on the disk hold. So
every process of a run, and one that goes on after a crash, knows the same design.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from reprlib import repr as brief
from typing import Any, overload

from cogniload_analysis import ADAPTIVE, Adaptive, Design
from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.grid import Selection, address_columns
from cogniload_gen.sample import was_cut
from cogniload_gen.source import Source
from lm_eval_tasks.links import TASKS
from lm_eval_tasks.lm_eval_private import read_task
from lm_eval_tasks.runner.begun import Run, differences
from lm_eval_tasks.runner.cut import Block
from lm_eval_tasks.runner.names import yaml_of
from lm_eval_tasks.runner.state import Lock, State

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
class Asked:
    """The task whose puzzles a design asks for.

    `configuration` is its YAML's, `benchmark` that of its puzzles, `adaptive` how it is asked, and
    `defaults` are the parameters that --metadata may set: all that the design does not decide.
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

    def decided(self, puzzle: Puzzle) -> dict[str, Any]:
        """Return what the design decides of a puzzle, by the names of the parameters."""
        return self.adaptive.name_puzzle(puzzle)

    def parameters(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the other parameters of a run's puzzles, by its arguments."""
        name = self.dataset
        asked = arguments["metadata"].get(name) or arguments["model_args"].get(name) or {}
        return self.defaults | asked


@lru_cache(maxsize=8)
def find_asked(name: str) -> Asked:
    """Return a task that a design can ask; ValueError if there is no such design, or no such task.

    A task of several `grids` is a fixed design of its own.
    """
    path = yaml_of(name)
    settings = read_task(path) if path else {}
    puzzles = settings.get("dataset_kwargs", {})
    if puzzles and "grids" not in puzzles:
        dataset, defaults = benchmarks.datasets()[puzzles["dataset"]], puzzles["defaults"]
        benchmark, _ = dataset.choose({"suite": defaults["suite"]} if dataset.suites else {})
        adaptive = ADAPTIVE.get(benchmark.name)
        if adaptive:
            defaults = {each: defaults[each] for each in defaults if each not in adaptive.decided}
            return Asked(name, settings, benchmark, adaptive, defaults)
    raise ValueError(
        f"--until takes one of our tasks that is no group and no fixed design, got {brief(name)}"
    )


def design_of(arguments: dict[str, Any]) -> Design[Any]:
    """Return the design of a run, told nothing, by its arguments.

    ValueError if they are none of a design's.
    """
    until = arguments["until"]
    try:
        design: Design[Any] = find_asked(arguments["tasks"][0]).adaptive.make(**until)
    except TypeError:
        raise ValueError(
            f"arguments.until must be goal, target, budget and perhaps N, got {brief(until)}"
        ) from None
    return design


def read_until(
    tasks: object, goal: object, budget: object = None, span: object = None
) -> Until | None:
    """Return what --until, --budget and --range say, checked; None if there is no --until.

    The goals are those of the task's design, as `Adaptive.read_until` takes them. ValueError for
    another goal, a budget or a range that is none, or that has no goal, and tasks other than one
    that a design can ask.
    """
    if goal is None:
        for name, value in (("budget", budget), ("range", span)):
            if value is not None:
                raise ValueError(f"{name} is of a run with --until, which is not given")
        return None
    names = [tasks] if isinstance(tasks, str) else list(tasks or ())  # type: ignore[call-overload]
    if len(names) != 1:
        raise ValueError(f"--until takes one task, got {', '.join(map(str, names))}")
    return find_asked(str(names[0])).adaptive.read_until(goal, budget, span)


def refuse_beside_until(config: Any) -> None:
    """Raise ValueError for arguments of lm-eval that say what a design decides itself."""
    for name in ("limit", "samples"):
        if getattr(config, name) is not None:
            raise ValueError(f"--{name} is refused: with --until the design says what is evaluated")
    (task,) = [config.tasks] if isinstance(config.tasks, str) else config.tasks
    of_task = find_asked(task)
    asked = (config.metadata or {}).get(of_task.dataset)
    given = asked if isinstance(asked, dict) else {}
    if "retrieve" in given or of_task.defaults.get("retrieve"):
        raise ValueError("retrieve is refused: --until takes no retrieval")
    if "path" in given:
        raise ValueError("path is refused: with --until the puzzles are made, not published")


def task_of_design(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the task's configuration for lm-eval.

    Its documents, until a design asks, are its longest. Its metrics are those of the
    dataset's fixed design, if there is one: a task on a whole grid may fit what uneven cells don't.
    """
    asked = find_asked(arguments["tasks"][0])
    fixed = TASKS / asked.dataset / f"{asked.dataset}_axes.yaml"
    longest = [asked.decided(puzzle) for puzzle in design_of(arguments).plan.longest]
    design = read_task(fixed) if fixed.exists() else asked.configuration
    metrics = {part: design[part] for part in ("process_results", "metric_list")}
    puzzles = {"dataset": asked.dataset, "defaults": asked.defaults, "grids": longest}
    return asked.configuration | metrics | {"task": asked.name, "dataset_kwargs": puzzles}


def select(asked: Asked, puzzle: Puzzle, parameters: dict[str, Any]) -> tuple[Selection, Source]:
    """Return the cell of a puzzle of the benchmark's test split, and what makes it.

    ValueError if the parameters leave several cells.
    """
    given = {name: value for name, value in parameters.items() if name != CONTEXT_BUDGET}
    benchmark, chosen = benchmarks.datasets()[asked.dataset].choose(given | asked.decided(puzzle))
    source = benchmark.puzzles(**chosen)
    if len(source.selection) != 1:
        names = [knob.name for knob in benchmark.knobs if knob.name not in asked.adaptive.knobs]
        raise ValueError(
            f"--until takes one value of {', '.join(names)}: a design is of one of them; "
            f"{asked.name} has {len(source.selection)} here"
        )
    return source.selection, source


def id_of_puzzle(selection: Selection) -> str:
    """Return the id of a selection's only puzzle, without making it."""
    (name,) = address_columns(selection, selection.batch(0, 1))["id"]
    return str(name)


class Documents(Sequence[dict[str, Any]]):
    """The documents of the task, in the order of asking: each is made when it is read."""

    def __init__(self, asked: Asked, puzzles: Sequence[Puzzle], parameters: dict[str, Any]) -> None:
        self.asked, self.puzzles, self.parameters = asked, puzzles, parameters

    def __len__(self) -> int:
        return len(self.puzzles)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> "Documents": ...
    def __getitem__(self, index: int | slice) -> "dict[str, Any] | Documents":
        if isinstance(index, slice):
            return Documents(self.asked, self.puzzles[index], self.parameters)
        _, source = select(self.asked, self.puzzles[index], self.parameters)
        (row,) = (row for table in source.tables() for row in table.to_pylist())
        return row | {CONTEXT_BUDGET: self.parameters[CONTEXT_BUDGET]}


class Search:
    """A design, the blocks that its batches are cut into, and which of them it was told.

    ValueError if a run's settings are none of a design's, or if it was begun with another version
    of the design or another prior: that would ask for other puzzles.
    """

    def __init__(self, state: State, run: Run) -> None:
        arguments = run["arguments"]
        self.asked = find_asked(arguments["tasks"][0])
        self.design = design_of(arguments)
        begun = {name: run["versions"].get(name) for name in self.design.plan.fingerprint}
        if found := differences(begun, self.design.plan.fingerprint, "versions"):
            raise ValueError(f"{state.folder.parent} was begun with {'; '.join(found)}")
        self.state, self.size = state, run["block_size"]
        self.parameters = self.asked.parameters(arguments)
        select(self.asked, self.design.plan.longest[0], self.parameters)
        self.blocks: list[Block] = []
        self.puzzles: list[Puzzle] = []
        self.told: set[int] = set()
        self.batches_cut = 0

    def catch_up(self) -> list[Block]:
        """Tell the design what is on the disk; return the blocks of its batch that are not done.

        There are none when the design is done. ValueError for a damaged block.
        """
        while True:
            self.cut_new_batches()
            pending = [block for block in self.blocks if block.number not in self.told]
            done = [block for block in pending if self.state.is_done(block)]
            if not done:
                return pending
            for block in done:
                self.tell(block)

    def cut_new_batches(self) -> None:
        """Cut the batches that the design asked since into blocks."""
        batches = self.design.batches
        for batch in batches[self.batches_cut :]:
            for start in range(0, len(batch.puzzles), self.size):
                asked = batch.puzzles[start : start + self.size]
                documents = range(len(self.puzzles), len(self.puzzles) + len(asked))
                chosen = (select(self.asked, puzzle, self.parameters) for puzzle in asked)
                ids = tuple(id_of_puzzle(selection) for selection, _ in chosen)
                number, name = len(self.blocks) + 1, self.asked.name
                self.blocks.append(Block(number, name, tuple(documents), ids))
                self.puzzles += asked
        self.batches_cut = len(batches)

    def tell(self, block: Block) -> None:
        """Tell the design the answers in a done block."""
        samples = [sample for _, sample in self.state.read_block(block)]
        self.design.tell(
            [self.puzzles[sample["doc_id"]] for sample in samples],
            [sample.get("acc") == 1 for sample in samples],
            [was_cut(sample, self.asked.benchmark.outcomes) for sample in samples],
        )
        self.told.add(block.number)

    def take_block(self, lock: Lock, say: Callable[[str], None], *, wait: bool) -> Block | None:
        """Take a block that is neither done nor another process's; None when the design is done.

        Where all are another's, wait for them, or, without `wait`, raise ValueError.
        """
        waiting = False
        while pending := self.catch_up():
            for block in pending:
                if lock.take(block.number):
                    if self.state.is_done(block):  # since it was looked at
                        break
                    self.state.clean([block])
                    return block
                if not wait:
                    raise ValueError(
                        f"{self.state.folder.parent}: another process is evaluating "
                        f"block {block.number}"
                    )
            else:
                if not waiting:
                    numbers = ", ".join(str(block.number) for block in pending)
                    say(f"waiting for the other shards' blocks: {numbers}")
                    waiting = True
                time.sleep(POLL)
        return None

    def documents(self) -> Documents:
        """Return the documents of the design's puzzles, in the order of asking."""
        return Documents(self.asked, self.puzzles, self.parameters)


def whole_search(folders: Sequence[Path], state: State, run: Run) -> Search:
    """Return the search of a run that is to be merged; ValueError unless it is done."""
    if len(folders) > 1:
        raise ValueError("--merge takes one folder of a run with --until: its shards share it")
    search = Search(state, run)
    if search.catch_up():
        raise ValueError(
            f"{folders[0]}: the design is not done ({search.design.line}): "
            "the same command again goes on"
        )
    return search
