"""The columns of the frame, declared; and the fields of a sample, which may hold anything."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from reprlib import repr as brief
from typing import Any

from cogniload_gen.benchmark import Row


@dataclass(frozen=True)
class Columns:
    """Columns of the frame that are read together.

    Attributes:
        types: The type of each column in pandas by its name; None for the one that pandas infers.
        read: From a sample to the values in the order of `types`; ValueError for a value out of
            range, and KeyError for a missing field.
    """

    types: Mapping[str, Any]
    read: Callable[[Row], Sequence[Any]]


def column(name: str, dtype: Any, read: Callable[[Row], Any]) -> Columns:
    """Return the declaration of one column, whose value `read` returns."""
    return Columns({name: dtype}, lambda sample: (read(sample),))


def members(holder: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object inside another by its name; empty if there is none or it is no object."""
    member = holder.get(name)
    return member if isinstance(member, dict) else {}


def read_responses(sample: Mapping[str, Any]) -> list[str]:
    """Return the responses of a sample, one for each attempt at its puzzle; "" for a missing one.

    Where a filter made something else of them, there is that alone, as it was scored.
    """
    kept, raw = (_first(sample.get(name)) for name in ("filtered_resps", "resps"))
    attempts = raw if isinstance(raw, list) else [raw]
    if isinstance(kept, list):
        attempts = kept
    elif kept is not None and kept not in attempts[:1]:
        attempts = [kept]
    return ["" if text is None else str(text) for text in attempts or [None]]


def _first(values: Any) -> Any:
    return (values[0] if values else None) if isinstance(values, list) else values


def read_integer(holder: Row, name: str) -> int:
    """Return a field that must hold an integer of 64 bits; ValueError where it does not."""
    value = holder[name]
    sound = isinstance(value, int | float) and -(2**63) <= value < 2**63 and value == int(value)
    if not sound:
        raise ValueError(f"{name} must be an integer of 64 bits, got {brief(value)}")
    return int(value)


def read_count(holder: Row, name: str) -> int | float:
    """Return a field as `read_integer` does, or NaN where it is unknown: no such number."""
    try:
        return read_integer(holder, name)
    except (KeyError, ValueError):
        return math.nan
