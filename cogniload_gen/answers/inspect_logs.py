"""Inspect's log files, read as lm-eval's samples are.

Inspect reads a log's header. Samples are read as JSON: Inspect's own classes refuse a whole log for
one message without content, and take a hundred times as long for the events, which nobody needs.
"""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cogniload_gen.answers.sample import Sample
from cogniload_gen.checks import require
from cogniload_gen.files import load_json, naming

# How Inspect names its logs: zip files, or JSON that begins with a date.
_LOG_NAME = re.compile(r".+\.eval|\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d.*\.json", re.DOTALL)

# Settings for generation that change the speed of a run, and not the responses.
_HOW_FAST = {
    *("adaptive_connections", "attempt_timeout", "batch", "cache", "max_connections"),
    *("max_retries", "stream_idle_timeout", "timeout"),
}

# The errors of reading a zip file that is damaged.
_BROKEN = (EOFError, OSError, RuntimeError, zipfile.BadZipFile, zlib.error)


def is_log(file: Path) -> bool:
    """Tell by its name whether a file is a log of Inspect."""
    return _LOG_NAME.fullmatch(file.name) is not None


def find_logs(path: Path) -> list[Path]:
    """Return the logs of Inspect that a path is, or that its folders hold."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return [file for file in files if is_log(file) and file.is_file()]


def describe_log(file: Path) -> tuple[str, str, dict[str, Any]]:
    """Return the task and the date of a log, and what lm-eval's results file would say of the run.

    It is made from the model, its arguments and its settings for generation. Raises ImportError
    without Inspect, and ValueError for a file that is no log.
    """
    require("a log of Inspect", "inspect", ("inspect_ai",))
    from inspect_ai.log import read_eval_log

    with naming(f"{file} is no log of Inspect", *_BROKEN):
        header = read_eval_log(file, header_only=True)
        spec = header.eval
        written = spec.metadata or {}
    task = spec.task.rpartition("/")[2].replace("-", "_")
    # The model's own settings for generation, then those of the task and of the command.
    own, given = spec.model_generate_config, header.plan.config
    settings = own.model_dump(exclude_none=True, exclude=_HOW_FAST)
    settings |= given.model_dump(exclude_none=True, exclude=_HOW_FAST)
    about = {"version": str(spec.task_version or "")}
    config = {"model": "inspect", "model_args": spec.model_args, "until": written.get("until")}
    configs = {task: {"generation_kwargs": settings, "metadata": about}}
    return task, spec.created, {"model_name": spec.model, "config": config, "configs": configs}


def read_log(
    file: Path, places: Iterable[int] | None = None, read: Callable[..., Any] = Sample.from_inspect
) -> Iterator[tuple[str, int, Any]]:
    """Yield the samples of a log as `read` makes them, each with its place, also in words.

    They are those at some `places`, else all but those that ended with an error, and so without a
    score. A `.eval` file is read sample by sample. Raises ValueError where one can't be read, or
    where there are none.
    """
    found = False
    with _open_samples(file) as (count, read_sample):
        for place in range(count) if places is None else places:
            where = f"{file}, sample {place + 1}"
            with naming(where, *_BROKEN):
                held = read_sample(place)
                if places is None and held.get("error") and not held.get("scores"):
                    continue
                sample = read(held)
            found = True
            yield where, place, sample
    if not found and places is None:
        why = f": all {count} samples ended with an error" * bool(count)
        raise ValueError(f"{file} holds no responses{why}")


def count_log_samples(file: Path) -> int:
    """Return how many samples a log holds, those that ended with an error too."""
    with _open_samples(file) as (count, _):
        return count


@contextmanager
def _open_samples(file: Path) -> Iterator[tuple[int, Callable[[int], dict[str, Any]]]]:
    """Yield the number of samples of a log, and a function that reads one by its place."""
    if file.suffix == ".json":
        samples = load_json(file.read_bytes()).get("samples") or []
        yield len(samples), samples.__getitem__
        return
    with zipfile.ZipFile(file) as log:
        names = dict.fromkeys(log.namelist())  # the last of an entry that was written again holds
        entries = [name for name in names if name.startswith("samples/")]
        yield len(entries), lambda place: load_json(log.read(entries[place]))
