"""Conversations about a puzzle: their turns, what the model sees of earlier ones, and their scores.

Where a model hides its reasoning, its replies still show after which statements it loses the state.
Three histories tell its own errors from those that earlier ones cause (docs/turns.md): its replies
stay in the conversation, the true states take their place, or these with a wrong one half-way.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import planted_turn
from cogniload_gen.checks import check_choice

HISTORIES = ("own", "true", "planted")

TWIN = "question=state"
"""The twin whose rows are taken turn by turn: its answer has all attributes of a person."""


def make_conversation(
    row: Mapping[str, Any], k: Any, history: Any, keep_reasoning: bool = False
) -> dict[str, Any]:
    """Return a row of TWIN as one of a conversation with `k` statements a turn and a history.

    Its id has the history, its puzzle is all messages of the user, and `turns` are those of
    `Turn`, by name. `keep_reasoning` says whether the model sees the reasoning of its own earlier
    replies. ValueError for a wrong `k` or history.
    """
    check_choice("history", history, HISTORIES)
    turns = [*benchmarks.of(row).turns(row, k)]
    about: dict[str, Any] = {"history": history, "k": k, "keep_reasoning": keep_reasoning}
    about["turns"] = [turn._asdict() for turn in turns]
    messages = "\n\n".join(turn.message for turn in turns)
    return {**row, "id": f"{row['id']}/{history}", "puzzle": messages, **about}


def script_of(row: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """Return the user's messages, each with what takes the place of the reply; None keeps it."""
    instead = {"true": "reply", "planted": "planted_reply"}.get(row["history"], "")
    return [(turn["message"], turn.get(instead)) for turn in row["turns"]]


def score_replies(row: Mapping[str, Any], replies: Sequence[str]) -> dict[str, Any]:
    """Return what a conversation's replies are worth; one that never came is wrong.

    Lists with one value per turn: whether it is `right`, `sound` (right, or what follows from the
    state that was planted), could be `read`, and the share of the attributes that is right
    (`state_share`). `statements` is their number.
    """
    spoken = [*replies, *[""] * (len(row["turns"]) - len(replies))]
    names = ("answer", "planted_answer" if row["history"] == "planted" else "answer")
    scores, led = (
        [
            benchmarks.score(reply, {**row, "answer": turn[name]})
            for reply, turn in zip(spoken, row["turns"], strict=True)
        ]
        for name in names
    )
    return {
        "history": row["history"], "k": row["k"], "statements": row["N"],
        "keep_reasoning": bool(row.get("keep_reasoning")),
        "right": [int(score.correct) for score in scores],
        "sound": [int(one.correct or two.correct) for one, two in zip(scores, led, strict=True)],
        "read": [int(score.value is not None) for score in scores],
        "state_share": [score.details["state_share"] for score in scores],
    }  # fmt: skip


def measure(conversation: Mapping[str, Any]) -> dict[str, float]:
    """Return the shares of one conversation, scored by `score_replies`, and what is at risk.

    `errors` are those in `at_risk` statements: all where earlier replies are not the model's own,
    otherwise the first one, after which a model is not at risk any more. An error is taken to be in
    the middle of its turn.
    """
    at_risk = conversation["sound"]
    if conversation["history"] == "own" and 0 in at_risk:
        at_risk = at_risk[: at_risk.index(0) + 1]
    errors, k = at_risk.count(0), conversation["k"]
    return {
        "acc": fmean(conversation["right"]),
        "acc_last": conversation["right"][-1],
        "read": fmean(conversation["read"]),
        "sound": fmean(conversation["sound"]),
        "errors": errors,
        "at_risk": min(len(at_risk) * k, conversation["statements"]) - errors * (k - 1) / 2,
    }


def late_turns(conversation: Mapping[str, Any]) -> list[int]:
    """Return whether the replies after the half-way turn are sound."""
    sound: list[int] = conversation["sound"]
    return sound[planted_turn(len(sound)) + 1 :]
