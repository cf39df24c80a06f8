"""What an evaluation shows while it runs: one line of progress, and each warning once."""

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic

from statsmodels.stats.proportion import proportion_confint
from tqdm import tqdm

LOGS = ("lm_eval", "lm_eval_tasks")
ADVICE = "Custom kwargs can be passed to `--metadata`"
"""lm-eval says it of every task like ours that is given none."""


class Progress:
    """The line: documents done, accuracy so far, tokens a second, time left.

    Nothing is shown where standard error is no terminal. lm-eval's backends tell a model's "cache
    hook" of each response, and so the line, which is one, moves within a block; the end of the
    block sets it right. The accuracy is the mean of `acc`, with Wilson's 90 % interval, as in the
    reports; tokens are counted from the first block of this process on.
    """

    def __init__(self, documents: int) -> None:
        self.bar = tqdm(total=documents, unit=" puzzles", disable=None, smoothing=0)
        self.done = self.scored = self.correct = self.tokens = 0
        self.start = monotonic()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()

    def add_done(self, samples: Iterable[dict]) -> None:
        """Counts a block of an earlier process."""
        self.count(samples)
        self.bar.initial = self.done
        self.start = monotonic()

    def add_partial(self, method: str, _request: object, _response: object) -> None:
        """Counts a response, as lm-eval's `CacheHook` would keep it."""
        if method == "generate_until" and self.bar.n < self.bar.total:
            self.bar.update()

    def add_block(self, samples: Iterable[dict]) -> None:
        """Counts a block that was evaluated now."""
        self.tokens += self.count(samples)
        self.show()

    def count(self, samples: Iterable[dict]) -> int:
        """Counts samples; the tokens of their responses."""
        documents, tokens = set(), 0
        for sample in samples:
            documents.add(sample["doc_id"])
            tokens += sample.get("response_tokens", 0)
            if isinstance(sample.get("acc"), int | float):
                self.scored += 1
                self.correct += sample["acc"]
        self.done += len(documents)
        self.bar.n = self.done
        return tokens

    def show(self) -> None:
        """Writes the line."""
        shown = []
        if self.scored:
            low, high = proportion_confint(self.correct, self.scored, alpha=0.1, method="wilson")
            shown += [f"acc {self.correct / self.scored:.1%} ({low:.1%} to {high:.1%})"]
        if self.tokens:
            shown += [f"{self.tokens / (monotonic() - self.start):,.0f} tokens/s"]
        self.bar.set_postfix_str(", ".join(shown))


class Once(logging.Handler):
    """Writes each warning to standard error once, however many blocks give it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen: set[str] = set()
        self.stream = sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a warning that is new."""
        message = " ".join(record.getMessage().split())
        if message not in self.seen and ADVICE not in message:
            self.seen.add(message)
            tqdm.write(f"{record.levelname.lower()}: {message}", file=self.stream)


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Has lm-eval and its tasks warn once, also while standard error is turned away."""
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
