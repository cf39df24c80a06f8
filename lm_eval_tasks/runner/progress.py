"""What an evaluation says while it runs: how far it is, and each warning once."""

import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, Self

from statsmodels.stats.proportion import proportion_confint
from tqdm import tqdm

from lm_eval_tasks.runner.credentials import hide

LOGS = ("lm_eval", "lm_eval_tasks", "asyncio", "aiohttp", "urllib3", "requests")
LONGEST_MESSAGE = 1000
"""Characters of a warning."""

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
        accuracy, speed = self.accuracy(), self.speed()
        if not self.bar.disable:
            self.bar.set_postfix_str(", ".join([*accuracy, *speed]))
            return
        share = f"{self.done:,} of {self.total:,} puzzles"
        left = [f"{self.time_left()} left"] if self.done < self.total else []
        self.say(
            f"block {self.blocks_done} of {self.blocks} done: "
            + ", ".join([share, *accuracy, *speed, *left])
        )

    def count(self, samples: Iterable[Mapping[str, Any]]) -> int:
        """Count the samples of a block; return the tokens of their responses."""
        documents, tokens = set(), 0
        for sample in samples:
            documents.add(sample["doc_id"])
            if isinstance(told := sample.get("response_tokens"), int):
                tokens += told
            if isinstance(sample.get("acc"), int | float):
                self.scored += 1
                self.correct += sample["acc"]
        self.blocks_done += 1
        self.done += len(documents)
        self.bar.n = self.done
        return tokens

    def accuracy(self) -> list[str]:
        """Return the accuracy so far, with its interval; nothing where nothing has one."""
        if not self.scored:
            return []
        return [f"acc {accuracy_text(self.correct, self.scored)}"]

    def speed(self) -> list[str]:
        """Return the tokens a second of this process; nothing where nobody counts them."""
        seconds = max(monotonic() - self.begun, 1e-9)
        return [f"{self.tokens / seconds:,.0f} tokens/s"] if self.tokens else []

    def time_left(self) -> str:
        """Return the time that the rest takes at the speed of this process, as [H:]MM:SS."""
        seconds = monotonic() - self.begun
        left = (self.total - self.done) * seconds / max(self.done - self.earlier, 1)
        return tqdm.format_interval(left)

    def say(self, line: str) -> None:
        """Write a line to standard error, above the moving one if there is one."""
        tqdm.write(line, file=sys.stderr)
        sys.stderr.flush()


def accuracy_text(correct: float, scored: float) -> str:
    """Return an accuracy with Wilson's 90 % interval, as in the reports, in per cent."""
    low, high = proportion_confint(correct, scored, alpha=0.1, method="wilson")
    return f"{correct / scored:.1%} ({low:.1%} to {high:.1%})"


def shortened(message: str) -> str:
    """Return a message without its middle, where it is very long."""
    half = LONGEST_MESSAGE // 2
    return message if len(message) <= LONGEST_MESSAGE else f"{message[:half]} ... {message[-half:]}"


class Once(logging.Handler):
    """Writes each warning to standard error once, however many blocks give it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen: set[str] = set()
        self.stream = sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        """Write a warning that is new."""
        message = shortened(hide(" ".join(record.getMessage().split())))
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
