"""A grid -> a folder of Parquet files of bounded size, made by any number of processes.

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
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from reprlib import repr as brief

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_gen import benchmarks
from cogniload_gen.checks import Given, check_choice, check_integer
from cogniload_gen.configurations import Configuration, configuration_of, read_entry
from cogniload_gen.files import MALFORMED, whole_file
from cogniload_gen.grid import MAX_PUZZLES, Grid, Source
from cogniload_gen.tables import SHARED, row_groups
from cogniload_gen.version import __version__

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
    def header(self) -> dict[str, Given]:
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

    def make(self, number: int) -> Entry:
        """Make a file, unless it is whole; OSError if the folder can't be written."""
        return self.proven(number) or self.write(number)

    def write(self, number: int) -> Entry:
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
            listed = read_manifest(self.folder).get("files")
            written = Entry(**listed[number]) if listed else self._read(number)
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
            for path in self.folder.glob(".*.parquet.*"):  # digests, and parts of the killed
                path.unlink(missing_ok=True)
        return count

    def _write_manifest(self, manifest: dict[str, Given], *, force: bool = False) -> None:
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
    **parameters: Given,
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


def read_manifest(folder: Path) -> dict[str, Given]:
    """Return what a folder's manifest says; ValueError if it is missing or no JSON object."""
    path, manifest = folder / MANIFEST, None
    with suppress(FileNotFoundError, *MALFORMED):
        manifest = json.loads(path.read_bytes())
    if not isinstance(manifest, dict):
        raise ValueError(f"{path} must be what `cogniload generate OUT/` writes")
    return manifest


def _flat(manifest: dict[str, Given]) -> dict[str, Given]:
    """Return what a manifest says, its parameters first and beside the rest."""
    parameters = manifest.get("parameters")
    return (parameters if isinstance(parameters, dict) else {}) | manifest | {"parameters": None}
