"""A model's reasoning, wherever its server or its harness puts it.

Three channels carry the same text: it stands in the response (`<think>`, closed or not), in a field
of its own, or a harness splits it off at an end token. What is scored is the response without it;
what is read for steps is the reasoning, then the response, so that the channel changes nothing.
One case can't be helped: where the prompt opens the reasoning and a limit cuts it, nothing in the
text tells it from a response, while a server's parser knows.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

_TAGS = "think|thinking|thought|reasoning|seed:think"
OPEN = re.compile(rf"<(?:{_TAGS})>|\[THINK\]|◁think▷|<\|channel\|>analysis<\|message\|>", re.I)
CLOSE = re.compile(
    rf"</(?:{_TAGS})>|\[/THINK\]|◁/think▷"
    r"|(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>",
    re.I,
)
"""What begins and ends reasoning that stands in the response."""

# Without one of these there is none, and to look for them takes a hundredth of the time.
_CLUES = ("think>", "thinking>", "thought>", "reasoning>", "think]", "think▷", "<|channel|>")

# Where a message has its reasoning: as parts, each with a type, and as a text.
_LISTS = ("reasoning_details", "thinking_blocks", "provider_state", "content")
_FIELDS = ("reasoning", "reasoning_content", "thinking")

TEXTS = ("text", "thinking", "reasoning", "content", "reasoning_content")
"""Where a part of a message may have its text."""


class Reasoning(NamedTuple):
    """The reasoning of a response, as far as it was sent.

    `text` is None where there is none to read. `hidden` says why, where the model did reason:
    a "summary" took its place, it was "redacted" or "encrypted", or it is "withheld" and its tokens
    alone are counted. What is left of a hidden reasoning is not it, and is never read.
    """

    text: str | None = None
    hidden: str | None = None


NO_REASONING = Reasoning()


class Split(NamedTuple):
    """A response without its reasoning, the reasoning (None for none), and where it began."""

    response: str
    reasoning: str | None = None
    start: int = 0


def split(text: str) -> Split:
    """Return a response without the reasoning that stands in it.

    As a model's template may open the reasoning in the prompt, its end alone will do. Reasoning
    that never ends goes on to the end of the text.
    """
    lower = text.lower()
    if not any(clue in lower for clue in _CLUES):
        return Split(text)
    last = max(CLOSE.finditer(text), key=re.Match.end, default=None)
    start = last.end() if last else 0
    before, after = text[: last.start()] if last else "", text[start:]
    begun = OPEN.search(after)
    if not last and not begun:
        return Split(text)
    response, rest = (after[: begun.start()], after[begun.end() :]) if begun else (after, "")
    reasoning = "\n\n".join(filter(None, (without_marks(before), rest.strip())))
    start += len(response) - len(response.lstrip())
    return Split(response.lstrip(), reasoning or None, start)


def without_marks(reasoning: str) -> str:
    """Return reasoning without what begins and ends it."""
    return CLOSE.sub("\n", OPEN.sub("", reasoning)).strip()


def join(response: str, reasoning: str | None) -> str | None:
    """Return all of a response's reasoning: a field's, and that in the response; None for none.

    What stands in both, as it was split off before, counts once.
    """
    inline, given = (split(response).reasoning or "").strip(), reasoning or ""
    parts = [given] if inline in given else [given, inline]
    return "\n\n".join(part for part in parts if part.strip()) or None


def blank_marks(text: str) -> str:
    """Return a text with line ends for what begins and ends reasoning, so that places in it stay.

    Examples:
        >>> blank_marks("<think>Red.</think>") == "\\n" * 7 + "Red." + "\\n" * 8
        True
    """
    for mark in (OPEN, CLOSE):
        text = mark.sub(lambda found: "\n" * len(found[0]), text)
    return text


def whole(response: str, reasoning: str | None = None) -> str:
    """Return what is read for steps: the reasoning, then the response."""
    thought = join(response, reasoning)
    return f"{thought.strip()}\n\n{split(response).response}" if thought else response


def spoken(response: str, reasoning: str | None = None) -> str:
    """Return a response as its model wrote it: behind the reasoning, which begins with its mark.

    Reasoning whose marks a template, a server or a harness kept gets those of most models.
    """
    thought = join(response, reasoning)
    if not thought or OPEN.match(response.lstrip()):
        return response
    return f"<think>\n{thought}\n</think>\n\n{split(response).response}"


def go_on(prompt: str, text: str) -> str:
    """Return a prompt, as its model reads it, with the beginning of a response, as `spoken`.

    Where the prompt ends with the mark that opens the reasoning, that in the text is left out.
    """
    begun, opened = OPEN.match(text), [*OPEN.finditer(prompt)][-1:]
    if begun and opened and not prompt[opened[0].end() :].strip():
        return prompt + text[begun.end() :].lstrip()
    return prompt + text


def of_message(message: Mapping[str, Any], reasoning_tokens: int | None = None) -> Reasoning:
    """Return the reasoning of a message, in any of the shapes that servers and harnesses send.

    `reasoning_tokens` are those that the server counts. A part that is no text hides it all.
    """
    read = [_read_part(part) for part in _parts(message)]
    if hidden := next((hidden for _, hidden in read if hidden), None):
        return Reasoning(hidden=hidden)
    fields = (text for name in _FIELDS if isinstance(text := message.get(name), str))
    joined = "\n\n".join(text for text, _ in read if text.strip())
    text = next((text for text in (joined, *fields) if text.strip()), None)
    return Reasoning(text, "withheld" if text is None and reasoning_tokens else None)


def _parts(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the parts of a message that are about its reasoning."""
    for name in (*_LISTS, *_FIELDS):
        held = message.get(name)
        for part in held if isinstance(held, list) else [held]:
            if isinstance(part, Mapping) and (name in _FIELDS or is_part(part)):
                yield part


def is_part(part: Mapping[str, Any]) -> bool:
    """Return whether a part of a message's content is about its reasoning, by its type."""
    return re.search("reason|think|redacted", str(part.get("type"))) is not None


def _read_part(part: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the text of a part, and what hides the reasoning instead."""
    kind = str(part.get("type"))
    # Inspect keeps the parts of OpenRouter's servers in the signature of the text that it makes
    signature = str(part.get("signature") or "")
    for hidden in ("redacted", "encrypted", "summary"):
        if hidden in kind or f'"reasoning.{hidden}"' in signature:
            return "", hidden
    if part.get("redacted"):
        return "", "redacted"
    if text := next((text for name in TEXTS if (text := _text(part.get(name)))), ""):
        return text, None
    if part.get("summary"):
        return "", "summary"
    return "", "encrypted" if part.get("encrypted_content") or part.get("data") else None


# The types of the parts of a message's content that are its text.
_SAID = "text", "output_text"


def text_of(content: object) -> str:
    """Return the text of a message's content, which may be a list of parts, but its reasoning."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (p for p in parts if not isinstance(p, Mapping) or p.get("type", "text") in _SAID)
    return "".join(map(_text, texts))


def _text(held: Any) -> str:
    """Return a text, or that of a list of texts and of parts that have one."""
    if isinstance(held, list):
        return "".join(map(_text, held))
    if isinstance(held, Mapping):
        return _text(held.get("text"))
    return held if isinstance(held, str) else ""
