"""`cogniload why` and `cogniload twins`: the twins of the puzzles that a run failed and solved.

Which puzzles these are depends on the run's samples and a seed alone, so a command that is started
again goes on with the same ones.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from hashlib import sha256
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.files.inputs import read_whole
from cogniload_gen.files.run_folder import RunFolder
from cogniload_gen.files.whole import remove_leftovers
from cogniload_gen.files.write import table_writer
from lm_eval_tasks.rescore import read_samples
from lm_eval_tasks.runner.caps import CAPS
from lm_eval_tasks.runner.store import Store

TWINS, ANSWERS = Path("puzzles") / "twins.parquet", "answers"
"""What `why` writes into its folder: the puzzles, and the evaluation of them."""

REPEATED = ("again", "hay=0")
"""Changes with the text of the puzzle, and with that of another change."""


class Tried(NamedTuple):
    """A puzzle that a run tried: its id, its cell, whether it was solved, and where it is."""

    id: str
    cell: tuple[Any, ...]
    solved: bool
    file: Path


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
    tried = {puzzle.id: puzzle for file in reversed(files) for puzzle in read_tried(file)}
    kinds = {(puzzle.file.parent, task_of(puzzle.file)) for puzzle in tried.values()}
    if len(kinds) != 1:
        got = ", ".join(sorted(f"{folder.name}/{task}" for folder, task in kinds)) or "no samples"
        raise ValueError(f"{run} must hold one model's samples of one task, got {got}: name a file")
    benchmark, sample = next(find_samples(tried.values(), {*tried}))
    changes = changes_of(benchmark, sample)
    failed, solved = (spread(tried.values(), seed, solved=right) for right in (False, True))
    if not failed:
        raise ValueError(f"{run} holds no failure to explain")
    count = max(1, budget // (2 * len(changes)))
    if budget < len(changes):
        raise ValueError(f"budget must be at least {len(changes)}, the twins of one puzzle")
    chosen = {*failed[: max(count, budget // len(changes) - len(solved))], *solved[:count]}
    rows = [
        row
        for benchmark, sample in find_samples(tried.values(), chosen)
        for row in twins_of(benchmark, sample)
    ]
    table = pa.Table.from_pylist(rows[:budget], benchmark.puzzles().schema)
    ((_, task),) = kinds
    newest = next(iter(tried.values())).file
    scored = newest.with_name(f"{newest.name.partition('.jsonl')[0]}-1.jsonl")
    return Twins(table, benchmark, task, sample["doc"].get("context_budget"), scored)


def task_of(file: Path) -> str:
    """Return the task in the name of a samples file, samples_TASK_DATE.jsonl."""
    return file.name.removeprefix("samples_").rpartition("_")[0]


def read_tried(file: Path) -> Iterator[Tried]:
    """Yield the puzzles in a samples file, without twins."""

    def judge(sample: Mapping[str, Any]) -> Tried:
        doc, fields = sample["doc"], benchmarks.of(sample["doc"]).cell._fields
        cell = tuple(doc.get(name) for name in fields)
        return Tried(str(doc["id"]), cell, sample["acc"] == 1, file)

    return (tried for _, tried in read_samples(file, judge) if "~" not in tried.id)


def spread(tried: Any, seed: int, *, solved: bool) -> list[str]:
    """Return ids in an order whose every beginning is balanced over the cells, drawn by a seed."""
    cells: dict[tuple[Any, ...], list[str]] = {}
    for puzzle in tried:
        if puzzle.solved == solved:
            cells.setdefault(puzzle.cell, []).append(puzzle.id)

    def draw(text: object) -> str:
        return sha256(f"{seed} {text}".encode()).hexdigest()

    ranked = [sorted(cells[cell], key=draw) for cell in sorted(cells, key=draw)]
    return [id for ids in zip_longest(*ranked) for id in ids if id is not None]


def find_samples(tried: Any, ids: set[str]) -> Iterator[tuple[Benchmark, dict[str, Any]]]:
    """Yield the first sample of each of some puzzles, with its benchmark."""
    left = set(ids)
    for file in dict.fromkeys(puzzle.file for puzzle in tried):
        for sample, id in read_samples(file, lambda sample: str(sample["doc"]["id"])):
            if id in left:
                left.remove(id)
                yield benchmarks.of(sample["doc"]), sample


def changes_of(benchmark: Benchmark, sample: Mapping[str, Any]) -> list[str]:
    """Return the changes to try on a sample's puzzle; greedy decoding would repeat some."""
    steps = sample.get("steps_read")
    step = steps.get("first_error") if isinstance(steps, Mapping) else None
    decoding = sample.get("arguments", {}).get("gen_args_0", {}).get("arg_1", {})
    greedy = decoding.get("temperature") == 0 or decoding.get("do_sample") is False
    changes = benchmark.changes_to_try(sample["doc"], step if type(step) is int else None)
    return [change for change in changes if not (greedy and change in REPEATED)]


def twins_of(benchmark: Benchmark, sample: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the twins of a sample's puzzle; ValueError if this version makes another puzzle."""
    doc = sample["doc"]
    address = benchmark.address(doc)
    original = benchmark.puzzles(**address).rows()[0]
    if any(original[name] != doc[name] for name in ("id", "puzzle")):
        raise ValueError(f"the puzzle {doc['id']} is not what this version makes of its address")
    for change in changes_of(benchmark, sample):
        yield benchmark.puzzles(**address, twin=change).rows()[0]


def write_twins(twins: Twins, out: Path, *, force: bool = False) -> None:
    """Write twins to a .jsonl or .parquet file, whole."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with table_writer(out, twins.table.schema, force=force) as write:
        write(twins.table)


def ask_twins(
    run: Path, out: Path, budget: int, seed: int, others: Sequence[str], **blocks: object
) -> Path:
    """Ask a run's model the twins of its puzzles, and return the folder of the results.

    The model and its decoding are those that the run recorded; `others` are arguments of lm-eval
    that go before them, and `blocks` are `shard` and `block_size` of `cogniload eval`. Blocks that
    are done stay. ValueError for what can't be evaluated, and for an `out` with other twins.
    """
    from lm_eval_tasks.runner.command import run as evaluate  # noqa: PLC0415  (an extra)

    settings = recorded_arguments(run, others)
    twins, file = make_twins(run, budget, seed), out / TWINS
    with Store(out / ANSWERS / "state").hold([]) as lock, lock.setup():  # one shard at a time
        remove_leftovers(file)
        if not file.exists():
            write_twins(twins, file)
    if pq.read_table(file, columns=["id"]) != twins.table.select(["id"]):
        raise ValueError(f"{out} holds other twins, of another budget or seed: name another --out")
    selection: dict[str, Any] = {"path": str(file.parent)}
    if twins.context_budget is not None:
        selection["context_budget"] = twins.context_budget
    metadata = json.dumps({twins.benchmark.dataset: selection})
    names = ("config", "until", "budget", "range", "merge", "status", *CAPS)
    ours = Namespace(**dict.fromkeys(names), **blocks, output_path=out / ANSWERS)
    with redirect_stdout(sys.stderr):
        evaluate(ours, ["--tasks", twins.task, "--metadata", metadata, *settings, *others])
    return out / ANSWERS


def recorded_arguments(run: Path, others: Sequence[str]) -> list[str]:
    """Return lm-eval's arguments for the model and the decoding of a run, but those in `others`.

    Of a folder of `cogniload eval` they are those of its run.json, otherwise those of its last
    results. ValueError where nothing is recorded, and for a run whose model brings code.
    """
    folder = run.parent if run.is_file() else run
    begun = RunFolder(folder / "state").read_run()
    settings: dict[str, Any]
    if begun:
        known = begun.arguments
        settings = {"model": known.model, "model_args": begun.model_args}
        settings |= {"gen_kwargs": known.gen_kwargs, "seed": known.seed}
        settings |= {"apply_chat_template": known.apply_chat_template}
        settings |= {"system_instruction": known.system_instruction}
        settings |= {name: begun.recorded["arguments"].get(name) for name in ("device",)}
    else:
        files = sorted(folder.rglob("results_*.json"))
        results = json.loads(read_whole(files[-1])) if files else {}
        settings = dict(results.get("config") or {})
        if not settings.get("model"):
            raise ValueError(f"{folder} must hold run.json or results_*.json, which name the model")
        # a server's template is not recorded, but that it was applied is, as it implies the turns
        applied = results.get("chat_template") or results.get("fewshot_as_multiturn")
        settings["apply_chat_template"] = bool(applied)
        settings["system_instruction"] = results.get("system_instruction")
    if "trust_remote_code" in json.dumps(settings["model_args"]) and "--model_args" not in others:
        raise ValueError(f"{folder} names a model that brings code: give --model_args yourself")
    taken = ("model", "model_args", "gen_kwargs", "batch_size", "device", "system_instruction")
    pairs = [
        (f"--{name}", value if isinstance(value, str) else json.dumps(value))
        for name in taken
        if (value := settings.get(name)) and f"--{name}" not in others
    ]
    if settings.get("seed"):
        pairs.append(("--seed", ",".join(map(str, settings["seed"]))))
    template = settings["apply_chat_template"]
    named = [template] if isinstance(template, str) else []
    flags = ["--apply_chat_template", *named] if template else []
    return [*chain.from_iterable(pairs), *flags]
