"""The files that lm-eval and Inspect write: where samples are, and what a line of them says."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from reprlib import repr as brief
from typing import Any

from cogniload_analysis.samples import inspect_logs
from cogniload_gen.files import inputs

# The names that EvaluationTracker of lm-eval 0.4.13 gives: a date such as 2026-11-21T08-26-58.1.
# Behind the date, -1 is a further part of a run, such as the twins that were answered elsewhere.
SAMPLES_NAME = re.compile(
    r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)(-\d+)?\.jsonl(\.gz)?"
)

UNKNOWN_DATE = "1970-01-01T00:00:00+00:00"


def find_samples(path: Path) -> list[Path]:
    """Return the samples files that a path is, or that its folders hold.

    Raises FileNotFoundError for a path that isn't there.
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    files = [path] if path.is_file() else path.rglob("samples_*")
    return [locate(file) for file in files if SAMPLES_NAME.fullmatch(file.name)]


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

    It has the samples' date in its name; of several, the first by name counts.
    """
    _, date = split_name(file)
    ends = (f"_{date}.json", f"_{date}.json.gz")
    beside = sorted(other for other in file.parent.iterdir() if other.name.endswith(ends))
    if not beside:
        return {}
    content = inputs.read_whole(beside[0])
    try:
        results = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{beside[0]} is no results file of lm-eval: {error}") from error
    if not isinstance(results, dict):
        raise ValueError(
            f"{beside[0]} is no results file of lm-eval: it must hold an object, "
            f"got {brief(results)}"
        )
    return results


def read_first_filter(
    file: Path, parse: Callable[[bytes], Any] = json.loads
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the samples of a file's first filter, as lm-eval repeats them for each filter.

    A sample comes with its line's number and with its offset, as `number_lines` has it. Raises
    ValueError where a line is no sample, or where the file has none.
    """
    first_filter, number = None, 0
    for number, (offset, line) in enumerate(number_lines(file), start=1):
        with naming_line(file, number):
            sample = parse(line)
            first_filter = first_filter or sample["filter"]
            wanted = sample["filter"] == first_filter
        if wanted:
            yield number, offset, sample
    if not number:
        lost = inspect_logs.count_log_samples(file) if inspect_logs.is_log(file) else 0
        raise ValueError(
            f"{file} holds no responses"
            + (f": all {lost} samples ended with an error" * (lost > 0))
        )


@contextmanager
def naming_line(file: Path, number: int) -> Iterator[None]:
    """Name file and line in the error of a sample that can't be read."""
    try:
        yield
    except inputs.MALFORMED as error:
        raise ValueError(f"{file}, line {number}: {inspect_logs.say_cause(error)}") from error


def number_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file of samples, each with the offset by which `read_line` finds it.

    A log of Inspect is read as lines of lm-eval's form; the offset counts its samples.
    """
    if inspect_logs.is_log(file):
        yield from inspect_logs.read_log_lines(file)
        return
    offset = 0
    for line in inputs.read_lines(file):
        yield offset, line
        offset += len(line)


def read_line(file: str | Path, offset: int) -> dict[str, Any]:
    """Return the sample that begins at byte `offset` of a samples file, as lm-eval wrote it."""
    return next(read_lines(file, [offset]))


def read_lines(file: str | Path, offsets: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Yield the samples that begin at some bytes of a samples file; rising ones are read fast."""
    file = Path(file)
    if inspect_logs.is_log(file):
        yield from inspect_logs.read_log_samples(file, offsets)
        return
    with inputs.open_file(file) as lines:
        for offset in offsets:
            lines.seek(offset)
            yield json.loads(lines.readline(inputs.LARGEST))
