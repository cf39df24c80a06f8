"""The files that lm-eval and Inspect write: where samples are, and what a line of them says."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cogniload_analysis.columns import members, read_responses
from cogniload_analysis.samples import inspect_logs
from cogniload_gen import files
from cogniload_gen.files import MALFORMED
from cogniload_gen.sample import sample_metrics, spent_tokens

# The names that EvaluationTracker of lm-eval 0.4.13 gives: a date such as 2026-11-21T08-26-58.1.
# Behind the date, -1 is a further part of a run, such as the twins that were answered elsewhere.
SAMPLES_NAME = re.compile(
    r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)(-\d+)?\.jsonl(\.gz)?"
)

UNKNOWN_DATE = "1970-01-01T00:00:00+00:00"

LIMITS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
"""The names under which lm-eval's backends take an output limit."""


def find_samples(path: Path) -> list[Path]:
    """Return the samples files that a path is, or that its folders hold.

    Raises FileNotFoundError for a path that isn't there.
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    found = [path] if path.is_file() else path.rglob("samples_*")
    return [locate(file) for file in found if SAMPLES_NAME.fullmatch(file.name)]


def locate(file: Path) -> Path:
    """Return where a file is; a link keeps its own name, which tells task and date."""
    return file.parent.resolve() / file.name


def split_name(file: Path) -> tuple[str, str]:
    """Return the task and the date that a samples file's name holds."""
    match = SAMPLES_NAME.fullmatch(file.name)
    if match is None:
        raise ValueError(f"a samples file must be named samples_TASK_DATE.jsonl, got {file.name}")
    return match["task"], match["date"]


def to_utc(date: str) -> str:
    """Return the date in a file's name by ISO 8601; lm-eval doesn't say the time zone."""
    match = re.match(r"(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)", date)
    return f"{match[1]}:{match[2]}:{match[3]}+00:00" if match else UNKNOWN_DATE


def read_results(file: Path) -> dict[str, Any]:
    """Return what lm-eval's results file beside a samples file holds; nothing without one.

    It has the samples' date in its name; of several, the first by name counts. Raises ValueError
    for one that holds no object of JSON.
    """
    _, date = split_name(file)
    ends = (f"_{date}.json", f"_{date}.json.gz")
    beside = sorted(other for other in file.parent.iterdir() if other.name.endswith(ends))
    if not beside:
        return {}
    try:
        results = json.loads(files.read_whole(beside[0]))
        return dict(results.items())
    except MALFORMED as error:
        raise ValueError(f"{beside[0]} is no results file of lm-eval: {error}") from error


def read_samples(file: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the samples of a file's first filter, as lm-eval repeats them for each filter.

    A sample comes with its line's number and with the offset by which `read_lines` finds it. Raises
    ValueError where a line is no sample, or where the file has none.
    """
    first_filter, number = None, 0
    for number, (offset, sample) in enumerate(_number_samples(file), start=1):
        with naming_line(file, number):
            if number == 1:
                first_filter = sample.get("filter")
            wanted = sample.get("filter", first_filter) == first_filter
        if wanted:
            yield number, offset, sample
    if not number:
        lost = inspect_logs.count_log_samples(file) if inspect_logs.is_log(file) else 0
        raise ValueError(
            f"{file} holds no responses"
            + (f": all {lost} samples ended with an error" * (lost > 0))
        )


def _number_samples(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each sample of a file with its offset: in bytes, or of a log in samples."""
    if inspect_logs.is_log(file):
        yield from inspect_logs.read_log(file)
        return
    offset = 0
    for number, line in enumerate(files.read_lines(file), start=1):
        if line.strip():
            with naming_line(file, number):
                sample = json.loads(line)
            yield offset, sample
        offset += len(line)


@contextmanager
def naming_line(file: Path, number: int) -> Iterator[None]:
    """Name file and line in the error of a sample that can't be read."""
    try:
        yield
    except MALFORMED as error:
        raise ValueError(f"{file}, line {number}: {inspect_logs.say_cause(error)}") from error


def split_attempts(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a sample for each attempt of one that has several, as with lm-eval's `repeats`.

    lm-eval scores the first attempt alone, so the others are scored here. Nothing tells their
    tokens apart: each has an equal share of those that were spent. The attempts at a puzzle that
    can't be scored again, as it was made elsewhere, stay one sample.
    """
    attempts = read_responses(sample)
    if len(attempts) < 2:
        return [sample]
    spent = spent_tokens(sample)
    share = {"spent": [tokens / len(attempts) for tokens in spent] if spent else None}
    unknown = ("finish_reason", "response_tokens")
    kept = {name: held for name, held in sample.items() if name not in unknown}
    try:
        prompt = sample.get("prompt_tokens")
        puzzle = sample["doc"] | {"prompt_tokens": prompt, "response_tokens": None}
        if prompt is not None and (limit := request_limit(sample)):
            puzzle["context_budget"] = prompt + limit
        others = [kept | sample_metrics(text, puzzle) for text in attempts[1:]]
    except MALFORMED:
        return [sample]
    return [
        each | share | {"resps": [[text]], "filtered_resps": [text]}
        for each, text in zip([sample, *others], attempts, strict=True)
    ]


def request_settings(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of generation that a sample's request had."""
    requests = sample.get("arguments")
    if isinstance(requests, list) and requests and isinstance(requests[0], list):
        requests = {"gen_args_0": {"arg_1": requests[0][-1]}}  # as lm-eval once wrote them
    return members(members(members({"all": requests}, "all"), "gen_args_0"), "arg_1")


def request_limit(sample: Mapping[str, Any]) -> Any:
    """Return the output limit that a sample's request had, in tokens; None where it has none."""
    settings = request_settings(sample)
    return next((settings[name] for name in LIMITS if name in settings), None)


def read_line(file: str | Path, offset: int) -> dict[str, Any]:
    """Return the sample that begins at byte `offset` of a samples file, as lm-eval wrote it."""
    return next(read_lines(file, [offset]))


def read_lines(file: str | Path, offsets: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Yield the samples that begin at some bytes of a samples file; rising ones are read fast."""
    file = Path(file)
    if inspect_logs.is_log(file):
        yield from inspect_logs.read_log_samples(file, offsets)
        return
    with files.open_file(file) as lines:
        for offset in offsets:
            lines.seek(offset)
            yield json.loads(lines.readline())
