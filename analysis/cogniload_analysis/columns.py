"""The columns of the frame, declared; and the fields of a sample, which may hold anything."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from reprlib import repr as brief
from typing import Any

from cogniload_gen.benchmark import Row
from cogniload_gen.sample import as_count


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


def read_integer(holder: Row, name: str) -> int:
    """Return a field that must hold an integer of 64 bits; ValueError where it does not."""
    value = holder[name]
    sound = isinstance(value, int | float) and -(2**63) <= value < 2**63 and value == int(value)
    if not sound:
        raise ValueError(f"{name} must be an integer of 64 bits, got {brief(value)}")
    return int(value)


def read_count(holder: Row, name: str) -> int | float:
    """Return a field that counts something, as `as_count` does; NaN where it is unknown."""
    count = as_count(holder.get(name))
    return math.nan if count is None else count
