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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from difflib import get_close_matches
from inspect import cleandoc, signature
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import datasets
import pyarrow as pa
from datasets.iterable_dataset import ExamplesIterable

from cogniload_gen import __version__, benchmarks
from cogniload_gen.benchmark import Dataset
from cogniload_gen.checks import check_choice, check_choices, check_known
from cogniload_gen.grid import MAX_PUZZLES, Grid, Source

SHARD_PUZZLES = 2000
MAX_SHARDS = 1024
"""At least SHARD_PUZZLES puzzles in each shard; a small grid is cut into four."""

FIRST_BATCH = 64
"""Puzzles made at first, so that a stream starts at once."""


@dataclass
class PuzzleConfig(datasets.BuilderConfig):
    """Which puzzles of a dataset; `config_class` adds a field for each of its parameters.

    `splits` tells which splits to make, each from its own draws.
    """

    dataset: ClassVar[str]
    splits: Sequence[str] = ("test",)

    def __post_init__(self) -> None:
        """Write equal parameters alike.

        Raises ValueError naming the parameter that is wrong, what it got and what it takes.
        """
        super().__post_init__()
        for name, only in (("name", "default"), ("data_dir", None), ("data_files", None)):
            if getattr(self, name) != only:
                raise ValueError(f"{name} is not for puzzles, got {getattr(self, name)!r:.99}")
        self.benchmark, _ = self.family.choose(self.parameters)
        self.version = datasets.Version(f"{self.benchmark.version}.0.0")
        self.splits = check_choices("splits", self.splits, self.benchmark.splits)
        if self.endless and self.splits != ("train",):
            splits = ", ".join(self.splits)
            raise ValueError(f"num_puzzles=None is for the train split alone, got {splits}")
        grids = [self.grid(split) for split in self.splits]
        if all(type(grid) is Grid for grid in grids):  # a training set draws its knobs
            checked = self.benchmark.parameters_of(grids[0])
            for knob in self.benchmark.knobs:
                setattr(self, knob.name, checked[knob.name])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the values alone: the class is made again."""
        values = {parameter.name: getattr(self, parameter.name) for parameter in fields(self)}
        return restore_config, (self.dataset, values)

    @property
    def family(self) -> Dataset:
        """The benchmarks of the dataset."""
        return benchmarks.datasets()[self.dataset]

    @property
    def parameters(self) -> dict[str, Any]:
        """The values of the dataset's parameters, by name."""
        return {name: getattr(self, name) for name in self.family.defaults}

    @property
    def endless(self) -> bool:
        """Whether the puzzles come without end, which takes `streaming=True`."""
        return self.benchmark.endless and self.parameters["num_puzzles"] is None

    def grid(self, split: str) -> Grid:
        """Return the grid of a split; ValueError for a wrong parameter.

        An endless grid has the most puzzles that a grid can have, and is read beyond its end.
        """
        endless = {"num_puzzles": MAX_PUZZLES} if self.endless else {}
        return self.family.select(**self.parameters | endless | {"split": split})

    def source(self, split: str, share: tuple[int, int] = (0, 1)) -> Source:
        """Return the puzzles of a split, or one of several shares: its number and their count."""
        return self.benchmark.source(self.grid(split).share(*share))

    def create_config_id(self, config_kwargs: dict[str, Any], *features: Any, **named: Any) -> str:
        """Return the name of the cache: the same for d=5 and d=[5]."""
        mine = self.parameters | {"splits": self.splits}
        return super().create_config_id(mine, *features, **named)


@functools.cache
def config_class(dataset: str) -> type[PuzzleConfig]:
    """Return the config of a dataset, with its benchmarks' parameters as fields."""
    defaults = benchmarks.datasets()[dataset].defaults.items()
    own = [(name, Any, field(default=default)) for name, default in defaults]
    namespace = {"dataset": dataset, "__doc__": describe(dataset)}
    return make_dataclass("PuzzleConfig", own, bases=(PuzzleConfig,), namespace=namespace)


def restore_config(dataset: str, values: Mapping[str, Any]) -> PuzzleConfig:
    """Return a config that was pickled."""
    return config_class(dataset)(**values)


def describe(dataset: str) -> str:
    """Return what the parameters of a dataset mean, a line for each."""
    family = benchmarks.datasets()[dataset]
    lines = [f'load_dataset("{dataset}", ...) takes:', ""]
    for benchmark in family.benchmarks:
        if benchmark.suite:
            lines.append(f'suite="{benchmark.suite}":')
        lines += [f"    {knob.name}: {knob.describe()}" for knob in benchmark.parameters]
    return "\n".join([*lines, f"    splits: some of {', '.join(family.splits)} (default test)"])


class PuzzleBuilder(datasets.ArrowBasedBuilder):
    """A maker of a config's puzzles; `datasets` takes one builder a file, so this serves all."""

    def __init__(self, *, dataset_name: str | None = None, **settings: Any) -> None:
        # as a loading script of `datasets` 3, the dataset has the name of this file
        known = benchmarks.datasets()
        name = dataset_name if dataset_name in known else next(iter(known))
        of_builder = signature(datasets.DatasetBuilder.__init__).parameters
        of_config = [setting for setting in settings if setting not in of_builder]
        check_known(of_config, (*known[name].defaults, "splits", "version", "description"), name)
        self.BUILDER_CONFIG_CLASS = config_class(name)
        super().__init__(dataset_name=dataset_name, **settings)

    def as_dataset(self, split: Any = None, **settings: Any) -> Any:
        """Return the dataset of a split, also one that `splits` does not list."""
        builder = self.with_split(split)
        if builder is self:
            return super().as_dataset(split=split, **settings)
        builder.download_and_prepare()
        return builder.as_dataset(split=split, **settings)

    def as_streaming_dataset(self, split: str | None = None, **settings: Any) -> Any:
        """Return the stream of a split, also one that `splits` does not list.

        ValueError for a part of a split, which no stream has.
        """
        known = self.config.family.splits
        if split is not None and str(split) not in known:
            allowed = f"one of {', '.join(known)}, got {str(split)!r}"
            hint = "take(10) and skip(10) give parts of it, and no split gives all"
            raise ValueError(f"split of a stream must be {allowed}: {hint}")
        builder = self.with_split(split)
        if builder is self:
            return super().as_streaming_dataset(split=split, **settings)
        return builder.as_streaming_dataset(split=split, **settings)

    def with_split(self, split: Any) -> "PuzzleBuilder":
        """Return the builder whose `splits` lists all that a split expression names."""
        splits = self.config.family.splits
        named = named_in(split, splits)
        if not named and split is not None and str(split) != "all":
            check_choice("split", str(split), splits)
        if set(named) <= set(self.config.splits):
            return self
        values = self.config.parameters | {"splits": named, "dataset_name": self.dataset_name}
        return PuzzleBuilder(cache_dir=self._cache_dir_root, hash=self.hash, **values)

    def _info(self) -> datasets.DatasetInfo:
        schema = self.config.source(self.config.splits[0]).schema
        about = "Puzzles that tell why a language model fails at long reasoning."
        features = datasets.Features.from_arrow_schema(schema)
        return datasets.DatasetInfo(description=about, features=features)

    def _split_generators(self, manager: datasets.DownloadManager) -> list[datasets.SplitGenerator]:
        if self.config.endless:
            if not manager.is_streaming:
                raise ValueError("num_puzzles=None is without end: it takes streaming=True")
            return [datasets.SplitGenerator(split) for split in self.config.splits]
        generators = []
        for split in self.config.splits:  # a split's shards are what processes and streams share
            total = len(self.config.grid(split))
            count = min(total, max(4, total // SHARD_PUZZLES), MAX_SHARDS)
            rows = list(pairwise(total * i // count for i in range(count + 1)))
            generators.append(datasets.SplitGenerator(split, {"split": split, "rows": rows}))
        return generators

    def _generate_tables(
        self, split: str, rows: list[tuple[int, int]]
    ) -> Iterator[tuple[str, pa.Table]]:
        source = self.config.source(split)
        for start, stop in rows:
            for table in source.tables(start, stop, first_batch=FIRST_BATCH):
                yield str(table["id"][0]), table

    def _get_examples_iterable_for_split(self, split_generator: Any) -> ExamplesIterable:
        if self.config.endless:
            return EndlessExamples(self.config, split_generator.name)
        return super()._get_examples_iterable_for_split(split_generator)


class EndlessExamples(ExamplesIterable):
    """The puzzles of an endless config, or the share of a worker.

    Elsewhere a builder lists shards, and `datasets` reads one to its end before the next: an
    endless shard would starve the others. Here each of M shares takes every M-th index, in all
    cells, so workers together are always at the beginning of one and the same stream. This is
    private API of `datasets`, alike from 3.6 to 5.2; what is not defined here is inherited, such as
    the state.
    """

    num_shards = 1024 * 315
    """Divisible by all usual numbers of processes, among which `datasets` then splits by shards."""

    def __init__(self, config: PuzzleConfig, split: str, number: int = 0, count: int = 1) -> None:
        super().__init__(None, {})
        self.config, self.split, self.number, self.count = config, split, number, count

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the rows from where the state says on, without making those before again."""
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
        """Return the share of one of `num_shards` workers."""
        number, count = self.number + index * self.count, self.count * num_shards
        return EndlessExamples(self.config, self.split, number, count)

    def shuffle_data_sources(self, generator: Any) -> ExamplesIterable:
        """Return the same: puzzles are random as they come."""
        return self

    def reshard_data_sources(self) -> ExamplesIterable:
        """Return the same: any number of workers can share it as it is."""
        return self


def register() -> None:
    """Make `datasets.load_dataset` know the names of the benchmarks' datasets.

    Wraps `datasets.load.dataset_module_factory`, which is private, of `datasets` 3.6 and later.
    (`_PACKAGED_DATASETS_MODULES` would be no way: its names look for data files in the working
    directory.) The generators' versions are in the module's hash, and so in the cache's path.
    """
    factory = getattr(datasets.load, "dataset_module_factory", None)
    if factory is None or not hasattr(datasets.load, "DatasetModule"):
        needed = "datasets 3.6 to 5.2 or one that is alike inside"
        raise ImportError(f"cogniload_dataset needs {needed}, got {datasets.__version__}")
    if getattr(factory, "knows_cogniload", False):
        return

    @functools.wraps(factory)
    def dataset_module_factory(path: str, *args: Any, **kwargs: Any) -> Any:
        refuse_misspelt(path, likeness=1.0)
        family = benchmarks.datasets().get(path)
        if family is None:
            return factory(path, *args, **kwargs)
        versions = ".".join(str(benchmark.version) for benchmark in family.benchmarks)
        release = f"{__version__}-generator-{versions}"
        settings = {"dataset_name": path}
        return datasets.load.DatasetModule(PuzzleBuilder.__module__, release, settings)

    vars(dataset_module_factory)["knows_cogniload"] = True
    datasets.load.dataset_module_factory = dataset_module_factory


def named_in(split: Any, splits: Sequence[str]) -> list[str]:
    """Return those of some splits that a split expression names, such as "train[:10]"."""
    return [name for name in splits if name in re.findall(r"\w+", str(split))]


def load_dataset(
    path: str, name: str | None = None, *, split: Any = None, **parameters: Any
) -> Any:
    """Return puzzles as `datasets.load_dataset` does: a Dataset, or a DatasetDict without `split`.

    It makes just the chosen split: `load_dataset("cogniload", split="train", d=5)` is
    short for `datasets.load_dataset("cogniload", split="train", splits=["train"], d=5)`. What is
    not a puzzle's parameter goes to `datasets`, such as `streaming` and `num_proc`. For other names
    than ours, it is `datasets.load_dataset`. ValueError for one that is nearly ours.
    """
    known = benchmarks.datasets()
    refuse_misspelt(path)
    if path in known and split is not None and str(split) != "all":
        splits = known[path].splits
        named = named_in(split, splits) or check_choices("split", str(split), splits)
        parameters.setdefault("splits", named)
    return datasets.load_dataset(path, name, split=split, **parameters)


def refuse_misspelt(path: str, likeness: float = 0.8) -> None:
    """Raise ValueError for a name that is nearly a dataset's, or a suite's, and is no path.

    `likeness` is difflib's ratio; with 1.0, a suite's very name alone is refused.
    """
    known = benchmarks.datasets()
    if path in known or Path(path).exists():
        return
    meant = {name: repr(name) for name in known}
    for name, family in known.items():
        meant |= {f"{name}_{suite}": f"{name!r} with {suite=}" for suite in family.suites}
    near = get_close_matches(path.replace("-", "_"), meant, 1, likeness)
    if near and "/" not in path:
        raise ValueError(f"there is no dataset {path!r}: did you mean {meant[near[0]]}?")


parts = [cleandoc(str(load_dataset.__doc__)), *map(describe, benchmarks.datasets())]
load_dataset.__doc__ = "\n\n".join(parts)
register()
