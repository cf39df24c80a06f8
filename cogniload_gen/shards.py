"""A grid as it is published: its name and parameters, and Parquet files of bounded size.

A `Configuration` is what a card or a manifest says of a grid, from which the same rows are made
again. `PuzzleFiles` are its files in a folder, made by any number of processes.

Which rows a file holds, and its bytes, are a pure function of the parameters: not of how many
processes share the work, in which order, or how often they were killed. So each process makes the
files of its share, and needs to know of no other. `puzzle_files` is what they all call:

    files = puzzle_files("OUT", d=5, N=100, rho=25, num_puzzles=1_000_000)
    for number in range(rank, len(files), world_size):
        files.make(number)
    files.finish()

The folder's manifest.json says from the start which puzzles they are. Each file takes its name when
it is whole, and once all are there `finish` adds their SHA-256 to the manifest. Two processes that
make the same file, or finish at once, write the same bytes.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import pyarrow as pa

from cogniload_gen import __version__, benchmarks
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.checks import check_choice, check_choices, check_integer
from cogniload_gen.draws import address_key
from cogniload_gen.files import naming, whole_file
from cogniload_gen.grid import MAX_PUZZLES, SPLITS, Grid, Source, short
from cogniload_gen.tables import table_writer

# --- Configurations --------------------------------------------------------------------------

# Characters of a configuration's name, which is a folder's too.
_LONGEST_NAME = 120


@dataclass(frozen=True)
class Configuration:
    """A configuration of a published repository: one grid, in some splits.

    `grid` is that of the first of `splits`. `configuration_of` and `read_entry` check them.
    """

    grid: Grid
    splits: tuple[str, ...]

    @property
    def benchmark(self) -> Benchmark:
        """The grid's benchmark."""
        return benchmarks.named(self.grid.benchmark)

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments with which `load_dataset` makes the same rows."""
        return self.benchmark.parameters_of(self.grid)

    @property
    def name(self) -> str:
        """The configuration's name, which tells everything that decides its rows but the split."""
        parts = [f"{self.benchmark.name}-v{self.grid.version}"]
        values = self.parameters
        for name, value in values.items():
            if value is not None and value is not False:
                shown = [] if value is True else value if isinstance(value, list) else [value]
                parts.append(name + "_".join(map(short, shown)))
        name = re.sub(r"[^\w.-]", "_", "-".join(parts))
        short_name = f"{parts[0]}-{address_key(*values.items()):016x}"
        return name if len(name) <= _LONGEST_NAME else short_name

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows, which no tokenizer changes."""
        flags = [option.name for option in self.benchmark.options if option.kind == "flag"]
        return self.benchmark.puzzles(**{flag: self.grid.options[flag] for flag in flags}).schema

    def source(self, split: str) -> Source:
        """Return the puzzles of a split, which loads their tokenizer."""
        return self.benchmark.source(replace(self.grid, split=split))

    def entry(self) -> dict[str, Any]:
        """Return what a card's metadata holds of it; `read_entry` reads it back."""
        return {
            "config_name": self.name,
            "benchmark": self.benchmark.name,
            "generator_version": self.grid.version,
            "parameters": self.parameters,
            "splits": list(self.splits),
        }


def splits_of(configurations: Iterable[Configuration]) -> list[tuple[Configuration, str]]:
    """Return all splits of configurations, each with its configuration."""
    return [(puzzles, split) for puzzles in configurations for split in puzzles.splits]


def configuration_of(dataset: str, **parameters: Any) -> Configuration:
    """Return the configuration that publishes the puzzles of some parameters.

    `dataset` and `parameters` are as `load_dataset` takes them, with `split` for one of train,
    validation and test. ValueError for what is wrong, and for a tokenizer without a name.

    Examples:
        >>> configuration_of("cogniload", d=1, N=[20, 50], rho=25, num_puzzles=10).name
        'cogniload-v1-d1-N20_50-rho25-num_puzzles10-seed42'
    """
    known = benchmarks.datasets()
    benchmark, own = known[check_choice("dataset", dataset, tuple(known))].choose(parameters)
    grid = benchmark.select(**own)
    for name, value in grid.options.items():
        if not isinstance(value, bool | str | None):
            raise ValueError(f"{name} of what is published must have a name, got {brief(value)}")
    if type(grid) is not Grid:  # a training set draws its knobs
        allowed = f"one of {', '.join(SPLITS)}"
        raise ValueError(f"a published split must be {allowed}, got {parameters['split']}")
    return Configuration(grid, (grid.split,))


def read_entry(entry: Any) -> Configuration:
    """Return the configuration that an entry of a card's metadata holds; ValueError for another.

    The entry may come from anywhere: what it says is checked, and nothing else of it is used.
    """
    try:
        benchmark, version = benchmarks.named(entry["benchmark"]), entry["generator_version"]
        check_integer("generator_version", version, low=1, high=10**6)
        splits = check_choices("splits", entry["splits"], SPLITS)
        grid = benchmark.select(**entry["parameters"], split=splits[0])
    except (LookupError, TypeError) as error:
        raise ValueError(f"no entry of puzzles is {brief(entry)}: {error!r}") from None
    return Configuration(replace(grid, version=version), splits)


def merge(published: list[Configuration], new: Configuration) -> list[Configuration]:
    """Return a repository's configurations with `new`: of each name one, with all of its splits."""
    by_name = {puzzles.name: puzzles for puzzles in published}
    before = by_name.get(new.name, new)
    splits = tuple(split for split in SPLITS if split in before.splits + new.splits)
    by_name[new.name] = Configuration(replace(new.grid, split=splits[0]), splits)
    return list(by_name.values())


# --- Files -----------------------------------------------------------------------------------

ROWS_PER_FILE = 10_000
"""Of the paper's grid, 190 MB of text in a file of 28 MB, made in some 3 s."""

# The versions that, with the parameters, decide the files' bytes.
_INSTALLED = {"release": __version__, "pyarrow": pa.__version__}

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class PuzzleFiles:
    """The Parquet files of a grid in a folder. File `number`, from 0, is `names[number]`.

    `puzzle_files` and `read_files` make it, and check its arguments.
    """

    folder: Path
    configuration: Configuration
    rows_per_file: int

    def __len__(self) -> int:
        """Return the number of files."""
        return ceil(len(self.grid) / self.rows_per_file)

    @property
    def grid(self) -> Grid:
        """The grid."""
        return self.configuration.grid

    @cached_property
    def source(self) -> Source:
        """The puzzles, which loads their tokenizer."""
        return self.configuration.source(self.grid.split)

    @cached_property
    def names(self) -> list[str]:
        """The files' names, by which `datasets` knows their split."""
        count = len(self)
        return [f"{self.grid.split}-{number:05}-of-{count:05}.parquet" for number in range(count)]

    @property
    def header(self) -> dict[str, Any]:
        """What the manifest says of all files together, and all that decides their bytes."""
        rows = {"rows": len(self.grid), "rows_per_file": self.rows_per_file}
        return {**self.configuration.entry(), **rows, **_INSTALLED}

    def make(self, number: int) -> int:
        """Make a file, unless it is there, and return how many rows it has.

        OSError if the folder can't be written.
        """
        path, start = self.folder / self.names[number], number * self.rows_per_file
        stop = min(start + self.rows_per_file, len(self.grid))
        if not path.exists():
            with table_writer(path, self.source.schema, force=True) as write:
                for table in self.source.tables(start, stop):
                    write(table)
        return stop - start

    def finish(self) -> int:
        """Return how many files are there; if all are, write their SHA-256 into the manifest."""
        there = [name for name in self.names if (self.folder / name).exists()]
        if len(there) == len(self):
            digests = {name: digest(self.folder / name) for name in there}
            _write_manifest(self.folder, self.header | {"sha256": digests})
        return len(there)


def puzzle_files(
    folder: Path | str,
    dataset: str = "cogniload",
    *,
    rows_per_file: int = ROWS_PER_FILE,
    **parameters: Any,
) -> PuzzleFiles:
    """Return the Parquet files of a grid in a folder, which gets its manifest if it has none.

    `dataset` and `parameters` are as `load_dataset` takes them, with `split` for one split; a
    tokenizer must have a name. Every file but the last has `rows_per_file` puzzles. The files are
    bit for bit the same for the same parameters, release and version of pyarrow.

    Raises ValueError for a wrong parameter, what is no grid, and a folder of other puzzles.
    """
    folder = Path(folder)
    rows = check_integer("rows_per_file", rows_per_file, low=1, high=MAX_PUZZLES)
    files = PuzzleFiles(folder, configuration_of(dataset, **parameters), rows)
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / MANIFEST).exists():
        _write_manifest(folder, files.header)
    held = read_manifest(folder)
    held |= held["parameters"]
    for name, value in (files.configuration.parameters | files.header).items():
        if name != "parameters" and held.get(name) != value:
            both = f"{name} {brief(held.get(name))}, got {brief(value)}"
            raise ValueError(f"{folder} holds files of {both}: name another folder")
    return files


def read_files(folder: Path) -> PuzzleFiles:
    """Return the files that a folder's manifest is of; ValueError if it is no manifest."""
    manifest = read_manifest(folder)
    rows = check_integer("rows_per_file", manifest.get("rows_per_file"), low=1, high=MAX_PUZZLES)
    return PuzzleFiles(folder, read_entry(manifest), rows)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write what a folder's manifest says."""
    with whole_file(folder / MANIFEST, force=True) as temporary:
        temporary.write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return what a folder's manifest says; ValueError if it is missing or no JSON object."""
    path = folder / MANIFEST
    with naming(f"{path} must be what `cogniload generate OUT/` writes", FileNotFoundError):
        return dict(json.loads(path.read_bytes()).items())
