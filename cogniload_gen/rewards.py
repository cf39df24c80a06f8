"""Responses -> rewards from 0 to 1, for training with TRL's GRPOTrainer or with `verifiers`.

What is rewarded stands in each benchmark's folder (`rewards.py` there); here are the adapters. The
rewards need nothing but the columns of a row as `load_dataset` gives them. No response makes them
raise, and their time is linear in its length.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cogniload_gen import benchmarks

Completion = Any
"""What a trainer passes for a response: a text, a list of messages, or a model that is alike."""

TRACKING_INSTRUCTION = (
    "After each statement, write a line with its number and what it leaves the person asked about "
    'like, for example "3. Peter is wearing blue socks and is in the park.", or "4. Peter stays '
    'the same." if nothing changes for them.'
)
"""What to add to a prompt so that a model knows how its steps are read."""


def answer_score(response: str, row: Mapping[str, Any]) -> float:
    """Return the answer reward of a response to a puzzle, given as a row."""
    return benchmarks.of(row).reward_answer(response, row)


def step_score(response: str, row: Mapping[str, Any]) -> float:
    """Return the step reward of a response to a puzzle, given as a row."""
    return benchmarks.of(row).reward_steps(response, row)


def answer_reward(completions: Sequence[Completion], **columns: Any) -> list[float]:
    """Return the answer reward of each completion, for TRL's `reward_funcs`.

    A completion is a text or a list of messages, and `columns` are those of its row. Raises
    ValueError if a column is missing.
    """
    pairs = zip(completions, rows(columns), strict=True)
    return [answer_score(text_of(completion), row) for completion, row in pairs]


def step_reward(completions: Sequence[Completion], **columns: Any) -> list[float]:
    """Return the step reward of each completion, for TRL's `reward_funcs`.

    A completion is a text or a list of messages, and `columns` are those of its row. Raises
    ValueError if a column is missing.
    """
    pairs = zip(completions, rows(columns), strict=True)
    return [step_score(text_of(completion), row) for completion, row in pairs]


def rows(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a trainer's keywords: lists of columns, and things of its own."""
    lists = {name: values for name, values in columns.items() if isinstance(values, list)}
    for values in zip(*lists.values(), strict=True):
        yield dict(zip(lists, values, strict=True))


def text_of(completion: Completion) -> str:
    """Return the text that a model wrote, from a text or the assistant's messages of a list."""
    if isinstance(completion, str):
        return completion
    if hasattr(completion, "get"):  # a mapping, or a model that is alike
        if completion.get("role", "assistant") != "assistant":
            return ""
        return text_of(completion.get("content") or completion.get("text"))
    if isinstance(completion, Sequence):
        return "\n".join(map(text_of, completion))
    return ""
