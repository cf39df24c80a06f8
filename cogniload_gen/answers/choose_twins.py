"""The twins and the repairs of what a run failed and solved: what `cogniload why` asks or writes.

Which puzzles these are depends on the run's samples and a seed alone, so a command that is started
again goes on with the same ones.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from math import inf, nan
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pyarrow as pa

from cogniload_gen import benchmarks
from cogniload_gen.answers.files import read_results, read_samples
from cogniload_gen.answers.reasoning import spoken
from cogniload_gen.benchmark import KEPT, PREFIX, REDRAWN, Benchmark, Cut, Row
from cogniload_gen.files import naming
from cogniload_gen.tables import table_writer
from cogniload_gen.tokens import estimate

BUDGET = 720
"""The most twins, or texts, that are asked unless more are wanted."""

ENOUGH_FAILURES = 60
"""Fewest failures with twins that name a cause (studies/twin_causes.py)."""

# Texts of a failure and of a right response together, sampled and greedy, and those that greedy
# decoding would only repeat; how many responses are read for one; and the share of the budget that
# a puzzle and a cut text may have.
_SAMPLED, _GREEDY, _REPEATED, _LOOK, _ROOM = 7, 4, (KEPT, REDRAWN), 4, 0.7


class Twins(NamedTuple):
    """Twins of chosen puzzles: the table, its benchmark, the run's task and the tokens of each.

    `scored` is where a report finds the scores of responses to them, as a part of the run;
    `failures` are those that have twins, or repairs, and `spent` what the run's own puzzles took in
    the mean, in tokens of a prompt and of its response, NaN where that is not known.
    """

    table: pa.Table
    benchmark: Benchmark
    task: str
    context_budget: int | None
    scored: Path
    failures: int
    spent: tuple[float, float]


class _Tried(NamedTuple):
    """A puzzle that a run tried, with the hash of its text in the place of the text.

    `step` is where its response first broke, None where that is not known.
    """

    file: Path
    doc: dict[str, Any]
    solved: bool
    step: int | None
    greedy: bool
    tokens: tuple[int | None, int | None]

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
    tried = _read_run(run)
    failed, solved = (_spread(tried, seed, solved=right) for right in (False, True))
    each = len(tried[failed[0]].twins())
    if budget < each:
        raise ValueError(f"budget must be {each}, the twins of one puzzle, or more, got {budget}")
    count = max(1, budget // (2 * each))
    chosen = {*failed[: max(count, budget // each - len(solved))], *solved[:count]}
    rows = [row for id, puzzle in tried.items() if id in chosen for row in puzzle.twins()]
    return _twins_of(tried, rows[:budget], len({*failed} & chosen))


def make_repairs(run: Path, budget: int, seed: int) -> Twins:
    """Return failures of a run cut at their first wrong step, and right responses with an error.

    Each is a puzzle with the text that its response has to go on from, in the column PREFIX, as
    `Benchmark.cut_response` makes them; at most `budget`. There are as many right responses as
    failures, with errors as deep. ValueError as for `make_twins`, and where no failure can be
    repaired.
    """
    tried = _read_run(run)
    greedy = all(puzzle.greedy for puzzle in tried.values())
    count = max(1, budget // (_GREEDY if greedy else _SAMPLED))
    cuts: list[tuple[Row, Cut]] = []
    depths: list[float] = []  # of the failures, until a right response has each
    for right in (False, True):
        ids = _spread(tried, seed, solved=right)[: _LOOK * count]
        for text, doc, records in _read_texts(tried, ids):
            enough = not depths if right else len(depths) == count
            if enough:
                break
            at = depths[0] if right else None
            made = benchmarks.of(doc).cut_response(text, doc, at, records)
            room = _ROOM * (doc.get("context_budget") or inf)
            if not made or estimate(doc["puzzle"] + made[0].text) > room:
                continue
            depths = depths[1:] if right else [*depths, made[0].statement / doc["N"]]
            skipped = _REPEATED if tried[doc["id"]].greedy else ()
            cuts += [(doc, cut) for cut in made if cut.change not in skipped]
        if not cuts:
            raise ValueError(f"{run} holds no failure whose first wrong step can be corrected")
    rows = [
        {**doc, "id": f"{doc['id']}~{cut.change}={cut.statement}", PREFIX: cut.text}
        for doc, cut in cuts
    ]
    failures = sum(not tried[id].solved for id in {doc["id"] for doc, _ in cuts})
    return _twins_of(tried, rows, failures, pa.field(PREFIX, pa.string()))


def _read_texts(
    tried: Mapping[str, _Tried], ids: Sequence[str]
) -> Iterator[tuple[str, Row, list[Any] | None]]:
    """Yield responses as their model wrote them, the puzzles, and the records of transcripts."""
    found: dict[str, tuple[str, Row, list[Any] | None]] = {}
    for file in dict.fromkeys(tried[id].file for id in ids):
        for _, _, sample in read_samples(file):
            if sample.id in ids and tried[sample.id].file == file and not sample.reasoning.hidden:
                text = spoken(sample.response, sample.reasoning.text)
                records = sample.transcript["records"] if sample.transcript else None
                found.setdefault(sample.id, (text, sample.doc, records))
    yield from (found[id] for id in ids if id in found)


def _read_run(run: Path) -> dict[str, _Tried]:
    """Return the puzzles that a run tried, by id; ValueError if it is not one, or nothing failed.

    Of a puzzle that was tried again, the first attempt counts.
    """
    inside = (file for end in ("", ".gz") for file in run.rglob(f"samples_*.jsonl{end}"))
    tried: dict[str, _Tried] = {}
    kinds: set[tuple[Path, str]] = set()
    for file in [run] if run.is_file() else sorted(inside):
        results = read_results(file)
        for where, _, sample in read_samples(file):
            with naming(where):
                doc = sample.doc | {"puzzle": hash(sample.doc["puzzle"])}
                step, greedy = sample.steps.get("first_error"), sample.is_greedy(results)
                tokens = sample.prompt_tokens, sample.response_tokens
                puzzle = _Tried(file, doc, sample.is_solved, step, greedy, tokens)
            if not sample.is_twin:
                tried.setdefault(str(doc["id"]), puzzle)
                kinds.add(puzzle.kind)
    if len(kinds) != 1:
        got = ", ".join(sorted(f"{folder.name}/{task}" for folder, task in kinds)) or "no samples"
        raise ValueError(
            f"{run} must hold one model's samples of one task, got {got}: name one run"
        )
    if all(puzzle.solved for puzzle in tried.values()):
        raise ValueError(f"{run} holds no failure to explain")
    return tried


def _twins_of(
    tried: Mapping[str, _Tried], rows: Sequence[Row], failures: int, *further: pa.Field
) -> Twins:
    last = max(tried.values(), key=lambda puzzle: puzzle.file)
    benchmark = benchmarks.of(last.doc)
    schema = pa.schema([*benchmark.puzzles().schema, *further])
    scored = last.file.with_name(f"{last.file.name.partition('.jsonl')[0]}-1.jsonl")
    budget = last.doc.get("context_budget")
    tokens = zip(*(puzzle.tokens for puzzle in tried.values()), strict=True)
    spent = [nan if None in of else fmean(of) for of in map(list, tokens)]
    table = pa.Table.from_pylist([*rows], schema)
    return Twins(table, benchmark, last.kind[1], budget, scored, failures, (spent[0], spent[1]))


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
    with table_writer(out, twins.table.schema, force=force) as write:
        write(twins.table)
