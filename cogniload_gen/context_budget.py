"""The window of tokens that a prompt and its response share (CogniLoad, Appendix D.3)."""

CONTEXT_BUDGET = 32_768
"""The tokens that prompt and response share in the CogniLoad paper."""

STOP_MARGIN = 20
"""A response that ends so few tokens before the budget was cut off."""


def is_cut_off(
    prompt_tokens: int | None, response_tokens: int | None, context_budget: int | None
) -> bool:
    """Tell whether a response met the end of its budget; a count that is not known counts as 0.

    Without a budget (None), nothing is cut off.
    """
    used = (prompt_tokens or 0) + (response_tokens or 0)
    return context_budget is not None and used + STOP_MARGIN >= context_budget
