"""Names for callers that still import them from here."""

from pathlib import Path
from typing import BinaryIO

from cogniload_gen.files import EXISTS, remove_leftovers, whole_file, whole_folder  # noqa: F401


def make_inner_folder(path: Path) -> None:
    """Make a folder unless it is there."""
    path.mkdir(parents=True, exist_ok=True)


def open_to_append(path: Path) -> BinaryIO:
    """Return a file opened to append bytes."""
    return path.open("ab")
