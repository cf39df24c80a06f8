"""The words and sentences of FACTOR's data files."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read_words(name: str) -> dict[str, Any]:
    """Return the tables of data/NAME.toml."""
    path = files(__package__).joinpath("data", f"{name}.toml")
    return tomllib.loads(path.read_text("utf-8"))
