"""Tasks that ask where they learn most: the adaptive design makes samples while the task runs.

It asks for the puzzles that `cogniload eval --until` asks for after the same answers.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from inspect_ai import SampleSource
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from inspect_ai.scorer import Metric, SampleScore, Score, metric

import cogniload_analysis
from cogniload_gen import benchmarks
from cogniload_gen.checks import Given, check_known
from cogniload_gen.sample import was_cut
from cogniload_gen.task_puzzles import make_puzzles
from inspect_tasks.samples import read_tokenizer, share_budget
from inspect_tasks.settings import Settings

log = logging.getLogger(__name__)

DESIGN = ("until", "budget", "range")
"""The parameters that say what a design is to find out; the others say of which puzzles."""

Puzzle = tuple[Any, ...]


class Asking(SampleSource):
    """The samples that a design asks for, batch by batch, until it knows its goal.

    `until` are the design's settings.
    `make` returns the samples of a batch of puzzles. A puzzle that was lost to an error ends the
    run, since the next batch depends on its answer; `inspect eval-retry` goes on from there.
    """

    def __init__(
        self,
        until: dict[str, Any],
        design: "cogniload_analysis.Design",
        make: Callable[[list[Puzzle]], list[Sample]],
    ) -> None:
        self.until, self.design, self.make = until, design, make
        self.puzzles: dict[str, Puzzle] = {}

    def initial_samples(self) -> list[Sample]:
        """Return the samples of the batch that the design asks for now."""
        batch = self.design.ask()
        samples = self.make(batch)
        self.puzzles |= zip((str(sample.id) for sample in samples), batch, strict=True)
        return samples

    async def next_samples(self) -> list[Sample] | None:
        """Return the next batch; None where there is none."""
        left = self.design.ask()
        if not left:
            log.warning("%s", "; ".join(self.design.summary()))
            return None
        if any(puzzle in self.puzzles.values() for puzzle in left):
            log.warning("the design ends without the answers to %d puzzles", len(left))
            return None
        return self.initial_samples()

    async def sample_complete(self, sample: EvalSample) -> list[Sample] | None:
        """Tell the design the answer of a sample's first epoch."""
        puzzle = self.puzzles[str(sample.id)]
        scores = list((sample.scores or {}).values())
        if scores and puzzle not in self.design.told:
            correct, cut = read_answer(scores[0], sample.metadata)
            self.design.tell([puzzle], [correct], [cut])
        return None


def make_asking(task: str, settings: Settings, parameters: Mapping[str, Given]) -> Asking:
    """Return the source of an adaptive task's samples.

    `until` is the goal, such as ECL50±20%, `budget` the most puzzles to ask, `range` the least and
    the most N; the others are the parameters of lm-eval's task that the design does not decide.
    ValueError names a parameter that is unknown or wrong, or says that the longest puzzles in
    `range` don't fit.
    """
    dataset = benchmarks.datasets()[settings.dataset]
    suite = {"suite": settings.defaults["suite"]} if dataset.suites else {}
    benchmark, _ = dataset.choose(suite)
    adaptive = cogniload_analysis.ADAPTIVE[benchmark.name]
    own = [name for name in settings.defaults if name not in adaptive.decided]
    defaults = {name: settings.defaults[name] for name in own}
    check_known(parameters, tuple(dict.fromkeys([*DESIGN, *own, "tokenizer"])), task)
    goal = adaptive.goals[0]
    wanted = {"until": goal.name + goal.example} | dict(parameters)
    until = adaptive.read_until(*map(wanted.get, DESIGN))
    tokenizer = read_tokenizer(task, parameters)
    changes = {name: value for name, value in parameters.items() if name in defaults}

    def make(batch: Sequence[Puzzle]) -> list[Sample]:
        if not batch:
            return []
        grids = [adaptive.name_puzzle(puzzle) for puzzle in batch]
        table = make_puzzles(settings.dataset, defaults, changes, grids=grids, task=task)
        if len(table) != len(batch):
            names = [knob.name for knob in benchmark.knobs if knob.name not in adaptive.knobs]
            raise ValueError(
                f"{task} takes one value of {', '.join(names)}: a design is of one of them"
            )
        return share_budget(task, table.to_pylist(), tokenizer)

    design = adaptive.make(**until)
    make(design.plan.longest)
    return Asking(until, design, make)


@metric(scores="unreduced")
def estimate(**until: Any) -> Metric:
    """Return what the answers say of each goal of a design: the median and the ends of 95 %.

    An estimate or end beyond the range of the puzzles is the end of that range.
    """

    def estimated(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {}
        benchmark = benchmarks.of(scores[0].sample_metadata or {})
        adaptive = cogniload_analysis.ADAPTIVE[benchmark.name]
        design = adaptive.make(**until)
        answers: dict[Puzzle, tuple[bool, bool]] = {}
        for sample in scores:
            row = sample.sample_metadata or {}
            puzzle = tuple(row[name] for name in (*adaptive.knobs, "index"))
            answers.setdefault(puzzle, read_answer(sample.score, row))
        design.tell(answers, *zip(*answers.values(), strict=True))
        # the batches say nothing of the goals, and choosing them again would take seconds
        description = design.plan.describe(design.told, [design.plan.next_batch((), {})])
        metrics = {}
        for goal in adaptive.goals:
            least, most = replace(design.settings, goal=goal.name).extent
            for end in ("", "low", "high"):
                value = getattr(getattr(description, goal.name), end or "value")
                metrics[f"{goal.name}{end and '_'}{end}"] = min(max(value, least), most)
        return metrics

    return estimated


def read_answer(score: Score, row: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether a response was right, and whether a limit cut it off, by its score."""
    metrics, outcomes = score.metadata or {}, benchmarks.of(row).outcomes
    return metrics["acc"] == 1, was_cut(metrics, outcomes)
