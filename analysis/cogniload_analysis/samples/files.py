"""The files that lm-eval and Inspect write: where samples are, and what a line of them says."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from cogniload_analysis.samples import inspect_logs
from cogniload_gen import files
from cogniload_gen import sample as lm_eval_samples
from cogniload_gen.sample import SAMPLES_NAME, Sample


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


def read_samples(file: Path) -> Iterator[tuple[str, int, Sample]]:
    """Yield the samples of a file or a log, as `read_samples` of `cogniload_gen.sample` does.

    The offset is that by which `read_lines` finds a sample: in a log, its number.
    """
    of_log = inspect_logs.is_log(file)
    return inspect_logs.read_log(file) if of_log else lm_eval_samples.read_samples(file)


def read_line(file: str | Path, offset: int) -> Sample:
    """Return the sample at an offset of a samples file, as `read_lines` does."""
    return next(read_lines(file, [offset]))


def read_rows(frame: pd.DataFrame) -> Iterator[tuple[Any, Sample]]:
    """Yield the sample of each row of a frame of `read_benchmarks`, with the row's index."""
    for file, offsets in frame.groupby("file", observed=True)["offset"]:
        yield from zip(offsets.index, read_lines(str(file), offsets), strict=True)


def read_lines(file: str | Path, offsets: Iterable[int]) -> Iterator[Sample]:
    """Yield the samples that begin at some bytes of a samples file; rising ones are read fast."""
    file = Path(file)
    if inspect_logs.is_log(file):
        yield from (sample for *_, sample in inspect_logs.read_log(file, offsets))
        return
    with files.open_file(file) as lines:
        for offset in offsets:
            lines.seek(offset)
            yield files.load_json(lines.readline().decode("utf-8-sig"))
