"""A grid -> a folder of Parquet files of bounded size, made by any number of processes.

Which rows a file holds, and its bytes, are a pure function of the parameters: not of how many
processes share the work, in which order, or how often they were killed. So each process makes the
files of its share, and needs to know of no other. `puzzle_files` is what they all call:

    files = puzzle_files("OUT", d=5, N=100, rho=25, num_puzzles=1_000_000)
    for number in range(rank, len(files), world_size):
        files.make(number)
    files.finish()

The folder's manifest.json says from the start which puzzles they are. Each file is written whole,
and then its digest, in a small file of its own. When all are there, `finish` moves the digests
into the manifest.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from reprlib import repr as brief
from shutil import rmtree

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_gen import benchmarks
from cogniload_gen.checks import Given, check_choice, check_integer
from cogniload_gen.configurations import Configuration, check_version, configuration_of, read_entry
from cogniload_gen.files.inputs import check_file, read_whole
from cogniload_gen.files.whole import make_inner_folder, whole_file
from cogniload_gen.files.write import SHARED, row_groups
from cogniload_gen.grid import MAX_PUZZLES, SPLITS, Grid, Selection
from cogniload_gen.source import Source
from cogniload_gen.version import __version__

ROWS_PER_FILE = 10_000
"""Of the paper's grid, 190 MB of text in a file of 28 MB, made in some 3 s."""

MOST_FILES = 100_000

VERSION = re.compile(r"(\d{1,9}(?:\.\d{1,9}){1,4})[a-z0-9.+-]{0,60}", re.ASCII)
"""A release of this package or of pyarrow, as a manifest names it; its numbers."""

INSTALLED = {"release": __version__, "pyarrow": pa.__version__}
"""The versions that, with the parameters, decide the files' bytes."""

MANIFEST, DIGESTS = "manifest.json", ".digests"


@dataclass(frozen=True)
class Entry:
    """What a manifest says of a file: its name, its rows, its bytes and their SHA-256."""

    name: str
    rows: int
    bytes: int
    sha256: str

    def __post_init__(self) -> None:
        """Raise TypeError for a value of another type, as a file may hold it."""
        for column in fields(self):
            if type(getattr(self, column.name)) is not column.type:
                raise TypeError(f"{column.name} must be {column.type}")


@dataclass(frozen=True)
class PuzzleFiles:
    """The Parquet files of a grid in a folder. File `number`, from 0, is `names[number]`.

    It is made by `puzzle_files`, `files_of` and `read_files`, which check their arguments.
    `written` holds what the folder's manifest said of the files, once they were all whole, and
    `versions` what it says of the release and of pyarrow that made them: it can't be checked.
    """

    folder: Path
    configuration: Configuration
    rows_per_file: int
    written: dict[str, Entry] = field(default_factory=dict, hash=False, compare=False)
    versions: dict[str, str] = field(default_factory=INSTALLED.copy, hash=False, compare=False)

    def __len__(self) -> int:
        """Return the number of files."""
        return ceil(len(self.selection) / self.rows_per_file)

    @property
    def split(self) -> str:
        """The split that the puzzles are of."""
        return self.configuration.splits[0]

    @cached_property
    def selection(self) -> Selection:
        """The grid."""
        return self.configuration.selection(self.split)

    @cached_property
    def source(self) -> Source:
        """The puzzles, which loads their tokenizer."""
        return self.configuration.source(self.split)

    @cached_property
    def names(self) -> list[str]:
        """The files' names, by which `datasets` knows their split."""
        count = len(self)
        return [f"{self.split}-{number:05}-of-{count:05}.parquet" for number in range(count)]

    def rows(self, number: int) -> range:
        """Return the grid's rows that a file holds."""
        first = number * self.rows_per_file
        return range(first, min(first + self.rows_per_file, len(self.selection)))

    @property
    def header(self) -> dict[str, Given]:
        """What the manifest says of all files together, and all that decides their bytes."""
        return {
            **self.configuration.entry(),
            "rows": len(self.selection),
            "rows_per_file": self.rows_per_file,
            **self.versions,
        }

    def proven(self, number: int) -> Entry | None:
        """Return what is written of a file if the file is so; None if it is to be made."""
        entry, path = self.entry(number), self.folder / self.names[number]
        right = entry and path.is_file() and digest(path) == (entry.bytes, entry.sha256)
        return entry if right else None

    def make(self, number: int, progress: Callable[[int], object] = int) -> Entry:
        """Make a file, unless it is whole; `progress` gets the rows as they are made.

        Raises ValueError if the whole manifest says another digest of it, OSError if the folder
        can't be written.
        """
        return self.proven(number) or self.write(number, progress)

    def write(self, number: int, progress: Callable[[int], object] = int) -> Entry:
        """Write a file and its digest; errors as `make`."""
        rows, path = self.rows(number), self.folder / self.names[number]
        with (
            self.unless_whole(number),
            whole_file(path, force=True) as temporary,
            pq.ParquetWriter(temporary, self.source.schema, **SHARED) as writer,
        ):
            for table in self.source.tables(rows.start, rows.stop):
                for group in row_groups(table):
                    writer.write_table(group)
                progress(len(table))
        entry = Entry(path.name, len(rows), *digest(path))
        if self.written.get(path.name, entry) != entry:
            other = f"has not the SHA-256 that {MANIFEST} says when it is made again"
            raise ValueError(f"{path} {other}: remove {MANIFEST} and start again")
        if not self.written:
            with self.unless_whole(number):
                make_inner_folder(self.folder / DIGESTS)
                with whole_file(self.part(number), force=True) as temporary:
                    temporary.write_text(json.dumps(asdict(entry)) + "\n", "utf-8")
        for leftover in self.folder.glob(f".{path.name}.*.part"):  # of a process that was killed
            leftover.unlink(missing_ok=True)
        return entry

    @contextmanager
    def unless_whole(self, number: int) -> Iterator[None]:
        """Ignore a vanished file or folder if another process has finished this file.

        A folder that vanishes while it is made is FileExistsError in `Path.mkdir`. The digests are
        read before the manifest, since the last process removes them once that is whole.
        """
        try:
            yield
        except (FileExistsError, FileNotFoundError):
            if not (self.proven(number) or self.start().proven(number)):
                raise

    def part(self, number: int) -> Path:
        """Return the file that holds a file's digest until the manifest does."""
        return self.folder / DIGESTS / f"{self.names[number]}.json"

    def entry(self, number: int) -> Entry | None:
        """Return what is written of a file; None if nothing is, or nothing that can be read."""
        if self.written:
            return self.written[self.names[number]]
        with suppress(OSError, ValueError, TypeError, RecursionError):
            entry = Entry(**json.loads(read_whole(self.part(number))))
            if (entry.name, entry.rows) == (self.names[number], len(self.rows(number))):
                return entry
        return None

    def start(self) -> "PuzzleFiles":
        """Make the folder with its manifest, or read the one that is there; return the files.

        Raises ValueError if the folder holds other puzzles, or something else, or is a file.
        """
        path = self.folder / MANIFEST
        if self.folder.is_file():
            raise ValueError(f"{self.folder} is a file: name a folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            others = {path.name for path in self.folder.iterdir() if path.name[0] != "."}
            others -= {MANIFEST, *self.names}
            if others:
                allowed = "must be empty or hold these puzzles"
                raise ValueError(f"{self.folder} {allowed}, got {min(others)} in it")
            # another process may be first: then its manifest is read
            with suppress(FileExistsError), whole_file(path) as temporary:
                temporary.write_text(manifest_text(self.header), "utf-8")
        manifest = read_manifest(self.folder)
        self.check_header(manifest)
        return replace(self, written=self.read_entries(manifest))

    def check_header(self, manifest: dict[str, Given]) -> None:
        """Raise ValueError for the first thing that a manifest says otherwise than this one."""
        wanted, held = flat(self.header), flat(manifest)
        for name, value in wanted.items():
            if held.get(name) != value:
                both = f"{brief(held.get(name))}, got {brief(value)}"
                hint = "go on with the same, or name another folder"
                raise ValueError(f"{self.folder} holds files of {name} {both}: {hint}")

    def read_entries(self, manifest: dict[str, Given]) -> dict[str, Entry]:
        """Return what a manifest says of the files, none until it is whole; ValueError if wrong."""
        listed, entries = manifest.get("files"), []
        if listed is None:
            return {}
        with suppress(TypeError):
            entries = [Entry(**values) for values in listed]
        rows = [(name, len(self.rows(number))) for number, name in enumerate(self.names)]
        if [(entry.name, entry.rows) for entry in entries] != rows:
            allowed = f"must list {len(self)} files with their rows"
            raise ValueError(f"{self.folder / MANIFEST} {allowed}, got {brief(listed)}")
        return {entry.name: entry for entry in entries}

    def finish(self) -> int:
        """Return how many files have their digest; if all, write the whole manifest."""
        if self.written:
            return len(self)
        folder = self.folder / DIGESTS
        there: set[str] = set()
        with suppress(FileNotFoundError):
            there = {path.stem for path in folder.iterdir()}
        count = len(there.intersection(self.names))
        if count == len(self):
            entries = [self.entry(number) for number in range(count)]
            whole = [asdict(entry) for entry in entries if entry]
            count = len(whole)
        if count == len(self):
            with whole_file(self.folder / MANIFEST, force=True) as temporary:
                temporary.write_text(manifest_text(self.header | {"files": whole}), "utf-8")
        elif "files" not in read_manifest(self.folder):  # nor was another process the last
            return count
        rmtree(folder, ignore_errors=True)
        return len(self)


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
    chosen = known[check_choice("dataset", dataset, tuple(known))]
    benchmark, own = chosen.choose(parameters)
    options = {knob.name: own.pop(knob.name) for knob in benchmark.options if knob.name in own}
    selection = benchmark.select(**own)
    return files_of(folder, selection, rows_per_file, **options).start()


def files_of(
    folder: Path | str, selection: Selection, rows_per_file: Given, **options: Given
) -> PuzzleFiles:
    """Return the files of a selection, with a benchmark's options; ValueError if it is no grid."""
    if not isinstance(selection, Grid):
        grids = f"a grid, of {', '.join(SPLITS)}"
        raise ValueError(f"a folder takes {grids}; got {brief(selection)}: name a file")
    configuration = configuration_of(selection, **options)
    return checked_files(Path(folder), configuration, rows_per_file)


def checked_files(folder: Path, configuration: Configuration, rows_per_file: Given) -> PuzzleFiles:
    """Return the files of a configuration; ValueError if a file has no rows, or there are many."""
    rows = check_integer("rows_per_file", rows_per_file, low=1, high=MAX_PUZZLES)
    files = PuzzleFiles(folder, configuration, rows)
    if len(files) > MOST_FILES:
        many = f"a folder takes at most {MOST_FILES:,} files, got {len(files):,}"
        raise ValueError(f"{many}: rows_per_file must be larger than {rows:,}")
    return files


def read_files(folder: Path) -> PuzzleFiles:
    """Return the files that a folder's manifest lists.

    Raises ValueError if it is missing, changed, unfinished or of another generator version.
    """
    manifest = read_manifest(folder)
    configuration, path = read_entry(manifest), folder / MANIFEST
    check_version(configuration, str(path))
    files = checked_files(folder, configuration, manifest.get("rows_per_file"))
    files = replace(files, versions={name: str(manifest.get(name)) for name in INSTALLED})
    implied = files.header | {name: manifest[name] for name in ("files",) if name in manifest}
    numbers = {name: version_numbers(version) for name, version in files.versions.items()}
    same = manifest_text(manifest) == manifest_text(implied)
    if not same or not all(numbers.values()) or len(configuration.splits) > 1:
        raise ValueError(f"{path} must say what follows from its parameters alone")
    if numbers["release"] > version_numbers(__version__):
        release = files.versions["release"]
        raise ValueError(f"{path}: its release must be at most {__version__}, got {release}")
    return replace(files, written=files.read_entries(manifest))


def version_numbers(version: str) -> list[int]:
    """Return [0, 1, 0] of a version such as 0.1.0rc1, and [] of any other text."""
    match = VERSION.fullmatch(version)
    return [int(part) for part in match[1].split(".")] if match else []


def read_manifest(folder: Path) -> dict[str, Given]:
    """Return what a manifest says; ValueError if it is missing, or changed since it was written."""
    path, manifest = folder / MANIFEST, None
    try:
        text = read_whole(path)
        with suppress(ValueError, RecursionError):
            manifest = json.loads(text)
    except FileNotFoundError:
        raise ValueError(f"{path} is missing") from None
    if not isinstance(manifest, dict):
        manifest = {}
    manifest.pop("sha256", None)
    if manifest_text(manifest).encode() != text:
        raise ValueError(f"{path} has changed since it was written")
    return manifest


def flat(manifest: dict[str, Given]) -> dict[str, Given]:
    """Return what a manifest says, its parameters first and beside the rest."""
    parameters = manifest.get("parameters")
    return (parameters if isinstance(parameters, dict) else {}) | manifest | {"parameters": None}


def manifest_text(manifest: dict[str, Given]) -> str:
    """Return a manifest as it is written: with the SHA-256 of all that it says."""
    sha256 = hashlib.sha256(json.dumps(manifest).encode()).hexdigest()
    return json.dumps(manifest | {"sha256": sha256}, indent=1) + "\n"


def digest(path: Path) -> tuple[int, str]:
    """Return the size of a file in bytes and the SHA-256 of them."""
    with check_file(path).open("rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
