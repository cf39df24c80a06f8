"""A task whose puzzles a design chooses, whichever harness asks them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cogniload_analysis.adaptive.design import Design, Puzzle
from cogniload_analysis.analyses import ADAPTIVE
from cogniload_analysis.words import say
from cogniload_gen import benchmarks
from cogniload_gen.context_budget import CONTEXT_BUDGET, Share, read_context_budget
from cogniload_gen.task_puzzles import make_puzzles


class AdaptiveTask:
    """A design, and the puzzles of a dataset that it asks for.

    `defaults` are those of a `task`, and `changes` take their place, as for `make_puzzles`; what
    the design decides is left out of the former. `until` are the design's settings, or goal,
    budget, N and the loads to hold as they were given. `count` shares a budget with a prompt.
    ValueError for a benchmark without a design, and for what is unknown or wrong.
    """

    def __init__(
        self,
        task: str,
        dataset: str,
        defaults: Mapping[str, Any],
        changes: Mapping[str, Any],
        until: Mapping[str, Any] | Sequence[Any],
        count: Callable[[str, int], Share],
    ) -> None:
        known = benchmarks.datasets()[dataset]
        benchmark, _ = known.choose({"suite": defaults["suite"]} if known.suites else {})
        if benchmark.name not in ADAPTIVE:
            raise ValueError(f"{benchmark.name} has no adaptive design")
        self.adaptive, self.dataset = ADAPTIVE[benchmark.name], dataset
        decided = self.adaptive.decided
        self.defaults = {name: value for name, value in defaults.items() if name not in decided}
        self.task, self._changes, self.count = task, changes, count
        for parameter in ("path", "retrieve"):
            if parameter in self.defaults | dict(changes):
                raise ValueError(f"{parameter} is refused: a design makes its puzzles, and whole")
        read = self.adaptive.read_until
        self._given = until if isinstance(until, Mapping) else read(*until)
        self._budget = read_context_budget({**self.defaults, **changes}["context_budget"])
        self.until = self._within(self._budget)
        self.design = self.adaptive.make(**self.until)
        self._rows: dict[Puzzle, dict[str, Any]] = {}

    def _within(self, budget: int) -> dict[str, Any]:
        def tokens(text: str) -> int:
            return self.count(text, CONTEXT_BUDGET).prompt_tokens

        return self.adaptive.within(self._given, tokens, budget)

    def make(self, puzzles: Iterable[Puzzle]) -> list[dict[str, Any]]:
        """Return the rows of puzzles, each made once."""
        wanted = list(puzzles)
        if new := [puzzle for puzzle in wanted if puzzle not in self._rows]:
            given = self.dataset, self.defaults, self._changes
            grids = [self.adaptive.name_puzzle(puzzle) for puzzle in new]
            made = make_puzzles(*given, grids=grids, task=self.task)
            if len(made) != len(new):
                raise ValueError(
                    f"{self.task} takes one value of each parameter: a design is of one"
                )
            self._rows |= zip(new, made.to_pylist(), strict=True)
        return [self._rows[puzzle] for puzzle in wanted]

    def waiting(self) -> dict[str, Puzzle]:
        """Return the puzzles that the design asks for now, by the ids of their rows."""
        puzzles = self.design.ask()
        return {row["id"]: puzzle for row, puzzle in zip(self.make(puzzles), puzzles, strict=True)}

    def summary(self) -> list[str]:
        """Return the design's, and what would reach a threshold beyond the longest puzzle."""
        design, more = self.design, 4 * self._budget
        lines = design.summary()
        ends_at_budget = self.until != self._given and design.extents[design.goal] == design.N
        if ends_at_budget and design.batches[-1].low > design.N[1]:
            budgets = {"budget": self._budget, "more": more}
            further = self._within(more)["N"][1]
            lines.append(say("longest", N=design.N[1], **budgets, further=further))
        return lines


def tell(design: Design, answers: Mapping[Puzzle, Mapping[str, Any]]) -> None:
    """Tell a design answers by puzzle, as the metrics of a sample that hold `acc` and `ending`."""
    right = [answer.get("acc") == 1 for answer in answers.values()]
    design.tell(answers, right, [answer.get("ending") == "cut" for answer in answers.values()])
