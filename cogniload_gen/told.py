"""What a response tells, and where."""

from typing import NamedTuple


class Told(NamedTuple):
    """A value that a response tells, and its place in the text: response[start:end]."""

    value: str
    start: int
    end: int
