"""What `cogniload eval` says beside its results: each warning once, and how far a run is."""

import json
import logging
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
from lm_eval_tasks.runner import report_of
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


def print_status(
    folders: Sequence[Path], price: str | None, include_path: str | None, *, as_json: bool = False
) -> None:
    """Print how far the runs in some folders are, and the command that usually follows.

    With the price of a million tokens, IN,OUT, also what the answers have cost. `as_json` prints a
    list of what `describe_status` returns.
    """
    prices = check_price(price)
    found = [describe_status(folder, prices, include_path) for folder in folders]
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        print("\n".join(line for each in found for line in _say_status(**each)))


def describe_status(
    folder: Path, prices: tuple[float, float] | None, include_path: str | None
) -> dict[str, Any]:
    """Return how far the run in a folder is.

    Of a run with --until, `puzzles` is None, and `design` says what is known; else that is "".
    `low` and `high` are the ends of the 90 % interval of the `accuracy` so far; these are None
    where nothing is scored, as is the `cost` without `prices`.
    """
    run, answers = Run.begun(folder), Answers([folder])
    done, search, about = len(answers.documents), run.search(include_path), {}
    if search:
        whole, wanted, design = search.catch_up(answers), search.design.wanted, search.design.line
    else:
        whole, wanted, design = done >= run.total, "", ""
    if (tried := answers.scored) and not search:  # whose answers chose the puzzles
        ends = proportion_confint(answers.correct, tried, alpha=0.1, method="wilson")
        about = dict(zip(("low", "high"), map(float, ends), strict=True))
        about["accuracy"] = answers.correct / tried
    key, why = next(iter(answers.lost.items()), (None, ""))
    stopped = "" if whole else one_line(str(run.about.get("stopped") or ""))
    following = f"cogniload eval --merge {folder}"
    if stopped:
        following = HIGHER_CAP
    elif not whole:
        following = "the same command continues"
    elif any(folder.glob("*/results_*.json")):
        following = report_of(folder)
    return {
        "folder": str(folder),
        "tasks": one_line(", ".join(map(str, run.what["tasks"]))),
        "answered": done,
        "puzzles": None if search else run.total,
        "until": wanted,
        "design": design,
        **dict.fromkeys(("accuracy", "low", "high")),
        **about,
        "prompt_tokens": answers.tokens[0],
        "response_tokens": answers.tokens[1],
        "cost": cost_of(answers.tokens, prices) if prices else None,
        "given_up": len(answers.lost),
        "given_up_first": one_line(f"{key.document}: {why}") if key else "",
        "stopped": stopped,
        "next": following,
    }


def _say_status(folder: str, tasks: str, answered: int, **about: Any) -> Iterator[str]:
    """Yield what `describe_status` returns, in lines."""
    if about["until"]:
        yield f"{folder}: {answered:,} puzzles are answered ({tasks}, until {about['until']})"
        yield about["design"]
    else:
        yield f"{folder}: {answered:,} of {about['puzzles']:,} puzzles are answered ({tasks})"
    if about["accuracy"] is not None:
        ends = "90 % interval {low:.1%} to {high:.1%}".format(**about)
        yield f"accuracy so far: {about['accuracy']:.1%} ({ends})"
    if about["prompt_tokens"] or about["response_tokens"]:
        cost = f", {about['cost']:,.2f} at the price" if about["cost"] is not None else ""
        counts = "{prompt_tokens:,} of prompts, {response_tokens:,} of responses".format(**about)
        yield f"tokens: {counts}{cost}"
    if about["given_up"]:
        yield f"{about['given_up']:,} requests were given up, such as of {about['given_up_first']}"
    if about["stopped"]:
        yield f"stopped: {about['stopped']}"
    yield f"next: {about['next']}"
