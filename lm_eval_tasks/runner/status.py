"""A folder of an evaluation -> how far it is: blocks, shards, accuracy and time."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from lm_eval_tasks.runner.begun import Run
from lm_eval_tasks.runner.cut import Block, blocks_of
from lm_eval_tasks.runner.state import State

if TYPE_CHECKING:
    from lm_eval_tasks.runner.until import Search


@dataclass(slots=True)
class Part:
    """The done blocks of one shard: how many, and the seconds of each."""

    blocks: int = 0
    seconds: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Status:
    """How far an evaluation is."""

    run: Run
    blocks: Sequence[Block]
    done: Sequence[Block]
    shards: dict[str, Part]
    scored: int
    correct: float
    search: "Search | None" = None


def read_status(folder: Path) -> Status:
    """Return how far the evaluation in a folder is; ValueError if none was begun in it.

    No model and no task is loaded. ValueError, too, for a block whose file is damaged.
    """
    state = State(Path(folder) / "state")
    run = state.begun()
    search = None
    if "until" in run["arguments"]:
        from lm_eval_tasks.runner.until import Search  # noqa: PLC0415  (slow)

        search = Search(state, run)
        search.catch_up()
    blocks = search.blocks if search else blocks_of(run)
    done = [block for block in blocks if state.is_done(block)]
    shards: dict[str, Part] = defaultdict(Part)
    scored, correct = 0, 0.0
    for block in tqdm(done, desc="reading blocks", unit="block", disable=None, leave=False):
        told = state.read_digest(block) or {}
        part = shards[str(told.get("shard", "?"))]
        part.blocks += 1
        if isinstance(seconds := told.get("seconds"), int | float):
            part.seconds.append(float(seconds))
        for acc in accuracies(sample for _, sample in state.read_block(block)):
            scored, correct = scored + 1, correct + acc
    return Status(run, blocks, done, dict(sorted(shards.items())), scored, correct, search)


def accuracies(samples: Iterable[dict[str, Any]]) -> Iterable[float]:
    """Yield the `acc` of each sample that has one."""
    for sample in samples:
        acc = sample.get("acc")
        if isinstance(acc, int | float):
            yield float(acc)


def blocks_of_shard(name: str, blocks: int) -> int | None:
    """Return how many of all blocks are a shard's, by its name I/N; None if it has no such name."""
    index, _, shards = name.partition("/")
    if not (index.isdecimal() and shards.isdecimal() and 1 <= int(index) <= int(shards)):
        return None
    return len(range(int(index) - 1, blocks, int(shards)))


def shard_count(status: Status) -> int:
    """Return the number of shards, by the names of those that have a block done."""
    names = [name for name in status.shards if blocks_of_shard(name, 1) is not None]
    return max((int(name.partition("/")[2]) for name in names), default=1)


def shards_to_start(status: Status) -> list[str]:
    """Return the names of the shards that have blocks to do, and none done."""
    count = shard_count(status)
    return [
        f"{index + 1}/{count}"
        for index in range(count)
        if f"{index + 1}/{count}" not in status.shards
        and any(block not in status.done for block in status.blocks[index::count])
    ]


def seconds_left(status: Status) -> float | None:
    """Return the seconds that the slowest shard still takes, each at its speed so far.

    None where nothing is left, or the speed of none is known. A shard that has no block done is
    taken to be as fast as the others.
    """
    left = len(status.blocks) - len(status.done)
    known = [seconds for part in status.shards.values() for seconds in part.seconds]
    if not left or not known:
        return None
    count, times = shard_count(status), []
    for index in range(1, count + 1):
        part = status.shards.get(f"{index}/{count}", Part())
        own = [
            block
            for block in status.blocks[index - 1 :: count]
            if block not in status.done  # whichever shard had it
        ]
        times.append(len(own) * mean(part.seconds or known))
    return max(times)


def print_status(folder: Path) -> None:
    """Print how far the evaluation in a folder is, and the command that comes next."""
    status = read_status(folder)
    print("\n".join(lines_of(folder, status)))


def lines_of(folder: Path, status: Status) -> list[str]:
    """Return what `cogniload eval --status` says of a folder."""
    total, done = len(status.blocks), len(status.done)
    documents = sum(len(block.documents) for block in status.blocks)
    ready = sum(len(block.documents) for block in status.done)
    lines = [
        f"{folder}: {done} of {total} blocks are done, {ready:,} of {documents:,} puzzles "
        f"({', '.join(status.run['tasks'])})"
    ]
    if status.search:
        design = status.search.design
        lines = [f"{folder}: {done} blocks are done, {ready:,} puzzles (until {design.goal})"]
        lines.append(design.line)
    for name, part in status.shards.items():
        whole = blocks_of_shard(name, total)
        if name != "1/1" and whole is not None:
            took = f", {tqdm.format_interval(sum(part.seconds))}" if part.seconds else ""
            of_whole = "" if status.search else f" of {whole}"
            lines.append(f"shard {name}: {part.blocks}{of_whole} blocks{took}")
    missing = [] if status.search else shards_to_start(status)
    if missing:
        lines.append(f"no block is done of {', '.join(f'--shard {name}' for name in missing)}")
    if status.scored:
        from lm_eval_tasks.runner.progress import accuracy_text  # noqa: PLC0415  (slow)

        lines.append(f"accuracy so far: {accuracy_text(status.correct, status.scored)}")
    spent = sum(seconds for part in status.shards.values() for seconds in part.seconds)
    left = None if status.search else seconds_left(status)
    if spent:
        more = "" if left is None else f", about {tqdm.format_interval(left)} left"
        lines.append(f"time: {tqdm.format_interval(spent)} of evaluation{more}")
    next_command = "the same command again goes on"
    ended = [blocks_of_shard(name, total) == part.blocks for name, part in status.shards.items()]
    if missing and ended and all(ended):
        next_command = f"the same command with --shard {missing[0]}"
    if done == total:
        next_command = f"cogniload eval --merge {folder}"
    return [*lines, f"next: {next_command}"]
