"""The twins of the puzzles that a run failed and solved: what `cogniload why` asks or writes.

Which puzzles these are depends on the run's samples and a seed alone, so a command that is started
again goes on with the same ones.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.sample import Sample, naming, read_samples, request_settings
from cogniload_gen.tables import table_writer

REPEATED = ("again", "hay=0")
"""Changes with the text of the puzzle, and with that of another change."""


class Twins(NamedTuple):
    """Twins of chosen puzzles: the table, its benchmark, the run's task and the tokens of each.

    `scored` is where a report finds the scores of responses to them, as a part of the run.
    """

    table: pa.Table
    benchmark: Benchmark
    task: str
    context_budget: int | None
    scored: Path


class _Tried(NamedTuple):
    """A puzzle that a run tried: its id, its cell, whether it was solved, and where it is."""

    id: str
    cell: str
    solved: bool
    file: Path


def make_twins(run: Path, budget: int, seed: int) -> Twins:
    """Return the twins of failures of a run, and of as many solved puzzles, at most `budget`.

    `run` is a results folder, or one of its samples files. ValueError for samples of several models
    or benchmarks, where nothing failed, and for puzzles that this version does not make.
    """
    inside = (file for end in ("", ".gz") for file in run.rglob(f"samples_*.jsonl{end}"))
    files = [run] if run.is_file() else sorted(inside)
    # of a puzzle that was tried again, the first attempt counts
    tried = {puzzle.id: puzzle for file in reversed(files) for puzzle in _read_tried(file)}
    # samples_TASK_DATE.jsonl
    task_of = {file: file.name.removeprefix("samples_").rpartition("_")[0] for file in files}
    kinds = {(puzzle.file.parent, task_of[puzzle.file]) for puzzle in tried.values()}
    if len(kinds) != 1:
        got = ", ".join(sorted(f"{folder.name}/{task}" for folder, task in kinds)) or "no samples"
        raise ValueError(f"{run} must hold one model's samples of one task, got {got}: name a file")
    used = [file for file in files if file in {puzzle.file for puzzle in tried.values()}]
    first, changes = next(_with_changes(used, {*tried}))
    failed, solved = (_spread(tried.values(), seed, solved=right) for right in (False, True))
    if not failed:
        raise ValueError(f"{run} holds no failure to explain")
    if budget < len(changes):
        raise ValueError(f"budget must be at least {len(changes)}, the twins of one puzzle")
    count = max(1, budget // (2 * len(changes)))
    chosen = {*failed[: max(count, budget // len(changes) - len(solved))], *solved[:count]}
    benchmark, rows = benchmarks.of(first), []
    for doc, changes in _with_changes(used, chosen):
        original = benchmark.remake(doc)
        if any(original[name] != doc[name] for name in ("id", "puzzle")):
            raise ValueError(
                f"the puzzle {doc['id']} is not what this version makes of its address"
            )
        rows += [benchmark.remake(doc, change) for change in changes]
    table = pa.Table.from_pylist(rows[:budget], benchmark.puzzles().schema)
    scored = used[-1].with_name(f"{used[-1].name.partition('.jsonl')[0]}-1.jsonl")
    return Twins(table, benchmark, task_of[used[-1]], first.get("context_budget"), scored)


def _read_tried(file: Path) -> Iterator[_Tried]:
    """Yield the puzzles in a samples file, without twins."""
    for where, _, sample in read_samples(file):
        with naming(where):
            doc = sample["doc"]
            cell = str(tuple(doc.get(name) for name in benchmarks.of(doc).cell._fields))
            tried = _Tried(str(doc["id"]), cell, sample["acc"] == 1, file)
        if "~" not in tried.id:
            yield tried


def _spread(tried: Any, seed: int, *, solved: bool) -> list[str]:
    """Return ids in an order whose every beginning is balanced over the cells, drawn by a seed."""

    def draw(text: str) -> str:
        return sha256(f"{seed} {text}".encode()).hexdigest()

    count, order = Counter[str](), []
    some = (puzzle for puzzle in tried if puzzle.solved == solved)
    for puzzle in sorted(some, key=lambda puzzle: draw(puzzle.id)):
        order.append((count[puzzle.cell], draw(puzzle.cell), puzzle.id))
        count[puzzle.cell] += 1
    return [id for *_, id in sorted(order)]


def _with_changes(files: list[Path], ids: set[str]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield some puzzles, by the first sample of each, with the changes to try on them."""
    left = set(ids)
    for file in files:
        for where, _, sample in read_samples(file):
            with naming(where):
                doc = sample["doc"]
                if str(doc["id"]) not in left:
                    continue
                changes = _changes_of(sample)
            left.remove(str(doc["id"]))
            yield doc, changes


def _changes_of(sample: Sample) -> list[str]:
    """Return the changes to try on a sample's puzzle; greedy decoding would repeat some."""
    steps, doc = sample.get("steps_read"), sample["doc"]
    step = steps.get("first_error") if isinstance(steps, Mapping) else None
    decoding = request_settings(sample)
    greedy = decoding.get("temperature") == 0 or decoding.get("do_sample") is False
    changes = benchmarks.of(doc).changes_to_try(doc, step if type(step) is int else None)
    return [change for change in changes if not (greedy and change in REPEATED)]


def write_twins(twins: Twins, out: Path, *, force: bool = False) -> None:
    """Write twins to a .jsonl or .parquet file, whole; its folder is made."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with table_writer(out, twins.table.schema, force=force) as write:
        write(twins.table)
