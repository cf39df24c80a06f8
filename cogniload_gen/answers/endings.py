"""How a response ended: by itself, cut by a limit, filtered, or empty though nothing cut it.

What a backend calls it comes first. Where it says nothing that is known, the counts of tokens do.
"""

from typing import Any, Literal

from cogniload_gen.context_budget import STOP_MARGIN
from cogniload_gen.files import read_words

Ending = Literal["ended", "cut", "filtered", "empty"]

WORDS: dict[str, str] = read_words("cogniload_gen", "endings")
"""The words of servers and of harnesses for how a response ended, by kind."""

KINDS = {word.replace("_", ""): kind for kind, words in WORDS.items() for word in words.split()}


def kind_of(finish_reason: object) -> Literal["ended", "cut", "filtered", "broken"] | None:
    """Return what a backend's word says of how a response ended.

    "ended" by itself, "cut" at a limit, "filtered" by the server, or "broken" off by a fault of the
    server. Case and separators don't matter, nor does "finish reason" before the word. None for an
    unknown word, and for anything that is no text: the counts of tokens decide then.
    """
    if not isinstance(finish_reason, str):
        return None
    letters = "".join(filter(str.isalpha, finish_reason.lower()))
    known: Any = KINDS.get(letters.removeprefix("finishreason"))
    return known


def is_cut_off(
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
    context_budget: int | None = None,
) -> bool:
    """Tell whether a response met the end of its budget; a count that is not known counts as 0.

    Without a budget (None), nothing is cut off.
    """
    used = (prompt_tokens or 0) + (response_tokens or 0) + STOP_MARGIN
    return context_budget is not None and used >= context_budget


def ending_of(
    response: str, *, finish_reason: object = None, **counts: int | None
) -> Ending | None:
    """Return how a response, without its reasoning, ended; None where nobody knows.

    `counts` are those of `is_cut_off`, which decide where the backend's word is not known.
    """
    said = kind_of(finish_reason)
    if said == "filtered":
        return "filtered"
    if said == "cut" or (said is None and is_cut_off(**counts)):
        return "cut"
    if not response.strip():
        return "empty"
    known = None not in (counts.get("response_tokens"), counts.get("context_budget"))
    return "ended" if said == "ended" or (said is None and known) else None
