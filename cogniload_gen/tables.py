"""Tables of puzzles and of responses in files: JSON Lines, Parquet and, to be read, CSV."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tqdm import tqdm

from cogniload_gen.benchmark import Row
from cogniload_gen.files import read_objects, whole_file
from cogniload_gen.grid import Source

# --- Written ---------------------------------------------------------------------------------

Write = Callable[[pa.Table], object]
"""A function that appends a table to a file."""

SHARED = {"compression": "zstd", "write_page_index": True}
"""How Parquet is written that others are to read: smaller, and searched without reading it all."""

ROW_GROUP_BYTES = 64_000_000
"""Bytes of rows in a row group: the Hub's viewer reads whole ones, and takes 100 MB at most."""


def write_puzzles(source: Source, path: Path, *, force: bool = False) -> None:
    """Write puzzles to `path` (.jsonl or .parquet), whole or not at all.

    Raises ValueError for another suffix, FileExistsError if `path` exists and `force` is not set.
    """
    with (
        table_writer(path, source.schema, force=force) as write,
        tqdm(total=len(source.selection), unit=" puzzles", disable=None) as progress,
    ):
        for table in source.tables():
            write(table)
            progress.update(len(table))


@contextmanager
def table_writer(path: Path, schema: pa.Schema, *, force: bool = False) -> Iterator[Write]:
    """Yield a function that appends a table to a file; errors as `write_puzzles`."""
    if path.suffix not in (".jsonl", ".parquet"):
        raise ValueError(f"FILE must end in .jsonl or .parquet, got {str(path)!r}")
    with whole_file(path, force=force) as temporary:
        if path.suffix == ".parquet":
            with pq.ParquetWriter(temporary, schema) as writer:
                yield writer.write_table
        else:
            encode = json.JSONEncoder(ensure_ascii=False).encode
            with temporary.open("w", encoding="utf-8") as file:
                yield lambda table: file.writelines(encode(row) + "\n" for row in table.to_pylist())


def row_groups(table: pa.Table) -> Iterator[pa.Table]:
    """Yield a table in pieces of at most ROW_GROUP_BYTES; only a single row can have more."""
    if table.nbytes <= ROW_GROUP_BYTES or len(table) == 1:
        yield table
    else:
        middle = len(table) // 2
        yield from row_groups(table.slice(0, middle))
        yield from row_groups(table.slice(middle))


# --- Read row by row -------------------------------------------------------------------------

SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".csv")

BATCH_ROWS = 256
"""Rows that are read at once."""


def find_tables(path: Path, suffixes: tuple[str, ...] = SUFFIXES) -> list[Path]:
    """Return the file that a path is, or the files below it.

    Raises ValueError if none ends in one of the suffixes, FileNotFoundError for no path.
    """
    path.stat()  # raises FileNotFoundError
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    tables = [file for file in files if file.name.endswith(suffixes) and file.name[0] != "."]
    tables = [file for file in tables if not file.is_dir()]
    if not tables:
        allowed = ", ".join(suffixes)
        raise ValueError(f"{path} must be a file that ends in {allowed}, or a folder of these")
    return tables


def read_rows(
    path: Path, columns: Sequence[str] | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a table, each with its place; of `columns` those that it has.

    The values of a CSV file are texts where `columns` are given. Raises ValueError, in one line,
    for what can't be read.
    """
    if path.suffix == ".parquet":
        with reading(path), pq.ParquetFile(path) as file:
            names = file.schema_arrow.names
            chosen = columns and [name for name in columns if name in names]
            yield from _numbered(path, file.iter_batches(BATCH_ROWS, columns=chosen))
    elif path.suffix == ".csv":
        if path.stat().st_size:
            kinds: Any = {"dtype": str, "keep_default_na": False} if columns else {}
            with reading(path), pd.read_csv(path, chunksize=BATCH_ROWS, **kinds) as batches:
                yield from _numbered(path, (pa.Table.from_pandas(each) for each in batches))
    else:
        yield from read_objects(path)


def read_puzzles(path: Path) -> Iterator[Row]:
    """Yield the rows of a file of puzzles; ValueError as `read_rows`."""
    return (row for _, row in read_rows(path))


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Make a ValueError with the file's name of what Arrow or pandas can't read."""
    try:
        yield
    except (pa.ArrowException, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} can't be read: {error}") from None


def _numbered(path: Path, batches: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    number = count()
    for batch in batches:
        for start in range(0, len(batch), BATCH_ROWS):
            for row in batch.slice(start, BATCH_ROWS).to_pylist():
                yield f"{path} row {next(number)}", row


def repeated_values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values that a column has more than once."""
    counts = pc.value_counts(column)
    return counts.filter(pc.greater(counts.field("counts"), 1)).field("values").to_pylist()


# --- Found by id -----------------------------------------------------------------------------


Part = Callable[[int], Row]
"""From a place in a row group, or in a file, to the row there."""


class StoredPuzzles:
    """The puzzles of a Parquet or JSON Lines file, or of all Parquet files below a folder.

    The ids stand in memory, in the order of the files' names; of Parquet, all else is on the disk.
    With `texts`, rows have the column `puzzle`. ValueError for a file that holds no rows of
    puzzles, and for an id that two rows have.
    """

    def __init__(self, path: Path, *, texts: bool = True) -> None:
        self.path = path
        suffixes = (".parquet",) if path.is_dir() else (".parquet", ".jsonl", ".jsonl.gz")
        parts = [part for file in find_tables(path, suffixes) for part in _parts(file, texts)]
        self.ids = pa.chunked_array([ids for ids, _ in parts], pa.string())
        self._starts = np.cumsum([0] + [len(ids) for ids, _ in parts])
        self._part = lru_cache(maxsize=8)(lambda number: parts[number][1]())
        if not len(self.ids):
            raise ValueError(f"{path} must hold at least one puzzle, got none")
        if repeated := repeated_values(self.ids):
            twice = f"{len(repeated)} ids are there more than once, the first {brief(repeated[0])}"
            raise ValueError(f"{path} must hold every puzzle once: {twice}")

    def __len__(self) -> int:
        return len(self.ids)

    def positions(self, ids: Sequence[str]) -> list[int | None]:
        """Return where the puzzles of some ids stand; None for an id that no puzzle has."""
        return pc.index_in(pa.array(ids, pa.string()), self.ids).to_pylist()

    def rows(self, positions: Sequence[int]) -> list[Row]:
        """Return the puzzles at some positions; fast if the positions are neighbours."""
        numbers = np.searchsorted(self._starts, positions, side="right") - 1
        starts = self._starts[numbers]
        each = zip(positions, numbers.tolist(), starts.tolist(), strict=True)
        return [self._part(number)(place - start) for place, number, start in each]


def _parts(file: Path, texts: bool) -> Iterator[tuple[pa.Array, Callable[[], Part]]]:
    """Yield the ids of each row group of a file, or of its lines, and what reads its rows."""
    if file.suffix == ".parquet":
        with reading(file), pq.ParquetFile(file) as opened:
            names = opened.schema_arrow.names
            if not {"id", "answer"} <= {*names}:
                raise ValueError(f"{file} must have the columns of puzzles, got {', '.join(names)}")
            columns = [name for name in names if texts or name != "puzzle"]
            for group in range(opened.num_row_groups):
                ids = opened.read_row_group(group, ["id"])["id"]
                yield ids.cast(pa.string()).combine_chunks(), partial(_group, file, group, columns)
        return
    rows = []
    for where, row in read_objects(file, "a puzzle"):
        if not {"id", "answer"} <= row.keys():
            raise ValueError(f"{where} must be a puzzle, got {', '.join(row)}")
        rows.append({name: value for name, value in row.items() if texts or name != "puzzle"})
    yield pa.array([str(row["id"]) for row in rows], pa.string()), lambda: rows.__getitem__


def _group(file: Path, group: int, columns: list[str]) -> Part:
    with reading(file), pq.ParquetFile(file) as opened:
        table = opened.read_row_group(group, columns)
    return lambda place: table.slice(place, 1).to_pylist()[0]
