"""Responses -> rewards from 0 to 1, for training with TRL's GRPOTrainer or with `verifiers`.

What is rewarded stands in each benchmark's folder (`rewards.py` there); here are the adapters. The
rewards need nothing but the columns of a row as `load_dataset` gives them. No response makes them
raise, and their time is linear in its length.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.answers.reasoning import is_part, of_message, split, whole
from cogniload_gen.benchmark import Benchmark
from cogniload_gen.claims import TRACKING_INSTRUCTION
from cogniload_gen.grid import ENGLISH, language_of

__all__ = ["TRACKING_INSTRUCTION", "answer_reward", "answer_score", "step_reward", "step_score"]

# What a trainer passes for a response: a text, a list of messages, or a model that is alike.
_Completion = Any


OWN = ("puzzle", "poi", "category", "suite")
"""Columns that rows of our puzzles fill, and those of other tasks in one training set do not."""

# The marks with which models end, where a trainer does not leave them out, and their most letters.
END = re.compile(r"(?:<\|\w+\|>|</s>|<eos>|<end_of_turn>|<｜end▁of▁sentence｜>)$")
_LONGEST_END = 40


def answer_score(response: str, row: Mapping[str, Any], reasoning: str | None = None) -> float:
    """Return the answer reward of a response to a puzzle, given as a row; reasoning is left out.

    Raises ValueError for a row that is no puzzle, and for a puzzle in another language than
    English, in which hedges and denials would not be recognised.
    """
    return _benchmark_of(row).reward_answer(split(_without_end(response)).response, row)


def step_score(response: str, row: Mapping[str, Any], reasoning: str | None = None) -> float:
    """Return the step reward of a response to a puzzle, given as a row, with its reasoning.

    Raises ValueError as `answer_score` does.
    """
    return _benchmark_of(row).reward_steps(_without_end(whole(response, reasoning)), row)


def answer_reward(completions: Sequence[_Completion], **columns: Any) -> list[float | None]:
    """Return the answer reward of each completion, for TRL's `reward_funcs`.

    A completion is a text or a list of messages, and `columns` are those of its row. The reward is
    None for a row of another task, whose columns of ours are all None. Raises ValueError if a
    column is missing, and as `answer_score` does.

    Examples:
        >>> from cogniload_gen import generate_puzzles
        >>> row = generate_puzzles(d=1, N=5, rho=50, num_puzzles=1).to_pylist()[0]
        >>> answer_reward(["I don't know."], **{name: [value] for name, value in row.items()})
        [0.0]
    """
    return _rewards(answer_score, completions, columns)


def step_reward(completions: Sequence[_Completion], **columns: Any) -> list[float | None]:
    """Return the step reward of each completion, for TRL's `reward_funcs`.

    A completion is a text or a list of messages, whose reasoning may stand in a field of its own.
    `columns`, None and ValueError are as for `answer_reward`.
    """
    return _rewards(step_score, completions, columns)


def _benchmark_of(row: Mapping[str, Any]) -> Benchmark:
    """Return the benchmark of a row; ValueError for a puzzle that the rewards can't be held to."""
    if (language := language_of(str(row.get("id")))) != ENGLISH:
        raise ValueError(f"rewards are for puzzles in English (en), got one in {language}")
    return benchmarks.of(row)


def _rewards(
    score: Callable[..., float], completions: Sequence[_Completion], columns: Mapping[str, Any]
) -> list[float | None]:
    own = [name for name in OWN if name in columns]
    if not own:
        raise ValueError(
            f"rewards need the columns of the puzzles, such as puzzle, got {', '.join(columns)}: a "
            "trainer drops them unless remove_unused_columns=False"
        )
    for name, values in columns.items():
        if isinstance(values, list) and len(values) != len(completions):
            given = f"got {len(values)} for {len(completions)} completions"
            raise ValueError(f"{name} must have a value for each completion, {given}")
    lists = {name: values for name, values in columns.items() if isinstance(values, list)}
    rows = (dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True))
    return [
        None if all(row.get(name) is None for name in own) else score(response, row, reasoning)
        for (response, reasoning), row in zip(map(told, completions), rows, strict=True)
    ]


def _without_end(response: str) -> str:
    """Return a response without the marks at its end.

    Examples:
        >>> _without_end("It is red.<|im_end|>\\n")
        'It is red.'
    """
    end = len(response.rstrip())
    while mark := END.search(response, max(0, end - _LONGEST_END), end):
        end = mark.start()
        while end and response[end - 1].isspace():
            end -= 1
    return response[:end]


def told(completion: _Completion) -> tuple[str, str | None]:
    """Return what a model wrote, and its reasoning, from a text or the assistant's messages.

    Examples:
        >>> told([{"role": "assistant", "content": "Red.", "reasoning_content": "Hm."}])
        ('Red.', 'Hm.')
    """
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
