"""Names for callers that still import them from here."""

from pathlib import Path
from typing import BinaryIO

from cogniload_gen import files
from cogniload_gen.files import (  # noqa: F401
    MALFORMED,
    json_row,
    one_line,
    open_file,
    read_lines,
    show_controls,
)

LARGEST = 1 << 26


def check_file(path: Path) -> Path:
    """Return the path."""
    return path


def read_whole(path: Path, _: int = LARGEST) -> bytes:
    """Return what a file holds."""
    return files.read_whole(path)


def read_stream(stream: BinaryIO, *_: object) -> bytes:
    """Return what a stream holds."""
    return stream.read()


def read_text(path: Path, errors: str = "strict") -> str:
    """Return the text of a file."""
    return path.read_text("utf-8-sig", errors)
