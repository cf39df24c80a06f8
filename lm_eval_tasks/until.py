"""`--until`: a design decides which puzzles are asked next, and when there are no more.

The design depends on the answers alone, and takes them from the disk. So a run that goes on after a
kill, and a merge, know the same design.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from reprlib import repr as brief
from typing import Any

from lm_eval.api.task import Task

from cogniload_analysis.adaptive.design import Puzzle
from cogniload_analysis.adaptive.task import AdaptiveTask, tell
from cogniload_gen.context_budget import Share, prompt_counter
from cogniload_gen.task_puzzles import EACH
from lm_eval_tasks.answers_file import Answers
from lm_eval_tasks.lm_eval_private import read_task
from lm_eval_tasks.request_seeds import Key
from lm_eval_tasks.tasks import TASKS, yaml_of


class Search(AdaptiveTask):
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
        given = puzzles.get("defaults", {})
        if not puzzles or "grids" in puzzles or given.get("twin") == EACH:
            raise ValueError(
                "--until takes a task of ours, or of --include_path, that is no group and no fixed "
                f"design, got {brief(name)}"
            )
        dataset, count = puzzles["dataset"], _prompt_counter(metadata)
        changes = metadata.get(dataset)
        changes = changes if isinstance(changes, dict) else {}
        super().__init__(f"{dataset} metadata", dataset, given, changes, until, count)

    @classmethod
    def begin(cls, config: Any, until: Sequence[Any], shard: tuple[int, int]) -> "Search":
        """Return the search of lm-eval's configuration, for goal, budget, N and loads as given.

        ValueError as for the class, and for arguments that say what a design decides itself.
        """
        names = [config.tasks] if isinstance(config.tasks, str) else list(config.tasks)
        if len(names) != 1:
            raise ValueError(f"--until takes one task, got {', '.join(map(str, names))}")
        several = {"shard": shard != (1, 1)}  # each batch follows from all answers
        for name, given in (several | {"limit": config.limit, "samples": config.samples}).items():
            if given:
                what = "--until chooses the puzzles"
                raise ValueError(f"--{name} is refused: {what}")
        return cls(str(names[0]), config.metadata, until, config.include_path)

    @property
    def fingerprint(self) -> dict[str, str]:
        """The version of the design and of its prior: others would ask for other puzzles."""
        return self.design.fingerprint

    def configuration(self) -> dict[str, Any]:
        """Return the task's configuration for lm-eval.

        Its documents, until the design asks, are its longest. Its metrics are those of the
        dataset's fixed design, if there is one: a task on a whole grid may fit what uneven cells
        don't.
        """
        fixed = TASKS / self.dataset / f"{self.dataset}_axes.yaml"
        source = read_task(fixed) if fixed.exists() else self._yaml
        metrics = {part: source[part] for part in ("process_results", "metric_list")}
        longest = list(map(self.adaptive.name_puzzle, self.design.longest))
        puzzles = {"dataset": self.dataset, "defaults": self.defaults, "grids": longest}
        return self._yaml | metrics | {"task": self.name, "dataset_kwargs": puzzles}

    def catch_up(self, answers: Answers) -> bool:
        """Tell the design what is on the disk; return whether there is nothing left to ask."""
        attempts = range(self._yaml.get("repeats") or 1)
        lost = {key.document for key in answers.lost}
        while waiting := self.waiting():
            known = {
                puzzle: answers[Key(self.name, id, 0, 0)]
                for id, puzzle in waiting.items()
                if all(Key(self.name, id, 0, attempt) in answers for attempt in attempts)
            }
            unknown = [waiting[id] for id in lost & waiting.keys() if waiting[id] not in known]
            self.design.lose(unknown)
            tell(self.design, known)
            if len(known) + len(unknown) < len(waiting):
                return False
        return True

    def ask_all(self, asking: Any) -> None:
        """Ask batch after batch until the design is done, then make all of them the documents.

        `asking` is the evaluation's, with `tasks`, `answers` and `ask`.
        """
        checked = False
        asking.answers.lost.clear()  # they are asked again
        while not self.catch_up(asking.answers):
            if not checked:  # the design's longest puzzles, before the first one is asked
                asking.ask(check=True)
                checked = True
            asking.show(self.design.line, len(self.design.told), self.design.budget)
            self._hand_over(self.design.ask(), asking.tasks)
            asking.ask()
        self.read_all(asking.answers, asking.tasks)

    def read_all(self, answers: Answers, tasks: Mapping[str, Task]) -> None:
        """Make all asked puzzles the documents; ValueError if the design is not done."""
        if not self.catch_up(answers):
            raise ValueError(
                f"the design is not done ({self.design.line}): the run's command continues"
            )
        asked = (puzzle for batch in self.design.batches for puzzle in batch.puzzles)
        self._hand_over(asked, tasks)

    def _hand_over(self, puzzles: Iterable[Puzzle], tasks: Mapping[str, Any]) -> None:
        tasks[self.name].dataset["test"] = self.make(puzzles)


def _prompt_counter(model_args: Mapping[str, Any]) -> Callable[[str, int], Share]:
    """Return what counts prompts, by the model's tokenizer if its arguments name one."""
    try:
        return prompt_counter(model_args.get("tokenizer") or model_args.get("pretrained"))
    except ValueError:  # a name that only the model's server knows
        return prompt_counter(None)
