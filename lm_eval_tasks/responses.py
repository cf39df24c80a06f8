"""A backend's answer -> responses that know what the backend says of them.

lm-eval 0.4.13 hands a task the text of a response alone. Its API models throw away the server's
`finish_reason` and `usage`, and its vLLM model those of the engine; here they travel with the text,
as a string that knows more. Tested against that version; a backend that lm-eval changes answers
with plain strings again, whose finish reason and counts are unknown.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from reprlib import Repr
from typing import Any, SupportsIndex

from lm_eval.api.model import LM, CachingLM
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI

from cogniload_gen.answers.endings import kind_of
from cogniload_gen.answers.reasoning import TEXTS, Reasoning, of_message, text_of, without_marks
from cogniload_gen.answers.sample import NO_FACTS, ResponseFacts, as_count, members
from cogniload_gen.draws import address_key
from cogniload_gen.files import pair_up

BRIEF = Repr()
BRIEF.maxstring = BRIEF.maxother = 300

_MOST_TOLD = 100  # letters of who served a response, which a server says


class Response(str):
    """A response that knows what its backend says of it, also when lm-eval cuts it.

    It is cut at stops, whose first part stays, and at `think_end_token`, whose last part does: what
    stands before a part is its reasoning.
    """

    facts: ResponseFacts

    def __new__(cls, text: str, facts: ResponseFacts = NO_FACTS) -> "Response":
        response = super().__new__(cls, text)
        response.facts = facts
        return response

    def split(  # type: ignore[override]  # a list of responses, which are texts
        self, sep: str | None = None, maxsplit: SupportsIndex = -1
    ) -> "list[Response]":
        """Return str's parts, as responses."""
        parts = [Response(part, self.facts) for part in super().split(sep, maxsplit)]
        if len(parts) > 1 and sep:
            told = self.facts.reasoning
            before = without_marks(str(self)[: len(self) - len(sep) - len(parts[-1])])
            text = "\n\n".join(filter(None, (told.text, before)))
            parts[-1].facts = replace(self.facts, reasoning=Reasoning(text, told.hidden))
        return parts

    def lstrip(self, chars: str | None = None, /) -> "Response":
        """Return str's rest, as a response."""
        return Response(super().lstrip(chars), self.facts)


def facts_of(response: object) -> ResponseFacts:
    """Return what the backend says of a response: nothing, of a plain string."""
    facts: ResponseFacts = getattr(response, "facts", NO_FACTS)
    return facts


class NoCompletion(ValueError):  # noqa: N818  (what was answered, not what went wrong here)
    """A server's answer without a completion, and why it has none."""

    def __init__(self, why: str, answer: object) -> None:
        super().__init__(f"answered what is no completion, {why}: {BRIEF.repr(answer)}")


def keep_facts(model: LM | None) -> None:
    """Have a model answer with `Response`s, which keep what its backend says; idempotent.

    An API model's answers are read leniently: what is usable is used, and NoCompletion is raised
    for an answer that holds no completion. An empty list of stop strings is not sent, since some
    servers refuse it, and each request for a text has a seed of its own, by lm-eval's and how often
    its prompt was sent before. The backends of this machine keep what stands before
    `think_end_token`.
    """
    inner: Any = model.lm if isinstance(model, CachingLM) else getattr(model, "inner", model)
    # lm-eval's models of other APIs, such as Anthropic's, subclass the same and parse themselves
    openai = (LocalCompletionsAPI.parse_generations, LocalChatCompletion.parse_generations)
    parse = getattr(type(inner), "parse_generations", None)
    if parse in openai and "parse_generations" not in vars(inner):
        chat = isinstance(inner, LocalChatCompletion)
        inner.parse_generations = _keeping_answers(inner.parse_generations, chat=chat)
        create, sent = inner._create_payload, Counter[str]()

        def create_payload(messages: Any, **settings: Any) -> dict[str, Any]:
            unseeded = "seed" not in (settings.get("gen_kwargs") or {"seed": None})
            payload: dict[str, Any] = create(messages, **settings)
            if unseeded and "seed" in payload:
                prompt = json.dumps(messages)
                about = payload["seed"], prompt, sent[prompt]
                payload["seed"], sent[prompt] = address_key(*about) >> 33, sent[prompt] + 1
            return {name: value for name, value in payload.items() if name != "stop" or value}

        inner._create_payload = create_payload
    in_vllm = type(inner).__module__ == "lm_eval.models.vllm_causallms"
    if in_vllm and hasattr(inner, "_model_generate") and "_model_generate" not in vars(inner):
        inner._model_generate = _keeping_outputs(inner._model_generate)
    in_hf = type(inner).__module__ == "lm_eval.models.huggingface"
    if in_hf and "tok_decode" not in vars(inner):
        decode = inner.tok_decode
        inner.tok_decode = lambda tokens, **settings: Response(decode(tokens, **settings))
    if in_hf and isinstance(inner.think_end_token, int):  # lm-eval would cut tokens, not the text
        end = str(inner.tok_decode([inner.think_end_token]))
        inner.think_end_token = end or inner.think_end_token


def _keeping_answers(parse: Callable[..., list[str]], *, chat: bool) -> Callable[..., list[str]]:
    """Return an API model's `parse_generations` that reads leniently and keeps the facts."""

    @wraps(parse)
    def parse_generations(outputs: object, **settings: Any) -> list[str]:
        answers = outputs if isinstance(outputs, list) else [outputs]
        read = [read_answer(answer, chat=chat) for answer in answers]
        texts = parse(outputs=read, **settings)
        return [text if isinstance(text, Response) else Response(text or "") for text in texts]

    return parse_generations


def read_body(text: str) -> object:
    """Return what a server answers: an object of JSON, or the one that its events stream.

    NoCompletion for another text, and for a stream that ends before its responses do.
    """
    with suppress(ValueError, RecursionError):
        return json.loads(text.removeprefix("\ufeff"))
    answer: dict[str, Any] = {}
    held, ended = "", False
    for line in re.split("\r\n|\r|\n", text):
        name, _, value = line.partition(":")
        held += value * (name == "data")
        if ended := held.strip() == "[DONE]":
            break
        with suppress(TypeError, ValueError, RecursionError):  # it may go on in the next line
            answer, held = _join(answer, dict(json.loads(held))), ""
    choices = [choice for choice in answer.get("choices") or () if isinstance(choice, dict)]
    ended = ended or (choices != [] and all(choice.get("finish_reason") for choice in choices))
    if not (ended or answer.get("error")):
        why = "as its stream ends before its response" if answer else "as it is no JSON"
        raise NoCompletion(why, text)
    return answer | {"choices": [{"message": choice.get("delta")} | choice for choice in choices]}


def _join(held: Any, new: Any, name: str = "") -> Any:
    """Return what was streamed, with what an event adds: texts go on, and all else is the last.

    Choices, and parts of a message, go on by their index and type.
    """
    if isinstance(held, dict) and isinstance(new, dict):
        return held | {name: _join(held.get(name), part, name) for name, part in new.items()}
    if isinstance(held, list) and isinstance(new, list):
        held, new = ([one for one in each if isinstance(one, dict)] for each in (held, new))
        for part in new:
            places = [(one.get("index"), one.get("type")) for one in (*held, part)]
            at = places.index(places[-1])
            held = [*held[:at], _join([*held, None][at], part), *held[at + 1 :]]
        return held
    if isinstance(held, str) and isinstance(new, str) and name in TEXTS:
        return held + new
    return held if new in (None, "") else new


def read_answer(answer: object, *, chat: bool) -> dict[str, Any]:
    """Return a server's answer with its choices numbered in order, and the text of each a Response.

    NoCompletion for an error, for an answer without choices, and for a generation that the server
    broke off. A choice without an index stands where it is, and one without a text, or without a
    message, is an empty response. Where a message's content is a list of parts, as of models that
    reason, its text is that of its text parts. Half of an emoji becomes U+FFFD, once and for all.
    """
    answer = pair_up(answer)
    if not isinstance(answer, dict) or answer.get("error") or answer.get("object") == "error":
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
        if choice.get("error") or kind_of(choice.get("finish_reason")) == "broken":
            why = BRIEF.repr(choice.get("error") or choice.get("finish_reason"))
            raise NoCompletion(f"as it broke off ({why})", answer)
        held = members(choice, "message") if chat else choice
        # `usage` counts a whole answer, so it does not hold for a response that shares one
        usage = members(answer, "usage") if len(choices) == 1 else {}
        facts = _facts_of(answer, choice, held, usage)
        held = held | {part: Response(text_of(held.get(part)), facts)}
        read.append(choice | ({"message": held} if chat else held) | {"index": index})
    return answer | {"choices": read}


def _facts_of(
    answer: dict[str, Any], choice: dict[str, Any], message: dict[str, Any], usage: dict[str, Any]
) -> ResponseFacts:
    """Return what a server says of a response."""
    reason, details = choice.get("finish_reason"), members(usage, "completion_tokens_details")
    prompt, response = (as_count(usage.get(f"{part}_tokens")) for part in ("prompt", "completion"))
    reason = reason if isinstance(reason, str) else None
    thought = of_message(message, as_count(details.get("reasoning_tokens")))
    told = (answer.get("provider"), answer.get("system_fingerprint"))
    served_by = " ".join(each for each in told if isinstance(each, str))
    return ResponseFacts(reason, prompt, response, thought, served_by[:_MOST_TOLD] or None)


def _keeping_outputs(generate: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """Return vLLM's `_model_generate` that keeps the engine's facts."""

    @wraps(generate)
    def _model_generate(*arguments: Any, **settings: Any) -> list[Any]:
        outputs = generate(*arguments, **settings)
        for output in outputs:
            completion = output.outputs[0]
            facts = ResponseFacts(
                completion.finish_reason, len(output.prompt_token_ids), len(completion.token_ids)
            )
            completion.text = Response(completion.text, facts)
        return outputs

    return _model_generate
