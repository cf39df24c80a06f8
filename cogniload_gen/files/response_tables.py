"""Tables of responses, as anything may have written them: Parquet, JSON Lines or CSV."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count
from math import isnan
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv

from cogniload_gen.checks import Given, check_choice
from cogniload_gen.files.inputs import check_file, read_objects
from cogniload_gen.files.parquet import BATCH_ROWS, check_once, open_parquet, read_batches

COUNTS = ("prompt_tokens", "response_tokens", "response_limit")
COLUMNS = ("id", "response", *COUNTS, "finish_reason")
"""What is read of a table; the first two it must have."""

REASONS = ("stop", "length", "content_filter", "tool_calls", "abort", "error")
"""What servers and engines say of a response's end; "length" is one that was cut."""

LARGEST_ROW = 1 << 24
"""Bytes of a row in a CSV file and characters of a response, 16 Mi: four million tokens."""

MOST_TOKENS = 2**31 - 1
"""No response has more."""


Rows = Iterator[tuple[str, Mapping[str, Any]]]
"""The rows of a table, each with its place in the file."""


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
        files = [file for file in sorted(path.iterdir()) if not file.name.startswith(".")]
        tables = [file for file in files if suffix(file) in READERS and not file.is_dir()]
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
    for where, row in READERS[suffix(path)](path):
        yield check_row(where, row)


def parquet_rows(path: Path) -> Rows:
    """Yield the rows of a Parquet file."""
    with open_parquet(path) as file:
        columns = check_columns(path, file.schema_arrow.names)
        yield from numbered_rows(path, read_batches(file, columns))


def jsonl_rows(path: Path) -> Rows:
    """Yield the rows of a JSON Lines file."""
    for where, row in read_objects(path):
        check_columns(where, row)
        yield where, row


def csv_rows(path: Path) -> Rows:
    """Yield the rows of a CSV file, whose first line names the columns."""
    try:
        with pa.input_stream(check_file(path)) as stream:
            batches = pa_csv.open_csv(
                stream,
                pa_csv.ReadOptions(use_threads=False, block_size=LARGEST_ROW),
                pa_csv.ParseOptions(newlines_in_values=True),
                pa_csv.ConvertOptions(column_types=dict.fromkeys(COLUMNS, pa.string())),
            )
            columns = check_columns(path, batches.schema.names)
            yield from numbered_rows(path, (batch.select(columns) for batch in batches))
    except pa.ArrowException as error:
        if "Empty CSV file" not in str(error):  # no responses, as in an empty .jsonl
            raise ValueError(f"{path} can't be read: {error}") from None


def numbered_rows(path: Path, batches: Iterable[pa.RecordBatch]) -> Rows:
    """Yield the rows of batches, each with its place in the file."""
    number = count()
    for batch in batches:
        for start in range(0, len(batch), BATCH_ROWS):
            for row in batch.slice(start, BATCH_ROWS).to_pylist():
                yield f"{path} row {next(number)}", row


READERS = {".parquet": parquet_rows, ".jsonl": jsonl_rows, ".csv": csv_rows}


def check_columns(where: Path | str, names: Collection[str]) -> list[str]:
    """Return which of a table's columns, or a row's, are read.

    Raises ValueError unless an id and a response are among them, and each is there once.
    """
    check_once(where, names)
    if not {"id", "response"} <= {*names}:
        raise ValueError(f"{where} must have id and response, got {', '.join(names)}")
    return [name for name in COLUMNS if name in names]


def check_row(where: str, row: Mapping[str, Any]) -> Answered:
    """Return a row, checked; ValueError names what is wrong in it."""
    for name in ("id", "response", "finish_reason"):
        text = row.get(name)
        if not isinstance(text, str) and (name == "id" or text is not None):
            raise ValueError(f"{where}: {name} must be a text, got {brief(text)}")
        if text is not None and len(text) > LARGEST_ROW:
            most = f"at most {LARGEST_ROW} characters"
            raise ValueError(f"{where}: {name} must have {most}, got {len(text)}")
    counts = {name: read_count(where, name, row.get(name)) for name in COUNTS}
    tokens, limit = counts["response_tokens"], counts["response_limit"]
    if limit == 0:
        raise ValueError(f"{where}: response_limit must be at least 1, got 0")
    if tokens is not None and limit is not None and tokens > limit:
        most = f"at most response_limit, {limit}"
        raise ValueError(f"{where}: response_tokens must be {most}, got {tokens}")
    reason = row.get("finish_reason") or None
    if reason is not None:
        check_choice(f"{where}: finish_reason", reason, REASONS)
    return Answered(where, row["id"], row["response"], **counts, finish_reason=reason)


def read_count(where: str, name: str, value: Given) -> int | None:
    """Return a number of tokens, also of a table that holds it as 12.0 or, as CSV does, as text."""
    if value is None or value == "":
        return None
    try:
        tokens = float(value)
    except (TypeError, ValueError, OverflowError):
        tokens = -1.0
    if isnan(tokens):  # as pandas writes what is missing
        return None
    if not (tokens.is_integer() and 0 <= tokens <= MOST_TOKENS) or isinstance(value, bool):
        raise ValueError(f"{where}: {name} must be a number of tokens, got {brief(value)}")
    return int(tokens)
