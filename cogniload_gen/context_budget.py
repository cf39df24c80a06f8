"""The window of tokens that a prompt and its response share (CogniLoad, Appendix D.3)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

CONTEXT_BUDGET = 32_768
"""The tokens that prompt and response share in the CogniLoad paper."""

SMALLEST_BUDGET = 1024
"""Tokens. A step of a smaller one is near the 20 tokens that Appendix D.3 takes for a cut end."""

STOP_MARGIN = 20
"""A response that ends so few tokens before the budget was cut off."""

# Our tasks' response limits are multiples of 1/32 of the budget: a run has at most 32 of them.
#
# A larger budget than the paper's is for longer prompts: there they are multiples of 1,024 tokens.
_STEPS, _LARGEST_STEP = 32, 1024


def step_of(context_budget: int) -> int:
    """Return the tokens that our tasks' response limits are multiples of."""
    return min(context_budget // _STEPS, _LARGEST_STEP)


def response_limit(prompt_tokens: int, context_budget: int) -> int:
    """Return the tokens that a prompt leaves a response of its budget, rounded down to steps.

    lm-eval's Hugging Face and API backends batch only requests with equal generation arguments;
    with exact limits, batches would shrink to one. 0 or less means that the prompt does not fit.

    Examples:
        >>> response_limit(1500, 32_768)
        30720
    """
    step = step_of(context_budget)
    return (context_budget - prompt_tokens) // step * step


def check_context_budget(context_budget: Any) -> int:
    """Return the budget itself, in tokens; ValueError unless it is an integer of at least 1024."""
    if not isinstance(context_budget, int) or context_budget < SMALLEST_BUDGET:
        allowed = f"an integer of at least {SMALLEST_BUDGET} tokens"
        raise ValueError(f"context_budget must be {allowed}, got {context_budget!r}")
    return context_budget


def read_context_budget(given: object) -> int:
    """Return a budget given as tokens, or as 64K or 128K (K is 1,024); ValueError as above.

    Examples:
        >>> read_context_budget("64K")
        65536
    """
    thousands = re.fullmatch(r"(\d{1,5})K", str(given))
    return check_context_budget(1024 * int(thousands[1]) if thousands else given)


@dataclass(frozen=True, slots=True)
class Share:
    """How one document's budget is shared.

    `prompt_tokens` is an estimate unless `counted`; `response_limit` is what the response may have,
    in tokens, and 0 or less if the prompt does not fit.
    """

    prompt_tokens: int
    response_limit: int
    counted: bool

    def scored(
        self, prompt_tokens: int | None, response_tokens: int | None
    ) -> dict[str, int | None]:
        """Return the counts that a response is scored with, from those of the model's backend.

        `context_budget` is the prompt and the limit that the response really had, so that a
        response cut at a limit below the budget is seen as cut.
        """
        prompt_tokens = self.prompt_tokens if self.counted else prompt_tokens
        used = self.prompt_tokens if prompt_tokens is None else prompt_tokens
        return {
            "prompt_tokens": prompt_tokens,
            "response_tokens": response_tokens,
            "context_budget": used + self.response_limit,
        }


@lru_cache(maxsize=8)
def prompt_counter(tokenizer: str | None) -> Callable[[str, int], Share]:
    """Return a function from a prompt and its budget to the prompt's share.

    A chat model's tokenizer, a Hugging Face name or folder, counts with its template; without a
    tokenizer the counts are estimates. ValueError if it does not load.
    """
    from cogniload_gen.tokens import estimate, load_tokenizer

    loaded = None if tokenizer is None else load_tokenizer(tokenizer)

    def count(prompt: str, budget: int) -> Share:
        if loaded is None:
            tokens = estimate(prompt)
        else:
            chat, plain = [{"role": "user", "content": prompt}], not loaded.chat_template
            if not plain:
                prompt = loaded.apply_chat_template(
                    chat, tokenize=False, add_generation_prompt=True
                )
            tokens = len(loaded(prompt, add_special_tokens=plain, verbose=False)["input_ids"])
        return Share(tokens, response_limit(tokens, budget), counted=loaded is not None)

    return count


def check_fit(task: str, rows: Sequence[Mapping[str, Any]], shares: Mapping[str, Share]) -> None:
    """Raise ValueError, naming the longest, if a prompt leaves no room for a response.

    A row has an `id`, by which `shares` are kept, and a `context_budget`.
    """
    unfit = [row for row in rows if shares[row["id"]].response_limit <= 0]
    if unfit:
        longest = max(unfit, key=lambda row: shares[row["id"]].prompt_tokens)
        id, budget = longest["id"], longest["context_budget"]
        raise ValueError(
            f"{task}: {len(unfit)} of {len(shares)} documents do not fit: {id} has "
            f"{shares[id].prompt_tokens} prompt tokens, and its context_budget of {budget} must "
            f"leave {step_of(budget)} for the response"
        )
