"""A published folder or repository -> whether its rows are those that its card says, and solvable.

Nothing published is trusted: the card's parameters are checked, and the rows are compared with
those that the generator makes of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr

import pyarrow as pa
import pyarrow.parquet as pq
from huggingface_hub import snapshot_download
from tqdm import tqdm

from cogniload_gen.card import data_files, read_sets
from cogniload_gen.hub import hub_errors
from cogniload_gen.published import PuzzleSet
from cogniload_gen.solve import solve
from cogniload_gen.version import GENERATOR_VERSION

REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")

SHOWN = 10
"""The differences that a verdict names; it counts them all."""


@dataclass(frozen=True)
class Difference:
    """A published row's value that is not the one it should be; `where` names its split's files.

    `id` is the one that the row should have, None of a row too many.
    """

    row: int
    id: str | None
    column: str
    published: object
    expected: object
    where: str = ""

    def __str__(self) -> str:
        values = f"published {repr(self.published)}, expected {repr(self.expected)}"
        row = f"row {self.row}" + (f" ({self.id})" if self.id else "")
        return f"{self.where} {row}: {self.column}: {values}".lstrip()


@dataclass(frozen=True)
class Verdict:
    """What `verify` found: rows compared, values that differ, and the first of those."""

    rows: int
    differences: int
    first: tuple[Difference, ...]


def verify(source: Path | str) -> Verdict:
    """Compares every row of a published folder, or repository on the Hub, with the generator's.

    The card says which rows they must be; the answer to each puzzle must also be what the solver
    reads from its text alone. Raises ValueError if there is no such folder, if the card is
    not ours or of another generator version, or if a file has other columns; OSError if the Hub
    can't be reached.
    """
    folder = Path(source)
    is_repository = not folder.is_dir()
    if is_repository:
        if folder.exists() or not REPOSITORY.fullmatch(str(source)):
            raise ValueError(f"{source} must be a folder or a repository user/name")
        folder = download(str(source), ["README.md"])  # may be anyone's, of any size
    try:
        sets = read_sets(folder / "README.md")
    except ValueError as error:
        message = f"{source}: not as `cogniload push` writes it: {error!s:.600}"
        raise ValueError(message) from None
    for each in sets:
        if each.generator_version != GENERATOR_VERSION:
            raise ValueError(
                f"{source}: {each.name} is of generator version {each.generator_version}; "
                f"this release makes version {GENERATOR_VERSION} again"
            )
    splits = [(each, split) for each in sets for split in each.splits]
    if is_repository:
        patterns = [data_files(each, split) for each, split in splits]
        folder = download(str(source), patterns, revision=folder.name)
    rows = sum(len(each.source(split).grid) for each, split in splits)
    differences, first = 0, []
    with tqdm(total=rows, unit=" puzzles", disable=None) as progress:
        for each, split in splits:
            found = differing(
                read_rows(folder, each, split), each.source(split).tables(), each.schema,
                where=data_files(each, split), solve=solve, progress=progress.update,
            )  # fmt: skip
            for difference in found:
                differences += 1
                first += [difference] if len(first) < SHOWN else []
    return Verdict(rows, differences, tuple(first))


def download(repo: str, patterns: list[str], revision: str | None = None) -> Path:
    """The folder that has some files of a repository; its name is the revision's."""
    with hub_errors(repo):
        return Path(
            snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=patterns)
        )


def read_rows(folder: Path, puzzles: PuzzleSet, split: str) -> Iterator[pa.Table]:
    """The published rows of a split, a row group after the other."""
    pattern = data_files(puzzles, split)
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise ValueError(f"{folder} must hold {pattern}, got no such file")
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                check_columns(file.schema_arrow, puzzles.schema)
                for group in range(file.num_row_groups):
                    yield file.read_row_group(group)
        except (ValueError, OSError, pa.ArrowException) as error:
            raise ValueError(f"{path}: {error}") from None


def check_columns(given: pa.Schema, wanted: pa.Schema) -> None:
    """Raises ValueError unless two schemas have the same columns of the same types."""
    if not given.equals(wanted):
        expected, got = (
            ", ".join(f"{field.name}: {field.type}" for field in schema)
            for schema in (wanted, given)
        )
        raise ValueError(f"its columns must be {expected}; got {got[:500]!r}")


def differing(
    published: Iterable[pa.Table],
    made: Iterable[pa.Table],
    schema: pa.Schema,
    *,
    where: str = "",
    solve: Callable[[str], str] | None = None,
    progress: Callable[[int], object] = int,
) -> Iterator[Difference]:
    """The values in which published rows differ from those that the generator made.

    Both streams have the columns of `schema`. A row that one of them lacks differs in its id, None;
    of many that are not published, those of one table are told. With `solve`, an answer that it
    does not read from its puzzle differs too.
    """
    take, start = row_taker(published, schema), 0
    for expected in made:
        rows = take(len(expected))
        common = expected.slice(0, len(rows))
        ids = common["id"].to_pylist()
        for name in expected.column_names:
            if not rows[name].equals(common[name]):
                values = rows[name].to_pylist(), common[name].to_pylist(), ids
                for row, (value, other, id) in enumerate(zip(*values, strict=True), start):
                    if value != other:
                        yield Difference(row, id, name, value, other, where)
        for row, missing in enumerate(expected["id"][len(rows) :].to_pylist(), start + len(rows)):
            yield Difference(row, missing, "id", None, missing, where)
        if solve:
            yield from unsolved(rows, ids, start, where, solve)
        start += len(expected)
        progress(len(rows))
        if len(rows) < len(expected):
            return  # however many more a stranger's card asks for
    while len(rows := take(1)):
        (surplus,) = rows["id"].to_pylist()
        yield Difference(start, None, "id", surplus, None, where)
        start += 1


def row_taker(tables: Iterable[pa.Table], schema: pa.Schema) -> Callable[[int], pa.Table]:
    """A function that takes the next rows off a stream of tables; at its end, what is left."""
    tables, held = iter(tables), schema.empty_table()

    def take(count: int) -> pa.Table:
        nonlocal held
        while len(held) < count and (table := next(tables, None)) is not None:
            held = pa.concat_tables([held, table])
        taken, held = held.slice(0, count), held.slice(count)
        return taken

    return take


def unsolved(
    rows: pa.Table, ids: list[str], start: int, where: str, solve: Callable[[str], str]
) -> Iterator[Difference]:
    """The rows whose answer is not what the solver reads from the puzzle."""
    values = (rows[name].to_pylist() for name in ("puzzle", "answer"))
    for row, (puzzle, answer, id) in enumerate(zip(*values, ids, strict=True), start):
        try:
            solved = solve(puzzle or "")
        except ValueError as error:
            solved = error
        if solved != answer:
            yield Difference(row, id, "answer by the solver", answer, str(solved), where)
