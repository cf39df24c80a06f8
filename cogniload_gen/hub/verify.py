"""A published folder or repository -> whether its rows are those that its card says, and solvable.

Nothing published is trusted: the card's parameters are checked, and the rows are compared with
those that the generator makes of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from reprlib import repr as brief

import pyarrow as pa
from huggingface_hub import snapshot_download
from tqdm import tqdm

from cogniload_gen.benchmarks import solve
from cogniload_gen.configurations import Configuration, check_tokenizer, check_version, splits_of
from cogniload_gen.files.parquet import check_held, open_parquet, read_batches
from cogniload_gen.grid import Selection
from cogniload_gen.hub.card import data_files, read_card
from cogniload_gen.hub.exceptions import hub_errors

REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")

SHOWN = 10
"""The differences that a verdict names."""

COUNTED = 10_000
"""The differences after which it looks no further."""

MADE_BESIDES = 10_000_000
"""Characters that may be made beyond those that are published."""

LENGTHS = ("N", "context")
"""Knobs in statements and in tokens: a puzzle has at least so many characters."""


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
        values = f"published {brief(self.published)}, expected {brief(self.expected)}"
        row = f"row {self.row}" + (f" ({self.id})" if self.id else "")
        return f"{self.where} {row}: {self.column}: {values}".lstrip()


@dataclass(frozen=True)
class Verdict:
    """The rows expected, the values that differ (up to COUNTED), and the first of them."""

    rows: int
    differences: int
    first: tuple[Difference, ...]


def verify(source: Path | str, *, tokenizer: str | None = None) -> Verdict:
    """Compare every row of a published folder, or repository on the Hub, with the generator's.

    The card says which rows they must be; the answer to each puzzle must also be what the solver
    reads from its text alone. A tokenizer by which the card measures contexts is loaded only if it
    is the one given. The work is bounded by what is published: where the puzzles are much shorter
    than the card says, none of the split is made.

    Raises ValueError if there is no such folder, if the card is not ours, of another generator
    version or of another tokenizer, or if a file has other columns or too large row groups;
    FileNotFoundError if it has no README.md; OSError if the Hub can't be reached.
    """
    folder = Path(source)
    is_repository = not folder.is_dir()
    if is_repository:
        if folder.exists() or not REPOSITORY.fullmatch(str(source)):
            raise ValueError(f"{source} must be a folder or a repository user/name")
        folder = download(str(source), ["README.md"])  # may be anyone's, of any size
    elif not (folder / "README.md").exists():
        raise FileNotFoundError(
            f"{source} must hold manifest.json, as `cogniload generate OUT/` writes it, or "
            "README.md, the card of `cogniload push`"
        )
    try:
        configurations = read_card(folder / "README.md")
    except ValueError as error:
        message = f"{source}: not as `cogniload push` writes it: {error!s:.600}"
        raise ValueError(message) from None
    for puzzles in configurations:
        check_version(puzzles, str(source))
        check_tokenizer(puzzles, str(source), tokenizer)
    splits = splits_of(configurations)
    if is_repository:
        patterns = [data_files(puzzles, split) for puzzles, split in splits]
        folder = download(str(source), patterns, revision=folder.name)
    rows = sum(len(puzzles.selection(split)) for puzzles, split in splits)
    with tqdm(total=rows, unit=" puzzles", disable=None) as progress:
        counted = list(islice(differences(folder, splits, progress.update), COUNTED))
    return Verdict(rows, len(counted), tuple(counted[:SHOWN]))


def differences(
    folder: Path, splits: list[tuple[Configuration, str]], progress: Callable[[int], object]
) -> Iterator[Difference]:
    """Yield what differs in some splits of a folder; `progress` gets the rows compared."""
    for puzzles, split in splits:
        where = data_files(puzzles, split)
        texts = read_rows(folder, puzzles, split, ["puzzle"])
        if too_short := first_too_short(texts, puzzles.selection(split), where=where):
            yield too_short
            continue
        there, made = read_rows(folder, puzzles, split), puzzles.source(split).tables()
        yield from differing(
            there, made, puzzles.schema, where=where, solve=solve, progress=progress
        )


def first_too_short(
    published: Iterable[pa.Table], selection: Selection, start: int = 0, *, where: str = ""
) -> Difference | None:
    """Return the first puzzle that is too short, if all that should be there is much more.

    How long the puzzles are must not be left to the card: to make long ones takes long. The first
    one published is row `start` of the selection.
    """
    lacking, first = 0, None
    for rows in published:
        lengths = [len(puzzle or "") for puzzle in rows["puzzle"].to_pylist()]
        batch = selection.batch(start, min(start + len(rows), len(selection)))
        for row, (cell, length) in enumerate(zip(batch.cells, lengths, strict=False), start):
            least = max(getattr(cell, knob, 0) for knob in LENGTHS)
            if length < least:
                lengths_differ = f"{length} characters", f"at least {least}", where
                first = first or Difference(row, None, "puzzle", *lengths_differ)
                lacking += least - length
        if lacking > MADE_BESIDES:
            return first
        start += len(rows)
    return None


def download(repo: str, patterns: list[str], revision: str | None = None) -> Path:
    """Return the folder that has some files of a repository; its name is the revision's."""
    with hub_errors(repo):
        return Path(
            snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=patterns)
        )


def read_rows(
    folder: Path, puzzles: Configuration, split: str, columns: list[str] | None = None
) -> Iterator[pa.Table]:
    """Yield the published rows of a split, or some columns of them, as tables of bounded size."""
    pattern = data_files(puzzles, split)
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise ValueError(f"{folder} must hold {pattern}, got no such file")
    for path in paths:
        yield from read_file(path, puzzles.schema, columns)


def read_file(
    path: Path, schema: pa.Schema, columns: list[str] | None = None, group: int | None = None
) -> Iterator[pa.Table]:
    """Yield the rows of a file, or of one row group, as tables of bounded size.

    ValueError as `open_parquet`, and for other columns than those of `schema`.
    """
    with open_parquet(path) as file:
        if not file.schema_arrow.equals(schema):
            expected, got = (
                ", ".join(f"{field.name}: {field.type}" for field in columns_of)
                for columns_of in (schema, file.schema_arrow)
            )
            raise ValueError(f"{path}: its columns must be {expected}; got {got[:500]!r}")
        for batch in read_batches(file, columns, group):
            yield pa.Table.from_batches([batch])


def differing(
    published: Iterable[pa.Table],
    made: Iterable[pa.Table],
    schema: pa.Schema,
    *,
    where: str = "",
    solve: Callable[[str], str] | None = None,
    progress: Callable[[int], object] = int,
    start: int = 0,
) -> Iterator[Difference]:
    """Yield the values in which published rows differ from those that the generator made.

    Both streams have the columns of `schema`, and their first row has the number `start`. A row
    that one of them lacks differs in its id, None; of many that are not published, those of one
    table are named. With `solve`, an answer that it does not read from its puzzle differs too.
    """
    take = row_taker(published, schema)
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
    """Return a function that takes the next rows off a stream of tables, or what is left."""
    tables, held = iter(tables), schema.empty_table()

    def take(count: int) -> pa.Table:
        nonlocal held
        while len(held) < count and (table := next(tables, None)) is not None:
            held = pa.concat_tables([held, table])
            check_held("published", held.nbytes)
        taken, held = held.slice(0, count), held.slice(count)
        return taken

    return take


def unsolved(
    rows: pa.Table, ids: list[str], start: int, where: str, solve: Callable[[str], str]
) -> Iterator[Difference]:
    """Yield the rows whose answer is not what the solver reads from the puzzle."""
    values = (rows[name].to_pylist() for name in ("puzzle", "answer"))
    for row, (puzzle, answer, id) in enumerate(zip(*values, ids, strict=True), start):
        try:
            solved = solve(puzzle or "")
        except ValueError as error:
            solved = str(error)
        if solved != answer:
            yield Difference(row, id, "answer by the solver", answer, solved, where)
