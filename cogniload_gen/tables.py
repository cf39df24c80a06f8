"""Tables of puzzles and of responses in files: JSON Lines, Parquet and, to be read, CSV."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from cogniload_gen.files import naming, read_objects, whole_file
from cogniload_gen.grid import Source

# --- Written ---------------------------------------------------------------------------------

Write = Callable[[pa.Table], object]
"""A function that appends a table to a file."""

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
        allowed = ".jsonl or .parquet, or in / for a folder"
        raise ValueError(f"FILE must end in {allowed}, got {str(path)!r}")
    with whole_file(path, force=force) as temporary:
        if path.suffix == ".parquet":
            # for others, who read a page without reading all
            how: dict[str, Any] = {"compression": "zstd", "write_page_index": True}
            with pq.ParquetWriter(temporary, schema, **how) as writer:
                yield partial(_write_row_groups, writer)
        else:
            encode = json.JSONEncoder(ensure_ascii=False).encode
            with temporary.open("w", encoding="utf-8") as file:
                yield lambda table: file.writelines(encode(row) + "\n" for row in table.to_pylist())


def _write_row_groups(writer: pq.ParquetWriter, table: pa.Table) -> None:
    """Write a table in row groups of about ROW_GROUP_BYTES at most, if a row has less."""
    rows = max(1, len(table) * ROW_GROUP_BYTES // max(table.nbytes, 1))
    writer.write_table(table, row_group_size=rows)


# --- Read row by row -------------------------------------------------------------------------

# Rows that are read at once.
_BATCH_ROWS = 256


def find_tables(
    path: Path, suffixes: tuple[str, ...] = (".parquet", ".jsonl", ".jsonl.gz", ".csv")
) -> list[Path]:
    """Return the file that a path is, or the files below it.

    Raises ValueError if none ends in one of the suffixes, FileNotFoundError for no path.
    """
    path.stat()  # raises FileNotFoundError
    files = sorted(path.rglob("[!.]*")) if path.is_dir() else [path]
    tables = [file for file in files if file.name.endswith(suffixes) and not file.is_dir()]
    if not tables:
        allowed = ", ".join(suffixes)
        raise ValueError(f"{path} must be a file that ends in {allowed}, or a folder of these")
    return tables


def read_rows(
    path: Path, columns: Sequence[str] | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a table, each with its place; of `columns` those that it has.

    The values of a CSV file are texts. Raises ValueError, in one line, for what can't be read.
    """
    unreadable = f"{path} can't be read"
    if path.suffix == ".parquet":
        with naming(unreadable, pa.ArrowException), pq.ParquetFile(path) as file:
            names = [name for name in file.schema_arrow.names if name in (columns or [name])]
            batches = file.iter_batches(_BATCH_ROWS, columns=names)
            rows = (row for batch in batches for row in batch.to_pylist())
            yield from ((f"{path} row {number}", row) for number, row in enumerate(rows))
    elif path.suffix == ".csv":
        import pandas as pd

        kinds: Any = {"dtype": str, "keep_default_na": False, "chunksize": _BATCH_ROWS}
        with naming(unreadable), pd.read_csv(path, **kinds) as chunks:
            rows = (row for chunk in chunks for row in chunk.to_dict("records"))
            yield from ((f"{path} row {number}", row) for number, row in enumerate(rows))
    else:
        yield from ((where, row) for where, _, row in read_objects(path))
