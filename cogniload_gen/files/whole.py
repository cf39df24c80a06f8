"""Files and folders that are written whole or not at all."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EXISTS = "{} exists: choose another name or pass --force to replace it"

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors of a disk, a quota or a file that is full, which come without the file's name."""


@contextmanager
def whole_file(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary file beside `path` that takes its name if the block ends without error.

    Raises FileExistsError if `path` exists, unless `force`; then a link's target is replaced.
    IsADirectoryError if it is a folder.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    if os.path.lexists(path) and not force:
        raise FileExistsError(EXISTS.format(path))
    path = path.resolve()
    temporary = _temporary(path)
    try:  # from before there is a file, so that a signal at any moment leaves none
        with _naming(path):
            temporary.touch(exist_ok=False)
            yield temporary
        if force:
            temporary.replace(path)
        else:
            _rename_to_new(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path` that takes its name if the block ends without error.

    Raises FileExistsError if `path` exists.
    """
    if os.path.lexists(path):
        raise FileExistsError(f"{path} exists: choose another name or remove it")
    path = path.resolve()
    temporary = _temporary(path)
    try:
        with _naming(path):
            temporary.mkdir()
            yield temporary
        temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _temporary(path: Path) -> Path:
    """Return a name beside a path that nothing has."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the path in the errors of its temporary file or folder, and of a full disk."""
    try:
        yield
    except OSError as error:
        ours = str(error.filename).startswith(str(path.parent / f".{path.name}."))
        if error.errno is None or not (ours or error.errno in FULL):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


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
