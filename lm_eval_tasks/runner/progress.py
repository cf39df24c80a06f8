"""How far an evaluation is: its line while it runs, with each warning once, and --status."""

import logging
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from tqdm import tqdm

from cogniload_gen.checks import check_shard
from cogniload_gen.files.inputs import one_line, show_controls
from cogniload_gen.files.run_folder import Block, RunSpec
from lm_eval_tasks.runner.caps import Price, Tokens, add_tokens, count_tokens
from lm_eval_tasks.runner.credentials import hide
from lm_eval_tasks.runner.store import Store

if TYPE_CHECKING:
    from lm_eval_tasks.runner.search import Search

LONGEST = 10**9
"""Seconds: what a digest says that its block took beyond them is not believed."""

LOGS = ("lm_eval", "lm_eval_tasks", "asyncio", "aiohttp", "urllib3", "requests")
ADVICE = "Custom kwargs can be passed to `--metadata`"
"""lm-eval says it of every task like ours that is given none."""


class Progress:
    """The documents done, the accuracy so far, tokens a second and the time left.

    On a terminal this is one line that moves; elsewhere it is a line for each block, so that a log
    tells where a run is. lm-eval's backends tell a model's "cache hook" of each response, so the
    line on a terminal moves within a block; the end of the block sets it right. The accuracy is the
    mean of `acc`; the speed is that of this process alone.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        """`sizes` are the numbers of documents in the blocks of this process, done or not."""
        self.blocks, self.blocks_done = len(sizes), 0
        self.bar = tqdm(total=sum(sizes), unit=" puzzles", disable=None, smoothing=0)
        self.total = sum(sizes)
        self.done = self.earlier = self.tokens = 0
        self.scored = self.correct = 0.0
        self.begun = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def add_done(self, samples: Iterable[Mapping[str, Any]]) -> None:
        """Count a block of an earlier process."""
        self.count(samples)
        self.earlier = self.bar.initial = self.done

    def start_now(self) -> None:
        """Start the clock, and say where the run continues if an earlier process had begun it."""
        self.begun = monotonic()
        if 0 < self.blocks_done < self.blocks:
            self.say(f"continuing at block {self.blocks_done + 1} of {self.blocks}")

    def add_partial(self, method: str, _request: object, _response: object) -> None:
        """Count a response, as lm-eval's `CacheHook` would keep it."""
        if method == "generate_until" and self.bar.n < self.total:
            self.bar.update()

    def add_block(self, samples: Iterable[Mapping[str, Any]]) -> None:
        """Count a block that was evaluated now, and show how far the run is."""
        self.tokens += self.count(samples)
        seconds, facts = max(monotonic() - self.begun, 1e-9), []
        if self.scored:
            facts.append(f"acc {accuracy_text(self.correct, self.scored)}")
        if self.tokens:  # else nobody counts them
            facts.append(f"{self.tokens / seconds:,.0f} tokens/s")
        if not self.bar.disable:
            self.bar.set_postfix_str(", ".join(facts))
            return
        if self.done < self.total:
            left = (self.total - self.done) * seconds / max(self.done - self.earlier, 1)
            facts.append(f"{tqdm.format_interval(left)} left")
        share = f"{self.done:,} of {self.total:,} puzzles"
        place = f"block {self.blocks_done} of {self.blocks} done"
        self.say(f"{place}: {', '.join([share, *facts])}")

    def count(self, samples: Iterable[Mapping[str, Any]]) -> int:
        """Count the samples of a block; return the tokens of their responses."""
        documents, tokens = set(), 0
        for sample in samples:
            documents.add(sample["doc_id"])
            if isinstance(count := sample.get("response_tokens"), int):
                tokens += count
            if isinstance(acc := sample.get("acc"), int | float) and 0 <= acc <= 1:
                self.scored += 1
                self.correct += acc
        self.blocks_done += 1
        self.done += len(documents)
        self.bar.n = self.done
        return tokens

    def say(self, line: str) -> None:
        """Write a line to standard error, above the moving one if there is one."""
        tqdm.write(line, file=sys.stderr)
        sys.stderr.flush()


def accuracy_text(correct: float, scored: float) -> str:
    """Return an accuracy with Wilson's 90 % interval, as in the reports, in per cent."""
    from statsmodels.stats.proportion import proportion_confint  # noqa: PLC0415  (slow)

    low, high = proportion_confint(correct, scored, alpha=0.1, method="wilson")
    return f"{correct / scored:.1%} ({low:.1%} to {high:.1%})"


class Once(logging.Handler):
    """Writes each warning to standard error once, however many blocks give it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen: set[str] = set()
        self.stream = sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        """Write a warning that is new."""
        message = one_line(hide(record.getMessage()))
        if message not in self.seen and ADVICE not in message:
            self.seen.add(message)
            tqdm.write(f"{record.levelname.lower()}: {message}", file=self.stream)


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Have lm-eval, its tasks and its clients warn once, also while standard error is elsewhere."""
    handler, loggers = Once(), [logging.getLogger(name) for name in LOGS]
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagate in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagate


@dataclass(slots=True)
class Part:
    """The done blocks of one shard: how many, and the seconds of each."""

    blocks: int = 0
    seconds: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Status:
    """How far an evaluation is."""

    run: RunSpec
    blocks: Sequence[Block]
    done: Sequence[Block]
    shards: dict[str, Part]
    scored: int
    correct: float
    search: "Search | None" = None
    tokens: Tokens | None = None


def read_status(folder: Path, include_path: str | None = None) -> Status:
    """Return how far the evaluation in a folder is; ValueError if none was begun in it.

    No model is loaded, and no task but that of --until, which is ours or below `include_path`.
    ValueError, too, for a block whose file is damaged.
    """
    store = Store(Path(folder) / "state")
    run = store.begun()
    search = None
    if run.arguments.until is not None:
        from lm_eval_tasks.runner.search import Search  # noqa: PLC0415  (slow)

        search = Search.of(store, run, include_path)
        search.catch_up()
    blocks = search.blocks if search else run.blocks()
    done = [block for block in blocks if store.is_done(block)]
    shards: dict[str, Part] = defaultdict(Part)
    scored, correct, tokens = 0, 0.0, []
    for block in tqdm(done, desc="reading blocks", unit="block", disable=None, leave=False):
        digest = store.read_digest(block) or {}
        part = shards[str(digest.get("shard", "?"))]
        part.blocks += 1
        seconds = digest.get("seconds")
        if isinstance(seconds, int | float) and 0 <= seconds < LONGEST:
            part.seconds.append(float(seconds))
        samples = [sample for _, sample in store.read_block(block)]
        tokens.append(count_tokens(samples))
        for sample in samples:
            if isinstance(acc := sample.get("acc"), int | float) and 0 <= acc <= 1:
                scored, correct = scored + 1, correct + acc
    sorted_shards = dict(sorted(shards.items()))
    return Status(run, blocks, done, sorted_shards, scored, correct, search, add_tokens(tokens))


def blocks_of_shard(name: str, blocks: int) -> int | None:
    """Return how many of all blocks are a shard's, by its name I/N; None if it has no such name."""
    try:
        index, shards = check_shard(name)
    except ValueError:
        return None
    return len(range(index - 1, blocks, shards))


def blocks_left(status: Status) -> dict[str, int]:
    """Return how many blocks the shards have to do, by their names I/N, whoever did the others."""
    names = [name for name in status.shards if blocks_of_shard(name, 1) is not None]
    count = max((int(name.partition("/")[2]) for name in names), default=1)
    left = [block not in status.done for block in status.blocks]
    return {f"{index + 1}/{count}": sum(left[index::count]) for index in range(count)}


def seconds_left(status: Status) -> float | None:
    """Return the seconds that the slowest shard still takes, each at its speed so far.

    None where nothing is left, or the speed of none is known. A shard that has no block done is
    taken to be as fast as the others.
    """
    known = [seconds for part in status.shards.values() for seconds in part.seconds]
    if len(status.done) == len(status.blocks) or not known:
        return None
    return max(
        count * mean(status.shards.get(name, Part()).seconds or known)
        for name, count in blocks_left(status).items()
    )


def lines_of(folder: Path, status: Status, price: Price | None = None) -> list[str]:
    """Return what `cogniload eval --status` says of a folder, with the cost at a price."""
    total, done = len(status.blocks), len(status.done)
    documents = sum(len(block.documents) for block in status.blocks)
    ready = sum(len(block.documents) for block in status.done)
    lines = [
        f"{folder}: {done} of {total} blocks are done, {ready:,} of {documents:,} puzzles "
        f"({', '.join(status.run.tasks)})"
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
    left = {} if status.search else blocks_left(status)
    missing = [name for name, count in left.items() if count and name not in status.shards]
    if missing:
        names = ", ".join(f"--shard {name}" for name in missing[:20])
        lines.append(f"no block is done of {names}" + ", ..." * (len(missing) > 20))
    if status.scored:
        lines.append(f"accuracy so far: {accuracy_text(status.correct, status.scored)}")
    spent = sum(seconds for part in status.shards.values() for seconds in part.seconds)
    seconds = None if status.search else seconds_left(status)
    if spent:
        more = "" if seconds is None else f", about {tqdm.format_interval(seconds)} left"
        lines.append(f"time: {tqdm.format_interval(spent)} of evaluation{more}")
    if status.tokens:
        cost = f", {price.cost(status.tokens):,.2f} at the price" if price else ""
        lines.append("tokens: {:,} of prompts, {:,} of responses".format(*status.tokens) + cost)
    next_command = "the same command again goes on"
    ended = [blocks_of_shard(name, total) == part.blocks for name, part in status.shards.items()]
    if missing and ended and all(ended):
        next_command = f"the same command with --shard {missing[0]}"
    if done == total:
        next_command = f"cogniload eval --merge {folder}"
    return [*map(show_controls, lines), f"next: {next_command}"]
