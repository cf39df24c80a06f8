"""Conversations about a puzzle: their turns, what the model sees of earlier ones, and their scores.

Where a model hides its reasoning, its replies still show after which statements it loses the state.
Three histories tell its own errors from those that earlier ones cause (docs/turns.md): its replies
stay in the conversation, the true states take their place, or these with a wrong one half-way. In
two more, what was said is replaced every few turns, by a summary or by the true state of everyone
(docs/compaction.md).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from statistics import fmean
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.answers.reasoning import split
from cogniload_gen.benchmark import Row, planted_turn
from cogniload_gen.checks import check_choice, check_integer
from cogniload_gen.files import read_words

HISTORIES = ("own", "true", "planted", "compacted", "compacted_true")

USUAL = HISTORIES[:3]
"""The histories in which nothing is replaced but replies."""

PROMPTS: dict[str, str] = read_words("cogniload_gen", "conversations")["prompts"]
"""What strategies that need no agent ask the model for; of "none" the reply replaces nothing."""

TWIN = "question=state"
"""The twin whose rows are taken turn by turn: its answer has all attributes of a person."""

_SUMMARY: str = read_words("cogniload_gen", "conversations")["summary"]


def make_conversation(
    row: Row,
    k: Any,
    history: Any,
    keep_reasoning: bool = False,
    asks: Any = "early",
    every: Any = 2,
    strategy: Any = "recap",
) -> dict[str, Any]:
    """Return a row of TWIN as one of a conversation with `k` statements a turn and a history.

    Its id has the history, its puzzle is all messages of the user, and `turns` are those of
    `Turn`, by name. `keep_reasoning` says whether the model sees the reasoning of its own earlier
    replies. With `asks` "late", turns before the last ask about anyone. A compacted history is
    replaced after `every` turns, by what a `strategy` makes of it, and has both in its row.
    ValueError for a wrong `k`, history, `asks` or `every`.
    """
    check_choice("history", history, HISTORIES)
    if check_choice("poi", asks, ("early", "late")) == "late" and history == "planted":
        raise ValueError("history planted is for poi early, got late")
    turns = [*benchmarks.of(row).turns(row, k, asks == "late")]
    about: dict[str, Any] = {"k": k, "keep_reasoning": keep_reasoning, "asks": asks}
    about["turns"] = [turn._asdict() for turn in turns]
    if history.startswith("compacted"):
        about["every"] = check_integer("every", every, low=1, high=len(turns))
    if history == "compacted":
        about["strategy"], history = strategy, f"{history}_{strategy}"
    about["history"] = history
    messages = "\n\n".join(turn.message for turn in turns)
    return {**row, "id": f"{row['id']}/{history}", "puzzle": messages, **about}


def is_compacted(row: Row, turn: int) -> bool:
    """Tell whether a conversation is compacted after a turn, from 1; after the last it never is."""
    return "every" in row and turn % row["every"] == 0 and turn < len(row["turns"])


def resume(row: Row, summary: str) -> str:
    """Return what stands before the next message where a summary takes the place of the earlier.

    It is the puzzle's instruction, the first line of the first message, and the summary.
    """
    return row["turns"][0]["message"].partition("\n")[0] + _SUMMARY.format(summary)


def script_of(row: Row) -> list[tuple[str, str | None]]:
    """Return the user's messages, each with what takes the place of the reply; None keeps it."""
    instead = {"true": "reply", "planted": "planted_reply"}.get(row["history"], "")
    return [(turn["message"], turn.get(instead)) for turn in row["turns"]]


def split_said(row: Row, said: Iterable[str]) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the replies among all that a model said in a conversation, and its summaries."""
    rest, replies, summaries = iter(said), list[str](), list[dict[str, Any]]()
    for turn in range(1, len(row["turns"]) + 1):
        replies += islice(rest, 1)
        if "strategy" in row and is_compacted(row, turn):
            summaries += ({"after": turn, "text": split(t).response} for t in islice(rest, 1))
    return replies, summaries


def score_replies(row: Row, replies: Sequence[str], summaries: Any = ()) -> dict[str, Any]:
    """Return what a conversation's replies are worth; one that never came is wrong.

    Lists with one value per turn: whether it is `right`, `sound` (right, or what follows from the
    state that was planted), could be `read`, and the share of the attributes that is right
    (`state_share`). `statements` is their number. Of a compacted one, `summaries` and `held` are
    what `judge_summaries` of the benchmark returns for its summaries.
    """
    spoken = [*replies, *[""] * (len(row["turns"]) - len(replies))]
    names = ("answer", "planted_answer" if row["history"] == "planted" else "answer")
    scores, led = (
        [
            benchmarks.score(reply, {**row, "poi": turn["poi"], "answer": turn[name]})
            for reply, turn in zip(spoken, row["turns"], strict=True)
        ]
        for name in names
    )
    about = {name: row[name] for name in ("asks", "every", "strategy") if name in row}
    if "strategy" in row:
        about["summaries"], about["held"] = benchmarks.of(row).judge_summaries(row, summaries)
    return about | {
        "history": row["history"], "k": row["k"], "statements": row["N"],
        "keep_reasoning": bool(row.get("keep_reasoning")),
        "right": [int(score.correct) for score in scores],
        "sound": [int(one.correct or two.correct) for one, two in zip(scores, led, strict=True)],
        "read": [int(score.value is not None) for score in scores],
        "state_share": [score.details["state_share"] for score in scores],
    }  # fmt: skip


def measure(conversation: Mapping[str, Any]) -> dict[str, float]:
    """Return the shares of one conversation, scored by `score_replies`, and what is at risk.

    `kept` is that of the facts that its summaries keep, if there are any. `errors` are those in
    `at_risk` statements: all where earlier replies are not the model's own, otherwise the first
    one, after which a model is not at risk any more. An error is taken to be in the middle of its
    turn.
    """
    at_risk = conversation["sound"]
    if conversation["history"] == "own" and 0 in at_risk:
        at_risk = at_risk[: at_risk.index(0) + 1]
    errors, k = at_risk.count(0), conversation["k"]
    kinds = [kind for each in conversation.get("summaries", ()) for kind in each["kind"]]
    return ({"kept": kinds.count("kept") / len(kinds)} if kinds else {}) | {
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
