"""The words and sentences of a benchmark's data files."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_words(package: str, name: str) -> dict[str, Any]:
    """Return the tables of the data/NAME.toml of a package."""
    path = files(package).joinpath("data", f"{name}.toml")
    return tomllib.loads(path.read_text("utf-8"))
