"""The requests of a run -> their answers from an OpenAI-like server, with every slot filled.

lm-eval's own client sends the requests of one response limit, waits for the last of them, then
sends those of the next, so that slots stay empty. Here all requests of a run are under way
together, `num_concurrent` at a time, each as lm-eval writes it.
"""

import asyncio
import errno
import json
import logging
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.models.api_models import TemplateAPI
from requests.utils import get_environ_proxies
from yarl import URL

from cogniload_gen.files import load_json
from cogniload_gen.never_written import without_keys
from lm_eval_tasks.lm_eval_private import payload, slots
from lm_eval_tasks.responses import BRIEF, NoCompletion, read_body

log = logging.getLogger(__name__)

_WELL_FORMED = re.compile(r"https?://([^/\s@]*@)?(\[[\da-fA-F:]+\]|[^/\s:@\[\]]+)(:[1-9]\d*)?(/|$)")

# Seconds that a server may take to list its models, to tell its version, or to be reached.
_PATIENCE = 30

# Seconds before a request is made again, at most, however long a server asks to wait.
_LONGEST_WAIT = 600.0

# Statuses that the same request would meet again; some may be about one prompt alone.
_REDIRECTS = (301, 302, 303, 307, 308)
_OF_ONE_PROMPT = (400, 413, 422)
_FINAL = (*_OF_ONE_PROMPT, *_REDIRECTS, 401, 402, 403, 404, 405)

# Requests that are refused with none answered, or that fail in a row, before all are given up.
_TRIALS = 10

FAILURES = (OSError, aiohttp.ClientError, NoCompletion)
"""What asking a server may raise."""

# What helps, by what a refusal speaks of.
_HINTS = {
    "context|length|tokens": "if the prompt is too long: name the model's tokenizer "
    "(tokenizer_backend=huggingface,tokenizer=NAME in --model_args), or lower context_budget",
    "stream": "if it answers in streams alone: give stream=true in --gen_kwargs",
}


class Refused(ConnectionError):  # noqa: N818  (an answer)
    """A server's answer that says it failed: its status, what it says, and how long to wait."""

    def __init__(self, answer: aiohttp.ClientResponse, text: str, why: str = "") -> None:
        super().__init__(f"answered {answer.status} {answer.reason}: {why or BRIEF.repr(text)}")
        self.status, self.text = answer.status, text
        self.wait = _asked_wait(answer.headers)


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return for how many seconds an answer asks to wait, if it does, by its own clock."""
    for name, unit in (("Retry-After-Ms", 1000), ("Retry-After", 1)):
        if re.fullmatch(r"\d+\.?\d*|\.\d+", told := headers.get(name, "").strip()):
            return float(told) / unit
    with suppress(LookupError, TypeError, ValueError):
        dates = (parsedate_to_datetime(headers[name]) for name in ("Retry-After", "Date"))
        until, now = (date.replace(tzinfo=None) for date in dates)  # all of HTTP's are in GMT
        return max((until - now).total_seconds(), 0.0)
    return None


# Is told of a request that gets no answer, and why; the others are asked.
_GiveUp = Callable[[Instance, str], object]


def fill_every_slot(
    model: LM, stopped: Callable[[], bool], give_up: _GiveUp = lambda *_: None
) -> None:
    """Have an API model send all requests of a run together, as many as it may at a time.

    These are its `num_concurrent`, times the prompts that it would send in one. Once `stopped` is
    true no request is sent. Models with a client of their own (LiteLLM) keep it; prompts with
    images have lm-eval's.
    """
    if not isinstance(model, TemplateAPI) or type(model).amodel_call is not TemplateAPI.amodel_call:
        return
    by_lm_eval = model.generate_until

    def generate_until(asked: list[Instance]) -> list[str | None]:
        if any(len(request.args) > 2 for request in asked):
            answered: list[str | None] = by_lm_eval(asked)
            return answered
        return asyncio.run(_answer_together(model, asked, stopped, give_up))

    model.generate_until = generate_until


async def _answer_together(
    model: TemplateAPI, asked: Sequence[Instance], stopped: Callable[[], bool], give_up: _GiveUp
) -> list[str | None]:
    """Return the responses to all requests; lm-eval's cache hook is told of each as it comes.

    A request that was not sent, or was given up, has None. After a failure that is not of one
    prompt no other request is made: what is under way is waited for, so that what was paid for is
    kept, and the failure is raised. So is the first one if all of the first ten are given up, or if
    ten fail in a row, as of a server that is down.
    """
    at_once, batch = (max(number, 1) for number in slots(model))
    responses: list[str | None] = [None] * len(asked)
    waiting = dict(enumerate(asked))
    failures: list[Exception] = []
    given_up: list[Exception] = []
    in_a_row: list[Exception] = []
    free = asyncio.Semaphore(at_once * batch)

    def over() -> bool:
        return bool(failures) or stopped()

    def in_doubt() -> bool:
        tried = len(given_up) >= min(_TRIALS, len(asked))
        none = tried and all(response is None for response in responses)
        return none or len(in_a_row) >= _TRIALS

    async with _session(model, model.timeout, at_once * batch) as session:

        async def answer(number: int) -> None:
            async with free:
                if over() or in_doubt():
                    return
                request = waiting.pop(number)
                try:
                    body = payload(model, *request.args)
                    responses[number] = said = await _complete(model, session, body, over)
                    if said is not None:
                        in_a_row.clear()
                        model.cache_hook.add_partial("generate_until", request.args, said)
                except Exception as error:
                    status = getattr(error, "status", 0)
                    # aiohttp has another time-out for a server that can't be reached
                    broken = type(error) in (TimeoutError, NoCompletion) or status >= 500
                    if not broken and status not in _OF_ONE_PROMPT:
                        failures.append(error)
                        return
                    given_up.append(error)
                    in_a_row.extend([error] * broken)
                    give_up(request, str(explain(error, model)))

        # in doubt, what is under way decides whether the others are asked
        while waiting and not over() and not in_doubt():
            await asyncio.gather(*map(answer, [*waiting]))
    if in_doubt():
        failures += in_a_row or given_up
    if failures:
        raise failures[0]
    return responses


async def _complete(
    model: TemplateAPI,
    session: aiohttp.ClientSession,
    body: dict[str, Any],
    over: Callable[[], bool],
) -> str | None:
    """Return the response to a request, made up to `max_retries` times while it fails in passing.

    It keeps its slot while it waits, so that a server which is asked too much is asked less. None
    where the asking was over before.
    """
    attempt = 0
    while not (attempt and over()):
        attempt += 1
        try:
            return await _post(model, session, body)
        except FAILURES as error:
            final, told = getattr(error, "status", None) in _FINAL, getattr(error, "wait", None)
            if attempt >= model.max_retries or final:
                raise
            wait = min(2.0 ** (attempt - 1), 30.0) if told is None else told
            await asyncio.sleep(min(wait, _LONGEST_WAIT))
    return None


async def _post(model: TemplateAPI, session: aiohttp.ClientSession, body: dict[str, Any]) -> str:
    answer, text = await _send(model, session, "POST", model.base_url, body)
    if not answer.ok:
        raise Refused(answer, text)
    outputs = read_body(text)
    responses = model.parse_generations(outputs=[outputs], contexts=[""])
    if len(responses) != 1:
        raise NoCompletion(f"as it holds {len(responses)} for one prompt", outputs)
    response: str = responses[0]
    return response


# --- HTTP -----------------------------------------------------------------------------------------


def _session(model: TemplateAPI, seconds: float, at_once: int = 1) -> aiohttp.ClientSession:
    verified = model.verify_certificate and ssl.create_default_context(cafile=model.ca_cert_path)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=at_once, ssl=verified),
        timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=_PATIENCE),
    )


async def _send(
    model: TemplateAPI, session: aiohttp.ClientSession, method: str, to: str, body: Any = None
) -> tuple[aiohttp.ClientResponse, str]:
    """Return a server's answer, and its text.

    A redirect keeps method and body, and is followed within the origin alone: what opens the server
    goes nowhere else, and another's answers are not the model's. Refused says where one points that
    is not followed; 303 would drop the body.
    """
    headers, url = _headers(model), URL(to)
    for _ in range(10):
        async with session.request(
            method, url, json=body, headers=headers, allow_redirects=False, proxy=_proxy_of(to)
        ) as answer:
            text = await answer.text(errors="replace")
        where = answer.headers.get("Location")
        if answer.status not in _REDIRECTS or where is None:
            return answer, text
        target = url.join(URL(where))
        ours, its = ((one.scheme, one.host, one.port) for one in (url, target))
        if ours != its or answer.status == 303:
            named = without_keys({"": str(target)})[""]
            raise Refused(answer, "", f"it points to {named}: is that the base_url?")
        url = target.with_user(url.user).with_password(url.password)
    raise Refused(answer, "", "its redirects have no end")


def _headers(model: TemplateAPI) -> dict[str, str]:
    """Return the headers of a request, without white space around a value, such as a file's end."""
    headers = {str(name): str(value).strip() for name, value in dict(model.header).items()}
    if broken := [name for name, value in headers.items() if re.search(r"[\0\r\n]", value)]:
        raise ValueError(f"the key or header {broken[0]} must be one line, got a line end in it")
    if "@" in model.base_url:  # a user in the URL takes the place of a key: aiohttp refuses both
        headers = {name: it for name, it in headers.items() if name.lower() != "authorization"}
    return headers


def _proxy_of(url: str) -> str | None:
    """Return the proxy that the environment names for a server; None for one on this machine."""
    here = re.fullmatch(r"localhost|127(\.\d+){3}|0\.0\.0\.0|::1?", URL(url).host or "")
    return None if here else get_environ_proxies(url).get(URL(url).scheme)


def explain(error: Exception, model: object, seconds: float | None = None) -> Exception:
    """Return what asking a server raised as one line that names the server and what helps.

    It had so many `seconds`, or the model's timeout.
    """
    given = str(getattr(model, "base_url", None) or "?")
    shown = without_keys({"url": given, "proxy": _proxy_of(given)})
    url = shown["url"] + f" through the proxy {shown['proxy']}" * bool(shown["proxy"])
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        says = f"can't be asked ({error.strerror}): lower num_concurrent, or raise ulimit -n"
    elif isinstance(error, aiohttp.ClientSSLError):
        says = f"is not trusted, see ca_cert_path, and http or https: {BRIEF.repr(str(error))}"
    elif isinstance(error, aiohttp.ClientConnectionError):
        where = "base_url or the proxy" if shown["proxy"] else "base_url"
        return ConnectionError(f"no server answers at {url}: start it, or correct {where}")
    elif isinstance(error, TimeoutError):
        says = (
            f"did not answer within {seconds or getattr(model, 'timeout', '?')} s: "
            "see whether the server works" + ", or raise timeout in --model_args" * (not seconds)
        )
    elif isinstance(error, Refused) and error.status not in _FINAL:
        says = f"{error}; max_retries in --model_args is {getattr(model, 'max_retries', 1)}"
    elif isinstance(error, Refused | NoCompletion):
        told = getattr(error, "text", "")
        hints = [hint for about, hint in _HINTS.items() if re.search(about, told, re.I)]
        missed = getattr(error, "status", 404) in (404, 405)
        if missed and not re.search("completions|messages|generate", given):
            hints = ["base_url must have its path, as in http://HOST:PORT/v1/chat/completions"]
        says = "; ".join([str(error), *hints[:1]])
    elif isinstance(error, aiohttp.ClientError):
        says = f"answered {BRIEF.repr(str(error))}"
    else:
        return error
    return ConnectionError(f"the server at {url} {says}")


def check_arguments(config: EvaluatorConfig) -> None:
    """Raise ValueError for arguments by which an API model's server can't be asked."""
    model, path = config.model, "chat/completions" if "chat" in config.model else "completions"
    url = config.model_args.get("base_url") or ("" if model.startswith("local-") else None)
    if url is not None and not _WELL_FORMED.match(str(url)):
        got = without_keys({"": str(url)})[""].rpartition("@")[2] or "none"
        raise ValueError(f"base_url must be http://HOST:PORT/v1/{path} or alike, got {got}")
    if "chat-completions" in model and not config.apply_chat_template:
        raise ValueError(f"--model {model} takes messages: give --apply_chat_template")


def check_server(model: LM, context_budget: int) -> dict[str, str]:
    """Return what an API model's server says of the model and of itself; {} of other backends.

    ConnectionError if nothing answers, and ValueError for a model that takes fewer tokens than
    `context_budget`. A model that the server does not list is warned of: many servers know more
    names than they list.
    """
    if not isinstance(model, TemplateAPI) or model.base_url is None:
        return {}
    answer = asyncio.run(_get(model, "/models"))
    entries = answer.get("data") if isinstance(answer, dict) else None
    listed = {str(entry.get("id")): entry for entry in entries or () if isinstance(entry, dict)}
    known = listed.get(str(model.model), {})
    if listed and not known:
        names = BRIEF.repr(sorted(listed))
        log.warning("the server lists %s, not %r, but may take that name", names, model.model)
    window = known.get("max_model_len")
    if type(window) is int and window < context_budget:
        raise ValueError(
            f"the model takes {window} tokens and context_budget is {context_budget}: raise the "
            "server's (--max-model-len of vllm serve) or lower context_budget"
        )
    told = asyncio.run(_get(model, "/version"))
    facts = {"root": known.get("root")} | (told if isinstance(told, dict) else {})
    return {name: it for name in ("root", "version") if isinstance(it := facts.get(name), str)}


async def _get(model: TemplateAPI, path: str) -> Any:
    """Return the JSON that the server has beside its completions; None if it has none.

    vLLM's servers tell their version beside /v1.
    """
    beside = re.sub(r"(/chat)?/completions/?(?=$|\?)", path, model.base_url, count=1)
    if path == "/version":
        beside = beside.replace("/v1/version", path)
    if beside == model.base_url:
        return None

    try:
        async with _session(model, _PATIENCE) as session:
            answer, text = await _send(model, session, "GET", beside)
        return load_json(text) if answer.ok else None
    except (aiohttp.ClientConnectionError, OSError) as error:
        raise explain(error, model, _PATIENCE) from None
    except (aiohttp.ClientError, json.JSONDecodeError):
        return None
