"""`--until`: a design decides which puzzles are asked next, and when there are no more.

The design depends on the answers alone, and takes them from the disk. So a run that goes on after a
kill, and a merge, know the same design.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from reprlib import repr as brief
from typing import Any

from lm_eval.api.task import Task

from cogniload_analysis import ADAPTIVE
from cogniload_gen import benchmarks
from cogniload_gen.budget import CONTEXT_BUDGET, prompt_counter, read_context_budget
from cogniload_gen.task_puzzles import EACH, make_puzzles
from lm_eval_tasks.lm_eval_private import read_task
from lm_eval_tasks.resume import Answers, Key
from lm_eval_tasks.tasks import TASKS, yaml_of

Puzzle = tuple[Any, ...]
"""The values of the knobs that a design decides, and the index of a puzzle."""


class Search:
    """A design that chooses the puzzles of a task, told the answers on the disk.

    The task, `name`, is ours or below `include_path`. `metadata` has the parameters of its dataset
    that no design decides, and `until` the design's settings, or goal, budget, N and the loads to
    hold as they were given. ValueError if there is no such design, or no such task: one of several
    grids, or with twins, is a fixed design of its own.
    """

    def __init__(
        self,
        name: str,
        metadata: Mapping[str, Any],
        until: Mapping[str, Any] | Sequence[Any],
        include_path: str | None = None,
    ) -> None:
        path = yaml_of(name, include_path)
        self.name, self._yaml = name, read_task(path) if path else {}
        puzzles = self._yaml.get("dataset_kwargs", {})
        given, adaptive = puzzles.get("defaults", {}), None
        if puzzles and "grids" not in puzzles and given.get("twin") != EACH:
            dataset = benchmarks.datasets()[puzzles["dataset"]]
            suite = {"suite": given["suite"]} if dataset.suites else {}
            self._benchmark, _ = dataset.choose(suite)
            adaptive = ADAPTIVE.get(self._benchmark.name)
        if adaptive is None:
            raise ValueError(
                "--until takes a task of ours, or of --include_path, that is no group and no fixed "
                f"design, got {brief(name)}"
            )
        self._adaptive = adaptive
        self._defaults = {n: value for n, value in given.items() if n not in adaptive.decided}
        chosen = metadata.get(self._benchmark.dataset)
        self._changes = chosen if isinstance(chosen, dict) else {}
        for parameter in ("path", "retrieve"):
            if parameter in self._defaults | self._changes:
                raise ValueError(f"{parameter} is refused: --until makes its puzzles, and whole")
        self._given = until if isinstance(until, Mapping) else adaptive.read_until(*until)
        self._budget = read_context_budget({**self._defaults, **self._changes}["context_budget"])
        self._count = _token_count(metadata)
        self.until = adaptive.within(self._given, self._count, self._budget)
        self.design = adaptive.make(**self.until)
        self._rows: dict[Puzzle, dict[str, Any]] = {}

    @classmethod
    def begin(cls, config: Any, until: Sequence[Any], shard: tuple[int, int]) -> "Search":
        """Return the search of lm-eval's configuration, for goal, budget, N and loads as given.

        ValueError as for the class, and for arguments that say what a design decides itself.
        """
        names = [config.tasks] if isinstance(config.tasks, str) else list(config.tasks)
        if len(names) != 1:
            raise ValueError(f"--until takes one task, got {', '.join(map(str, names))}")
        if shard != (1, 1):
            raise ValueError(
                "--shard is refused: with --until each batch follows from all answers; several "
                "GPUs serve one run (data_parallel_size of vllm)"
            )
        for name in ("limit", "samples"):
            if getattr(config, name) is not None:
                raise ValueError(
                    f"--{name} is refused: with --until the design says what is evaluated"
                )
        return cls(str(names[0]), config.metadata, until, config.include_path)

    @property
    def fingerprint(self) -> dict[str, str]:
        """The version of the design and of its prior: others would ask for other puzzles."""
        return self.design.fingerprint

    def summary(self) -> list[str]:
        """Return the design's, and what would reach a threshold beyond the longest puzzle."""
        design, more = self.design, 4 * self._budget
        lines = design.summary()
        if (
            self.until != self._given
            and design.extents[design.goal] == design.N
            and design.batches[-1].low > design.N[1]
        ):
            reach = self._adaptive.within(self._given, self._count, more)["N"][1]
            lines.append(
                f"note: N = {design.N[1]:,} is the longest whose prompt and written trace fit "
                f"context_budget {self._budget:,}; {more:,} would ask up to {reach:,}"
            )
        return lines

    def configuration(self) -> dict[str, Any]:
        """Return the task's configuration for lm-eval.

        Its documents, until the design asks, are its longest. Its metrics are those of the
        dataset's fixed design, if there is one: a task on a whole grid may fit what uneven cells
        don't.
        """
        dataset = self._benchmark.dataset
        fixed = TASKS / dataset / f"{dataset}_axes.yaml"
        source = read_task(fixed) if fixed.exists() else self._yaml
        metrics = {part: source[part] for part in ("process_results", "metric_list")}
        longest = list(map(self._adaptive.name_puzzle, self.design.longest))
        puzzles = {"dataset": dataset, "defaults": self._defaults, "grids": longest}
        return self._yaml | metrics | {"task": self.name, "dataset_kwargs": puzzles}

    def catch_up(self, answers: Answers) -> bool:
        """Tell the design what is on the disk; return whether there is nothing left to ask."""
        attempts = range(self._yaml.get("repeats") or 1)
        while waiting := self.design.ask():
            ids = [row["id"] for row in self._make(waiting)]
            known = {
                puzzle: answers[Key(self.name, id, 0, 0)]
                for puzzle, id in zip(waiting, ids, strict=True)
                if all(Key(self.name, id, 0, attempt) in answers for attempt in attempts)
            }
            lost = {key.document for key in answers.lost}
            unknown = [
                puzzle
                for puzzle, id in zip(waiting, ids, strict=True)
                if id in lost and puzzle not in known
            ]
            self.design.lose(unknown)
            self.design.tell(
                known,
                [record.get("acc") == 1 for record in known.values()],
                [record.get("ending") == "cut" for record in known.values()],
            )
            if len(known) + len(unknown) < len(waiting):
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

    def _make(self, puzzles: Iterable[Puzzle]) -> list[dict[str, Any]]:
        wanted = list(puzzles)
        new = [puzzle for puzzle in wanted if puzzle not in self._rows]
        if new:
            dataset = self._benchmark.dataset
            grids, task = list(map(self._adaptive.name_puzzle, new)), f"{dataset} metadata"
            made = make_puzzles(dataset, self._defaults, self._changes, grids=grids, task=task)
            if len(made) != len(new):
                raise ValueError("--until takes one value of each parameter: a design is of one")
            self._rows |= zip(new, made.to_pylist(), strict=True)
        return [self._rows[puzzle] for puzzle in wanted]

    def _hand_over(self, puzzles: Iterable[Puzzle], tasks: Mapping[str, Any]) -> None:
        tasks[self.name].dataset["test"] = self._make(puzzles)


def _token_count(model_args: Mapping[str, Any]) -> Callable[[str], int]:
    """Return a count of texts' tokens, by the model's tokenizer if its arguments name one."""
    try:
        share = prompt_counter(model_args.get("tokenizer") or model_args.get("pretrained"))
    except ValueError:  # a name that only the model's server knows
        share = prompt_counter(None)
    return lambda text: share(text, CONTEXT_BUDGET).prompt_tokens
