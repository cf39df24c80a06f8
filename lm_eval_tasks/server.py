"""The requests of a run -> their answers from an OpenAI-like server, with every slot filled.

lm-eval's own client sends the requests of one response limit, waits for the last of them, then
sends those of the next, so that slots stay empty. Here all requests of a run are under way
together, `num_concurrent` at a time, each as lm-eval writes it.
"""

import asyncio
import json
import logging
import re
import ssl
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from reprlib import Repr
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import requests
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.models.api_models import TemplateAPI

from cogniload_gen.files import without_keys
from lm_eval_tasks.lm_eval_private import default_response_limit, payload, slots
from lm_eval_tasks.responses import NoCompletion

log = logging.getLogger(__name__)

COMPLETIONS = re.compile(r"/(chat/)?completions/?$")

PATIENCE = 30
"""Seconds that a server may take to list its models, or to tell its version."""

LONGEST_WAIT = 600.0
"""Seconds before a request is made again, at most, however long a server asks to wait."""

FINAL = (400, 401, 402, 403, 404, 405, 413, 422)
"""Statuses that the same request would meet again."""

_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = 300


class Refused(ConnectionError):  # noqa: N818  (an answer)
    """A server's answer that says it failed: its status, what it says, and how long to wait."""

    def __init__(self, answer: aiohttp.ClientResponse, text: str) -> None:
        super().__init__(f"{answer.status} {answer.reason}: {_BRIEF.repr(text)}")
        self.status, self.text = answer.status, text
        self.retry_after = _seconds(answer.headers.get("Retry-After"))


def _seconds(text: str | None) -> float | None:
    """Return the seconds of a Retry-After header, which may be a date; None without one."""
    try:
        return float(text or "")
    except ValueError:
        pass
    try:
        return (parsedate_to_datetime(text or "") - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None


def fill_every_slot(model: LM, stopped: Callable[[], bool]) -> None:
    """Have an API model send all requests of a run together, `num_concurrent` at a time.

    Once `stopped` is true no request is sent. Models with a client of their own (LiteLLM) keep it,
    and prompts with images lm-eval's.
    """
    if not isinstance(model, TemplateAPI) or type(model).amodel_call is not TemplateAPI.amodel_call:
        return
    by_lm_eval = model.generate_until

    def generate_until(requests: list[Instance]) -> list[str]:
        if any(len(request.args) > 2 for request in requests):  # prompts with images
            answered: list[str] = by_lm_eval(requests)
            return answered
        return asyncio.run(_answer_together(model, requests, stopped))

    model.generate_until = generate_until


async def _answer_together(
    model: TemplateAPI, requests: Sequence[Instance], stopped: Callable[[], bool]
) -> list[str]:
    """Return the responses to all requests; lm-eval's cache hook is told of each as it comes.

    After a call that failed for good no other is made. What is under way is waited for, so that
    what was paid for is kept; then the failure is raised.
    """
    concurrent, batch = (max(size, 1) for size in slots(model))
    prompts, settings = zip(*(request.args for request in requests), strict=True)
    sent = list(prompts)
    if model.tokenized_requests:
        tokens = model.tok_encode(prompts, add_special_tokens=model.add_bos_token)
        sent = [_cut(model, *pair) for pair in zip(tokens, settings, strict=True)]
    responses, failures, free = [""] * len(prompts), [], asyncio.Semaphore(concurrent)

    def over() -> bool:
        return bool(failures) or stopped()

    async with _session(model, concurrent) as session:

        async def answer(indices: Sequence[int]) -> None:
            async with free:
                if over():
                    return
                try:
                    body = payload(model, [sent[i] for i in indices], settings[indices[0]])
                    texts = await _complete(model, session, body, len(indices), over)
                    for i, text in zip(indices, texts, strict=True):
                        responses[i] = text
                        asked = prompts[i], settings[i]
                        model.cache_hook.add_partial("generate_until", asked, text)
                except Exception as error:
                    failures.append(error)

        await asyncio.gather(*map(answer, _batches(settings, batch)))
    if failures:
        raise failures[0]
    return responses


def _cut(model: TemplateAPI, tokens: list[int], settings: dict[str, Any]) -> list[int]:
    """Return a prompt's tokens, cut from the left as lm-eval does where they leave no room."""
    room = model.max_length - settings.get("max_gen_toks", default_response_limit(model))
    return tokens[-room:]


def _batches(settings: Sequence[dict[str, Any]], size: int) -> Iterator[list[int]]:
    """Yield the indices of requests that one call can hold: `size` that are generated alike."""
    alike = defaultdict(list)
    for i, generation in enumerate(settings):
        alike[json.dumps(generation, sort_keys=True, default=repr) if size > 1 else i].append(i)
    for indices in alike.values():
        yield from (indices[start : start + size] for start in range(0, len(indices), size))


async def _complete(
    model: TemplateAPI,
    session: aiohttp.ClientSession,
    body: dict[str, Any],
    prompts: int,
    over: Callable[[], bool],
) -> list[str]:
    """Return the responses of one call, made up to `max_retries` times while it fails in passing.

    It keeps its slot while it waits, so that a server which is asked too much is asked less.
    """
    for attempt in range(1, model.max_retries + 1):
        try:
            outputs = await _post(model, session, body)
            texts: list[str] = model.parse_generations(outputs=[outputs], contexts=[""] * prompts)
            if len(texts) != prompts:
                raise NoCompletion(f"as it holds {len(texts)} for {prompts} prompts", outputs)
        except (OSError, aiohttp.ClientError, NoCompletion, json.JSONDecodeError) as error:
            final = isinstance(error, Refused) and error.status in FINAL
            if attempt == model.max_retries or final or over():
                raise
            told = error.retry_after if isinstance(error, Refused) else None
            wait = min(2.0 ** (attempt - 1), 30.0) if told is None else told
            await asyncio.sleep(min(max(wait, 0.0), LONGEST_WAIT))
        else:
            return texts
    raise ValueError("max_retries in --model_args must be at least 1")


async def _post(model: TemplateAPI, session: aiohttp.ClientSession, body: dict[str, Any]) -> Any:
    url, headers = _address(model)
    async with session.post(url, json=body, headers=headers) as answer:
        text = await answer.text(errors="replace")
        if not answer.ok:
            raise Refused(answer, text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NoCompletion("as it is no JSON", text) from None


def _address(model: TemplateAPI) -> tuple[str, dict[str, str]]:
    """Return the server's URL and the headers; a user in the URL takes the place of a key."""
    headers = dict(model.header)
    if urlsplit(model.base_url).username is not None:  # aiohttp refuses both
        headers = {name: it for name, it in headers.items() if name.lower() != "authorization"}
    return model.base_url, headers


def _session(model: TemplateAPI, concurrent: int) -> aiohttp.ClientSession:
    verified: ssl.SSLContext | bool = bool(model.verify_certificate)
    if verified and model.ca_cert_path:
        verified = ssl.create_default_context(cafile=model.ca_cert_path)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=concurrent, ssl=verified),
        timeout=aiohttp.ClientTimeout(total=model.timeout),
        trust_env=True,
    )


def explain(error: Exception, model: object) -> Exception:
    """Return a server's or a client's error as one line that names the server and what helps."""
    url = without_keys({"url": getattr(model, "base_url", None) or ""})["url"]
    where = f"the server at {url}" if url else "the server"
    retries = f"; max_retries in --model_args is {getattr(model, 'max_retries', 1)}"
    if isinstance(error, Refused):
        hint = retries if error.status not in FINAL else ""
        if error.status in FINAL and re.search("context|length|token", error.text, re.IGNORECASE):
            hint = (
                "; if the prompt is too long: name the model's tokenizer (tokenizer_backend="
                "huggingface,tokenizer=NAME in --model_args), or lower context_budget in --metadata"
            )
        return ConnectionError(f"{where} answered {error}{hint}")
    if isinstance(error, NoCompletion):
        said = _BRIEF.repr(error.answer)
        return ConnectionError(f"{where} answered what is no completion, {error.why}: {said}")
    if isinstance(error, TimeoutError | requests.Timeout):
        seconds = getattr(model, "timeout", PATIENCE)
        hint = "raise timeout in --model_args, or see whether the server works"
        return ConnectionError(f"{where} did not answer within {seconds} s: {hint}")
    if isinstance(error, aiohttp.ClientConnectionError | requests.ConnectionError):
        return ConnectionError(f"no server answers at {url}")
    if isinstance(error, aiohttp.ClientError | requests.RequestException):
        return ConnectionError(f"{where} answered {_BRIEF.repr(str(error))}")
    return error


def check_server(model: LM, context_budget: int) -> dict[str, str]:
    """Return what an API model's server says of itself and the model; {} of other backends.

    ConnectionError if nothing answers; ValueError for a malformed URL, and for a model that takes
    fewer tokens than `context_budget`. A model that the server does not list is warned of: many
    servers know more names than they list.
    """
    if not isinstance(model, TemplateAPI) or not model.base_url:
        return {}
    _check_url(model.base_url)
    listed: dict[str, Any] = {}
    answer = _get(model, "/models")
    if isinstance(answer, dict) and isinstance(answer.get("data"), list):
        entries = [entry for entry in answer["data"] if isinstance(entry, dict)]
        listed = {str(entry.get("id")): entry for entry in entries}
    known = listed.get(str(model.model), {})
    if listed and not known:
        log.warning(
            "the server lists %s and not %r: it may know it all the same",
            _BRIEF.repr(sorted(listed)), model.model,
        )  # fmt: skip
    window = known.get("max_model_len")
    if type(window) is int and window < context_budget:
        raise ValueError(
            f"the model takes {window} tokens and context_budget is {context_budget}: raise the "
            "server's (--max-model-len of vllm serve) or lower context_budget"
        )
    facts = {"served": known.get("id"), "root": known.get("root")}
    if known.get("owned_by") == "vllm":
        told = _get(model, "/version", without="/v1")
        facts["vllm_version"] = told.get("version") if isinstance(told, dict) else None
    return {name: fact for name, fact in facts.items() if isinstance(fact, str)}


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        shown = without_keys({"url": url})["url"]
        raise ValueError(
            f"base_url must be http://HOST:PORT/PATH or https://HOST/PATH, got {shown}"
        )


def _get(model: TemplateAPI, path: str, without: str = "") -> Any:
    """Return the JSON that the server has beside its completions; None if it has none.

    What raises is only that no server answers.
    """
    parts = urlsplit(model.base_url)
    if not COMPLETIONS.search(parts.path):
        return None
    there = COMPLETIONS.sub("", parts.path).removesuffix(without) + path
    url, headers = urlunsplit(parts._replace(path=there)), _address(model)[1]
    verify = model.verify_certificate and (model.ca_cert_path or True)
    try:
        answer = requests.get(url, headers=headers, timeout=PATIENCE, verify=verify)
        return answer.json() if answer.ok else None
    except (requests.ConnectionError, requests.Timeout) as error:
        raise explain(error, model) from None
    except (requests.RequestException, ValueError):
        return None
