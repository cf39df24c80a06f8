"""A folder or repository of puzzles -> whether its rows are those that it says, and solvable.

What was pushed says in its card which puzzles it holds, and what `cogniload generate OUT/` wrote
says it in its manifest.json, with the digest of each file. The puzzles are made again and compared.
"""

import re
from collections.abc import Iterator, Sequence
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
    differences: Sequence[str]

    def __str__(self) -> str:
        if self.differences:
            return f"differs from its {self.rows} rows"
        files = f"{self.files} file{'s' * (self.files != 1)}"
        made = f"{self.made_again} made again, the same, and solved"
        return f"is whole: {self.rows} rows in {files}; {made}"


class _Group(NamedTuple):
    """A row group: its file, its number there, its rows, and its first row in the source."""

    file: Path
    number: int
    rows: int
    source: Source
    start: int


_Part = tuple[Configuration, str, list[Path]]
"""A configuration, one of its splits, and the files of it."""


def verify(source: Path | str, *, sample: float = 1.0, tokenizer: str | None = None) -> Verdict:
    """Compare the rows of `source` with those that the generator makes, and solve every puzzle.

    `source` is a folder of `push`, its repository on the Hub (user/name), or a folder of `generate
    OUT/`, whose files are also compared with their digests. Of the row groups, a share `sample`
    (above 0, up to 1) is made again, at least one; none where files are missing or changed. A
    tokenizer by which contexts are measured is loaded only if it is the one given.

    Raises ValueError if there is no such folder, if what says which puzzles it holds is not ours,
    of another generator version or of another tokenizer, and for a broken file; FileNotFoundError
    if it says nothing; OSError if the Hub can't be reached.
    """
    folder = Path(source)
    is_generated = (folder / MANIFEST).exists()
    parts, wrong = (_find_generated if is_generated else _find_pushed)(folder, tokenizer)
    groups: list[_Group] = []
    for puzzles, split, files in [] if wrong else parts:
        groups += (found := _groups(puzzles.source(split), files))
        if (rows := sum(group.rows for group in found)) != len(puzzles.grid):
            of = data_files(puzzles, split)
            wrong.append(f"{of} must have {len(puzzles.grid)} rows, got {rows}")
    made_again, count = 0, ceil(sample * len(groups))
    chosen = [groups[place * len(groups) // count] for place in range(count)]
    for group in tqdm([] if wrong else chosen, unit=" row groups", disable=None):
        if len(wrong) < SHOWN:
            wrong += _differences(group)
            made_again += group.rows
    rows = sum(len(puzzles.grid) for puzzles, *_ in parts)
    return Verdict(rows, sum(len(files) for *_, files in parts), made_again, wrong[:SHOWN])


def check_share(share: Any) -> float:
    """Return 0.01 of "1%", and 1 of None."""
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?)%", "100%" if share is None else str(share))
    if not match or not 0 < float(match[1]) <= 100:
        allowed = "a percentage above 0% and up to 100%, such as 1%"
        raise ValueError(f"--sample must be {allowed}, got {brief(share)}")
    return float(match[1]) / 100


def _differences(group: _Group) -> Iterator[str]:
    where = f"{group.file.parent.name}/{group.file.name}"
    with reading(group.file), pq.ParquetFile(group.file) as file:
        there = file.read_row_group(group.number)
    made = pa.concat_tables(group.source.tables(group.start, group.start + group.rows))
    if not there.equals(made):
        rows = range(group.rows)
        first = next(row for row in rows if not there.slice(row, 1).equals(made.slice(row, 1)))
        yield f"{where} row {group.start + first} is not as made"
        return
    for row in there.select(["id", "puzzle", "answer"]).to_pylist():
        if solve(row["puzzle"]) != row["answer"]:
            yield f"{where} ({row['id']}): the solver reads another answer"


def _check(puzzles: Configuration, source: Path, tokenizer: str | None) -> None:
    """Raise ValueError if this release makes other puzzles, or if it may not load a tokenizer."""
    of, ours = f"{source}: {puzzles.name}", puzzles.benchmark.version
    if (version := puzzles.grid.version) != ours:
        hint = f"this release makes version {ours} again"
        raise ValueError(f"{of} is of generator version {version}; {hint}")
    measure = puzzles.grid.options.get("tokenizer")
    if measure not in (None, tokenizer):
        hint = "pass --tokenizer with its name to load it"
        raise ValueError(f"{of} measures by the tokenizer {brief(measure)}: {hint}")


def _find_generated(folder: Path, tokenizer: str | None) -> tuple[list[_Part], list[str]]:
    files = read_files(folder)
    _check(files.configuration, folder, tokenizer)
    strays = sorted({path.name for path in folder.glob("*.parquet")} - {*files.names})
    wrong = [f"{folder / stray} is not of these puzzles" for stray in strays]
    if "files" not in read_manifest(folder):
        there = sum((folder / name).exists() for name in files.names)
        so_far = f"{there} of {len(files)} files are there; the same generate command goes on"
        wrong = [f"{folder}: {so_far}"]
    paths = [folder / name for name in files.names]
    for number, path in enumerate([] if wrong else paths):
        if not files.is_whole(number):
            how = "has changed since it was written" if path.exists() else "is missing"
            wrong.append(f"{path} {how}")
    return [(files.configuration, files.grid.split, paths)], wrong


def _find_pushed(source: Path, tokenizer: str | None) -> tuple[list[_Part], list[str]]:
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
        patterns = [data_files(*each) for each in splits]
        folder = _download(str(source), patterns, revision=folder.name)
    return [(*each, sorted(folder.glob(data_files(*each)))) for each in splits], []


def _groups(source: Source, files: list[Path]) -> list[_Group]:
    groups, start = [], 0
    for file in files:
        with reading(file):
            about = pq.read_metadata(file)
        for number in range(about.num_row_groups):
            rows = about.row_group(number).num_rows
            groups.append(_Group(file, number, rows, source, start))
            start += rows
    return groups


def _download(repo: str, patterns: list[str], revision: str | None = None) -> Path:
    """Return the folder that has some files of a repository; its name is the revision's."""
    with hub_errors(repo):
        return Path(
            snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=patterns)
        )
