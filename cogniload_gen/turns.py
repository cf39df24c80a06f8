"""Turns of a conversation about a puzzle, and the histories that the model sees of it.

Where a model hides its reasoning, its replies still show after which statements it loses the state.
Three histories tell its own errors from those that earlier ones cause (docs/turns.md): its replies
stay in the conversation, the true states take their place, or one wrong state does, half-way.
"""

from collections.abc import Sequence
from typing import NamedTuple

from cogniload_gen.checks import check_choice

HISTORIES = ("own", "true", "planted")


class Turn(NamedTuple):
    """A turn: the user's message, the state after it as a row's answer, and two possible replies.

    `reply` is the sentence that gives this state, and `error` the same with one wrong value.
    """

    message: str
    answer: str
    reply: str
    error: str


def history_of(turns: Sequence[Turn], history: str) -> list[str | None]:
    """Return what takes the place of the reply to each turn; None where the reply stays.

    With "planted", true states stand up to the turn half-way, whose state has one error; the
    replies after it are the model's own. ValueError for another history.
    """
    check_choice("history", history, HISTORIES)
    true = [turn.reply for turn in turns]
    half = planted_turn(len(turns))
    places: dict[str, list[str | None]] = {
        "own": [None] * len(turns),
        "true": [*true],
        "planted": [*true[:half], turns[half].error, *[None] * (len(turns) - half - 1)],
    }
    return places[history]


def planted_turn(turns: int) -> int:
    """Return the place, from 0, of the turn whose state is wrong in the history "planted"."""
    return (turns - 1) // 2
