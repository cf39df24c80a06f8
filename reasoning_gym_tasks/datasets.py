"""A benchmark's record -> its data set, configuration and curriculum for reasoning-gym."""

from dataclasses import dataclass, field, make_dataclass, replace
from functools import partial
from typing import Any, ClassVar

import pyarrow as pa
from reasoning_gym.coaching import BaseCurriculum, ScalarAttributeDefinition
from reasoning_gym.dataset import ProceduralDataset
from reasoning_gym.factory import register_dataset

from cogniload_gen import benchmarks
from cogniload_gen import context_budget as budgets
from cogniload_gen.answers import Sample
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.checks import check_choice, check_integer
from cogniload_gen.grid import MAX_PUZZLES, SPLITS, Source

_KEPT, _BLOCK, _ALONE = 1024, 512, 8
"""Out of order, _ALONE items are made alone; a data set of up to _KEPT then makes, and keeps, up to
_BLOCK at once, unless its puzzles are so long that a batch holds fewer than the data set."""


@dataclass(kw_only=True)
class PuzzleConfig:
    """What the configurations have besides their benchmark's knobs and options.

    `seed` (None for any) and `split` choose the draws; by default none of the test split is seen in
    training. `size` is how many items iterating gives: each cell of the knobs' product gets its
    puzzles in turn. `tokenizer`, a Hugging Face name or folder, counts the prompts, which share
    `context_budget` tokens with their responses; None estimates them.
    """

    benchmark: ClassVar[Benchmark]

    seed: int | None = None
    size: int = 500
    split: str = "train"
    context_budget: int = budgets.CONTEXT_BUDGET
    tokenizer: str | None = None

    def validate(self) -> None:
        """Raise ValueError, in one line that names the value, for one that is wrong."""
        check_integer("size", self.size, low=1, high=MAX_PUZZLES)
        budgets.check_context_budget(self.context_budget)
        self.source(0 if self.seed is None else self.seed)

    def source(self, seed: int) -> Source:
        """Return the puzzles of a seed: those of `load_dataset` with the same parameters.

        There are more than anyone asks for: reasoning-gym's composites go beyond the size.
        """
        knobs = (*self.benchmark.knobs, *self.benchmark.changes, *self.benchmark.options)
        own = {knob.name: getattr(self, knob.name) for knob in knobs}
        split = check_choice("split", self.split, SPLITS)
        return self.benchmark.puzzles(**own, num_puzzles=MAX_PUZZLES, seed=seed, split=split)


class PuzzleDataset(ProceduralDataset):
    """The puzzles of a configuration; item i is row i of the same grid elsewhere."""

    def __init__(self, config: PuzzleConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self.source = config.source(self.seed)
        self.following, self.next = self.source.rows(stop=self.size), 0
        self.out_of_order, self.blocks = 0, dict[int, pa.Table]()
        self.count = budgets.prompt_counter(config.tokenizer)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the configuration and the seed alone, as the workers of a data loader need it."""
        return type(self), (replace(self.config, seed=self.seed),)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return a puzzle: prompt, gold answer, and in the metadata its columns and its limit.

        `response_limit` is the tokens that its prompt leaves of the budget; ValueError if none.
        """
        row = self._row(check_integer("the index of an item", idx, low=0, high=MAX_PUZZLES - 1))
        budget = self.config.context_budget
        share: budgets.Share = self.count(row["puzzle"], budget)
        name = dataset_name(self.config.benchmark)
        budgets.check_fit(name, [row | {"context_budget": budget}], {row["id"]: share})
        question = row.pop("puzzle")
        metadata = row | {
            "source_dataset": name,
            "source_index": idx,
            "response_limit": share.response_limit,
            "difficulty": {knob.name: row[knob.name] for knob in self.config.benchmark.knobs},
        }
        return {"question": question, "answer": row["answer"], "metadata": metadata}

    def _row(self, idx: int) -> dict[str, Any]:
        """Return the row of an item: the next one, or one of a block."""
        expected, self.next = self.next, -1  # after an error, none follows
        self.out_of_order += idx != expected
        most = min(_KEPT, self.source.batch_rows)
        if idx != expected and self.out_of_order > _ALONE and idx < self.size <= most:
            size = max(1, min(_BLOCK, self.source.batch_rows // 50))
            number, place = divmod(idx, size)
            if number not in self.blocks:
                start = number * size
                tables = self.source.tables(start, min(start + size, self.size))
                self.blocks[number] = pa.concat_tables(tables)
            return dict(self.blocks[number].slice(place, 1).to_pylist()[0])
        if idx != expected:
            self.following = self.source.rows(idx, self.size if idx < self.size else None)
        row = next(self.following)
        self.next = -1 if idx + 1 == self.size else idx + 1
        return row

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """Return 1.0 if a response, the whole of it, is correct by the benchmark's rules, else 0.0.

        The metadata of `entry` may tell `prompt_tokens`, `response_tokens`, `context_budget` and
        `finish_reason` besides, by which a response is known to be cut off.
        """
        return float(Sample.from_answer(answer or "", entry["metadata"]).score.correct)


class PuzzleCurriculum(BaseCurriculum):
    """The levels of a benchmark's knobs, each an attribute of the knob's name."""

    def __init__(self, config_class: type[PuzzleConfig]) -> None:
        super().__init__(dataset_name(config_class.benchmark), config_class)
        for knob in config_class.benchmark.knobs:
            if knob.levels:
                about = {"levels": list(knob.levels), "description": knob.meaning}
                named = ScalarAttributeDefinition(name=knob.name, field_name=knob.name, **about)
                self._define_attributes(named)


def dataset_name(benchmark: Benchmark) -> str:
    """Return the name by which reasoning-gym knows a benchmark."""
    return benchmark.name.replace("-", "_")


def config_class(benchmark: Benchmark) -> type[PuzzleConfig]:
    """Return the configuration of a benchmark: a field for each of its knobs and options."""
    knobs = (*benchmark.knobs, *benchmark.changes, *benchmark.options)
    own = [(knob.name, Any, field(default=knob.default)) for knob in knobs]
    name = f"{benchmark.name.title().replace('-', '')}Config"
    namespace = {"benchmark": benchmark, "__module__": __name__}
    return make_dataclass(name, own, bases=(PuzzleConfig,), kw_only=True, namespace=namespace)


for benchmark in benchmarks.BENCHMARKS:
    made = config_class(benchmark)
    globals()[made.__name__] = made  # where pickle looks for it
    register_dataset(dataset_name(benchmark), PuzzleDataset, made, partial(PuzzleCurriculum, made))
