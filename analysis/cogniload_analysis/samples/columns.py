"""The fields of a sample, which may hold anything: checked values, and text that shows as text."""

import math
from collections.abc import Mapping
from reprlib import repr as brief
from typing import Any

from cogniload_gen.benchmark import Row


def members(holder: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object inside another by its name; empty if there is none or it is no object."""
    found = holder.get(name)
    return found if isinstance(found, dict) else {}


def read_response(sample: Mapping[str, Any]) -> str:
    """Return the response of a sample, as it was scored; "" where the sample holds none."""
    responses = sample.get("filtered_resps")
    return str(responses[0]) if isinstance(responses, list) and responses else ""


def read_integer(holder: Row, name: str) -> int:
    """Return a field that must hold an integer of 64 bits; ValueError where it does not."""
    value = holder[name]
    sound = isinstance(value, int | float) and -(2**63) <= value < 2**63 and value == int(value)
    if not sound:
        raise ValueError(f"{name} must be an integer of 64 bits, got {brief(value)}")
    return int(value)


def read_count(holder: Row, name: str) -> int | float:
    """Return a field as `read_integer` does, or NaN where it is missing or null."""
    return math.nan if holder.get(name) is None else read_integer(holder, name)
