"""Parquet files that may come from anywhere, read within bounds of memory."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_gen.files.inputs import check_file

LARGEST_GROUP, EXPANSION = 1 << 28, 100
"""Bytes of a row group without compression: at most these, or so many times those on the disk."""

JOINED = 1 << 24
"""Bytes of small row groups that are read together."""

BATCH_ROWS, BATCH_BYTES = 256, 1 << 27
"""Of the rows that are read at once. A value that the file holds once may be in each of them."""

LARGEST_HELD = 1 << 29
"""Bytes of rows that are held at once: those of a row group, or of a table to compare with."""


@contextmanager
def open_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """Yield a Parquet file, opened.

    Raises ValueError for what is no file, no Parquet or broken, for a column that is there twice
    and for a row group that is too large, OSError if there is no file.
    """
    check_file(path)
    try:
        with pq.ParquetFile(path) as file:
            check_once(path, file.schema_arrow.names)
            for number in range(file.num_row_groups):
                group = file.metadata.row_group(number)
                chunks = map(group.column, range(group.num_columns))
                most = max(LARGEST_GROUP, EXPANSION * sum(c.total_compressed_size for c in chunks))
                check_bytes(f"{path}: a row group", group.total_byte_size, most)
            yield file
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} must be a Parquet file: {error}") from None


def check_once(where: Path | str, names: Collection[str]) -> None:
    """Raise ValueError if a table has a column twice."""
    if len({*names}) < len(names):
        raise ValueError(f"{where} must have each column once, got {', '.join(names)}")


def read_batches(
    file: pq.ParquetFile, columns: list[str] | None = None, groups: range | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of an open file, or of some row groups, in batches of bounded size."""
    for number in range(file.num_row_groups) if groups is None else groups:
        about = file.metadata.row_group(number)
        chunks = [about.column(place) for place in range(about.num_columns)]
        read = sum(
            chunk.total_uncompressed_size
            for chunk in chunks
            if columns is None or chunk.path_in_schema.partition(".")[0] in columns
        )
        rows = max(1, min(BATCH_ROWS, BATCH_BYTES // max(1, read)))
        yield from file.iter_batches(rows, row_groups=[number], columns=columns)


def join_row_groups(file: pq.ParquetFile) -> list[range]:
    """Return all row groups, as ranges that hold JOINED bytes at most, or a single larger group.

    What is read by the range takes a time that many small groups do not raise to their square.
    """
    starts, held = [0], 0
    for number in range(file.num_row_groups):
        size = file.metadata.row_group(number).total_byte_size
        if number > starts[-1] and held + size > JOINED:
            starts.append(number)
            held = 0
        held += size
    ends = pairwise([*starts, file.num_row_groups])
    return [range(start, stop) for start, stop in ends if start < stop]


def read_groups(path: Path, groups: range, columns: list[str]) -> pa.Table:
    """Return some columns of row groups; ValueError for more than LARGEST_HELD bytes."""
    with open_parquet(path) as file:
        batches = hold(path, read_batches(file, columns, groups))
        if not batches:
            return file.schema_arrow.empty_table().select(columns)
        return pa.Table.from_batches(batches)


def hold(what: Path | str, parts: Iterable[pa.Table], most: int = LARGEST_HELD) -> list[pa.Table]:
    """Return parts of a table, which may be batches; ValueError for more than `most` bytes."""
    kept, held = [], 0
    for part in parts:
        kept.append(part)
        held += part.nbytes
        check_held(what, held, most)
    return kept


def check_held(what: Path | str, held: int, most: int = LARGEST_HELD) -> None:
    """Raise ValueError if rows have more than `most` bytes."""
    check_bytes(f"{what}: rows that are held together", held, most)


def check_bytes(what: str, size: int, most: int) -> None:
    """Raise ValueError if something has more bytes than it may have."""
    if size > most:
        raise ValueError(f"{what} must have at most {most} bytes, got {size}")
