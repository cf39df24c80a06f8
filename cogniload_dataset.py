"""Hugging Face datasets that are generated on the fly: `load_dataset("cogniload", d=5, N=100)`.

After `import cogniload_dataset`, plain `datasets.load_dataset("cogniload", ...)` works;
`from cogniload_dataset import load_dataset` needs no second import. `datasets` 4 and later run no
loading scripts and have no public way to add a builder by name, so the one function that turns a
name into a builder module is wrapped (`register`). With `datasets` 3 this file also works as a
loading script: `load_dataset("cogniload_dataset.py", trust_remote_code=True, d=5)`.
"""

import functools
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import datasets
import pyarrow as pa
from datasets.iterable_dataset import ExamplesIterable

from cogniload_gen.cogniload.generate import cogniload_source
from cogniload_gen.factor.generate import asked_set, factor_source
from cogniload_gen.factor.training import TRAINING_SETS
from cogniload_gen.grid import (
    MAX_PUZZLES,
    PAPER_D,
    PAPER_N,
    PAPER_RHO,
    SPLITS,
    Grid,
    check_choice,
    cogniload_grid,
)
from cogniload_gen.source import Source
from cogniload_gen.tokens import Tokenizer
from cogniload_gen.version import GENERATOR_VERSION, __version__

SHARD_PUZZLES = 2000
MAX_SHARDS = 1024
"""A large grid is cut into shards of so many puzzles or more, a small one into four."""

FIRST_BATCH = 64
"""Puzzles made at first, so that a stream starts at once."""


@dataclass
class PuzzleConfig(datasets.BuilderConfig):
    """What every benchmark's config has: the splits to make, and the checks of its parameters.

    `splits` tells which of "train", "validation" and "test" to make, each from its own draws.
    """

    splits: Sequence[str] = ("test",)

    endless = False
    """Whether the puzzles come without end, which takes `streaming=True`."""

    def __post_init__(self) -> None:
        """Raises ValueError naming the parameter, what it got and what it takes."""
        super().__post_init__()
        for name, only in (("name", "default"), ("data_dir", None), ("data_files", None)):
            if getattr(self, name) != only:
                raise ValueError(f"{name} is not for puzzles, got {getattr(self, name)!r}")
        if isinstance(self.splits, str):
            self.splits = (self.splits,)
        known = self.known_splits
        if not isinstance(self.splits, list | tuple) or not self.splits:
            raise ValueError(f"splits must list some of {', '.join(known)}, got {self.splits!r}")
        self.splits = tuple(check_choice("split", split, known) for split in self.splits)
        if len(set(self.splits)) < len(self.splits):
            raise ValueError(f"splits must list none twice, got {self.splits!r}")
        self.normalize()

    @property
    def known_splits(self) -> tuple[str, ...]:
        """The splits that `splits` may list."""
        return SPLITS

    def create_config_id(
        self, config_kwargs: dict, custom_features: datasets.Features | None = None
    ) -> str:
        """The name of the cache: the same for d=5 and d=[5]."""
        inherited = {field.name for field in fields(datasets.BuilderConfig)}
        mine = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in inherited
        }
        return super().create_config_id(mine, custom_features)


@dataclass
class CogniLoadConfig(PuzzleConfig):
    """Which puzzles; without arguments the paper's test grid (CogniLoad, section 2.2).

    d (1..12: difficulty), N (1..1,000,000: statements) and rho (above 0, up to 100: percentage of
    needles) are each a number or a sequence, whose product is the grid; every cell of it gets
    `num_puzzles` puzzles of `seed`, from `first_index` on. `trace` adds the statements and states.
    For the train split, num_puzzles=None is without end.
    """

    d: int | Sequence[int] = PAPER_D
    N: int | Sequence[int] = PAPER_N
    rho: float | Sequence[float] = PAPER_RHO
    num_puzzles: int | None = 100
    seed: int = 42
    trace: bool = False
    first_index: int = 0

    @property
    def endless(self) -> bool:
        """Whether the puzzles come without end, which takes `streaming=True`."""
        return self.num_puzzles is None

    def source(self, split: str, share: tuple[int, int] = (0, 1)) -> Source:
        """The puzzles of one of the splits, or a share of them; ValueError for a wrong parameter.

        An endless grid has the most puzzles that a grid can have, and is read beyond its end.
        """
        grid = cogniload_grid(
            self.d,
            self.N,
            self.rho,
            num_puzzles=MAX_PUZZLES if self.endless else self.num_puzzles,
            seed=self.seed,
            split=split,
            first_index=self.first_index,
        )
        return cogniload_source(grid.share(*share), trace=self.trace)

    def normalize(self) -> None:
        """Write equal parameters alike; refuse to stream what is to be evaluated without end."""
        if self.endless and self.splits != ("train",):
            raise ValueError(
                f"num_puzzles=None is for the train split alone, got {', '.join(self.splits)}"
            )
        knobs = zip(*self.source(self.splits[0]).grid.cells, strict=True)
        self.d, self.N, self.rho = (tuple(dict.fromkeys(knob)) for knob in knobs)


@dataclass
class FactorConfig(PuzzleConfig):
    """Which puzzles; without arguments the paper's symbolic ones without filler (FACTOR, A.2).

    `suite` is "symbolic", with N (1..1000: variables), or "realistic", with op (2..100: binary
    operations) and noise ("close" or "general"). `context` is the tokens of filler (symbolic) or
    of the prompt with its noise (realistic), 0 for none, as `tokenizer` counts them: a Hugging
    Face name or folder, a callable, or None for an estimate. N, op, context and noise are each a
    value or a sequence, whose product is the grid; every cell of it gets `num_puzzles` puzzles of
    `seed`, by default the paper's 50 (symbolic) or 1000 (realistic).

    The symbolic suite's splits also include the paper's training sets (Appendix D: "pretrain",
    "course_2", "course_4", "course_8", "course_16", "mixed" and "full"), which draw N and context.
    """

    suite: str = "symbolic"
    N: int | Sequence[int] | None = None
    op: int | Sequence[int] | None = None
    context: int | Sequence[int] = 0
    noise: str | Sequence[str] | None = None
    tokenizer: Tokenizer = None
    num_puzzles: int | None = None
    seed: int = 42

    @property
    def known_splits(self) -> tuple[str, ...]:
        """Those of every suite, and the symbolic suite's training sets."""
        return (*SPLITS, *TRAINING_SETS) if self.suite == "symbolic" else SPLITS

    def source(self, split: str) -> Source:
        """The puzzles of one of the splits; ValueError for a wrong parameter."""
        puzzles = asked_set(
            self.suite, N=self.N, op=self.op, context=self.context, noise=self.noise,
            num_puzzles=self.num_puzzles, seed=self.seed, split=split,
        )  # fmt: skip
        return factor_source(puzzles, tokenizer=self.tokenizer)

    def normalize(self) -> None:
        """Write equal parameters alike; a training set takes none that could differ."""
        made = [self.source(split).grid for split in self.splits]
        if all(isinstance(each, Grid) for each in made):
            cells = made[0].cells
            for name, values in zip(cells[0]._fields, zip(*cells, strict=True), strict=True):
                setattr(self, name, tuple(dict.fromkeys(values)))


CONFIGS = {"cogniload": CogniLoadConfig, "factor": FactorConfig}
"""What `load_dataset` takes by name."""


class Puzzles(datasets.ArrowBasedBuilder):
    """Makes the puzzles of a config. `datasets` takes one builder a file: this one serves all."""

    VERSION = datasets.Version(f"{GENERATOR_VERSION}.0.0")

    def __init__(self, *, dataset_name: str | None = None, **settings: object) -> None:
        # as a loading script of `datasets` 3, the dataset has the name of this file
        self.BUILDER_CONFIG_CLASS = CONFIGS.get(dataset_name, CogniLoadConfig)
        super().__init__(dataset_name=dataset_name, **settings)

    def _info(self) -> datasets.DatasetInfo:
        schema = self.config.source(self.config.splits[0]).schema
        return datasets.DatasetInfo(
            description="Puzzles that tell why a language model fails at long reasoning.",
            features=datasets.Features.from_arrow_schema(schema),
        )

    def _split_generators(self, manager: datasets.DownloadManager) -> list[datasets.SplitGenerator]:
        if self.config.endless:
            if not manager.is_streaming:
                raise ValueError("num_puzzles=None is without end: it takes streaming=True")
            return [datasets.SplitGenerator(split) for split in self.config.splits]
        return [
            datasets.SplitGenerator(split, {"split": split, "rows": shards(source.grid)})
            for split in self.config.splits
            for source in [self.config.source(split)]
        ]

    def _generate_tables(
        self, split: str, rows: list[tuple[int, int]]
    ) -> Iterator[tuple[str, pa.Table]]:
        for start, stop in joined(rows):
            for table in self.config.source(split).tables(start, stop, first_batch=FIRST_BATCH):
                yield str(table["id"][0]), table

    def _get_examples_iterable_for_split(
        self, split_generator: datasets.SplitGenerator
    ) -> ExamplesIterable:
        if self.config.endless:
            return EndlessExamples(self.config, split_generator.name)
        return super()._get_examples_iterable_for_split(split_generator)


class EndlessExamples(ExamplesIterable):
    """The puzzles of an endless config, or the share of a worker.

    Elsewhere a builder lists shards, and `datasets` reads one to its end before the next; that
    would never come to the second. Here a share of M takes every M-th index, in all cells, so that
    workers together are always at the beginning of one and the same stream. Private API of
    `datasets`, alike from 3.6 to 5.2: what is not told here is inherited, such as the state.
    """

    num_shards = 1024 * 315
    """Divisible by all usual numbers of processes, among which `datasets` then splits by shards."""

    def __init__(self, config: PuzzleConfig, split: str, number: int = 0, count: int = 1) -> None:
        super().__init__(None, {})
        self.config, self.split, self.number, self.count = config, split, number, count

    def __iter__(self) -> Iterator[tuple[str, dict]]:
        """The rows from where the state says on, without making those before again."""
        state = self._state_dict or {"shard_example_idx": 0}
        source = self.config.source(self.split, (self.number, self.count))
        start = state["shard_example_idx"]
        for table in source.tables(start, sys.maxsize, first_batch=FIRST_BATCH):
            for batch in table.to_batches(max_chunksize=FIRST_BATCH):
                for row in batch.to_pylist():
                    state["shard_example_idx"] += 1
                    yield row["id"], row

    def shard_data_sources(
        self, num_shards: int, index: int, contiguous: bool = True
    ) -> ExamplesIterable:
        """The share of one of `num_shards` workers."""
        number, count = self.number + index * self.count, self.count * num_shards
        return EndlessExamples(self.config, self.split, number, count)

    def shuffle_data_sources(self, generator: object) -> ExamplesIterable:
        """The same: puzzles are random as they come."""
        return self

    def reshard_data_sources(self) -> ExamplesIterable:
        """The same: any number of workers can share it as it is."""
        return self


def shards(grid: Grid) -> list[tuple[int, int]]:
    """Ranges of rows that processes and streams can share, in order."""
    count = min(len(grid), max(4, len(grid) // SHARD_PUZZLES), MAX_SHARDS)
    bounds = [len(grid) * i // count for i in range(count + 1)]
    return list(pairwise(bounds))


def joined(ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The ranges, with neighbours joined into one."""
    start, stop = ranges[0]
    for next_start, next_stop in ranges[1:]:
        if next_start != stop:
            yield start, stop
            start = next_start
        stop = next_stop
    yield start, stop


def register() -> None:
    """Make `datasets.load_dataset` know the names in CONFIGS.

    Wraps `datasets.load.dataset_module_factory`, which is private, of `datasets` 3.6 and later.
    (`_PACKAGED_DATASETS_MODULES` would be no way: its names look for data files in the working
    directory.) The generator's version is in the module's hash, and so in the cache's path.
    """
    factory = getattr(datasets.load, "dataset_module_factory", None)
    if factory is None or not hasattr(datasets.load, "DatasetModule"):
        raise ImportError(
            f"cogniload_dataset needs datasets 3.6 to 5.2 or one that is alike inside, "
            f"got {datasets.__version__}"
        )
    if getattr(factory, "knows_cogniload", False):
        return

    @functools.wraps(factory)
    def dataset_module_factory(path: str, *args: object, **kwargs: object) -> object:
        if path not in CONFIGS:
            return factory(path, *args, **kwargs)
        return datasets.load.DatasetModule(
            Puzzles.__module__,
            f"{__version__}-generator-{GENERATOR_VERSION}",
            {"dataset_name": path},
        )

    dataset_module_factory.knows_cogniload = True
    datasets.load.dataset_module_factory = dataset_module_factory


def load_dataset(path: str, *args: object, split: str | None = None, **kwargs: object) -> object:
    """`datasets.load_dataset`, which for our names makes the split that is asked for.

    `load_dataset("cogniload", split="train", d=5)` is short for
    `datasets.load_dataset("cogniload", split="train", splits=["train"], d=5)`.
    """
    if path in CONFIGS and split is not None:
        known = (*SPLITS, *TRAINING_SETS)
        named = [name for name in known if name in re.findall(r"\w+", str(split))]
        kwargs.setdefault("splits", named or [str(split)])
    return datasets.load_dataset(path, *args, split=split, **kwargs)


register()
