"""The window of tokens that a prompt and its response share (CogniLoad, Appendix D.3)."""

CONTEXT_BUDGET = 32_768
"""The tokens that prompt and response share in the CogniLoad paper."""

STOP_MARGIN = 20
"""A response that ends so few tokens before the budget was cut off."""

STEPS, LARGEST_STEP = 32, 1024
"""Our tasks' response limits are multiples of 1/32 of the budget: a run has at most 32 of them.

A larger budget than the paper's is for longer prompts: there they are multiples of 1,024 tokens.
"""


def step_of(context_budget: int) -> int:
    """Return the tokens that our tasks' response limits are multiples of."""
    return min(context_budget // STEPS, LARGEST_STEP)


def is_cut_off(
    prompt_tokens: int | None, response_tokens: int | None, context_budget: int | None
) -> bool:
    """Tell whether a response met the end of its budget; a count that is not known counts as 0.

    Without a budget (None), nothing is cut off.
    """
    used = (prompt_tokens or 0) + (response_tokens or 0)
    return context_budget is not None and used + STOP_MARGIN >= context_budget
