"""Files and texts that may come from anywhere, read within bounds and shown as what they are."""

import gzip
import io
import json
import os
import stat
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from reprlib import repr as brief
from typing import Any, BinaryIO, cast

LARGEST = 1 << 26
"""Bytes of a line or of a text: 64 MiB, about 100 times the largest sample of a 128K context."""

BUFFER = 1 << 20
"""Bytes that are read at once: lines of 30 KB and more take a third of the time then."""

LONGEST_MESSAGE = 1000
"""Characters of a message on the terminal."""

MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The errors of reading JSON whose members are missing, or of another type or size."""

FILE, PIPE = "a file", "a named pipe"
KINDS = {
    stat.S_IFREG: FILE,
    stat.S_IFIFO: PIPE,
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def kind_of(status: os.stat_result) -> str:
    """Return what the status of a path says that it is, such as "a folder"."""
    return KINDS.get(stat.S_IFMT(status.st_mode), "no file")


def check_file(path: Path) -> Path:
    """Return the path of a file with an end; ValueError for a folder, a device or a named pipe.

    A link to a file is taken, and so is what a shell hands over by `<(command)`: a pipe below /dev.
    """
    kind = kind_of(path.stat())
    if kind != FILE and not (kind == PIPE and path.is_relative_to("/dev")):
        raise ValueError(f"{path} must be a file, got {kind}")
    return path


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file, gzipped or not, opened to be read as bytes.

    ValueError as `check_file`, and for a broken gzip file.
    """
    check_file(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb", BUFFER) as file:
            yield cast(BinaryIO, file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} must be a whole gzip file: {error}") from None


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file; ValueError as `open_file`, for one of more than LARGEST bytes."""
    with open_file(path) as file:
        for number, line in enumerate(iter(partial(file.readline, LARGEST + 1), b""), start=1):
            if len(line) > LARGEST:
                raise ValueError(f"{path} line {number} must have at most {LARGEST} bytes")
            yield line


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a JSON Lines file, each with the place of its line.

    ValueError as `read_lines`, and for a line that holds no object.
    """
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path} line {number}"
        row = json_row(line, where)
        if not isinstance(row, dict):
            raise ValueError(f"{where} must be an object, got {brief(row)}")
        yield where, row


def json_row(line: str | bytes, where: str) -> object:
    """Return what a line of JSON holds; ValueError if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} must be JSON, got {line[:40]!r} ({error})") from None


def read_whole(path: Path, largest: int = LARGEST) -> bytes:
    """Return what a file holds; ValueError as `open_file`, and for more than `largest` bytes."""
    with open_file(path) as file:
        return read_stream(file, str(path), largest)


def read_text(path: Path, errors: str = "strict") -> str:
    """Return the text of a file as `Path.read_text` does; ValueError as `read_whole`."""
    text = read_whole(path).decode("utf-8-sig", errors)
    return io.StringIO(text, newline=None).read()


def read_stream(stream: BinaryIO, name: str, largest: int = LARGEST) -> bytes:
    """Return what a stream holds, up to its end; ValueError for more than `largest` bytes."""
    content = stream.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"{name} must have at most {largest} bytes")
    return content


def show_controls(text: str) -> str:
    """Make characters visible that control, turn or break text, as in <U+202E>."""
    if text.isprintable():
        return text
    characters = {*text} - {"\n", "\t"}
    controls = [c for c in characters if unicodedata.category(c) in {"Cc", "Cf", "Cs"}]
    return text.translate({ord(c): f"<U+{ord(c):04X}>" for c in controls})


def one_line(text: str) -> str:
    """Return a message as one line that a terminal can show, cut in its middle if it is long."""
    line = show_controls(" ".join(text.split()))
    if len(line) <= LONGEST_MESSAGE:
        return line
    half = LONGEST_MESSAGE // 2
    return f"{line[:half]} ... {line[-half:]}"
