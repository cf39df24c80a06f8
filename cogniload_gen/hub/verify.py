"""A folder or repository of puzzles -> whether its rows are those that it says, and solvable.

What was pushed says in its card which puzzles it holds, and what `cogniload generate OUT/` wrote
says it in its manifest.json, with the digest of each file. The puzzles are made again and compared.
"""

import re
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from huggingface_hub import snapshot_download
from tqdm import tqdm

from cogniload_gen.benchmarks import solve
from cogniload_gen.checks import Given
from cogniload_gen.configurations import check_tokenizer, check_version, splits_of
from cogniload_gen.grid import Source
from cogniload_gen.hub.card import data_files, read_card
from cogniload_gen.hub.exceptions import hub_errors
from cogniload_gen.shards import MANIFEST, read_files, read_manifest
from cogniload_gen.tables import reading

REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")

SHOWN = 10
"""The differences that are named: one for each row group, at most."""


class Verdict(NamedTuple):
    """The rows that should be there, in how many files, and how many rows were made again.

    `differences` are the first of what is wrong, a line each; none if all that was compared is the
    same.
    """

    rows: int
    files: int
    made_again: int
    differences: tuple[str, ...]

    def __str__(self) -> str:
        if self.differences:
            return f"differs from its {self.rows} rows"
        files = f"{self.files} file{'s' * (self.files != 1)}"
        made = f"{self.made_again} made again, the same, and solved"
        return f"is whole: {self.rows} rows in {files}; {made}"


class _Group(NamedTuple):
    """A row group: its file, its number there, and the puzzles, from `start` on, that it holds."""

    file: Path
    number: int
    source: Source
    start: int
    rows: int


class _Opened(NamedTuple):
    """What is to be compared: its row groups, and the rows and files that should be there."""

    groups: list[_Group]
    rows: int
    files: int
    wrong: list[str]


def verify(source: Path | str, *, sample: float = 1.0, tokenizer: str | None = None) -> Verdict:
    """Compare the rows of `source` with those that the generator makes, and solve every puzzle.

    `source` is a folder of `push`, its repository on the Hub (user/name), or a folder of `generate
    OUT/`, whose files are also compared with their digests. Of the row groups, a share `sample`
    (above 0, up to 1) is made again, at least one. A tokenizer by which contexts are measured is
    loaded only if it is the one given.

    Raises ValueError if there is no such folder, if what says which puzzles it holds is not ours,
    of another generator version or of another tokenizer, and for a broken file; FileNotFoundError
    if it says nothing; OSError if the Hub can't be reached.
    """
    folder = Path(source)
    is_generated = (folder / MANIFEST).exists()
    opened = (_open_generated if is_generated else _open_pushed)(folder, tokenizer)
    groups, lines = opened.groups, list(opened.wrong)
    count = ceil(sample * len(groups))
    chosen = [groups[place * len(groups) // count] for place in range(count)]
    made_again = 0
    with tqdm(total=count, unit=" row groups", disable=None) as progress:
        for group in chosen:
            if len(lines) < SHOWN:
                lines += _differences(group)
                made_again += group.rows
                progress.update()
    return Verdict(opened.rows, opened.files, made_again, tuple(lines))


def check_share(share: Given) -> float:
    """Return 0.01 of "1%", and 1 of None."""
    text = "100%" if share is None else str(share)
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?)%", text)
    if not match or not 0 < float(match[1]) <= 100:
        allowed = "a percentage above 0% and up to 100%, such as 1%"
        raise ValueError(f"--sample must be {allowed}, got {brief(share)}")
    return float(match[1]) / 100


def first_difference(there: pa.Table, made: pa.Table, start: int = 0) -> str | None:
    """Return which cells of the first row that differs do so; None if the tables are equal.

    Of tables with other columns, return the columns. The rows are numbered from `start`.
    """
    if there.equals(made):
        return None
    if not there.schema.equals(made.schema):
        return f"columns {', '.join(f'{field.name}: {field.type}' for field in there.schema)}"
    for row, (is_there, expected) in enumerate(
        zip(there.to_pylist(), made.to_pylist(), strict=False), start
    ):
        if columns := [name for name in expected if is_there[name] != expected[name]]:
            return f"row {row} ({expected['id']}): {', '.join(columns)}"
    return f"row {start + min(len(there), len(made))}: id"


def _differences(group: _Group) -> Iterator[str]:
    where = f"{group.file.parent.name}/{group.file.name}"
    stop = min(group.start + group.rows, len(group.source.selection))
    if stop <= group.start:
        return  # there are more rows than there should be, which is said
    with reading(group.file), pq.ParquetFile(group.file) as file:
        there = file.read_row_group(group.number)
    made = pa.concat_tables(group.source.tables(group.start, stop))
    if line := first_difference(there, made, group.start):
        yield f"{where} {line} is not as made"
        return
    for row in there.select(["id", "puzzle", "answer"]).to_pylist():
        if solve(row["puzzle"]) != row["answer"]:
            yield f"{where} ({row['id']}): the solver reads another answer"


def _open_generated(folder: Path, tokenizer: str | None) -> _Opened:
    files = read_files(folder)
    rows, count = len(files.selection), len(files)
    if "files" not in read_manifest(folder):
        there = sum((folder / name).exists() for name in files.names)
        so_far = f"{there} of {count} files are there; the same generate command goes on"
        return _Opened([], rows, count, [f"{folder} is unfinished: {so_far}"])
    check_tokenizer(files.configuration, str(folder), tokenizer)
    opened = _Opened([], rows, count, [])
    for stray in sorted({path.name for path in folder.glob("*.parquet")} - {*files.names}):
        opened.wrong.append(f"{folder / stray} is not of these puzzles")
    for number, name in enumerate(files.names):
        if files.proven(number):
            opened.groups.extend(_groups(folder / name, files.source, files.rows(number).start))
        else:
            how = "has changed since it was written" if (folder / name).exists() else "is missing"
            opened.wrong.append(f"{folder / name} {how}")
    return opened


def _open_pushed(source: Path, tokenizer: str | None) -> _Opened:
    folder = source
    if not source.is_dir():
        if source.exists() or not REPOSITORY.fullmatch(str(source)):
            raise ValueError(f"{source} must be a folder or a repository user/name")
        folder = _download(str(source), ["README.md"])
    elif not (source / "README.md").exists():
        folders = "manifest.json, as `cogniload generate OUT/` writes it, or README.md, the card"
        raise FileNotFoundError(f"{source} must hold {folders} of `cogniload push`")
    splits = splits_of(read_card(folder / "README.md", str(source)))
    for puzzles, _ in splits:
        check_version(puzzles, str(source))
        check_tokenizer(puzzles, str(source), tokenizer)
    if folder != source:
        patterns = [data_files(*of) for of in splits]
        folder = _download(str(source), patterns, revision=folder.name)
    groups: list[_Group] = []
    total, count, wrong = 0, 0, []
    for puzzles, split in splits:
        made, rows = puzzles.source(split), 0
        for file in sorted(folder.glob(data_files(puzzles, split))):
            groups += (found := _groups(file, made, rows))
            rows += sum(group.rows for group in found)
            count += 1
        total += len(made.selection)
        if rows != len(made.selection):
            where = data_files(puzzles, split)
            wrong.append(f"{where} must have {len(made.selection)} rows, got {rows}")
    return _Opened(groups, total, count, wrong)


def _groups(file: Path, source: Source, start: int) -> list[_Group]:
    groups = []
    with reading(file), pq.ParquetFile(file) as opened:
        for number in range(opened.num_row_groups):
            rows = opened.metadata.row_group(number).num_rows
            groups.append(_Group(file, number, source, start, rows))
            start += rows
    return groups


def _download(repo: str, patterns: list[str], revision: str | None = None) -> Path:
    """Return the folder that has some files of a repository; its name is the revision's."""
    chosen: dict[str, Any] = {"revision": revision, "allow_patterns": patterns}
    with hub_errors(repo):
        return Path(snapshot_download(repo, repo_type="dataset", **chosen))
