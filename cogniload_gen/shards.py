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
it is whole, and has its digest in a small hidden file beside it. When all are there, `finish` moves
the digests into the manifest. Two processes that make the same file write the same bytes.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_gen import __version__, benchmarks
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.checks import check_choice, check_choices, check_integer, check_known
from cogniload_gen.draws import address_key
from cogniload_gen.files import MALFORMED, whole_file
from cogniload_gen.grid import MAX_PUZZLES, SPLITS, Grid, Source, short
from cogniload_gen.tables import SHARED, row_groups

# --- Configurations --------------------------------------------------------------------------

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
    parameters: dict[str, Any]
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
    def options(self) -> dict[str, Any]:
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

    def entry(self) -> dict[str, Any]:
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


def schema_of(benchmark: Benchmark, options: Mapping[str, Any]) -> pa.Schema:
    """Return the columns of a benchmark's puzzles with some options; no tokenizer changes them."""
    flags = {option.name for option in benchmark.options if option.kind == "flag"}
    on = {name: value for name, value in options.items() if name in flags}
    return benchmark.puzzles(**on).schema


def in_name(value: Any) -> str:
    """Return a parameter's value as a name holds it, such as 5_12.5 for [5.0, 12.5]."""
    values = value if isinstance(value, list) else [value]
    return "" if value is True else "_".join(map(short, values))


def configuration_of(grid: Grid, **options: Any) -> Configuration:
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


def knobs_of_product(benchmark: Benchmark, columns: Iterable[Any]) -> dict[str, list[Any]]:
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


def read_entry(entry: Any) -> Configuration:
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
    """Return a repository's configurations with `new`: of each name one, with all of its splits."""
    by_name = {puzzles.name: puzzles for puzzles in published}
    before = by_name.get(new.name, new)
    splits = tuple(split for split in SPLITS if split in before.splits + new.splits)
    by_name[new.name] = replace(new, splits=splits)
    return list(by_name.values())


# --- Files -----------------------------------------------------------------------------------

ROWS_PER_FILE = 10_000
"""Of the paper's grid, 190 MB of text in a file of 28 MB, made in some 3 s."""

INSTALLED = {"release": __version__, "pyarrow": pa.__version__}
"""The versions that, with the parameters, decide the files' bytes."""

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Entry:
    """What a manifest says of a file: its name, its rows, its bytes and their SHA-256."""

    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class PuzzleFiles:
    """The Parquet files of a grid in a folder. File `number`, from 0, is `names[number]`.

    It is made by `puzzle_files` and `read_files`, which check their arguments.
    """

    folder: Path
    configuration: Configuration
    rows_per_file: int

    def __len__(self) -> int:
        """Return the number of files."""
        return ceil(len(self.selection) / self.rows_per_file)

    @cached_property
    def selection(self) -> Grid:
        """The grid."""
        return self.configuration.selection(self.configuration.splits[0])

    @cached_property
    def source(self) -> Source:
        """The puzzles, which loads their tokenizer."""
        return self.configuration.source(self.configuration.splits[0])

    @cached_property
    def names(self) -> list[str]:
        """The files' names, by which `datasets` knows their split."""
        (split, *_), count = self.configuration.splits, len(self)
        return [f"{split}-{number:05}-of-{count:05}.parquet" for number in range(count)]

    def rows(self, number: int) -> range:
        """Return the grid's rows that a file holds."""
        first = number * self.rows_per_file
        return range(first, min(first + self.rows_per_file, len(self.selection)))

    @property
    def header(self) -> dict[str, Any]:
        """What the manifest says of all files together, and all that decides their bytes."""
        rows = {"rows": len(self.selection), "rows_per_file": self.rows_per_file}
        return {**self.configuration.entry(), **rows, **INSTALLED}

    def _start(self) -> "PuzzleFiles":
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / MANIFEST
        if not path.exists():
            if others := sorted(self.folder.glob("*.parquet")):
                raise ValueError(f"{self.folder} must hold these puzzles alone, got {others[0]}")
            with suppress(FileExistsError):  # of another process
                self._write_manifest(self.header)
        wanted, held = _flat(self.header), _flat(read_manifest(self.folder))
        for name, value in wanted.items():
            if held.get(name) != value:
                both = f"{brief(held.get(name))}, got {brief(value)}"
                hint = "go on with the same, or name another folder"
                raise ValueError(f"{self.folder} holds files of {name} {both}: {hint}")
        return self

    @cached_property
    def _listed(self) -> list[dict[str, Any]] | None:
        """What the manifest says of each file; None before all are there."""
        listed: list[dict[str, Any]] | None = read_manifest(self.folder).get("files")
        return listed

    def make(self, number: int) -> Entry:
        """Make a file, unless it is whole; OSError if the folder can't be written."""
        return self.proven(number) or self._write(number)

    def _write(self, number: int) -> Entry:
        """Write a file and its digest; errors as `make`."""
        try:
            self.write_rows(number)
        except FileNotFoundError:  # the last process has removed what this one was still writing
            if not (self.folder / self.names[number]).exists():
                raise
        entry = self._entry_of(number)
        with whole_file(self._digest(number), force=True) as temporary:
            temporary.write_text(json.dumps(asdict(entry)) + "\n", "utf-8")
        return entry

    def write_rows(self, number: int) -> None:
        """Write a file alone; errors as `make`."""
        rows = self.rows(number)
        with (
            whole_file(self.folder / self.names[number], force=True) as temporary,
            pq.ParquetWriter(temporary, self.source.schema, **SHARED) as writer,
        ):
            for table in self.source.tables(rows.start, rows.stop):
                for group in row_groups(table):
                    writer.write_table(group)

    def proven(self, number: int) -> Entry | None:
        """Return what is written of a file if the file is so; None if it is to be made."""
        with suppress(FileNotFoundError, *MALFORMED):
            written = Entry(**self._listed[number]) if self._listed else self._read(number)
            return written if written == self._entry_of(number) else None
        return None

    def finish(self) -> int:
        """Return how many files are there; if all are, write the whole manifest."""
        there = {path.name for path in self.folder.iterdir()}
        count = len(there.intersection(self.names))
        if count == len(self):
            if "files" not in read_manifest(self.folder):
                # another process may have been the last, and its digests are gone
                entries = [self._read(number) or self._entry_of(number) for number in range(count)]
                whole = self.header | {"files": [asdict(entry) for entry in entries]}
                self._write_manifest(whole, force=True)
                vars(self).pop("_listed", None)  # it was read before there was a manifest
            for path in self.folder.glob(".*.parquet.*"):  # digests, and parts of the killed
                path.unlink(missing_ok=True)
        return count

    def _write_manifest(self, manifest: dict[str, Any], *, force: bool = False) -> None:
        with whole_file(self.folder / MANIFEST, force=force) as temporary:
            temporary.write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")

    def _read(self, number: int) -> Entry | None:
        with suppress(FileNotFoundError, *MALFORMED):
            return Entry(**json.loads(self._digest(number).read_bytes()))
        return None

    def _digest(self, number: int) -> Path:
        return self.folder / f".{self.names[number]}.json"

    def _entry_of(self, number: int) -> Entry:
        path = self.folder / self.names[number]
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return Entry(path.name, len(self.rows(number)), path.stat().st_size, sha256)


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
    known = benchmarks.datasets()
    grid, options = known[check_choice("dataset", dataset, tuple(known))].grid(**parameters)
    rows = check_integer("rows_per_file", rows_per_file, low=1, high=MAX_PUZZLES)
    return PuzzleFiles(Path(folder), configuration_of(grid, **options), rows)._start()


def read_files(folder: Path) -> PuzzleFiles:
    """Return the files that a folder's manifest is of; ValueError if it is no manifest."""
    manifest = read_manifest(folder)
    configuration = read_entry(manifest)
    rows = check_integer("rows_per_file", manifest.get("rows_per_file"), low=1, high=MAX_PUZZLES)
    return PuzzleFiles(folder, configuration, rows)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return what a folder's manifest says; ValueError if it is missing or no JSON object."""
    path, manifest = folder / MANIFEST, None
    with suppress(FileNotFoundError, *MALFORMED):
        manifest = json.loads(path.read_bytes())
    if not isinstance(manifest, dict):
        raise ValueError(f"{path} must be what `cogniload generate OUT/` writes")
    return manifest


def _flat(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a manifest says, its parameters first and beside the rest."""
    parameters = manifest.get("parameters")
    return (parameters if isinstance(parameters, dict) else {}) | manifest | {"parameters": None}
