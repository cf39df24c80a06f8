"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A temporary file beside `path` that takes its name when the block ends without an error.

    Raises FileExistsError if `path` exists, unless `force`; then a link's target is replaced.
    IsADirectoryError if it is a folder.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    if os.path.lexists(path) and not force:
        raise FileExistsError(f"{path} exists: choose another name or pass --force to replace it")
    path = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
