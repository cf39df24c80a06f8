"""A published folder or repository -> whether its rows are those that its card says, and solvable.

Nothing published is trusted: the card's parameters are checked, and the rows are compared with
those that the generator makes of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from reprlib import repr as brief
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa
from huggingface_hub import snapshot_download
from tqdm import tqdm

from cogniload_gen.benchmarks import solve
from cogniload_gen.configurations import Configuration, check_tokenizer, check_version, splits_of
from cogniload_gen.files.parquet import check_held, open_parquet, read_batches
from cogniload_gen.grid import Selection
from cogniload_gen.hub.card import data_files, read_card
from cogniload_gen.hub.exceptions import hub_errors

Tables = Iterable[pa.Table]
Progress = Callable[[int], object]
"""A function that gets the number of rows that are done."""

REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")

SHOWN = 10
"""The differences that a verdict names."""

COUNTED = 10_000
"""The differences after which it looks no further."""

MADE_BESIDES = 10_000_000
"""Characters that may be made beyond those that are published."""

LENGTHS = ("N", "context")
"""Knobs in statements and in tokens: a puzzle has at least so many characters."""


class Difference(NamedTuple):
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


class Verdict(NamedTuple):
    """The rows expected, how many things differ (up to COUNTED), and the first of them.

    Of a folder of `generate` also: its files, the rows that were made again, and whether it is
    unfinished. `versions` are those that its manifest claims made the files, where they are not
    installed: nothing can check them.
    """

    rows: int
    differences: int
    first: tuple[Difference | str, ...]
    files: int = 0
    made_again: int = 0
    unfinished: bool = False
    versions: Mapping[str, str] = MappingProxyType({})


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
        folders = "manifest.json, as `cogniload generate OUT/` writes it, or README.md, the card"
        raise FileNotFoundError(f"{source} must hold {folders} of `cogniload push`")
    configurations = read_card(folder / "README.md", str(source))
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
    folder: Path, splits: list[tuple[Configuration, str]], progress: Progress
) -> Iterator[Difference]:
    """Yield what differs in some splits of a folder; `progress` gets the rows compared."""
    for puzzles, split in splits:
        pattern, schema = data_files(puzzles, split), puzzles.schema
        paths = sorted(folder.glob(pattern))
        if not paths:
            raise ValueError(f"{folder} must hold {pattern}, got no such file")
        texts, there = read_parquet(paths, schema, ["puzzle"]), read_parquet(paths, schema)
        if too_short := first_too_short(texts, puzzles.selection(split)):
            yield too_short._replace(where=pattern)
            continue
        made = puzzles.source(split).tables()
        lines = differing(there, made, schema, solved=True, progress=progress)
        yield from located(lines, pattern)


def first_too_short(
    published: Iterable[pa.Table], selection: Selection, start: int = 0
) -> Difference | None:
    """Return the first puzzle that is too short, if all that should be there is much more.

    How long the puzzles are must not be left to the card: to make long ones takes long. The first
    one published is row `start` of the selection.
    """
    lacking, first, number = 0, None, 0
    for rows in published:
        lengths = [len(puzzle or "") for puzzle in rows["puzzle"].to_pylist()]
        begin = start + number
        batch = selection.batch(begin, min(begin + len(rows), len(selection)))
        for row, (cell, length) in enumerate(zip(batch.cells, lengths, strict=False), number):
            least = max(getattr(cell, knob, 0) for knob in LENGTHS)
            if length < least:
                lengths_differ = f"{length} characters", f"at least {least}"
                first = first or Difference(row, None, "puzzle", *lengths_differ)
                lacking += least - length
        if lacking > MADE_BESIDES:
            return first
        number += len(rows)
    return None


def located(lines: Iterable[Difference], where: str, start: int = 0) -> Iterator[Difference]:
    """Yield differences with the file that they are in, whose row `start` is their row 0."""
    for line in lines:
        yield line._replace(where=where, row=start + line.row)


def download(repo: str, patterns: list[str], revision: str | None = None) -> Path:
    """Return the folder that has some files of a repository; its name is the revision's."""
    chosen: dict[str, Any] = {"revision": revision, "allow_patterns": patterns}
    with hub_errors(repo):
        return Path(snapshot_download(repo, repo_type="dataset", **chosen))


def read_parquet(
    paths: Iterable[Path],
    schema: pa.Schema,
    columns: list[str] | None = None,
    groups: range | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows of files, or of some row groups, as tables of bounded size.

    ValueError as `open_parquet`, and for other columns than those of `schema`.
    """
    for path in paths:
        with open_parquet(path) as file:
            if not file.schema_arrow.equals(schema):
                expected, got = map(describe_columns, (schema, file.schema_arrow))
                raise ValueError(f"{path}: its columns must be {expected}; got {got[:500]!r}")
            for batch in read_batches(file, columns, groups):
                yield pa.Table.from_batches([batch])


def describe_columns(schema: pa.Schema) -> str:
    """Return the names and types of columns."""
    return ", ".join(f"{field.name}: {field.type}" for field in schema)


def differing(
    published: Tables,
    made: Tables,
    schema: pa.Schema,
    solved: bool = False,
    progress: Progress = int,
) -> Iterator[Difference]:
    """Yield the values in which published rows differ from those that the generator made.

    Both streams have the columns of `schema`. A row that one of them lacks differs in its id, None;
    of many that are not published, those of one table are named. If they are to be `solved`, an
    answer that the solver does not read from its puzzle differs too.
    """
    take, start = row_taker(published, schema), 0
    for expected in made:
        rows = take(len(expected))
        common = expected.slice(0, len(rows))
        pairs = {name: (rows[name], common[name]) for name in expected.column_names}
        if solved:
            answers = map(read_answer, rows["puzzle"].to_pylist())
            solutions = pa.chunked_array([pa.array(answers, pa.string())])
            pairs["answer by the solver"] = rows["answer"], solutions
        for name, pair in pairs.items():
            if not pair[0].equals(pair[1]):
                columns = (column.to_pylist() for column in (common["id"], *pair))
                for row, (id, value, other) in enumerate(zip(*columns, strict=True), start):
                    if value != other:
                        yield Difference(row, id, name, value, other)
        for row, missing in enumerate(expected["id"][len(rows) :].to_pylist(), start + len(rows)):
            yield Difference(row, missing, "id", None, missing)
        start += len(expected)
        progress(len(rows))
        if len(rows) < len(expected):
            return  # however many more a stranger's card asks for
    while len(rows := take(1)):
        (surplus,) = rows["id"].to_pylist()
        yield Difference(start, None, "id", surplus, None)
        start += 1


def read_answer(puzzle: str | None) -> str:
    """Return the answer that the solver reads from a puzzle, or why it reads none."""
    try:
        return solve(puzzle or "")
    except ValueError as error:
        return str(error)


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
