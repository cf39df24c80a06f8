"""How far a run is: its line while it runs, with each warning once, and --status."""

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Self

from tqdm import tqdm

from cogniload_gen.files import one_line
from lm_eval_tasks.answers import Answers
from lm_eval_tasks.configuration import begun_run, cost_of, read_price

LOGS = ("lm_eval", "lm_eval_tasks", "asyncio", "aiohttp", "urllib3", "requests")
ADVICE = "Custom kwargs can be passed to `--metadata`"
"""lm-eval says it of every task like ours that is given none."""


class Progress:
    """The answers that are there, the accuracy so far and tokens a second.

    On a terminal this is one line that moves; elsewhere it is a line every half a minute.
    """

    def __init__(self, answers: Answers) -> None:
        self._bar: tqdm[Any] | None = None
        self._file, self._answers = sys.stderr, answers
        self._begun, self._tokens = monotonic(), answers.tokens[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.close()

    def show(self, done: int, total: int) -> None:
        """Show how many of all answers are there."""
        if self._bar is None:  # the first call comes before anything is asked
            seconds = 0.1 if self._file.isatty() else 30
            named = partial(tqdm, unit=" puzzles", mininterval=seconds, smoothing=0)
            self._bar = named(total=total, initial=done, file=self._file)
        facts = []
        if self._answers.scored:
            facts.append(f"acc {self._answers.correct / self._answers.scored:.1%}")
        if tokens := self._answers.tokens[1] - self._tokens:
            facts.append(f"{tokens / max(monotonic() - self._begun, 1e-9):,.0f} tokens/s")
        self._bar.set_postfix_str(", ".join(facts), refresh=False)
        self._bar.update(done - self._bar.n)


class _Once(logging.Handler):
    """Writes each warning to standard error once, however often it is given."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._seen: set[str] = set()
        self._stream = sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        """Write a warning that is new."""
        message = one_line(record.getMessage())
        if message not in self._seen and ADVICE not in message:
            self._seen.add(message)
            tqdm.write(f"{record.levelname.lower()}: {message}", file=self._stream)


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Have lm-eval, its tasks and its clients warn once, also while standard error is elsewhere."""
    handler, loggers = _Once(), [logging.getLogger(name) for name in LOGS]
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


def print_status(folders: Sequence[Path], price: object, include_path: str | None) -> None:
    """Print how far the runs in some folders are, and the command that usually follows."""
    for folder in folders:
        print("\n".join(status_lines(folder, price, include_path)))


def status_lines(folder: Path, price: object = None, include_path: str | None = None) -> list[str]:
    """Return what `cogniload eval --status` says of a folder, with the cost at a price."""
    run, answers = begun_run(folder), Answers([folder / "state"])
    tasks = ", ".join(run.what["tasks"])
    if run.what["until"]:
        from lm_eval_tasks.adaptive import Search

        search = Search(run.what, include_path)
        whole = search.catch_up(answers)
        lines = [
            f"{folder}: {len(answers):,} puzzles are answered ({tasks}, until "
            f"{search.design.wanted})",
            search.design.line,
        ]
    else:
        total = run.total
        done = len(answers.documents)
        whole = done >= total
        lines = [f"{folder}: {done:,} of {total:,} puzzles are answered ({tasks})"]
        if len(answers.counts) > 1:
            for file, count in sorted(answers.counts.items()):
                lines.append(f"shard {file.stem.removeprefix('answers-')}: {count:,} puzzles")
    if answers.scored:
        lines.append(f"accuracy so far: {_accuracy(answers.correct, answers.scored)}")
    if answers.tokens[1] or answers.tokens[0]:
        lines.append("tokens: {:,} of prompts, {:,} of responses".format(*answers.tokens))
        if price is not None:
            lines[-1] += f", {cost_of(answers.tokens, read_price(price)):,.2f} at the price"
    following = "the same command again goes on"
    if whole:
        merged = any(folder.glob("*/results_*.json"))
        following = f"cogniload eval --merge {folder}"
        if merged:
            following = f"cogniload report {folder} --out {folder / 'report'}"
    return [*lines, f"next: {following}"]


def _accuracy(correct: float, scored: int) -> str:
    """Return an accuracy with Wilson's 90 % interval, as in the reports, in per cent."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(correct, scored, alpha=0.1, method="wilson")
    return f"{correct / scored:.1%} (90 % interval {low:.1%} to {high:.1%})"
