"""Puzzles -> a JSON Lines or Parquet file, and back."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from cogniload_gen.benchmark import Row
from cogniload_gen.files.inputs import read_objects
from cogniload_gen.files.parquet import open_parquet, read_batches
from cogniload_gen.files.whole import whole_file
from cogniload_gen.source import Source

Write = Callable[[pa.Table], None]
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
    if path.suffix not in WRITERS:
        raise ValueError(f"FILE must end in {' or '.join(WRITERS)}, got {str(path)!r}")
    open_writer = WRITERS[path.suffix]
    with whole_file(path, force=force) as temporary, open_writer(temporary, schema) as write:
        yield write


@contextmanager
def jsonl_writer(path: Path, _: pa.Schema) -> Iterator[Write]:
    """Yield a function that appends a table's rows to a JSON Lines file."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with path.open("w", encoding="utf-8") as file:
        yield lambda table: file.writelines(encode(row) + "\n" for row in table.to_pylist())


@contextmanager
def parquet_writer(path: Path, schema: pa.Schema) -> Iterator[Write]:
    """Yield a function that appends a table to a Parquet file, as a row group."""
    with pq.ParquetWriter(path, schema) as writer:
        yield writer.write_table


def row_groups(table: pa.Table) -> Iterator[pa.Table]:
    """Yield a table in pieces of at most ROW_GROUP_BYTES; only a single row can have more."""
    if table.nbytes <= ROW_GROUP_BYTES or len(table) == 1:
        yield table
    else:
        middle = len(table) // 2
        yield from row_groups(table.slice(0, middle))
        yield from row_groups(table.slice(middle))


WRITERS = {".jsonl": jsonl_writer, ".parquet": parquet_writer}


def read_puzzles(path: Path) -> Iterator[Row]:
    """Yield the rows of a file of puzzles; ValueError names a line that is no puzzle."""
    if path.suffix == ".parquet":
        with open_parquet(path) as file:
            for batch in read_batches(file):
                yield from batch.to_pylist()
    else:
        yield from (row for _, row in read_objects(path))
