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
from cogniload_gen.grid import Source
from cogniload_gen.hub import REPOSITORY, hub_errors
from cogniload_gen.hub.card import data_files, read_card
from cogniload_gen.shards import MANIFEST, Configuration, read_files, read_manifest, splits_of
from cogniload_gen.tables import reading

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
    groups, whole = (_open_generated if is_generated else _open_pushed)(folder, tokenizer)
    lines, made_again = list(whole.differences), 0
    count = ceil(sample * len(groups))
    chosen = [groups[place * len(groups) // count] for place in range(count)]
    for group in tqdm(chosen, unit=" row groups", disable=None):
        if len(lines) < SHOWN:
            lines += _differences(group)
            made_again += group.rows
    return whole._replace(made_again=made_again, differences=tuple(lines))


def check_share(share: Any) -> float:
    """Return 0.01 of "1%", and 1 of None."""
    text = "100%" if share is None else str(share)
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?)%", text)
    if not match or not 0 < float(match[1]) <= 100:
        allowed = "a percentage above 0% and up to 100%, such as 1%"
        raise ValueError(f"--sample must be {allowed}, got {brief(share)}")
    return float(match[1]) / 100


def first_difference(there: pa.Table, made: pa.Table, start: int = 0) -> int | None:
    """Return the number of the first row that differs, from `start` on; None if the tables equal.

    Of tables with other columns, that is the first row.
    """
    if there.equals(made):
        return None
    rows = zip(there.to_pylist(), made.to_pylist(), strict=False)
    differ = (row for row, (is_there, expected) in enumerate(rows, start) if is_there != expected)
    return next(differ, start + min(len(there), len(made)))


def _differences(group: _Group) -> Iterator[str]:
    where = f"{group.file.parent.name}/{group.file.name}"
    stop = min(group.start + group.rows, len(group.source.selection))
    if stop <= group.start:
        return  # there are more rows than there should be, which is said
    with reading(group.file), pq.ParquetFile(group.file) as file:
        there = file.read_row_group(group.number)
    made = pa.concat_tables(group.source.tables(group.start, stop))
    row = first_difference(there, made, group.start)
    if row is not None:
        yield f"{where} row {row} is not as made"
        return
    for row in there.select(["id", "puzzle", "answer"]).to_pylist():
        if solve(row["puzzle"]) != row["answer"]:
            yield f"{where} ({row['id']}): the solver reads another answer"


def _check(puzzles: Configuration, source: Path, tokenizer: str | None) -> None:
    """Raise ValueError if this release makes other puzzles, or if it may not load a tokenizer."""
    of, ours = f"{source}: {puzzles.name}", puzzles.benchmark.version
    if (version := puzzles.generator_version) != ours:
        hint = f"this release makes version {ours} again"
        raise ValueError(f"{of} is of generator version {version}; {hint}")
    measure = puzzles.options.get("tokenizer")
    if measure not in (None, tokenizer):
        hint = "pass --tokenizer with its name to load it"
        raise ValueError(f"{of} measures by the tokenizer {brief(measure)}: {hint}")


def _open_generated(folder: Path, tokenizer: str | None) -> tuple[list[_Group], Verdict]:
    files = read_files(folder)
    _check(files.configuration, folder, tokenizer)
    groups: list[_Group] = []
    wrong: list[str] = []
    if "files" not in read_manifest(folder):
        there = sum((folder / name).exists() for name in files.names)
        so_far = f"{there} of {len(files)} files are there; the same generate command goes on"
        return groups, Verdict(len(files.selection), len(files), 0, (f"{folder}: {so_far}",))
    for stray in sorted({path.name for path in folder.glob("*.parquet")} - {*files.names}):
        wrong.append(f"{folder / stray} is not of these puzzles")
    for number, name in enumerate(files.names):
        if files.proven(number):
            groups += _groups(folder / name, files.source, files.rows(number).start)
        else:
            how = "has changed since it was written" if (folder / name).exists() else "is missing"
            wrong.append(f"{folder / name} {how}")
    return groups, Verdict(len(files.selection), len(files), 0, tuple(wrong))


def _open_pushed(source: Path, tokenizer: str | None) -> tuple[list[_Group], Verdict]:
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
        _check(puzzles, source, tokenizer)
    if folder != source:
        patterns = [data_files(*of) for of in splits]
        folder = _download(str(source), patterns, revision=folder.name)
    groups: list[_Group] = []
    total, count, wrong = 0, 0, []
    for puzzles, split in splits:
        made, rows, pattern = puzzles.source(split), 0, data_files(puzzles, split)
        for file in sorted(folder.glob(pattern)):
            groups += (found := _groups(file, made, rows))
            rows += sum(group.rows for group in found)
            count += 1
        total += len(made.selection)
        if rows != len(made.selection):
            wrong.append(f"{pattern} must have {len(made.selection)} rows, got {rows}")
    return groups, Verdict(total, count, 0, tuple(wrong))


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
