"""Tasks that ask where they learn most: the adaptive design makes samples while the task runs.

It asks for the puzzles that `cogniload eval --until` asks for after the same answers.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from inspect_ai.scorer import Metric, SampleScore, Score, metric

from cogniload_gen import benchmarks
from cogniload_gen.checks import Given, check_known
from cogniload_gen.sample import was_cut
from cogniload_gen.task_puzzles import make_puzzles
from inspect_tasks.samples import read_tokenizer, share_budget
from inspect_tasks.settings import Settings

if TYPE_CHECKING:
    from cogniload_analysis import Adaptive, Design

log = logging.getLogger(__name__)

DESIGN = ("until", "budget", "range")
"""The parameters that say what a design is to find out; the others say of which puzzles."""

Puzzle = tuple[Any, ...]


class Answer(NamedTuple):
    """Whether a response was right, and whether a limit cut it off."""

    correct: bool
    cut: bool


class Asking(SampleSource):
    """The samples that a design asks for, batch by batch, until it knows its goal.

    `until` are the design's settings.
    `make` returns the samples of a batch of puzzles. A puzzle that was lost to an error ends the
    run, since the next batch depends on its answer; `inspect eval-retry` goes on from there.
    """

    def __init__(
        self,
        until: dict[str, Any],
        design: "Design[Any]",
        make: Callable[[list[Puzzle]], list[Sample]],
    ) -> None:
        self.until, self.design, self.make = until, design, make
        self.puzzles: dict[str, Puzzle] = {}

    def initial_samples(self) -> list[Sample]:
        """Return the samples of the first batch."""
        return self.ask()

    async def next_samples(self) -> list[Sample] | None:
        """Return the next batch; None where there is none."""
        left = self.design.ask()
        if not left:
            log.warning("%s", "; ".join(self.design.summary()))
            return None
        if any(puzzle in self.puzzles.values() for puzzle in left):
            log.warning("the design ends without the answers to %d puzzles", len(left))
            return None
        return self.ask()

    async def sample_complete(self, sample: EvalSample) -> list[Sample] | None:
        """Tell the design the answer of a sample's first epoch."""
        puzzle = self.puzzles[str(sample.id)]
        scores = list((sample.scores or {}).values())
        if scores and puzzle not in self.design.told:
            answer = read_answer(scores[0], sample.metadata)
            self.design.tell([puzzle], [answer.correct], [answer.cut])
        return None

    def ask(self) -> list[Sample]:
        """Return the samples of the batch that the design asks for now."""
        batch = self.design.ask()
        samples = self.make(batch)
        self.puzzles |= zip((str(sample.id) for sample in samples), batch, strict=True)
        return samples


def make_asking(task: str, settings: Settings, given: Mapping[str, Given]) -> Asking:
    """Return the source of an adaptive task's samples.

    `until` is the goal, such as ECL50±20%, `budget` the most puzzles to ask, `range` the least and
    the most N; the others are the parameters of lm-eval's task that the design does not decide.
    ValueError names a parameter that is unknown or wrong, or says that the longest puzzles that can
    be asked don't fit.
    """
    dataset = benchmarks.datasets()[settings.dataset]
    suite = {"suite": settings.defaults["suite"]} if dataset.suites else {}
    benchmark, _ = dataset.choose(suite)
    adaptive = adaptive_of(benchmark.name)
    defaults = {
        name: value for name, value in settings.defaults.items() if name not in adaptive.decided
    }
    check_known(given, tuple(dict.fromkeys([*DESIGN, *defaults, "tokenizer"])), task)
    goal = adaptive.goals[0]
    usual = goal.name + goal.example
    until = adaptive.read_until(given.get("until", usual), given.get("budget"), given.get("range"))
    tokenizer = read_tokenizer(task, given)
    asked = {name: value for name, value in given.items() if name in defaults}

    def make(batch: Sequence[Puzzle]) -> list[Sample]:
        if not batch:
            return []
        grids = [adaptive.name_puzzle(puzzle) for puzzle in batch]
        table = make_puzzles(settings.dataset, defaults, asked, grids=grids, task=task)
        if len(table) != len(batch):
            names = [knob.name for knob in benchmark.knobs if knob.name not in adaptive.knobs]
            raise ValueError(
                f"{task} takes one value of {', '.join(names)}: a design is of one of them"
            )
        return share_budget(task, table.to_pylist(), tokenizer)

    design = adaptive.make(**until)
    make(design.plan.longest)
    return Asking(until, design, make)


def adaptive_of(name: str) -> "Adaptive":
    """Return how a benchmark is asked adaptively."""
    from cogniload_analysis import ADAPTIVE  # noqa: PLC0415  (seconds, which other tasks save)

    return ADAPTIVE[name]


@metric(scores="unreduced")
def estimate(**until: Any) -> Metric:
    """Return what the answers say of each goal of a design: the median and the ends of 95 %.

    What lies beyond the range that can be asked has that range's end.
    """

    def estimated(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {}
        adaptive = adaptive_of(benchmarks.of(scores[0].sample_metadata or {}).name)
        design = adaptive.make(**until)
        told: dict[Puzzle, Answer] = {}
        for each in scores:
            row = each.sample_metadata or {}
            puzzle = tuple(row[name] for name in (*adaptive.knobs, "index"))
            told.setdefault(puzzle, read_answer(each.score, row))
        answers = told.values()
        design.tell(told, [each.correct for each in answers], [each.cut for each in answers])
        # the batches say nothing of the goals, and choosing them again would take seconds
        found = design.plan.describe(design.told, [design.plan.next_batch((), {})])
        metrics = {}
        for goal in adaptive.goals:
            asked = replace(design.settings, goal=goal.name).asked
            for end in ("", "low", "high"):
                value = getattr(getattr(found, goal.name), end or "value")
                metrics[f"{goal.name}{end and '_'}{end}"] = min(max(value, asked[0]), asked[1])
        return metrics

    return estimated


def read_answer(score: Score, row: Mapping[str, Any]) -> Answer:
    """Return what the score of a puzzle tells a design; epochs are told by the first."""
    told, outcomes = score.metadata or {}, benchmarks.of(row).outcomes
    return Answer(told["acc"] == 1, was_cut(told, outcomes))
