"""What a response tells, and where."""

from typing import NamedTuple

LONGEST = 500_000
"""The most characters that are read, some 125,000 tokens; a longer response is not read."""

MOST_WORDS = 200_000
"""The most words and marks that are read, since it is these that take the time."""


class Told(NamedTuple):
    """A value that a response tells, and its place in the text: response[start:end]."""

    value: str
    start: int
    end: int
