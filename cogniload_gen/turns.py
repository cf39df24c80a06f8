"""A turn of a conversation about a puzzle, and where a wrong state is planted."""

from typing import NamedTuple


class Turn(NamedTuple):
    """A turn: the user's message, the state after it as a row's answer, and a reply that gives it.

    `planted_answer` and `planted_reply` are those of the conversation in which one value is wrong
    half-way: the later states follow from the wrong one by the statements.
    """

    message: str
    answer: str
    reply: str
    planted_answer: str
    planted_reply: str


def planted_turn(turns: int) -> int:
    """Return the place, from 0, of the turn whose state is wrong in the history "planted"."""
    return (turns - 1) // 2
