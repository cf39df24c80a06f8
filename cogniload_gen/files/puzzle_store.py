"""Puzzles in files, found by their ids: the ids stand in memory, all else stays on the disk."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cogniload_gen.files.inputs import check_file, read_lines
from cogniload_gen.files.parquet import (
    LARGEST_HELD,
    check_held,
    join_row_groups,
    open_parquet,
    read_groups,
)

Rows = tuple[int, list[dict[str, Any]]]
"""Some rows, and the bytes that they take."""

Part = tuple[pa.Array, Callable[[Sequence[int]], Rows]]
"""A piece of a file: the ids of its rows, and a function from positions in it to the rows."""

ReadGroups = Callable[[Path, range, list[str]], pa.Table]
"""As `read_groups`."""


class StoredPuzzles:
    """The puzzles of a Parquet or JSON Lines file, or of all Parquet files below a folder.

    `ids` are theirs, in the order of the files' names. With `texts`, rows have the column `puzzle`.
    ValueError for a file that holds no rows of puzzles, and for an id that two rows have.
    """

    def __init__(self, path: Path, *, texts: bool = True) -> None:
        self.path = path
        self._kept: dict[tuple[Path, range], pa.Table] = {}
        parts = [part for file in find_files(path) for part in self._open_parts(file, texts)]
        self.ids = pa.chunked_array([ids for ids, _ in parts], pa.string())
        self._rows = [rows for _, rows in parts]
        self._starts = np.cumsum([0] + [len(ids) for ids, _ in parts])
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

    def rows(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Return the puzzles at some positions; fast if the positions are neighbours.

        ValueError for rows that are too large to be held together.
        """
        places = np.asarray(positions, dtype=np.int64)
        of_part = np.searchsorted(self._starts, places, side="right") - 1
        by_place: dict[int, dict[str, Any]] = {}
        held = 0
        for part in np.unique(of_part):
            here = places[of_part == part]
            size, rows = self._rows[part]((here - self._starts[part]).tolist())
            check_held(self.path, held := held + size)
            by_place |= zip(here.tolist(), rows, strict=True)
        return [by_place[place] for place in places.tolist()]

    def _open_parts(self, file: Path, texts: bool) -> Iterator[Part]:
        """Yield the parts of a file; ValueError, in one line, if it is broken or has no puzzles."""
        try:
            yield from OPENED[file.suffix](file, texts, self._read_groups)
        except (pa.ArrowException, KeyError, TypeError) as error:
            raise ValueError(f"{file} must hold puzzles: {error}") from None

    def _read_groups(self, file: Path, groups: range, columns: list[str]) -> pa.Table:
        """Return row groups of puzzles; those read last stay in memory."""
        if (file, groups) not in self._kept:
            self._kept[file, groups] = read_groups(file, groups, columns)
            while sum(table.nbytes for table in self._kept.values()) > LARGEST_HELD:
                del self._kept[next(iter(self._kept))]
        return self._kept[file, groups]


def find_files(path: Path) -> list[Path]:
    """Return the files of puzzles that a path is, or that are below it; ValueError for none."""
    if not path.is_dir():
        if path.suffix not in OPENED:
            file = f"a file that ends in {' or '.join(OPENED)}"
            raise ValueError(f"{path} must be a folder of Parquet files, or {file}")
        return [check_file(path)]
    visible = (file for file in path.rglob("*.parquet") if not file.name.startswith("."))
    files = sorted(file for file in visible if not file.is_dir())
    if not files:
        raise ValueError(f"{path} must hold Parquet files of puzzles, got none")
    return files


def repeated_values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values that a column has more than once."""
    counts = pc.value_counts(column)
    return counts.filter(pc.greater(counts.field("counts"), 1)).field("values").to_pylist()


def parquet_parts(file: Path, texts: bool, read: ReadGroups) -> Iterator[Part]:
    """Yield the row groups of a Parquet file, small ones together."""
    with open_parquet(file) as opened:
        names, parts = opened.schema_arrow.names, join_row_groups(opened)
    if not {"id", "answer"} <= {*names}:
        raise ValueError(f"{file} must have the columns of puzzles, got {', '.join(names)}")
    columns = [name for name in names if texts or name != "puzzle"]

    def rows(groups: range, places: Sequence[int]) -> Rows:
        try:
            taken = read(file, groups, columns).take(places)
        except pa.ArrowException as error:  # as of string_view, which Arrow reads but does not take
            raise ValueError(f"{file} must hold puzzles: {error}") from None
        check_held(file, taken.nbytes)
        return taken.nbytes, taken.to_pylist()

    for groups in parts:
        ids = read_groups(file, groups, ["id"])["id"].cast(pa.string()).combine_chunks()
        yield ids, partial(rows, groups)


def jsonl_parts(file: Path, _: bool, __: ReadGroups) -> Iterator[Part]:
    """Yield a JSON Lines file as one part; ValueError names a line that is no puzzle."""
    ids, offsets = [], [0]
    for number, line in enumerate(read_lines(file), start=1):
        try:
            id, _ = itemgetter("id", "answer")(json.loads(line))
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            got = f"got {line[:40]!r} ({error})"
            raise ValueError(f"{file} line {number} must be a puzzle, {got}") from None
        ids.append(id)
        offsets.append(offsets[-1] + len(line))

    def rows(places: Sequence[int]) -> Rows:
        size = sum(offsets[place + 1] - offsets[place] for place in places)
        check_held(file, size)
        with file.open("rb") as lines:
            read = [lines.readline() for place in places if lines.seek(offsets[place]) >= 0]
        return size, list(map(json.loads, read))

    yield pa.array(ids, pa.string()), rows


OPENED = {".parquet": parquet_parts, ".jsonl": jsonl_parts}
