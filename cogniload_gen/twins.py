"""The twins of the puzzles that a run failed and solved: what `cogniload why` asks or writes.

Which puzzles these are depends on the run's samples and a seed alone, so a command that is started
again goes on with the same ones.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.sample import naming, read_samples, request_settings
from cogniload_gen.tables import table_writer

REPEATED = ("again", "hay=0")
"""Changes with the text of the puzzle, and with that of another change."""


class Tried(NamedTuple):
    """A puzzle that a run tried: its id, its cell, whether it was solved, and where it is."""

    id: str
    cell: str
    solved: bool
    file: Path


class Chosen(NamedTuple):
    """A puzzle that gets twins: its benchmark, its row in the run, its address and the changes."""

    benchmark: Benchmark
    doc: dict[str, Any]
    address: dict[str, Any]
    changes: list[str]


class Twins(NamedTuple):
    """Twins of chosen puzzles: the table, its benchmark, the run's task and the tokens of each.

    `scored` is where a report finds the scores of responses to them, as a part of the run.
    """

    table: pa.Table
    benchmark: Benchmark
    task: str
    context_budget: int | None
    scored: Path


def make_twins(run: Path, budget: int, seed: int) -> Twins:
    """Return the twins of failures of a run, and of as many solved puzzles, at most `budget`.

    `run` is a results folder, or one of its samples files. ValueError for samples of several models
    or benchmarks, where nothing failed, and for puzzles that this version does not make.
    """
    inside = (file for end in ("", ".gz") for file in run.rglob(f"samples_*.jsonl{end}"))
    files = [run] if run.is_file() else sorted(inside)
    # of a puzzle that was tried again, the first attempt counts
    tried = {puzzle.id: puzzle for file in reversed(files) for puzzle in read_tried(file)}
    kinds = {(puzzle.file.parent, task_of(puzzle.file)) for puzzle in tried.values()}
    if len(kinds) != 1:
        got = ", ".join(sorted(f"{folder.name}/{task}" for folder, task in kinds)) or "no samples"
        raise ValueError(f"{run} must hold one model's samples of one task, got {got}: name a file")
    first = next(find_chosen(tried.values(), {*tried}))
    failed, solved = (spread(tried.values(), seed, solved=right) for right in (False, True))
    if not failed:
        raise ValueError(f"{run} holds no failure to explain")
    count = max(1, budget // (2 * len(first.changes)))
    if budget < len(first.changes):
        raise ValueError(f"budget must be at least {len(first.changes)}, the twins of one puzzle")
    chosen = {*failed[: max(count, budget // len(first.changes) - len(solved))], *solved[:count]}
    rows = [row for puzzle in find_chosen(tried.values(), chosen) for row in twins_of(puzzle)]
    table = pa.Table.from_pylist(rows[:budget], first.benchmark.puzzles().schema)
    ((_, task),) = kinds
    latest = max(puzzle.file for puzzle in tried.values())
    scored = latest.with_name(f"{latest.name.partition('.jsonl')[0]}-1.jsonl")
    return Twins(table, first.benchmark, task, first.doc.get("context_budget"), scored)


def task_of(file: Path) -> str:
    """Return the task in the name of a samples file, samples_TASK_DATE.jsonl."""
    return file.name.removeprefix("samples_").rpartition("_")[0]


def read_tried(file: Path) -> Iterator[Tried]:
    """Yield the puzzles in a samples file, without twins."""
    for where, _, sample in read_samples(file):
        with naming(where):
            doc = sample["doc"]
            cell = str(tuple(doc.get(name) for name in benchmarks.of(doc).cell._fields))
            tried = Tried(str(doc["id"]), cell, sample["acc"] == 1, file)
        if "~" not in tried.id:
            yield tried


def spread(tried: Any, seed: int, *, solved: bool) -> list[str]:
    """Return ids in an order whose every beginning is balanced over the cells, drawn by a seed."""
    cells: dict[str, list[str]] = {}
    for puzzle in tried:
        if puzzle.solved == solved:
            cells.setdefault(puzzle.cell, []).append(puzzle.id)

    def draw(text: str) -> str:
        return sha256(f"{seed} {text}".encode()).hexdigest()

    ranked = [sorted(cells[cell], key=draw) for cell in sorted(cells, key=draw)]
    return [id for ids in zip_longest(*ranked) for id in ids if id is not None]


def find_chosen(tried: Any, ids: set[str]) -> Iterator[Chosen]:
    """Yield some puzzles, by the first sample of each."""
    left = set(ids)
    for file in dict.fromkeys(puzzle.file for puzzle in tried):
        for where, _, sample in read_samples(file):
            with naming(where):
                doc = sample["doc"]
                if str(doc["id"]) not in left:
                    continue
                benchmark = benchmarks.of(doc)
                address, changes = benchmark.address(doc), changes_of(benchmark, sample)
            left.remove(str(doc["id"]))
            yield Chosen(benchmark, doc, address, changes)


def changes_of(benchmark: Benchmark, sample: Mapping[str, Any]) -> list[str]:
    """Return the changes to try on a sample's puzzle; greedy decoding would repeat some."""
    steps = sample.get("steps_read")
    step = steps.get("first_error") if isinstance(steps, Mapping) else None
    decoding = request_settings(sample)
    greedy = decoding.get("temperature") == 0 or decoding.get("do_sample") is False
    changes = benchmark.changes_to_try(sample["doc"], step if type(step) is int else None)
    return [change for change in changes if not (greedy and change in REPEATED)]


def twins_of(puzzle: Chosen) -> Iterator[dict[str, Any]]:
    """Yield the twins of a puzzle; ValueError if this version makes another puzzle."""
    benchmark, doc, address, changes = puzzle
    original = benchmark.puzzles(**address).rows()[0]
    if any(original[name] != doc[name] for name in ("id", "puzzle")):
        raise ValueError(f"the puzzle {doc['id']} is not what this version makes of its address")
    for change in changes:
        yield benchmark.puzzles(**address, twin=change).rows()[0]


def write_twins(twins: Twins, out: Path, *, force: bool = False) -> None:
    """Write twins to a .jsonl or .parquet file, whole; its folder is made."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with table_writer(out, twins.table.schema, force=force) as write:
        write(twins.table)
