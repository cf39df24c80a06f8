"""Puzzles in files, found by their ids: the ids stand in memory, all else stays on the disk."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cogniload_gen.files.inputs import check_file, read_lines

Part = tuple[pa.Array, Callable[[Sequence[int]], list[dict[str, Any]]]]
"""A piece of a file: the ids of its rows, and a function from positions in it to the rows."""

GROUPS_KEPT = 2
"""Row groups of a Parquet file that stay in memory."""


class StoredPuzzles:
    """The puzzles of a Parquet or JSON Lines file, or of all Parquet files below a folder.

    `ids` are theirs, in the order of the files' names. With `texts`, rows have the column `puzzle`.
    ValueError for a file that holds no rows of puzzles, and for an id that two rows have.
    """

    def __init__(self, path: Path, *, texts: bool = True) -> None:
        parts = [part for file in find_files(path) for part in open_parts(file, texts=texts)]
        self.path = path
        self.ids = pa.chunked_array([ids for ids, _ in parts], pa.string())
        self._rows = [rows for _, rows in parts]
        self._starts = np.cumsum([0] + [len(ids) for ids, _ in parts])
        if not len(self.ids):
            raise ValueError(f"{path} must hold at least one puzzle, got none")
        if len(self.ids.unique()) < len(self.ids):
            counts = pc.value_counts(self.ids)
            twice = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
            raise ValueError(
                f"{path} must hold every puzzle once: {len(twice)} ids are there more than once, "
                f"the first {brief(twice[0].as_py())}"
            )

    def __len__(self) -> int:
        return len(self.ids)

    def positions(self, ids: Sequence[str]) -> list[int | None]:
        """Return where the puzzles of some ids stand; None for an id that no puzzle has."""
        return pc.index_in(pa.array(ids, pa.string()), self.ids).to_pylist()

    def rows(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Return the puzzles at some positions; fast where neighbours are asked for together."""
        asked = np.asarray(positions, dtype=np.int64)
        of_part = np.searchsorted(self._starts, asked, side="right") - 1
        found: dict[int, dict[str, Any]] = {}
        for part in np.unique(of_part):
            here = asked[of_part == part]
            rows = self._rows[part]((here - self._starts[part]).tolist())
            found |= zip(here.tolist(), rows, strict=True)
        return [found[position] for position in asked.tolist()]


def find_files(path: Path) -> list[Path]:
    """Return the files of puzzles that a path is, or that are below it; ValueError for none."""
    if not path.is_dir():
        if path.suffix not in OPENED:
            raise ValueError(
                f"{path} must be a folder of Parquet files, or a file that ends in "
                f"{' or '.join(OPENED)}"
            )
        return [check_file(path)]
    found = (file for file in path.rglob("*.parquet") if not file.name.startswith("."))
    files = sorted(file for file in found if not file.is_dir())
    if not files:
        raise ValueError(f"{path} must hold Parquet files of puzzles, got none")
    return files


def open_parts(file: Path, *, texts: bool) -> Iterator[Part]:
    """Yield the parts of a file; ValueError, in one line, if it is broken or has no puzzles."""
    try:
        yield from OPENED[file.suffix](file, texts)
    except (pa.ArrowException, KeyError, TypeError) as error:
        raise ValueError(f"{file} must hold puzzles: {error}") from None


def parquet_parts(file: Path, texts: bool) -> Iterator[Part]:
    """Yield the row groups of a Parquet file."""
    opened = pq.ParquetFile(file)
    names = opened.schema_arrow.names
    if not {"id", "answer"} <= {*names}:
        raise ValueError(f"{file} must have the columns of puzzles, got {', '.join(names)}")
    columns = [name for name in names if texts or name != "puzzle"]
    read = lru_cache(GROUPS_KEPT)(lambda group: opened.read_row_group(group, columns))

    def rows(group: int, at: Sequence[int]) -> list[dict[str, Any]]:
        return read(group).take(at).to_pylist()

    for group in range(opened.num_row_groups):
        ids = opened.read_row_group(group, ["id"])["id"].cast(pa.string()).combine_chunks()
        yield ids, partial(rows, group)


def jsonl_parts(file: Path, _: bool) -> Iterator[Part]:
    """Yield a JSON Lines file as one part; ValueError names a line that is no puzzle."""
    ids, offsets, offset = [], [], 0
    for number, line in enumerate(read_lines(file), start=1):
        try:
            ids.append(json.loads(line)["id"])
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise ValueError(
                f"{file} line {number} must be a puzzle, got {line[:40]!r} ({error})"
            ) from None
        offsets.append(offset)
        offset += len(line)

    def rows(at: Sequence[int]) -> list[dict[str, Any]]:
        with file.open("rb") as lines:
            return [json.loads(lines.readline()) for each in at if lines.seek(offsets[each]) >= 0]

    yield pa.array(ids, pa.string()), rows


OPENED = {".parquet": parquet_parts, ".jsonl": jsonl_parts}
