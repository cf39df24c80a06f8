"""What responses tell, doubt and earn: what the rewards and the readers of steps share."""

import re
from typing import NamedTuple

from cogniload_gen.files import read_words

LONGEST = 500_000
"""The most characters that are read, some 125,000 tokens; a longer response is not read."""

MOST_WORDS = 200_000
"""The most words and marks that are read, since it is these that take the time."""

TRACKING_INSTRUCTION = (
    "After each statement, write a line with its number and what it leaves the person asked about "
    'like, for example "3. Peter is wearing blue socks and is in the park.", or "4. Peter stays '
    'the same." if nothing changes for them.'
)
"""What to add to a prompt so that a model knows how its steps are read."""


class Told(NamedTuple):
    """A value that a response tells, and its place in the text: response[start:end]."""

    value: str
    start: int
    end: int


# --- the words by which a response denies, doubts or takes back what it says, in lowercase

LISTS = read_words("cogniload_gen", "claims")
_NEGATION, DENIAL, _DOUBT, CONDITION = (
    "|".join(LISTS[name]) for name in ("negation", "denial", "doubt", "condition")
)

TALK = frozenset(LISTS["talk"]["words"].split())
"""The words of a passage that tells no value and takes none back, besides those of the puzzle."""

HEDGE = re.compile(
    rf"(?<![\w-])(?:{_NEGATION}|{DENIAL}|{_DOUBT}|{CONDITION})(?![\w-])|n't\b|[?~¬%]"
)
"""What makes a statement less than a plain one."""

# --- what blind strategies are worth in the rewards of steps

BLIND = 0.05
"""The most that a blind strategy earns."""


def beyond_blind(reached: float, blind: float) -> float:
    """Return the reward for a share of the steps, where a blind strategy reaches the share `blind`.

    Up to that share it grows to BLIND at most, and from there on to 1.

    Examples:
        >>> beyond_blind(0.25, 0.25), beyond_blind(1.0, 0.25)
        (0.05, 1.0)
    """
    worth = min(blind, BLIND)
    if reached <= blind:
        return reached * worth / blind if blind else 0.0
    return 1 - (1 - reached) * (1 - worth) / (1 - blind)
