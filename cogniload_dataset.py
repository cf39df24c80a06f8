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
from difflib import get_close_matches
from inspect import cleandoc
from itertools import pairwise
from typing import Any

import datasets
import pyarrow as pa
from datasets.iterable_dataset import ExamplesIterable

from cogniload_gen import __version__, benchmarks
from cogniload_gen.checks import check_choice, check_choices
from cogniload_gen.grid import MAX_PUZZLES

SHARD_PUZZLES = 4000
MAX_SHARDS = 1024
"""At least SHARD_PUZZLES puzzles in each shard; a small grid is cut into four."""

FIRST_BATCH = 16
"""Puzzles made at first, so that a stream starts at once."""


class PuzzleConfig(datasets.BuilderConfig):
    """Which puzzles of a dataset: the grid of each of `splits`, from the other parameters.

    `parameters` are kept as they were given. An `endless` grid, which takes `streaming=True`, has
    the most puzzles that a grid can have, and is read beyond its end.
    """

    def __init__(
        self,
        dataset: str,
        *,
        name: str = "default",
        data_dir: str | None = None,
        data_files: Any = None,
        splits: Sequence[str] = ("test",),
        **parameters: Any,
    ) -> None:
        """Raise ValueError naming the parameter that is wrong, what it got and what it takes."""
        for setting, value in (("name", name), ("data_dir", data_dir), ("data_files", data_files)):
            if value not in (None, "default"):
                raise ValueError(f"{setting} is not for puzzles, got {value!r:.99}")
        self.family, self.parameters = benchmarks.datasets()[dataset], parameters
        self.benchmark, own = self.family.choose(parameters)
        super().__init__(version=datasets.Version(f"{self.benchmark.version}.0.0"))
        self.splits = check_choices("splits", splits, self.benchmark.splits)
        unlimited = "num_puzzles" in parameters and parameters["num_puzzles"] is None
        self.endless = self.benchmark.endless and unlimited
        if self.endless:
            own["num_puzzles"] = MAX_PUZZLES
            if self.splits != ("train",):
                got = ", ".join(self.splits)
                raise ValueError(f"num_puzzles=None is for the train split alone, got {got}")
        self.grids = {split: self.benchmark.select(**own, split=split) for split in self.splits}

    def create_config_id(self, config_kwargs: dict[str, Any], *features: Any, **named: Any) -> str:
        """Return the name of the cache: the same for d=5 and d=[5]."""
        return super().create_config_id({"grids": self.grids}, *features, **named)


class PuzzleBuilder(datasets.ArrowBasedBuilder):
    """Builds a config's puzzles; `datasets` takes one builder a file, so this one serves all."""

    def __init__(self, *, dataset_name: str | None = None, **settings: Any) -> None:
        # as a loading script of `datasets` 3, the dataset has the name of this file
        known = benchmarks.datasets()
        name = dataset_name if dataset_name in known else next(iter(known))
        self.BUILDER_CONFIG_CLASS = functools.partial(PuzzleConfig, name)
        super().__init__(dataset_name=dataset_name, **settings)

    def as_dataset(self, split: Any = None, **settings: Any) -> Any:
        """Return the dataset of a split, also one that `splits` does not list."""
        builder = self._with_split(split)
        if builder is not self:
            builder.download_and_prepare()
        return super(PuzzleBuilder, builder).as_dataset(split=split, **settings)

    def as_streaming_dataset(self, split: str | None = None, **settings: Any) -> Any:
        """Return the stream of a split, also one that `splits` does not list."""
        builder = self._with_split(split)
        return super(PuzzleBuilder, builder).as_streaming_dataset(split=split, **settings)

    def _with_split(self, split: Any) -> "PuzzleBuilder":
        """Return the builder whose `splits` lists all that a split expression names."""
        named = _named_in(split, self.config.family.splits)
        if set(named) <= set(self.config.splits):
            return self
        values = self.config.parameters | {"splits": named, "dataset_name": self.dataset_name}
        return PuzzleBuilder(cache_dir=self._cache_dir_root, hash=self.hash, **values)

    def _info(self) -> datasets.DatasetInfo:
        schema = self.config.benchmark.source(next(iter(self.config.grids.values()))).schema
        about = "Puzzles that tell why a language model fails at long reasoning."
        features = datasets.Features.from_arrow_schema(schema)
        return datasets.DatasetInfo(description=about, features=features)

    def _split_generators(self, manager: datasets.DownloadManager) -> list[datasets.SplitGenerator]:
        if self.config.endless and not manager.is_streaming:
            raise ValueError("num_puzzles=None is without end: it takes streaming=True")
        generators = []
        for split, grid in self.config.grids.items():
            total = len(grid)  # cut into shards, which processes and streams share
            count = min(total, max(4, total // SHARD_PUZZLES), MAX_SHARDS)
            rows = list(pairwise(total * i // count for i in range(count + 1)))
            generators.append(datasets.SplitGenerator(split, {"split": split, "rows": rows}))
        return generators

    def _generate_tables(
        self, split: str, rows: list[tuple[int, int]]
    ) -> Iterator[tuple[str, pa.Table]]:
        source = self.config.benchmark.source(self.config.grids[split])
        for start, stop in rows:
            first = None if start else FIRST_BATCH  # a stream waits for its first shard alone
            for table in source.tables(start, stop, first_batch=first):
                yield str(table["id"][0]), table

    def _get_examples_iterable_for_split(self, split_generator: Any) -> ExamplesIterable:
        if self.config.endless:
            return EndlessExamples(self.config)
        return super()._get_examples_iterable_for_split(split_generator)


class EndlessExamples(ExamplesIterable):
    """The puzzles of an endless config, or the share of a worker.

    A usual builder lists shards, and `datasets` reads one to its end before the next: an endless
    shard would starve the others. Here each of M shares takes every M-th index, in all cells, so
    the workers together always read the beginning of the same stream. This uses private API of
    `datasets`, which is the same from 3.6 to 5.2.
    """

    num_shards = 1024 * 315
    """Divisible by all usual numbers of processes, among which `datasets` then splits by shards."""

    def __init__(self, config: PuzzleConfig, number: int = 0, count: int = 1) -> None:
        super().__init__(None, {})
        self.config, self.number, self.count = config, number, count

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the rows from where the state says on, without making those before again."""
        state = self._state_dict or {"shard_example_idx": 0}
        (grid,) = self.config.grids.values()
        source = self.config.benchmark.source(grid.share(self.number, self.count))
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
        return EndlessExamples(self.config, number, count)

    def shuffle_data_sources(self, generator: Any) -> ExamplesIterable:
        """Return the same: puzzles are random as they come."""
        return self

    def reshard_data_sources(self) -> ExamplesIterable:
        """Return the same: any number of workers can share it as it is."""
        return self


def register() -> None:
    """Make `datasets.load_dataset` know the names of the benchmarks' datasets.

    Wraps `datasets.load.dataset_module_factory`, a private function of `datasets` (3.6 and later).
    (`_PACKAGED_DATASETS_MODULES` does not help: its names look for data files in the working
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
        family = benchmarks.datasets().get(path)
        if family is None:
            return factory(path, *args, **kwargs)
        versions = ".".join(str(benchmark.version) for benchmark in family.benchmarks)
        release = f"{__version__}-generator-{versions}"
        settings = {"dataset_name": path}
        return datasets.load.DatasetModule(PuzzleBuilder.__module__, release, settings)

    vars(dataset_module_factory)["knows_cogniload"] = True
    datasets.load.dataset_module_factory = dataset_module_factory


def load_dataset(
    path: str, name: str | None = None, *, split: Any = None, **parameters: Any
) -> Any:
    """Return puzzles as `datasets.load_dataset` does: a Dataset, or a DatasetDict without `split`.

    It makes just the chosen split: `load_dataset("cogniload", split="train", d=5)` is short for
    `datasets.load_dataset("cogniload", split="train", splits=["train"], d=5)`. What is not a
    puzzle's parameter goes to `datasets`, such as `streaming` and `num_proc`. Other names go to
    `datasets.load_dataset`.

    Examples:
        >>> load_dataset("cogniload", split="test", d=1, N=5, rho=50, num_puzzles=3).num_rows
        3
    """
    known = benchmarks.datasets()
    family = known.get(path)
    if family and (named := _named_in(split, family.splits)):
        parameters.setdefault("splits", named)
    try:
        return datasets.load_dataset(path, name, split=split, **parameters)
    except (ConnectionError, FileNotFoundError) as error:  # whoever meant another one reads why
        if near := get_close_matches(path, known, 1, 0.8):
            error.add_note(f"Puzzles are made by the name {near[0]!r}.")
        raise


def _named_in(split: Any, splits: Sequence[str]) -> list[str]:
    """Return those of some splits that a split expression names, such as "train[:10]".

    None, or "all", names none; ValueError for what names none otherwise.
    """
    named = [name for name in splits if name in re.findall(r"\w+", str(split))]
    if not named and split is not None and str(split) != "all":
        check_choice("split", str(split), splits)
    return named


def describe(dataset: str) -> str:
    """Return what the parameters of a dataset mean, a line for each."""
    family = benchmarks.datasets()[dataset]
    lines = [f'load_dataset("{dataset}", ...) takes:', ""]
    for benchmark in family.benchmarks:
        if benchmark.suite:
            lines.append(f'suite="{benchmark.suite}":')
        lines += [f"    {knob.name}: {knob.describe()}" for knob in benchmark.parameters]
    return "\n".join([*lines, f"    splits: some of {', '.join(family.splits)} (default test)"])


parts = [cleandoc(str(load_dataset.__doc__)), *map(describe, benchmarks.datasets())]
load_dataset.__doc__ = "\n\n".join(parts)
register()
