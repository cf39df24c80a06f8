"""Checks of parameters, of rows and of what is installed.

A check of a value returns it, normalized, or raises a ValueError: one line that names it, what it
got and what it takes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from math import inf
from numbers import Integral
from pathlib import Path
from reprlib import repr as brief
from typing import Any


def check_integer(name: str, value: Any, *, low: int, high: int) -> int:
    """Return `value` as an int from `low` to `high`.

    Examples:
        >>> check_integer("seed", 7, low=0, high=9)
        7
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise ValueError(f"{name} must be an integer in {low}..{high}, got {brief(value)}")
    return int(value)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return `value`, which must be one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        allowed = f"{name} must be one of {', '.join(choices)}"
        raise ValueError(f"{allowed}, got {brief(value)}{did_you_mean(str(value), choices)}")
    return value


def check_choices(name: str, value: Any, choices: Sequence[str]) -> tuple[str, ...]:
    """Return `value`, one of `choices` or a sequence of different ones, as a tuple.

    Examples:
        >>> check_choices("split", "test", ("train", "test"))
        ('test',)
    """
    values = tuple(value) if isinstance(value, list | tuple) else (value,)
    for choice in values:
        check_choice(name, choice, choices)
    if not values or len(set(values)) < len(values):
        raise ValueError(f"{name} must hold at least one value and none twice, got {brief(value)}")
    return values


def check_shard(value: Any) -> tuple[int, int]:
    """Return (3, 8) of "3/8", the third of eight shards.

    Examples:
        >>> check_shard("3/8")
        (3, 8)
    """
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", str(value))
    shard, shards = map(int, match.groups()) if match else (0, 0)
    if not 1 <= shard <= shards:
        raise ValueError(f"shard must be I/N with 1 <= I <= N, got {brief(value)}")
    return shard, shards


PRICE = "of a million tokens of prompts and of responses, such as 0.4,1.6"
"""What a price is."""


def check_price(text: str | None) -> tuple[float, float] | None:
    """Return the prices of IN,OUT; ValueError for another text.

    Examples:
        >>> check_price("0.4,1.6")
        (0.4, 1.6)
    """
    if text is None:
        return None
    try:
        prompts, responses = map(float, text.split(","))
    except ValueError:
        prompts = responses = -1.0
    if not (0 <= prompts < inf and 0 <= responses < inf):
        raise ValueError(f"price must be IN,OUT, {PRICE}, got {text[:60]!r}")
    return prompts, responses


def check_flag(name: str, value: Any) -> bool:
    """Return `value`, which must be True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, got {brief(value)}")
    return value


def check_path(name: str, value: Any) -> None:
    """Raise ValueError for a text that begins as a path does, where nothing is there."""
    if str(value).startswith(("./", "../", "/", "~/")) and not Path(value).expanduser().exists():
        raise ValueError(f"{name} must be a folder or a name, got {value}, where nothing is")


def check_known(names: Iterable[str], known: Sequence[str], of: str) -> None:
    """Raise ValueError for the first name that is not `known`, with the nearest that is.

    `of` says what takes the names, such as "cogniload".

    Examples:
        >>> check_known(["Seed"], ("N", "seed"), "the task")
        Traceback (most recent call last):
            ...
        ValueError: the task takes N, seed; got 'Seed' (did you mean seed?)
    """
    for name in names:
        if name not in known:
            got = f"{name!r:.99}{did_you_mean(name, known)}"
            raise ValueError(f"{of} takes {', '.join(known)}; got {got}")


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the `known` name that is nearest, in words; "" if none is as near as `cutoff`.

    Examples:
        >>> did_you_mean("temprature", ["temperature", "top_p"])
        ' (did you mean temperature?)'
    """
    known = list(known)
    near = [other for other in known if other.lower() == name.lower()]
    near = near or get_close_matches(name[:200], known, 1, cutoff)
    return f" (did you mean {near[0]}?)" if near else ""


def check_columns(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return some columns of a row; ValueError names one that is missing."""
    for name in names:
        if name not in row:
            raise ValueError(f"a row needs the column {name} of the puzzles, got {list(row)}")
    return {name: row[name] for name in names}


def check_texts(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """Return some columns of a row, as `check_columns` does; ValueError for one that is no text."""
    columns = check_columns(row, names)
    for name, value in columns.items():
        if not isinstance(value, str):
            raise ValueError(f"{name} must be a text, got {brief(value)}")
    return columns


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, in a clone and from an index.

    Examples:
        >>> how_to_install("eval")
        "pip install '.[eval]' in a clone, else pip install 'cogniload[eval]'"
    """
    return f"pip install '.[{extra}]' in a clone, else pip install 'cogniload[{extra}]'"


def require(what: str, extra: str, modules: Iterable[str]) -> None:
    """Raise ImportError, with the command to install it, unless an extra's modules are there."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        listed = ", ".join(missing)
        raise ImportError(f"{what} needs {listed}: {how_to_install(extra)}", name=missing[0])
