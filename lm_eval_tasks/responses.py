"""A backend's answer -> responses that know what the backend says of them.

lm-eval 0.4.13 hands a task the text of a response alone. Its API models throw away the server's
`finish_reason` and `usage`, and its vLLM model those of the engine; here they travel with the text,
as a string that knows more. Tested against that version; a backend that lm-eval changes answers
with plain strings again, whose finish reason and counts are unknown.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from reprlib import Repr
from typing import Any, SupportsIndex

from lm_eval.api.model import LM, CachingLM
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI

from cogniload_gen.sample import as_count, ending

log = logging.getLogger(__name__)

_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = 300

TEXT_PARTS = ("text", "output_text")
"""The types of the parts of a message's content that are its text."""

REASONING = ("reasoning", "reasoning_content")
"""Where a message holds its reasoning, if the server takes it out of the content."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a backend says of a response; None for what it does not say.

    `finish_reason` is the backend's word for how the response ended; the counts are the backend's
    own, in tokens, those of hidden reasoning and the chat template included.
    """

    finish_reason: str | None = None
    prompt_tokens: int | None = None
    response_tokens: int | None = None


class Response(str):
    """A response that knows what its backend says of it, also when lm-eval cuts it at a stop."""

    facts: Said

    def __new__(cls, text: str, facts: Said = Said()) -> "Response":
        response = super().__new__(cls, text)
        response.facts = facts
        return response

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        """Return str's parts, as responses."""
        return [Response(part, self.facts) for part in super().split(sep, maxsplit)]

    def lstrip(self, chars: str | None = None, /) -> "Response":
        """Return str's rest, as a response."""
        return Response(super().lstrip(chars), self.facts)


def said_of(response: object) -> Said:
    """Return what the backend says of a response: nothing, of a plain string."""
    said: Said = getattr(response, "facts", Said())
    return said


class NoCompletion(ValueError):  # noqa: N818  (what was answered, not what went wrong here)
    """A server's answer without a completion, and why it has none."""

    def __init__(self, why: str, answer: object) -> None:
        super().__init__(f"answered what is no completion, {why}: {_BRIEF.repr(answer)}")


def keep_what_is_said(model: LM | None) -> None:
    """Have a model answer with `Response`s if its backend says something of them; idempotent.

    An API model's answers are read leniently: what is usable is used, and NoCompletion is raised
    for an answer that holds no completion. An empty list of stop strings is not sent, since some
    servers refuse it.
    """
    inner: Any = model.lm if isinstance(model, CachingLM) else getattr(model, "inner", model)
    # lm-eval's models of other APIs, such as Anthropic's, subclass the same and parse themselves
    openai = (LocalCompletionsAPI.parse_generations, LocalChatCompletion.parse_generations)
    parse = getattr(type(inner), "parse_generations", None)
    if parse in openai and "parse_generations" not in vars(inner):
        chat = isinstance(inner, LocalChatCompletion)
        inner.parse_generations = _keeping_answers(inner.parse_generations, chat=chat)
        create = inner._create_payload

        def without_empty_stop(*arguments: Any, **settings: Any) -> dict[str, Any]:
            payload = create(*arguments, **settings)
            return {name: value for name, value in payload.items() if name != "stop" or value}

        inner._create_payload = without_empty_stop
    in_vllm = type(inner).__module__ == "lm_eval.models.vllm_causallms"
    if in_vllm and hasattr(inner, "_model_generate") and "_model_generate" not in vars(inner):
        inner._model_generate = _keeping_outputs(inner._model_generate)


def _keeping_answers(parse: Callable[..., list[str]], *, chat: bool) -> Callable[..., list[str]]:
    """Return an API model's `parse_generations` that reads leniently and keeps the facts.

    It warns once of a server that takes the reasoning out of the content.
    """
    complete = True

    @wraps(parse)
    def parse_generations(outputs: object, **settings: Any) -> list[str]:
        nonlocal complete
        answers = outputs if isinstance(outputs, list) else [outputs]
        read = [read_answer(answer, chat=chat) for answer in answers]
        messages = [choice.get("message") or {} for answer in read for choice in answer["choices"]]
        if complete and any(message.get(name) for message in messages for name in REASONING):
            complete = False
            log.warning(
                "the server takes the reasoning out of its answers, so it is neither read nor "
                "scored: if you run the server, serve without a reasoning parser"
            )
        texts = parse(outputs=read, **settings)
        facts = [fact for answer in read for fact in _said_of_choices(answer)]
        return [Response(text or "", fact) for text, fact in zip(texts, facts, strict=True)]

    return parse_generations


def read_answer(answer: object, *, chat: bool) -> dict[str, Any]:
    """Return a server's answer with its choices numbered in order, and the text of each a string.

    NoCompletion for an error, for an answer without choices, and for a generation that the server
    broke off. A choice without an index stands where it is, and one without a text, or without a
    message, is an empty response. Where a message's content is a list of parts, as of models that
    reason, its text is that of its text parts.
    """
    if not isinstance(answer, dict) or answer.get("error"):
        raise NoCompletion("but an error" if isinstance(answer, dict) else "no object", answer)
    listed = answer.get("choices")
    listed = listed if isinstance(listed, list) else []
    choices = [choice for choice in listed if isinstance(choice, dict)]
    if not choices:
        raise NoCompletion("as it has no choices", answer)
    if all(type(choice.get("index")) is int for choice in choices):
        choices = sorted(choices, key=lambda choice: choice["index"])
    part, read = "content" if chat else "text", []
    for index, choice in enumerate(choices):
        if choice.get("error") or ending(choice.get("finish_reason")) == "broken":
            why = _BRIEF.repr(choice.get("error") or choice.get("finish_reason"))
            raise NoCompletion(f"as it broke off ({why})", answer)
        held = choice.get("message") if chat else choice
        held = held if isinstance(held, dict) else {}
        held = held | {part: _text_of(held.get(part))}
        read.append(choice | ({"message": held} if chat else held) | {"index": index})
    return answer | {"choices": read}


def _text_of(content: object) -> str:
    """Return the text of a content: that of its text parts, if it is a list of parts."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [{"text": part} if isinstance(part, str) else part for part in content]
    texts = [
        part.get("text")
        for part in parts
        if isinstance(part, dict) and part.get("type", "text") in TEXT_PARTS
    ]
    return "".join(text for text in texts if isinstance(text, str))


def _said_of_choices(answer: dict[str, Any]) -> Iterator[Said]:
    """Yield what a server says of each response in an answer.

    `usage` counts a whole answer, so it does not hold for a response that shares one.
    """
    choices, usage = answer["choices"], answer.get("usage")
    counted = usage if isinstance(usage, dict) and len(choices) == 1 else {}
    counts = [as_count(counted.get(f"{part}_tokens")) for part in ("prompt", "completion")]
    for choice in choices:
        reason = choice.get("finish_reason")
        yield Said(reason if isinstance(reason, str) else None, *counts)


def _keeping_outputs(generate: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """Return vLLM's `_model_generate` that keeps the engine's facts."""

    @wraps(generate)
    def _model_generate(*arguments: Any, **settings: Any) -> list[Any]:
        outputs = generate(*arguments, **settings)
        for output in outputs:
            completion = output.outputs[0]
            facts = Said(
                completion.finish_reason, len(output.prompt_token_ids), len(completion.token_ids)
            )
            completion.text = Response(completion.text, facts)
        return outputs

    return _model_generate
