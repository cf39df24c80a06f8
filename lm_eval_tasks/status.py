"""What `cogniload eval` says beside its results: each warning once, and how far a run is."""

import logging
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from datasets import (
    are_progress_bars_disabled,
    disable_progress_bars,
    enable_progress_bars,
)
from statsmodels.stats.proportion import proportion_confint
from tqdm import tqdm

from cogniload_gen.checks import check_price
from cogniload_gen.files import one_line
from lm_eval_tasks.answers_file import Answers
from lm_eval_tasks.resume import Run
from lm_eval_tasks.spending_caps import HIGHER_CAP, cost_of

# What lm-eval says of every run like ours, and why a number is missing, which the results say.
_ADVICE = re.compile(r"Custom kwargs can be passed to `--metadata`|specified through cli")
_OF_NUMBERS = "lm_eval_tasks.cogniload.task", "lm_eval_tasks.factor.task"


class _Once(logging.Handler):
    """Writes each warning to standard error once, however often it is given."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._seen: set[str] = set()
        self._stream = sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        message = one_line(record.getMessage())
        said = message in self._seen or record.name in _OF_NUMBERS or _ADVICE.search(message)
        if not said:
            self._seen.add(message)
            tqdm.write(f"{record.levelname.lower()}: {message}", file=self._stream)


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Have libraries and tasks warn once, also while standard error is elsewhere.

    No bar but that of the answers is shown.
    """
    root = logging.getLogger()
    if any(isinstance(each, _Once) for each in root.handlers):
        yield
        return
    handler, hidden = _Once(), are_progress_bars_disabled()
    root.addHandler(handler)
    disable_progress_bars()
    try:
        yield
    finally:
        root.removeHandler(handler)
        if not hidden:
            enable_progress_bars()


def print_status(folders: Sequence[Path], price: str | None, include_path: str | None) -> None:
    """Print how far the runs in some folders are, and the command that usually follows.

    With the price of a million tokens, IN,OUT, also what the answers have cost.
    """
    prices = check_price(price)
    for folder in folders:
        run, answers = Run.begun(folder), Answers([folder])
        tasks = one_line(", ".join(map(str, run.what["tasks"])))
        done = len(answers.documents)
        if search := run.search(include_path):
            whole, goal = search.catch_up(answers), search.design.wanted
            print(f"{folder}: {done:,} puzzles are answered ({tasks}, until {goal})")
            print(search.design.line)
        else:
            whole = done >= run.total
            print(f"{folder}: {done:,} of {run.total:,} puzzles are answered ({tasks})")
        if answers.scored:
            right, tried = answers.correct, answers.scored
            low, high = proportion_confint(right, tried, alpha=0.1, method="wilson")
            print(f"accuracy so far: {right / tried:.1%} (90 % interval {low:.1%} to {high:.1%})")
        if any(answers.tokens):
            cost = f", {cost_of(answers.tokens, prices):,.2f} at the price" if prices else ""
            print("tokens: {:,} of prompts, {:,} of responses{}".format(*answers.tokens, cost))
        if answers.lost:
            document, why = next((key.document, why) for key, why in answers.lost.items())
            lost = f"{len(answers.lost):,} requests were given up, such as of {document}"
            print(one_line(f"{lost}: {why}"))
        if not whole and (stopped := run.about.get("stopped")):
            print(f"stopped: {one_line(str(stopped))}\nnext: {HIGHER_CAP}")
        elif not whole:
            print("next: the same command continues")
        elif any(folder.glob("*/results_*.json")):
            print(f"next: cogniload report {folder} --out {folder / 'report'}")
        else:
            print(f"next: cogniload eval --merge {folder}")
