"""Responses -> rewards from 0 to 1, for training with TRL's GRPOTrainer or with `verifiers`.

What is rewarded stands in each benchmark's folder (`rewards.py` there); here are the adapters. The
rewards need nothing but the columns of a row as `load_dataset` gives them. No response makes them
raise, and their time is linear in its length.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.reasoning import is_part, of_message, split, whole

Completion = Any
"""What a trainer passes for a response: a text, a list of messages, or a model that is alike."""

TRACKING_INSTRUCTION = (
    "After each statement, write a line with its number and what it leaves the person asked about "
    'like, for example "3. Peter is wearing blue socks and is in the park.", or "4. Peter stays '
    'the same." if nothing changes for them.'
)
"""What to add to a prompt so that a model knows how its steps are read."""


def answer_score(response: str, row: Mapping[str, Any], reasoning: str | None = None) -> float:
    """Return the answer reward of a response to a puzzle, given as a row; reasoning is left out."""
    return benchmarks.of(row).reward_answer(split(response).response, row)


def step_score(response: str, row: Mapping[str, Any], reasoning: str | None = None) -> float:
    """Return the step reward of a response to a puzzle, given as a row, with its reasoning."""
    return benchmarks.of(row).reward_steps(whole(response, reasoning), row)


def answer_reward(completions: Sequence[Completion], **columns: Any) -> list[float]:
    """Return the answer reward of each completion, for TRL's `reward_funcs`.

    A completion is a text or a list of messages, and `columns` are those of its row. Raises
    ValueError if a column is missing.
    """
    return _rewards(answer_score, completions, columns)


def step_reward(completions: Sequence[Completion], **columns: Any) -> list[float]:
    """Return the step reward of each completion, for TRL's `reward_funcs`.

    A completion is a text or a list of messages, whose reasoning may stand in a field of its own,
    and `columns` are those of its row. Raises ValueError if a column is missing.
    """
    return _rewards(step_score, completions, columns)


def _rewards(
    score: Callable[..., float], completions: Sequence[Completion], columns: Mapping[str, Any]
) -> list[float]:
    pairs = zip(map(told, completions), rows(columns), strict=True)
    return [score(response, row, reasoning) for (response, reasoning), row in pairs]


def rows(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a trainer's keywords: lists of columns, and things of its own."""
    lists = {name: values for name, values in columns.items() if isinstance(values, list)}
    for values in zip(*lists.values(), strict=True):
        yield dict(zip(lists, values, strict=True))


def told(completion: Completion) -> tuple[str, str | None]:
    """Return what a model wrote, and its reasoning, from a text or the assistant's messages."""
    if isinstance(completion, str):
        return completion, None
    if hasattr(completion, "get"):  # a mapping, or a model that is alike
        if completion.get("role", "assistant") != "assistant" or is_part(completion):
            return "", None
        response, inner = told(completion.get("content") or completion.get("text"))
        return response, of_message(completion).text or inner
    if isinstance(completion, Sequence):
        parts = [*map(told, completion)]
        reasoning = "\n".join(filter(None, (thought for _, thought in parts)))
        return "\n".join(response for response, _ in parts), reasoning or None
    return "", None
