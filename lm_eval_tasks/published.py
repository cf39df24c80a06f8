"""A published split -> the table that a generator would have made, checked."""

from collections.abc import Sequence
from reprlib import repr
from textwrap import shorten

import pyarrow as pa
import pyarrow.compute as pc
from datasets import load_dataset

SELECTION = {"path": None, "name": None, "split": None}
"""The parameters of a task on a published split, with their defaults."""


def load_published(
    path: str,
    name: str | None,
    split: str | None,
    *,
    schema: pa.Schema,
    required: Sequence[str],
) -> pa.Table:
    """The rows of a folder, or a repository on the Hub (user/name), with the columns of `schema`.

    `name` is the configuration and `split` the split: they must be said where there are several.
    Other columns are left out, and lacking ones are null, but for those of `required`, of which
    every row must have a value. ids must differ. Raises ValueError, in one line, if the rows can't
    be loaded or are not so.
    """
    try:
        splits = load_dataset(path, name)
    except Exception as error:  # strangers' files fail in many ways
        # datasets wraps what went wrong into an error that doesn't say it
        cause = shorten(str(error.__cause__ or error), 300, placeholder=" ...")
        raise ValueError(f"path {path!r} can't be loaded: {cause}") from None
    if split is None and len(splits) == 1:
        (split,) = splits
    if split not in splits:
        raise ValueError(f"split of {path!r} must be one of {', '.join(splits)}; got {split!r}")
    table = splits[split].with_format("arrow")[:]
    columns = {}
    for field in schema:
        given = table[field.name] if field.name in table.column_names else pa.nulls(len(table))
        if kind(given.type) not in (kind(field.type), "null"):
            raise ValueError(f"{field.name} of {path!r} must be {field.type}, got {given.type}")
        if field.name in required and given.null_count:
            raise ValueError(f"{field.name} of {path!r} must have a value in every row")
        try:
            columns[field.name] = given.cast(field.type)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{field.name} of {path!r} must be {field.type}: {error}") from None
    twice = pc.value_counts(columns["id"]).to_pylist()
    for row in twice:
        if row["counts"] > 1:
            raise ValueError(f"id of {path!r} must differ in every row, got {repr(row['values'])}")
    return pa.table(columns, schema)


def check_rows(table: pa.Table, path: str, rules: dict[str, tuple[pa.Array, str]]) -> None:
    """Raises ValueError for the first row that breaks a rule.

    `rules` has, by column, which rows are right and what is allowed.
    """
    for column, (right, allowed) in rules.items():
        row = pc.index(right, False).as_py()
        if row >= 0:
            given = repr(table[column][row].as_py())
            raise ValueError(f"{column} of {path!r} must be {allowed}, got {given} in row {row}")


def kind(of: pa.DataType) -> str:
    """What sort of values a type holds: text, number, null, or a list of such."""
    if pa.types.is_list(of) or pa.types.is_large_list(of):
        return f"list of {kind(of.value_type)}"
    if pa.types.is_string(of) or pa.types.is_large_string(of):
        return "text"
    return "number" if pa.types.is_integer(of) or pa.types.is_floating(of) else str(of)
