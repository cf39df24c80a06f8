"""Files: written whole or not at all, and read as other tools leave them.

A file takes its name when it is complete, so that a kill at any moment leaves the old one or none.
JSON Lines may be gzipped, may begin with a byte order mark and may hold blank lines.
"""

import gzip
import json
import os
import secrets
import shutil
import tomllib
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from glob import escape
from importlib.resources import files
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

# --- Written whole ---------------------------------------------------------------------------

EXISTS = "{} exists: choose another name or pass --force to replace it"


@contextmanager
def whole_file(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary file beside `path` that takes its name if the block ends without error.

    Its folder is made. Raises FileExistsError if `path` exists, unless `force` is set; what killed
    processes have left of the same file goes then.
    """
    with _beside(path.absolute()) as temporary, ExitStack() as stack:
        _check_new(path, force)
        path.parent.mkdir(parents=True, exist_ok=True)
        lock(stack.enter_context(temporary.open("xb")))
        for left in path.parent.glob(f".{escape(path.name)}.*.part") if force else ():
            with suppress(OSError), left.open("rb") as opened:
                if lock(opened):
                    left.unlink()
        yield temporary
        _check_new(path, force)  # another process may have been faster
        temporary.replace(path)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path` that takes its name if the block ends without error.

    Raises FileExistsError if `path` exists.
    """
    if path.exists():
        raise FileExistsError(f"{path} exists: choose another name or remove it")
    with _beside(path.absolute()) as temporary:
        temporary.mkdir()
        yield temporary
        temporary.rename(path)


def lock(opened: IO[Any]) -> bool:
    """Lock an open file until it is closed; False if another holds it, True where nothing locks."""
    with suppress(ImportError):
        from fcntl import LOCK_EX, LOCK_NB, flock

        try:
            flock(opened, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _check_new(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise FileExistsError(EXISTS.format(path))


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:  # from before there is a file, so that a signal at any moment leaves none
        yield temporary
    except OSError as error:  # which names the temporary file or, of a full disk, none
        other = error.filename and not str(error.filename).startswith(str(temporary))
        if error.errno is None or other:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            temporary.unlink(missing_ok=True)


# --- Read ------------------------------------------------------------------------------------

MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The errors of reading JSON whose members are missing, or of another type or size."""


@contextmanager
def naming(where: str, *errors: type[Exception]) -> Iterator[None]:
    """Raise MALFORMED, and further `errors`, as a ValueError that begins with a place.

    Of an error of another library, which wraps what went wrong, it says the cause.
    """
    try:
        yield
    except MALFORMED + errors as error:
        told = error if isinstance(error, MALFORMED) else error.__cause__ or error
        cause = str(told) or type(told).__name__
        cause = f"no field {cause}" if isinstance(told, KeyError) else cause
        raise ValueError(f"{where}: {' '.join(cause.split())[:300]}") from error


# Bytes that are read at once: lines of 30 KB and more take a third of the time then.
_BUFFER = 1 << 20


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file, gzipped or not, opened to be read as bytes; ValueError for broken gzip."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb", _BUFFER) as file:
            yield cast(BinaryIO, file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} must be a whole gzip file: {error}") from None


def load_json(text: str | bytes) -> Any:
    """Return what JSON holds, in texts that UTF-8 can write: see `pair_up`."""
    return pair_up(json.loads(text)) if _escaped(text) else json.loads(text)


def _escaped(text: str | bytes) -> bool:
    """Tell whether JSON may hold half of an emoji: as an escape, or as no UTF-8."""
    if isinstance(text, bytes):
        return b"\\u" in text or b"\xed" in text
    return "\\u" in text or not text.isascii()


def pair_up(value: Any) -> Any:
    """Return JSON-like values with half of an emoji, as where a limit cut a response, as U+FFFD.

    Halves that stand side by side, as in a stream, become the whole.

    Examples:
        >>> pair_up({"said": "\\ud83d"})
        {'said': '�'}
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    if text.isascii():
        return value
    return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def read_objects(path: Path) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield the objects of a JSON Lines file, gzipped or not, each with its place in two forms.

    These are words, such as "a.jsonl line 1", and the byte at which its line begins; of a gzipped
    file, of what is in it. Blank lines hold nothing. ValueError as `open_file`, and for a line that
    is no object of JSON.
    """
    offset = 0
    with open_file(path) as file:
        for number, line in enumerate(file, start=1):
            if text := line.removeprefix(b"\xef\xbb\xbf").strip():
                try:
                    row = load_json(text)
                except (ValueError, RecursionError):
                    row = None
                if not isinstance(row, dict):
                    wanted = "must be an object of JSON, as in lm-eval's samples_*.jsonl"
                    cut = " (cut off?)" * (not line.endswith(b"\n"))
                    got = repr(text[:40].decode("utf-8", "replace"))
                    raise ValueError(f"{path} line {number} {wanted}, got {got}{cut}")
                yield f"{path} line {number}", offset, row
            offset += len(line)


@cache
def read_words(package: str, name: str) -> dict[str, Any]:
    """Return the tables of the data/NAME.toml of a package."""
    path = files(package).joinpath("data", f"{name}.toml")
    return tomllib.loads(path.read_text("utf-8"))


# --- Shown -----------------------------------------------------------------------------------

# Characters of a message on the terminal.
_LONGEST_MESSAGE = 1000


def show_controls(text: str) -> str:
    """Make characters visible that control, turn or break text, as in <U+202E>.

    Examples:
        >>> show_controls("a\\u202eb")
        'a<U+202E>b'
    """
    if text.isprintable():
        return text
    characters = {*text} - {"\n", "\t"}
    controls = [c for c in characters if unicodedata.category(c) in {"Cc", "Cf", "Cs"}]
    return text.translate({ord(c): f"<U+{ord(c):04X}>" for c in controls})


def one_line(text: str) -> str:
    """Return a message as one line that a terminal can show, cut in its middle if it is long.

    Examples:
        >>> one_line("two\\n  lines")
        'two lines'
    """
    line = show_controls(" ".join(text.split()))
    if len(line) <= _LONGEST_MESSAGE:
        return line
    half = _LONGEST_MESSAGE // 2
    return f"{line[:half]} ... {line[-half:]}"
