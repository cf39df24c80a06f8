"""Tables of responses, as anything may have written them: Parquet, JSON Lines or CSV."""

from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from cogniload_gen.checks import Given, check_choice
from cogniload_gen.files.inputs import check_file, read_objects

COUNTS = ("prompt_tokens", "response_tokens", "response_limit")
COLUMNS = ("id", "response", *COUNTS, "finish_reason")
"""What is read of a table; the first two it must have."""

REASONS = ("stop", "length", "content_filter", "tool_calls", "abort", "error")
"""What servers and engines say of a response's end; "length" is one that was cut."""

BATCH_ROWS = 256

LARGEST_ROW = 1 << 24
"""Bytes of a row in a CSV file, 16 MiB: four million tokens."""

MOST_TOKENS = 2**31 - 1
"""No response has more."""


class Answered(NamedTuple):
    """A response to the puzzle of an id, and what is known of it; None where it is not.

    `response_limit` is what the response could have, in tokens, and `finish_reason` as servers say
    it, one of REASONS. `where` names the row.
    """

    where: str
    id: str
    response: str | None
    prompt_tokens: int | None
    response_tokens: int | None
    response_limit: int | None
    finish_reason: str | None


def find_tables(path: Path) -> list[Path]:
    """Return the tables that a path is, or that a folder holds; ValueError for none."""
    if path.is_dir():
        files = [each for each in sorted(path.iterdir()) if not each.name.startswith(".")]
        tables = [each for each in files if suffix(each) in READERS and not each.is_dir()]
        if not tables:
            raise ValueError(f"{path} must hold tables of responses, got none")
        return tables
    if suffix(path) not in READERS:
        raise ValueError(f"RESPONSES must end in {', '.join(READERS)}, got {str(path)!r}")
    return [check_file(path)]


def suffix(path: Path) -> str:
    """Return a file's suffix, that before .gz if it is gzipped."""
    return path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix


def read_table(path: Path) -> Iterator[Answered]:
    """Yield the rows of a table; ValueError, in one line, names the row that is no response."""
    try:
        for where, row in READERS[suffix(path)](path):
            yield check_row(where, row)
    except pa.ArrowException as error:
        raise ValueError(f"{path} can't be read: {error}") from None


def parquet_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a Parquet file."""
    file = pq.ParquetFile(path)
    names = file.schema_arrow.names
    check_columns(path, names)
    columns = [name for name in COLUMNS if name in names]
    number = 0
    for batch in file.iter_batches(BATCH_ROWS, columns=columns):
        for row in batch.to_pylist():
            yield f"{path} row {number}", row
            number += 1


def jsonl_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a JSON Lines file."""
    for where, row in read_objects(path):
        check_columns(where, row)
        yield where, row


def csv_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a CSV file, whose first line names the columns."""
    with pa.input_stream(path) as stream:
        try:
            batches = pa_csv.open_csv(
                stream,
                pa_csv.ReadOptions(use_threads=False, block_size=LARGEST_ROW),
                pa_csv.ParseOptions(newlines_in_values=True),
                pa_csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pa.string())),
            )
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):  # no responses, as in an empty .jsonl
                return
            raise
        check_columns(path, batches.schema.names)
        columns = [name for name in COLUMNS if name in batches.schema.names]
        number = 0
        for batch in batches:
            for start in range(0, len(batch), BATCH_ROWS):
                for row in batch.select(columns).slice(start, BATCH_ROWS).to_pylist():
                    yield f"{path} row {number}", row
                    number += 1


READERS = {".parquet": parquet_rows, ".jsonl": jsonl_rows, ".csv": csv_rows}


def check_columns(where: Path | str, names: Iterable[str]) -> None:
    """Raise ValueError unless a table's columns, or a row's, have an id and a response."""
    given = list(names)
    if not {"id", "response"} <= {*given}:
        raise ValueError(f"{where} must have id and response, got {', '.join(map(str, given))}")


def check_row(where: str, row: Mapping[str, Any]) -> Answered:
    """Return a row, checked; ValueError names what is wrong in it."""
    if not isinstance(row["id"], str):
        raise ValueError(f"{where}: id must be a text, got {brief(row['id'])}")
    for name in ("response", "finish_reason"):
        if not isinstance(row.get(name), str | None):
            raise ValueError(f"{where}: {name} must be a text, got {brief(row[name])}")
    counts = {name: read_count(where, name, row.get(name)) for name in COUNTS}
    tokens, limit = counts["response_tokens"], counts["response_limit"]
    if limit == 0:
        raise ValueError(f"{where}: response_limit must be at least 1, got 0")
    if tokens is not None and limit is not None and tokens > limit:
        raise ValueError(
            f"{where}: response_tokens must be at most response_limit, {limit}, got {tokens}"
        )
    reason = row.get("finish_reason") or None
    if reason is not None:
        check_choice(f"{where}: finish_reason", reason, REASONS)
    return Answered(where, row["id"], row["response"], **counts, finish_reason=reason)


def read_count(where: str, name: str, given: Given) -> int | None:
    """Return a number of tokens, also of a table that holds it as 12.0 or, as CSV does, as text."""
    if given is None or given == "":
        return None
    try:
        count = float(given)
    except (TypeError, ValueError):
        count = -1.0
    if isnan(count):  # as pandas writes what is missing
        return None
    if not (count.is_integer() and 0 <= count <= MOST_TOKENS) or isinstance(given, bool):
        raise ValueError(f"{where}: {name} must be a number of tokens, got {brief(given)}")
    return int(count)
