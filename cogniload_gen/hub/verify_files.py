"""A folder of `cogniload generate OUT/` -> whether its files are those that its manifest says.

Every file is proven by its digest, its number of rows and their ids. Of the row groups, a sample is
made again from the addresses of its puzzles, and solved.
"""

import re
from collections.abc import Iterator
from itertools import accumulate, islice, pairwise
from math import ceil
from pathlib import Path
from reprlib import repr as brief

import pyarrow as pa
from tqdm import tqdm

from cogniload_gen.checks import Given
from cogniload_gen.configurations import check_tokenizer
from cogniload_gen.draws import address_key
from cogniload_gen.files.parquet import BATCH_ROWS, open_parquet
from cogniload_gen.grid import address_columns, batch_bounds
from cogniload_gen.hub import verify
from cogniload_gen.shards import INSTALLED, MANIFEST, PuzzleFiles, digest, read_files

IGNORED = {MANIFEST, "README.md"}
"""Files that are no data; so are those whose names begin with a dot."""


Group = tuple[int, int, range]
"""A row group: the number of its file, its own there, and its rows in the grid."""

Damage = Iterator[str | verify.Difference]
"""What is wrong, in a line each."""


def is_of_files(source: Path | str) -> bool:
    """Tell whether a folder is one that `cogniload generate OUT/` writes, and not `push`."""
    folder = Path(source)
    return folder.is_dir() and ((folder / MANIFEST).exists() or any(folder.glob("*.parquet")))


def check_share(share: Given) -> float:
    """Return 0.01 of "1%"."""
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?)%", str(share))
    if not match or not 0 < float(match[1]) <= 100:
        allowed = "a percentage above 0% and up to 100%, such as 1%"
        raise ValueError(f"--sample must be {allowed}, got {brief(share)}")
    return float(match[1]) / 100


def verify_files(
    folder: Path, *, sample: float = 1.0, tokenizer: str | None = None
) -> verify.Verdict:
    """Prove the files of a folder, and make a share of their row groups again (at least one).

    Which row groups is drawn by the files' digests: one from each stretch of 1 / `sample`. A
    tokenizer by which contexts are measured is loaded only if it is the one given; ValueError for
    another. A folder that is unfinished is not looked at further: a line says how far it is.
    """
    try:
        files = read_files(folder)
    except (ValueError, OSError) as error:
        return verify.Verdict(0, 1, (str(error),))
    if not files.written:
        written = (folder / name for number, name in enumerate(files.names) if files.entry(number))
        there = f"{sum(path.is_file() for path in written)} of {len(files)} files are there"
        line = f"{folder} is unfinished: {there}; the same generate command goes on"
        return verify.Verdict(len(files.selection), 1, (line,), unfinished=True)
    check_tokenizer(files.configuration, str(folder), tokenizer)
    groups: list[Group] = []
    with tqdm(total=len(files.selection), unit=" puzzles", disable=None) as progress:
        damage = list(islice(damage_of_files(files, groups, progress.update), verify.COUNTED))
    digests = (entry.sha256 for entry in files.written.values())
    chosen = choose(groups, sample, address_key(*digests))
    rows = sum(len(rows) for *_, rows in chosen)
    with tqdm(total=rows, unit=" puzzles made again", disable=None) as progress:
        for group in chosen:
            lines = damage_of_group(files, group, progress.update)
            damage += islice(lines, verify.COUNTED - len(damage))
    versions = {} if files.versions == INSTALLED else files.versions
    first = tuple(damage[: verify.SHOWN])
    return verify.Verdict(
        len(files.selection), len(damage), first, len(files), rows, versions=versions
    )


def damage_of_files(files: PuzzleFiles, groups: list[Group], progress: verify.Progress) -> Damage:
    """Yield what is wrong with the files, and add the row groups of those that are right."""
    for name in sorted({path.name for path in files.folder.iterdir()} - {*files.names} - IGNORED):
        if name[0] != ".":
            yield f"{files.folder / name} is not of these puzzles"
    for number, name in enumerate(files.names):
        rows, whole = files.rows(number), True
        for line in damage_of_file(files, number):
            whole = False
            yield line
        if whole:
            with open_parquet(files.folder / name) as file:
                sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            bounds = pairwise(accumulate(sizes, initial=rows.start))
            groups += [(number, group, range(*ends)) for group, ends in enumerate(bounds)]
        progress(len(rows))


def damage_of_file(files: PuzzleFiles, number: int) -> Damage:
    """Yield what is wrong with a file: that it is missing or changed, or its rows are others."""
    path, rows = files.folder / files.names[number], files.rows(number)
    entry = files.entry(number)
    if not path.is_file():
        yield f"{path} is missing"
    elif entry and digest(path) != (entry.bytes, entry.sha256):
        yield f"{path} has changed since it was written: its SHA-256 is not the manifest's"
    else:
        ids = pa.schema([files.source.schema.field("id")])
        made = (
            pa.table({"id": address_columns(files.selection, batch)["id"]}, ids)
            for bounds in batch_bounds(rows.start, rows.stop, most=BATCH_ROWS)
            for batch in [files.selection.batch(*bounds)]
        )
        try:
            there = verify.read_parquet([path], files.source.schema, ["id"])
            yield from verify.located(verify.differing(there, made, ids), path.name)
        except ValueError as error:
            yield str(error)


def choose(groups: list[Group], share: float, key: int) -> list[Group]:
    """Return a share of row groups: one, drawn by a key, of each of as many stretches."""
    count = ceil(share * len(groups))
    bounds = pairwise(len(groups) * place // count for place in range(count + 1)) if count else ()
    return [groups[first + address_key(key, first) % (last - first)] for first, last in bounds]


def damage_of_group(files: PuzzleFiles, group: Group, progress: verify.Progress) -> Damage:
    """Yield what differs in a row group from what the generator makes, or the solver reads."""
    number, place, rows = group
    alone = range(place, place + 1)
    path, schema = files.folder / files.names[number], files.source.schema
    start = rows.start - files.rows(number).start
    try:
        puzzles = verify.read_parquet([path], schema, ["puzzle"], alone)
        if too_short := verify.first_too_short(puzzles, files.selection, rows.start):
            yield from verify.located([too_short], path.name, start)
            return
        there = verify.read_parquet([path], schema, groups=alone)
        made = files.source.tables(rows.start, rows.stop)
        lines = verify.differing(there, made, schema, solved=True, progress=progress)
        yield from verify.located(lines, path.name, start)
    except ValueError as error:
        yield str(error)
