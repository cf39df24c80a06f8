"""A grid as it is published: its name and parameters in a card, and the rows that they make."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from reprlib import repr

import pyarrow as pa

from cogniload_gen.cogniload.generate import cogniload_source
from cogniload_gen.draws import address_key
from cogniload_gen.factor.generate import factor_source
from cogniload_gen.grid import (
    SPLITS,
    Grid,
    check_choice,
    check_integer,
    cogniload_grid,
    factor_grid,
)
from cogniload_gen.source import Source
from cogniload_gen.version import GENERATOR_VERSION

LONGEST_NAME = 120
"""Characters of a configuration's name, which is a folder's too."""


@dataclass(frozen=True)
class Benchmark:
    """What publishing asks of a benchmark.

    `knobs` are the parameters whose product is the grid, and `options` those that are not part of a
    puzzle's address, with their defaults. `grid` makes the checked grid of knobs, `num_puzzles`,
    `seed` and `split`, and `source` its puzzles, with the options. `load` holds what `load_dataset`
    takes besides: the name and, if there is one, the suite.
    """

    load: dict[str, str]
    knobs: tuple[str, ...]
    options: dict[str, object]
    grid: Callable[..., Grid]
    source: Callable[..., Source]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all parameters but the split, in the order in which they are told."""
        return *self.knobs, "num_puzzles", "seed", *self.options


FACTOR_KNOBS = {"symbolic": ("N", "context"), "realistic": ("op", "context", "noise")}

BENCHMARKS = {
    "cogniload": Benchmark(
        load={"path": "cogniload"},
        knobs=("d", "N", "rho"),
        options={"trace": False},
        grid=cogniload_grid,
        source=cogniload_source,
    ),
    **{
        f"factor-{suite}": Benchmark(
            load={"path": "factor", "suite": suite},
            knobs=knobs,
            options={"tokenizer": None},
            grid=partial(factor_grid, suite),
            source=factor_source,
        )
        for suite, knobs in FACTOR_KNOBS.items()
    },
}
"""By the name that their cells and the ids of their puzzles have."""


@dataclass(frozen=True)
class PuzzleSet:
    """A configuration of a published repository: one grid with its parameters, in some splits.

    `parameters` are the keyword arguments with which `load_dataset` makes the same rows. Made by
    `puzzle_set` and `read_entry`, which check them.
    """

    benchmark: str
    generator_version: int
    parameters: dict[str, object]
    splits: tuple[str, ...]

    @property
    def name(self) -> str:
        """The configuration's name, which tells everything that decides its rows but the split."""
        values = self.parameters.items()
        told = [name + written(value) for name, value in values if not is_off(value)]
        prefix = f"{self.benchmark}-v{self.generator_version}"
        name = re.sub(r"[^\w.-]", "_", "-".join([prefix, *told]))
        if len(name) <= LONGEST_NAME:
            return name
        return f"{prefix}-{address_key(*values):016x}"

    @property
    def options(self) -> dict[str, object]:
        """The parameters that are not part of a puzzle's address."""
        return {name: self.parameters[name] for name in BENCHMARKS[self.benchmark].options}

    def source(self, split: str) -> Source:
        """The puzzles of a split; ValueError for a wrong parameter."""
        others = {name: self.parameters[name] for name in self.parameters.keys() - self.options}
        benchmark = BENCHMARKS[self.benchmark]
        return benchmark.source(benchmark.grid(**others, split=split), **self.options)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return self.source(self.splits[0]).schema

    def entry(self) -> dict[str, object]:
        """What a card's metadata holds of it; `read_entry` reads it back."""
        return {
            "config_name": self.name,
            "benchmark": self.benchmark,
            "generator_version": self.generator_version,
            "parameters": self.parameters,
            "splits": list(self.splits),
        }


def is_off(option: object) -> bool:
    """Whether an option is not used: False or None, but not the number 0."""
    return option is None or option is False


def written(value: object) -> str:
    """A parameter's value as a name holds it, such as 5_12.5 for [5.0, 12.5]."""
    values = value if isinstance(value, list) else [value]
    return "" if value is True else "_".join(str(each).removesuffix(".0") for each in values)


def puzzle_set(grid: Grid, **options: object) -> PuzzleSet:
    """The set that a grid is, with a benchmark's options, such as `trace`.

    ValueError for what is no grid, for an unknown or wrong option, and for a grid whose first index
    is not 0.
    """
    if not isinstance(grid, Grid):
        raise ValueError(
            "what is published must be a grid (of the splits train, validation or test) or its "
            f"data set, got {repr(grid)}"
        )
    name = grid.cells[0].benchmark
    benchmark = BENCHMARKS[name]
    for option, value in options.items():
        if option not in benchmark.options:
            raise ValueError(f"{name} takes {', '.join(benchmark.options)}; got {option!r}")
        if not isinstance(value, bool | str | None):
            raise ValueError(f"{option} of what is published must have a name, got {repr(value)}")
    check_integer("first_index of a published grid", grid.first_index, low=0, high=0)
    parameters = {
        **product_knobs({k: [getattr(cell, k) for cell in grid.cells] for k in benchmark.knobs}),
        "num_puzzles": grid.num_puzzles,
        "seed": grid.seed,
        **(benchmark.options | options),
    }
    made = PuzzleSet(name, GENERATOR_VERSION, parameters, (grid.split,))
    if made.source(grid.split).grid != grid:
        raise ValueError("a published grid must be the product of its parameters' values")
    return made


def product_knobs(values: dict[str, Iterable]) -> dict[str, list]:
    """The values of the knobs whose product a grid is, of those that its cells or rows have.

    FACTOR's noise is "none" in the cells without context, whichever noise the others have.
    """
    values = {knob: list(dict.fromkeys(each)) for knob, each in values.items()}
    if "noise" in values:
        values["noise"] = [each for each in values["noise"] if each != "none"] or ["close"]
    return values


def read_entry(entry: object) -> PuzzleSet:
    """The set that an entry of a card's metadata tells; ValueError if it is none.

    The entry may come from anywhere: what it says is checked, and nothing else of it is used.
    """
    if not isinstance(entry, dict):
        raise ValueError(f"an entry must be a mapping, got {repr(entry)}")
    name = check_choice("benchmark", entry.get("benchmark"), tuple(BENCHMARKS))
    benchmark = BENCHMARKS[name]
    version = check_integer("generator_version", entry.get("generator_version"), low=1, high=10**6)
    parameters, splits = entry.get("parameters"), entry.get("splits")
    if not isinstance(parameters, dict) or set(parameters) != set(benchmark.parameters):
        wanted = ", ".join(benchmark.parameters)
        raise ValueError(f"parameters of {name} must be {wanted}; got {repr(parameters)}")
    if not isinstance(splits, list) or not splits:
        raise ValueError(f"splits must list some of {', '.join(SPLITS)}, got {repr(splits)}")
    read = PuzzleSet(name, version, parameters, ())
    sets = [puzzle_set(read.source(split).grid, **read.options) for split in splits]
    return PuzzleSet(name, version, sets[0].parameters, tuple(dict.fromkeys(splits)))


def merged(published: list[PuzzleSet], new: PuzzleSet) -> list[PuzzleSet]:
    """The sets of a repository once `new` is in it: of each name one, with all of its splits."""
    sets = {each.name: each for each in published}
    before = sets.get(new.name, new).splits
    splits = tuple(split for split in SPLITS if split in before + new.splits)
    sets[new.name] = PuzzleSet(new.benchmark, new.generator_version, new.parameters, splits)
    return list(sets.values())
