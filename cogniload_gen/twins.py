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
from cogniload_gen.benchmark import Benchmark, Row
from cogniload_gen.sample import naming, read_samples, request_settings
from cogniload_gen.tables import table_writer


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
    """A puzzle that a run tried, with the hash of its text in the place of the text.

    `step` is where its response first broke, None where that is not known.
    """

    file: Path
    doc: dict[str, Any]
    solved: bool
    step: int | None
    greedy: bool

    @property
    def kind(self) -> tuple[Path, str]:
        """The folder, and the task by the name of the file: samples_TASK_DATE.jsonl."""
        return self.file.parent, self.file.name.removeprefix("samples_").rpartition("_")[0]

    def twins(self) -> list[Row]:
        """Return the twins that tell the causes apart.

        Greedy decoding would answer the text of the puzzle alike, and that of `hay=0` as `needles`.
        """
        benchmark = benchmarks.of(self.doc)
        row = benchmark.remake(self.doc)
        if (row["id"], hash(row["puzzle"])) != (self.doc["id"], self.doc["puzzle"]):
            puzzle = f"the puzzle {self.doc['id']}"
            raise ValueError(f"{puzzle} is not what this version makes of its address")
        changes = benchmark.changes_to_try(row, self.step)
        skipped = {"again", "hay=0"} if self.greedy else set()
        return [benchmark.remake(self.doc, each) for each in changes if each not in skipped]


def make_twins(run: Path, budget: int, seed: int) -> Twins:
    """Return the twins of failures of a run, and of as many solved puzzles, at most `budget`.

    `run` is a results folder, or one of its samples files. ValueError for samples of several models
    or benchmarks, where nothing failed, and for puzzles that this version does not make.
    """
    inside = (file for end in ("", ".gz") for file in run.rglob(f"samples_*.jsonl{end}"))
    tried: dict[str, _Tried] = {}
    for file in [run] if run.is_file() else sorted(inside):
        for puzzle in _read_tried(file):  # of one that was tried again, the first attempt counts
            tried.setdefault(str(puzzle.doc["id"]), puzzle)
    kinds = {puzzle.kind for puzzle in tried.values()}
    if len(kinds) != 1:
        got = ", ".join(sorted(f"{folder.name}/{task}" for folder, task in kinds)) or "no samples"
        raise ValueError(f"{run} must hold one model's samples of one task, got {got}: name a file")
    failed, solved = (_spread(tried, seed, solved=right) for right in (False, True))
    if not failed:
        raise ValueError(f"{run} holds no failure to explain")
    each = len(tried[failed[0]].twins())
    if budget < each:
        raise ValueError(f"budget must be at least {each}, the twins of one puzzle")
    count = max(1, budget // (2 * each))
    chosen = {*failed[: max(count, budget // each - len(solved))], *solved[:count]}
    rows = [row for id, puzzle in tried.items() if id in chosen for row in puzzle.twins()]
    last = max(tried.values(), key=lambda puzzle: puzzle.file)
    benchmark = benchmarks.of(last.doc)
    table = pa.Table.from_pylist(rows[:budget], benchmark.puzzles().schema)
    scored = last.file.with_name(f"{last.file.name.partition('.jsonl')[0]}-1.jsonl")
    return Twins(table, benchmark, last.kind[1], last.doc.get("context_budget"), scored)


def _read_tried(file: Path) -> Iterator[_Tried]:
    """Yield the puzzles in a samples file, without twins."""
    for where, _, sample in read_samples(file):
        with naming(where):
            doc = sample["doc"] | {"puzzle": hash(sample["doc"]["puzzle"])}
            step = (sample.get("steps_read") or {}).get("first_error")
            decoding = request_settings(sample)
            greedy = decoding.get("temperature") == 0 or decoding.get("do_sample") is False
            tried = _Tried(file, doc, sample["acc"] == 1, step, greedy)
        if "~" not in str(doc["id"]):
            yield tried


def _spread(tried: Mapping[str, _Tried], seed: int, *, solved: bool) -> list[str]:
    """Return ids in an order whose every beginning is balanced over the cells, drawn by a seed."""

    def draw(text: str) -> str:
        return sha256(f"{seed} {text}".encode()).hexdigest()

    count, order = Counter[str](), []
    for id in sorted((id for id in tried if tried[id].solved == solved), key=draw):
        doc = tried[id].doc
        cell = str(tuple(doc.get(name) for name in benchmarks.of(doc).cell._fields))
        order.append((count[cell], draw(cell), id))
        count[cell] += 1
    return [id for *_, id in sorted(order)]


def write_twins(twins: Twins, out: Path, *, force: bool = False) -> None:
    """Write twins to a .jsonl or .parquet file, whole; its folder is made."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with table_writer(out, twins.table.schema, force=force) as write:
        write(twins.table)
