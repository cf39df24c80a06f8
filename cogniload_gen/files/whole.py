"""Files and folders that are written whole or not at all."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from cogniload_gen.files.inputs import FILE, kind_of

EXISTS = "{} exists: choose another name or pass --force to replace it"

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk, a quota or a file that is full, which come without the file's name."""


@contextmanager
def whole_file(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary file beside `path` that takes its name if the block ends without error.

    Raises FileExistsError if `path` exists, unless it is a file and `force` is set.
    """
    if check_target(path) and not force:
        raise FileExistsError(EXISTS.format(path))
    path = path.absolute()
    with _beside(path) as temporary:
        temporary.touch(exist_ok=False)
        yield temporary
        if force:
            temporary.replace(path)
        else:
            _rename_to_new(temporary, path)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path` that takes its name if the block ends without error.

    Raises FileExistsError if `path` exists.
    """
    if os.path.lexists(path):
        raise FileExistsError(f"{path} exists: choose another name or remove it")
    path = path.absolute()
    with _beside(path) as temporary:
        temporary.mkdir()
        yield temporary
        temporary.rename(path)


def check_target(path: Path) -> bool:
    """Return whether there is a file to replace; FileExistsError for what is no regular file.

    A link is not regular, wherever it leads: a planted one would have any file of this user's
    overwritten.
    """
    try:
        kind = kind_of(path.lstat())
    except OSError:  # nothing is there, or what is wrong comes up when the file is made
        return False
    if kind != FILE:
        raise FileExistsError(f"{path} is {kind}: name a file")
    return True


def open_to_append(path: Path) -> BinaryIO:
    """Return a file opened to append bytes, created if it is missing; errors as `check_target`."""
    check_target(path)
    return path.open("ab")


def make_inner_folder(path: Path) -> None:
    """Make a folder that a command writes into, unless it is there; FileExistsError for a link.

    A link at the root of the file system is the system's own, as macOS's /tmp is.
    """
    if path.is_symlink() and len(path.absolute().parts) > len(("/", "tmp")):
        raise FileExistsError(f"{path} is a link: remove it, or name another folder")
    path.mkdir(parents=True, exist_ok=True)


def remove_leftovers(path: Path) -> None:
    """Remove what killed processes left beside a file that no other process is writing."""
    for leftover in path.parent.glob(f".{path.name}.*.part"):
        leftover.unlink(missing_ok=True)


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Yield a name beside a path that nothing has, and remove what has it in the end.

    The path is named in the errors of what has that name, and of a full disk.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:  # from before there is a file, so that a signal at any moment leaves none
        yield temporary
    except OSError as error:
        ours = str(error.filename).startswith(str(temporary))
        if error.errno is None or not (ours or error.errno in FULL):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            temporary.unlink(missing_ok=True)


def _rename_to_new(temporary: Path, path: Path) -> None:
    """Rename a file unless another process has made one of that name meanwhile."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise FileExistsError(EXISTS.format(path)) from None
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(EXISTS.format(path)) from None
        temporary.replace(path)
