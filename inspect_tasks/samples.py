"""From a task's parameters to its samples, each with the share of the budget that is left to it.

Those of an adaptive task are made while it runs: the puzzles that `cogniload eval --until` asks for
after the same answers.

The parameters are those of lm-eval's task of the same name. Its YAML is data here: neither lm-eval
nor code of its tasks is needed to read it.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from typing import Any, NamedTuple

import yaml
from inspect_ai import SampleSource
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalSample

from cogniload_analysis.adaptive.design import Puzzle
from cogniload_analysis.adaptive.task import AdaptiveTask, tell
from cogniload_gen.context_budget import Share, check_fit, prompt_counter
from cogniload_gen.grid import change_of
from cogniload_gen.task_puzzles import make_puzzles, parameters_of

log = logging.getLogger(__name__)

DESIGN = "until", "budget", "N", "at", "d"
"""The parameters that say what an adaptive task is to find out; the others say of which puzzles."""

SHARE = "share"
"""What a sample's metadata says of its budget, under this name: a `Share` by its fields."""


Counter = Callable[[str, int], Share]
"""From a prompt and its budget to how they share it."""


class Settings(NamedTuple):
    """Of one YAML: dataset, parameters with their defaults, grids, version and temperature."""

    dataset: str
    defaults: dict[str, Any]
    grids: Sequence[dict[str, Any]]
    version: str
    temperature: float


class Loader(yaml.SafeLoader):
    """Reads the functions that lm-eval's YAMLs name as their names."""


Loader.add_constructor("!function", lambda _, node: node.value)


def read_settings(dataset: str, task: str) -> Settings:
    """Return the settings of one of lm-eval's tasks on a dataset."""
    values: dict[str, Any] = {"include": f"{task}.yaml"}
    while included := values.pop("include", None):
        text = (files("lm_eval_tasks") / dataset / included).read_text("utf-8")
        values = yaml.load(text, Loader) | values  # noqa: S506  (a SafeLoader)
    puzzles, version = values["dataset_kwargs"], str(values["metadata"]["version"])
    temperature = values["generation_kwargs"]["temperature"]
    return Settings(dataset, puzzles["defaults"], puzzles.get("grids", ({},)), version, temperature)


def task_of_context(suite: str, context: Any) -> str:
    """Return which of FACTOR's tasks for lm-eval, each of one context, has the budget for it.

    For contexts that no task has, it is the one without any: give a budget to a long one.
    """
    known = isinstance(context, int) and context > 0 and context % 1000 == 0
    task = f"{suite}_{context // 1000}k" if known else f"{suite}_0"
    return task if (files("lm_eval_tasks") / f"factor/{task}.yaml").is_file() else f"{suite}_0"


def make_samples(task: str, settings: Settings, parameters: Mapping[str, Any]) -> MemoryDataset:
    """Return the puzzles that parameters ask for; what is left out is as lm-eval's task has it.

    A sample's id is the puzzle's, its input the prompt, its target the answer; its metadata has the
    other columns. `tokenizer` counts the prompts, and sizes the contexts of a benchmark that takes
    one. ValueError names a parameter that is unknown or wrong, or the longest puzzle if some don't
    fit.
    """
    rows = make_rows(task, settings, parameters)
    return MemoryDataset(share_budget(task, rows, make_counter(task, parameters)), name=task)


def make_rows(task: str, settings: Settings, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the puzzles; ValueError for a parameter that is unknown or wrong."""
    dataset, defaults, grids, *_ = settings
    takes = parameters_of(dataset, defaults, parameters)
    own = {name: parameters[name] for name in parameters if name in takes or name != "tokenizer"}
    return make_puzzles(dataset, defaults, own, grids=grids, task=task).to_pylist()


def make_counter(task: str, parameters: Mapping[str, Any]) -> Counter:
    """Return what counts the tokens of prompts: `tokenizer`, else an estimate, with a warning."""
    tokenizer = parameters.get("tokenizer")
    if tokenizer is None:
        log.warning("%s: prompts are estimated by their words: -T tokenizer=NAME counts them", task)
    return prompt_counter(tokenizer)


def share_budget(task: str, rows: list[dict[str, Any]], count: Counter) -> list[Sample]:
    """Return puzzles, which have a `context_budget`, as samples; ValueError if some don't fit."""
    shares = {row["id"]: count(row["puzzle"], row["context_budget"]) for row in rows}
    check_fit(task, rows, shares)
    samples = []
    for row in rows:
        prompt = row.pop("puzzle")
        metadata = row | {"change": change_of(row["id"]), SHARE: asdict(shares[row["id"]])}
        samples.append(Sample(prompt, target=row["answer"], id=row["id"], metadata=metadata))
    return samples


class AdaptiveSamples(AdaptiveTask, SampleSource):
    """The samples that a design asks for, batch by batch, until it knows its goal.

    `parameters` are `DESIGN`, in the words of `cogniload eval`, and those of lm-eval's task that no
    design decides. ValueError for one that is unknown or wrong, or if the longest puzzles don't
    fit. A puzzle that an error lost ends the run, since the next batch depends on its answer;
    `inspect eval-retry` goes on from there.
    """

    def __init__(self, task: str, settings: Settings, parameters: Mapping[str, Any]) -> None:
        own = (*DESIGN, "tokenizer")
        changes = {name: it for name, it in parameters.items() if name not in own}
        until = [*map({"until": "ECL50±20%", **parameters}.get, DESIGN)]
        count = make_counter(task, parameters)
        super().__init__(task, settings.dataset, settings.defaults, changes, until, count)
        self._asked: dict[str, Puzzle] = {}
        self._share(self.design.longest)

    def _share(self, puzzles: Sequence[Puzzle]) -> list[Sample]:
        return share_budget(self.task, [row.copy() for row in self.make(puzzles)], self.count)

    def initial_samples(self) -> list[Sample]:
        """Return the samples of the batch that the design asks for now."""
        waiting = self.waiting()
        self._asked |= waiting
        return self._share([*waiting.values()])

    async def next_samples(self) -> list[Sample] | None:
        """Return the next batch, or None when the design is done."""
        left = self.waiting()
        if left and not left.keys() & self._asked.keys():
            return self.initial_samples()
        if left:
            log.warning("the design ends without the answers to %d puzzles", len(left))
        log.warning("%s", "; ".join(self.summary()))
        return None

    async def sample_complete(self, sample: EvalSample) -> list[Sample] | None:
        """Tell the design the answer of a sample's first epoch."""
        puzzle = self._asked[str(sample.id)]
        for score in (sample.scores or {}).values():
            said = score.metadata or {}
            if puzzle not in self.design.told and "acc" in said:
                tell(self.design, {puzzle: said})
        return None
