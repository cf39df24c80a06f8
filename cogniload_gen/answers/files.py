"""The files that hold samples: where they are, and the samples in them.

They are lm-eval's samples_*.jsonl, gzipped or not, and logs of Inspect.
"""

import logging
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from cogniload_gen.answers import inspect_logs
from cogniload_gen.answers.sample import Sample
from cogniload_gen.answers.transcripts import with_transcripts
from cogniload_gen.checks import did_you_mean
from cogniload_gen.files import load_json, naming, open_file, read_objects

log = logging.getLogger(__name__)

# The names that EvaluationTracker of lm-eval 0.4.13 gives: a date such as 2026-11-21T08-26-58.1.
# Behind the date, -1 is a further part of a run, such as the twins that were answered elsewhere.
SAMPLES_NAME = re.compile(
    r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)(?P<part>-\d+)?"
    r"\.jsonl(\.gz)?"
)


def find_samples(path: Path) -> list[Path]:
    """Return the samples files that a path is, or that its folders hold; without any, its logs.

    A folder's logs may be copies of its samples. A link keeps its own name, which tells task and
    date. Raises FileNotFoundError for a path that isn't there.
    """
    if not path.exists():
        beside = [str(path.parent / each.name) for each in path.parent.glob("*")]
        near = did_you_mean(str(path), beside)
        raise FileNotFoundError(f"no such file or folder: {path}{near}")
    inside = [path] if path.is_file() else path.rglob("samples_*")
    found = [file for file in inside if SAMPLES_NAME.fullmatch(file.name)]
    return [file.parent.resolve() / file.name for file in found or inspect_logs.find_logs(path)]


def own_files(folder: Path) -> list[Path]:
    """Return the samples files in a folder, but those of twins, which `why` writes below a run."""
    return [file for file in find_samples(folder) if not next(read_samples(file))[2].is_twin]


def split_name(file: Path) -> tuple[str, str]:
    """Return the task and the date that a samples file's name holds."""
    match = SAMPLES_NAME.fullmatch(file.name)
    if match is None:
        raise ValueError(f"a samples file must be named samples_TASK_DATE.jsonl, got {file.name}")
    return match["task"], match["date"]


def run_of(path: Path) -> Path:
    """Return the folder of the run that a samples file belongs to; a folder is its own."""
    if not path.is_file():
        return path
    above = path.absolute().parents[1]
    return above if (above / "state" / "run.json").exists() else path.parent


def read_samples(file: Path) -> Iterator[tuple[str, int, Sample]]:
    """Yield the samples of a file's first filter, as lm-eval repeats them for each filter.

    A sample comes with its place in words, and with the offset by which `read_lines` finds it: a
    byte, or in a log its number. It has the transcripts of its responses that stand beside it. A
    line that stands there again is left out, and a warning counts them. ValueError for a line that
    is no object of JSON, and for a file without samples.
    """
    if inspect_logs.is_log(file):
        for where, offset, sample in inspect_logs.read_log(file):
            yield where, offset, with_transcripts(sample, file.parent)
        return
    first, seen, doubled = None, set(), 0
    of_first, others = set(), set()
    for where, offset, line in read_objects(file):
        if "doc" not in line:
            raise ValueError(
                f"{where} is no sample of lm-eval: give the folder of a run, its samples_*.jsonl, "
                "or --dataset with a table of responses"
            )
        sample = Sample.from_lm_eval(line)
        first = first or [sample.filter]
        if line.get("filter", first[0]) != first[0]:
            others.add(sample.document)
            continue
        of_first.add(sample.document)
        if sample.fingerprint in seen:
            doubled += 1
            continue
        seen.add(sample.fingerprint)
        yield where, offset, with_transcripts(sample, file.parent)
    if not first:
        raise ValueError(f"{file} holds no responses")
    if doubled:
        warn_once(f"{file}: {doubled:,} lines stand there again, and are counted once")
    if missing := len(others - of_first):
        warn_once(f"{file}: left out {missing:,} puzzles with lines of another filter alone")


def read_lines(file: str | Path, offsets: Iterable[int]) -> Iterator[Sample]:
    """Yield the samples that begin at some bytes of a samples file; rising ones are read fast."""
    file = Path(file)
    if inspect_logs.is_log(file):
        for *_, sample in inspect_logs.read_log(file, offsets):
            yield with_transcripts(sample, file.parent)
        return
    with open_file(file) as lines:
        for offset in offsets:
            lines.seek(offset)
            sample = Sample.from_lm_eval(load_json(lines.readline().decode("utf-8-sig")))
            yield with_transcripts(sample, file.parent)


def read_results(file: Path) -> dict[str, Any]:
    """Return what lm-eval's results file beside a samples file holds; nothing without one.

    It has the samples' date in its name; of several, the first by name counts. Raises ValueError
    for one that holds no object of JSON.
    """
    if not (name := SAMPLES_NAME.fullmatch(file.name)):
        return {}
    ends = tuple(f"_{name['date']}.json{end}" for end in ("", ".gz"))
    beside = sorted(other for other in file.parent.iterdir() if other.name.endswith(ends))
    for results in beside:
        with naming(f"{results} is no results file of lm-eval"), open_file(results) as opened:
            return dict(load_json(opened.read()).items())
    return {}


@cache
def warn_once(message: str) -> None:
    """Log a warning, once in a process: a file is read several times."""
    log.warning("%s", message)
