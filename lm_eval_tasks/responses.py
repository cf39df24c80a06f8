"""Responses that know what their backend said of them.

lm-eval 0.4.13 hands a task the text of a response alone. Its API models throw away the server's
`finish_reason` and `usage`, and its vLLM model those of the engine; here they travel with the text,
as a string that knows more. Tested against that version; a backend that lm-eval changes answers
with plain strings again, and nothing is said of a response where nothing is known.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from reprlib import repr as brief

from lm_eval.api.model import LM, CachingLM
from lm_eval.models.api_models import LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER, TemplateAPI


@dataclass(frozen=True, slots=True)
class Said:
    """What a backend says of a response; None for what it does not say.

    `finish_reason` is "stop" where the model ended it and "length" where it was cut; the counts are
    the backend's own, in tokens, those of hidden reasoning and the chat template included.
    """

    finish_reason: str | None = None
    prompt_tokens: int | None = None
    response_tokens: int | None = None


class Response(str):
    """A response that knows what its backend said of it, also when lm-eval cuts it at a stop."""

    def __new__(cls, text: str, said: Said = Said()) -> "Response":
        response = super().__new__(cls, text)
        response.said = said
        return response

    def split(self, *arguments: object) -> list["Response"]:
        """As str's, of responses."""
        return [Response(part, self.said) for part in super().split(*arguments)]

    def lstrip(self, *arguments: str) -> "Response":
        """As str's, a response."""
        return Response(super().lstrip(*arguments), self.said)


def said_of(response: str) -> Said:
    """What the backend said of a response: nothing, of a plain string."""
    return getattr(response, "said", Said())


def keep_what_is_said(model: LM) -> None:
    """Makes a model answer with `Response`s, if its backend says something of them: once or again.

    ValueError, when it answers, for an answer that is no completion: lm-eval would take it for an
    empty response.
    """
    model = model.lm if isinstance(model, CachingLM) else model
    if isinstance(model, TemplateAPI) and "parse_generations" not in vars(model):
        model.parse_generations = keeping_answers(model.parse_generations)
    in_vllm = type(model).__module__ == "lm_eval.models.vllm_causallms"
    if in_vllm and hasattr(model, "_model_generate") and "_model_generate" not in vars(model):
        model._model_generate = keeping_outputs(model._model_generate)


def keeping_answers(parse: Callable) -> Callable:
    """An API model's `parse_generations` that keeps what the server said."""

    @wraps(parse)
    def parse_generations(outputs: dict | list[dict], **settings: object) -> list[Response]:
        try:
            said = list(said_of_choices(outputs))
            texts = parse(outputs=outputs, **settings)
            return [
                # of None, lm-eval would make a string of its own, of which nothing was said
                Response(LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER if text is None else text, facts)
                for text, facts in zip(texts, said, strict=True)
            ]
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ValueError(
                f"the server's answer is no completion: {brief(outputs)} ({error!r})"
            ) from None

    return parse_generations


def said_of_choices(outputs: dict | list[dict]) -> Iterator[Said]:
    """What a server said of each response in its answers, in lm-eval's order.

    `usage` is of a whole answer, so it tells nothing of a response that shares one.
    """
    for output in outputs if isinstance(outputs, list) else [outputs]:
        choices = sorted(output["choices"], key=lambda choice: choice["index"])
        usage = (output.get("usage") or {}) if len(choices) == 1 else {}
        if not choices:
            raise LookupError("no choices")
        counts = [count_or_none(usage.get(f"{part}_tokens")) for part in ("prompt", "completion")]
        for choice in choices:
            reason = choice.get("finish_reason")
            yield Said(reason if isinstance(reason, str) else None, *counts)


def count_or_none(count: object) -> int | None:
    """A number of tokens, if a server's answer holds one there."""
    return count if type(count) is int and count >= 0 else None


def keeping_outputs(generate: Callable) -> Callable:
    """vLLM's `_model_generate` that keeps what the engine said."""

    @wraps(generate)
    def _model_generate(*arguments: object, **settings: object) -> list:
        outputs = generate(*arguments, **settings)
        for output in outputs:
            completion = output.outputs[0]
            said = Said(
                completion.finish_reason, len(output.prompt_token_ids), len(completion.token_ids)
            )
            completion.text = Response(completion.text, said)
        return outputs

    return _model_generate
