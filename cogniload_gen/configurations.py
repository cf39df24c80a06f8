"""A grid as it is published: its name and parameters in a card, and the rows that they make."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from reprlib import repr as brief
from typing import Any

import pyarrow as pa

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.checks import Given, check_choices, check_integer, check_known
from cogniload_gen.draws import address_key
from cogniload_gen.grid import SPLITS, Grid, Source, short

LONGEST_NAME = 120
"""Characters of a configuration's name, which is a folder's too."""


@dataclass(frozen=True)
class Configuration:
    """A configuration of a published repository: one grid with its parameters, in some splits.

    `parameters` are the keyword arguments with which `load_dataset` makes the same rows. It is made
    by `configuration_of` and `read_entry`, which check them.
    """

    benchmark: Benchmark
    generator_version: int
    parameters: dict[str, Given]
    splits: tuple[str, ...]

    @property
    def name(self) -> str:
        """The configuration's name, which tells everything that decides its rows but the split."""
        values = self.parameters.items()
        used = {name: value for name, value in values if value is not None and value is not False}
        parts = [name + in_name(value) for name, value in used.items()]
        prefix = f"{self.benchmark.name}-v{self.generator_version}"
        name = re.sub(r"[^\w.-]", "_", "-".join([prefix, *parts]))
        if len(name) <= LONGEST_NAME:
            return name
        return f"{prefix}-{address_key(*values):016x}"

    @property
    def options(self) -> dict[str, Given]:
        """The parameters that are not part of a puzzle's address."""
        return {option.name: self.parameters[option.name] for option in self.benchmark.options}

    def selection(self, split: str) -> Grid:
        """Return the grid of a split; ValueError for a wrong parameter."""
        others = {name: self.parameters[name] for name in self.parameters.keys() - self.options}
        return self.benchmark.select(**others, split=split)

    def source(self, split: str) -> Source:
        """Return the puzzles of a split, which loads its tokenizer; ValueError as `selection`."""
        return self.benchmark.puzzles(**self.parameters, split=split)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return schema_of(self.benchmark, self.options)

    def entry(self) -> dict[str, Given]:
        """Return what a card's metadata holds of it; `read_entry` reads it back."""
        return {
            "config_name": self.name,
            "benchmark": self.benchmark.name,
            "generator_version": self.generator_version,
            "parameters": self.parameters,
            "splits": list(self.splits),
        }


def splits_of(configurations: Iterable[Configuration]) -> list[tuple[Configuration, str]]:
    """Return all splits of configurations, each with its configuration."""
    return [(puzzles, split) for puzzles in configurations for split in puzzles.splits]


def schema_of(benchmark: Benchmark, options: Mapping[str, Given]) -> pa.Schema:
    """Return the columns of a benchmark's puzzles with some options; no tokenizer changes them."""
    flags = {option.name for option in benchmark.options if option.kind == "flag"}
    on = {name: value for name, value in options.items() if name in flags}
    return benchmark.puzzles(**on).schema


def in_name(value: Given) -> str:
    """Return a parameter's value as a name holds it, such as 5_12.5 for [5.0, 12.5]."""
    values = value if isinstance(value, list) else [value]
    return "" if value is True else "_".join(map(short, values))


def configuration_of(grid: Grid, **options: Given) -> Configuration:
    """Return the configuration that publishes a grid, with a benchmark's options, such as `trace`.

    ValueError for what is no grid, for an unknown or wrong option, and for a grid whose first index
    is not 0.
    """
    if type(grid) is not Grid:
        allowed = "a grid (of the splits train, validation or test) or its data set"
        raise ValueError(f"what is published must be {allowed}, got {brief(grid)}")
    benchmark = benchmarks.named(grid.benchmark)
    defaults = {option.name: option.default for option in benchmark.options}
    check_known(options, tuple(defaults), benchmark.name)
    for name, value in options.items():
        if not isinstance(value, bool | str | None):
            raise ValueError(f"{name} of what is published must have a name, got {brief(value)}")
    parameters = {
        **knobs_of_product(benchmark, zip(*grid.cells, strict=True)),
        "num_puzzles": grid.num_puzzles,
        "seed": grid.seed,
        **{
            knob.name: value
            for knob in benchmark.changes
            if (value := getattr(grid, knob.name)) != knob.default
        },
        **(defaults | options),
    }
    made = Configuration(benchmark, benchmark.version, parameters, (grid.split,))
    if made.selection(grid.split) != grid:
        allowed = "the product of its parameters' values, from index 0 on"
        raise ValueError(f"a published grid must be {allowed}")
    return made


def knobs_of_product(benchmark: Benchmark, columns: Iterable[Any]) -> dict[str, list[Given]]:
    """Return the values of the knobs whose product a grid is, from the knobs' columns.

    A value that a knob does not take stands for the default of a knob without effect, as the noise
    "none" of FACTOR's cells without context.
    """
    values = {}
    for knob, column in zip(benchmark.knobs, columns, strict=True):
        different = list(dict.fromkeys(column))
        if knob.kind == "choice":
            different = [value for value in different if value in knob.choices] or [knob.default]
        values[knob.name] = different
    return values


def read_entry(entry: Given) -> Configuration:
    """Return the configuration that an entry of a card's metadata holds; ValueError for another.

    The entry may come from anywhere: what it says is checked, and nothing else of it is used.
    """
    try:
        benchmark, version = benchmarks.named(entry["benchmark"]), entry["generator_version"]
        check_integer("generator_version", version, low=1, high=10**6)
        splits = check_choices("splits", entry["splits"], SPLITS)
        read = Configuration(benchmark, version, entry["parameters"], splits)
        by_split = [configuration_of(read.selection(split), **read.options) for split in splits]
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"no entry of puzzles is {brief(entry)}: {error!r}") from None
    return replace(read, parameters=by_split[0].parameters)


def merge(published: list[Configuration], new: Configuration) -> list[Configuration]:
    """Return a repository's configurations with `new`: of each name one, with all of its splits.

    ValueError if the name stands for other parameters there.
    """
    by_name = {puzzles.name: puzzles for puzzles in published}
    before = by_name.get(new.name, new)
    if before.parameters != new.parameters:
        both = f"{brief(before.parameters)}; got {brief(new.parameters)}"
        raise ValueError(f"{new.name} is published with other parameters, {both}")
    splits = tuple(split for split in SPLITS if split in before.splits + new.splits)
    by_name[new.name] = replace(new, splits=splits)
    return list(by_name.values())
