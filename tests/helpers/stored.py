"""What lies beside the tests, and what commands write: cases in TOML, rows in JSON Lines."""

import gzip
import json
import tomllib
from pathlib import Path


def stored(test, name):
    """Return a file of the nearest folder `data` to a test."""
    files = (folder / "data" / name for folder in Path(test).parents)
    return next(file for file in files if file.is_file())


def cases(test, name="cases.toml"):
    """Return what a TOML file holds that lies beside a test."""
    return tomllib.loads(stored(test, name).read_text("utf-8"))


def read_lines(file):
    """Return the rows of JSON Lines, compressed or not."""
    content = Path(file).read_bytes()
    text = gzip.decompress(content) if str(file).endswith(".gz") else content
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def write_lines(file, rows):
    """Write rows as JSON Lines, and return the file."""
    file = Path(file)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return file


def contents(folder):
    """Return every file of a folder, hidden ones too, by its path in it."""
    files = (file for file in Path(folder).rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
