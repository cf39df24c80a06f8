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
from collections.abc import Callable, Sequence
from reprlib import Repr
from typing import Any

import aiohttp
import requests
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.models.api_models import TemplateAPI

from cogniload_gen.never_written import without_keys
from lm_eval_tasks.lm_eval_private import payload, slots
from lm_eval_tasks.responses import NoCompletion

log = logging.getLogger(__name__)

URL = re.compile(r"https?://([^/\s@]*@)?(\[[\da-fA-F:]+\]|[^/\s:@\[\]]+)(:[1-9]\d*)?(/|$)")

PATIENCE = 30
"""Seconds that a server may take to list its models, or to tell its version."""

LONGEST_WAIT = 600.0
"""Seconds before a request is made again, at most, however long a server asks to wait."""

FINAL = (400, 401, 402, 403, 404, 405, 413, 422)
"""Statuses that the same request would meet again."""

FAILURES = (OSError, aiohttp.ClientError, requests.RequestException, NoCompletion)
"""What asking a server may raise."""

_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = 300


class Refused(ConnectionError):  # noqa: N818  (an answer)
    """A server's answer that says it failed: its status, what it says, and how long to wait."""

    def __init__(self, answer: aiohttp.ClientResponse, text: str) -> None:
        super().__init__(f"answered {answer.status} {answer.reason}: {_BRIEF.repr(text)}")
        self.status, self.text = answer.status, text
        told = answer.headers.get("Retry-After", "")
        self.wait = float(told) if re.fullmatch(r"\d+(\.\d+)?", told) else None


def fill_every_slot(model: LM, stopped: Callable[[], bool]) -> None:
    """Have an API model send all requests of a run together, `num_concurrent` at a time.

    Once `stopped` is true no request is sent. Models with a client of their own (LiteLLM) keep it;
    prompts with images, and several in one call, have lm-eval's.
    """
    if not isinstance(model, TemplateAPI) or type(model).amodel_call is not TemplateAPI.amodel_call:
        return
    by_lm_eval = model.generate_until

    def generate_until(asked: list[Instance]) -> list[str | None]:
        if slots(model)[1] > 1 or any(len(request.args) > 2 for request in asked):
            answered: list[str | None] = by_lm_eval(asked)
            return answered
        return asyncio.run(_answer_together(model, asked, stopped))

    model.generate_until = generate_until


async def _answer_together(
    model: TemplateAPI, asked: Sequence[Instance], stopped: Callable[[], bool]
) -> list[str | None]:
    """Return the responses to all requests; lm-eval's cache hook is told of each as it comes.

    A request that was not sent has None. After one that failed for good no other is made. What is
    under way is waited for, so that what was paid for is kept; then the failure is raised.
    """
    concurrent = max(slots(model)[0], 1)
    responses: list[str | None] = [None] * len(asked)
    failures: list[Exception] = []
    free = asyncio.Semaphore(concurrent)
    verified: ssl.SSLContext | bool = bool(model.verify_certificate)
    if verified and model.ca_cert_path:
        verified = ssl.create_default_context(cafile=model.ca_cert_path)

    def over() -> bool:
        return bool(failures) or stopped()

    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=concurrent, ssl=verified),
        timeout=aiohttp.ClientTimeout(total=model.timeout),
        trust_env=True,
    ) as session:

        async def answer(number: int, prompt: Any, settings: dict[str, Any]) -> None:
            async with free:
                if over():
                    return
                try:
                    body = payload(model, prompt, settings)
                    responses[number] = await _complete(model, session, body, over)
                    told = prompt, settings
                    model.cache_hook.add_partial("generate_until", told, responses[number])
                except Exception as error:
                    failures.append(error)

        await asyncio.gather(*(answer(i, *request.args) for i, request in enumerate(asked)))
    if failures:
        raise failures[0]
    return responses


async def _complete(
    model: TemplateAPI,
    session: aiohttp.ClientSession,
    body: dict[str, Any],
    over: Callable[[], bool],
) -> str:
    """Return the response to a request, made up to `max_retries` times while it fails in passing.

    It keeps its slot while it waits, so that a server which is asked too much is asked less.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return await _post(model, session, body)
        except FAILURES as error:
            final = isinstance(error, Refused) and error.status in FINAL
            if attempt >= model.max_retries or final or over():
                raise
            told = error.wait if isinstance(error, Refused) else None
            wait = min(2.0 ** (attempt - 1), 30.0) if told is None else told
            await asyncio.sleep(min(wait, LONGEST_WAIT))


async def _post(model: TemplateAPI, session: aiohttp.ClientSession, body: dict[str, Any]) -> str:
    headers = dict(model.header)
    if "@" in model.base_url:  # a user in the URL takes the place of a key: aiohttp refuses both
        headers = {name: it for name, it in headers.items() if name.lower() != "authorization"}
    async with session.post(model.base_url, json=body, headers=headers) as answer:
        text = await answer.text(errors="replace")
        if not answer.ok:
            raise Refused(answer, text)
    try:
        outputs = json.loads(text)
    except (ValueError, RecursionError):
        raise NoCompletion("as it is no JSON", text) from None
    responses = model.parse_generations(outputs=[outputs], contexts=[""])
    if len(responses) != 1:
        raise NoCompletion(f"as it holds {len(responses)} for one prompt", outputs)
    response: str = responses[0]
    return response


def explain(error: Exception, model: object) -> Exception:
    """Return what asking a server raised as one line that names the server and what helps."""
    url = without_keys({"": getattr(model, "base_url", None) or "?"})[""]
    if isinstance(error, TimeoutError | requests.Timeout):
        says = (
            f"did not answer within {getattr(model, 'timeout', PATIENCE)} s: raise timeout in "
            "--model_args, or see whether the server works"
        )
    elif isinstance(error, aiohttp.ClientConnectionError | requests.ConnectionError):
        return ConnectionError(f"no server answers at {url}")
    elif isinstance(error, Refused) and error.status not in FINAL:
        says = f"{error}; max_retries in --model_args is {getattr(model, 'max_retries', 1)}"
    elif isinstance(error, Refused) and re.search("context|length|token", error.text, re.I):
        says = (
            f"{error}; if the prompt is too long: name the model's tokenizer (tokenizer_backend="
            "huggingface,tokenizer=NAME in --model_args), or lower context_budget"
        )
    elif isinstance(error, Refused | NoCompletion):
        says = str(error)
    elif isinstance(error, aiohttp.ClientError | requests.RequestException):
        says = f"answered {_BRIEF.repr(str(error))}"
    else:
        return error
    return ConnectionError(f"the server at {url} {says}")


def check_server(model: LM, context_budget: int) -> dict[str, str]:
    """Return what an API model's server says of the model and of itself; {} of other backends.

    ConnectionError if nothing answers; ValueError for a malformed URL, and for a model that takes
    fewer tokens than `context_budget`. A model that the server does not list is warned of: many
    servers know more names than they list.
    """
    if not isinstance(model, TemplateAPI) or model.base_url is None:
        return {}
    if not URL.match(model.base_url):
        url = without_keys({"": model.base_url})[""]
        raise ValueError(f"base_url must be http://HOST:PORT/PATH or https://HOST/PATH, got {url}")
    answer = _get(model, "/models")
    entries = answer.get("data") if isinstance(answer, dict) else None
    listed = {str(entry.get("id")): entry for entry in entries or () if isinstance(entry, dict)}
    known = listed.get(str(model.model), {})
    if listed and not known:
        names = _BRIEF.repr(sorted(listed))
        log.warning("the server lists %s and not %r: it may know it", names, model.model)
    window = known.get("max_model_len")
    if type(window) is int and window < context_budget:
        raise ValueError(
            f"the model takes {window} tokens and context_budget is {context_budget}: raise the "
            "server's (--max-model-len of vllm serve) or lower context_budget"
        )
    told = _get(model, "/version")
    facts = {"root": known.get("root")} | (told if isinstance(told, dict) else {})
    return {name: it for name in ("root", "version") if isinstance(it := facts.get(name), str)}


def _get(model: TemplateAPI, path: str) -> Any:
    """Return the JSON that the server has beside its completions; None if it has none.

    vLLM's servers tell their version beside /v1.
    """
    beside = re.sub(r"(/chat)?/completions/?(?=$|\?)", path, model.base_url, count=1)
    if path == "/version":
        beside = beside.replace("/v1/version", path)
    if beside == model.base_url:
        return None
    verify = model.verify_certificate and (model.ca_cert_path or True)
    try:
        answer = requests.get(beside, headers=model.header, timeout=PATIENCE, verify=verify)
        return answer.json() if answer.ok else None
    except (requests.ConnectionError, requests.Timeout) as error:
        raise explain(error, model) from None
    except (requests.RequestException, ValueError):
        return None
