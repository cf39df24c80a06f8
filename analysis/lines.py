"""The files of samples that lm-eval and Inspect write, and one line of them."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cogniload_analysis.inspect_logs import is_log, read_log_lines, read_log_samples
from cogniload_gen import inputs


def number_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file of samples, each with the offset by which `read_line` finds it.

    A log of Inspect is read as lines of lm-eval's form; the offset counts its samples.
    """
    if is_log(file):
        yield from read_log_lines(file)
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
    if is_log(Path(file)):
        yield from read_log_samples(Path(file), offsets)
        return
    with inputs.open_file(Path(file)) as lines:
        for offset in offsets:
            lines.seek(offset)
            yield json.loads(lines.readline(inputs.LARGEST))
