"""A block's requests -> their responses from a server: all slots filled, each answer bounded.

lm-eval's own client sends the requests of one response limit, waits for the last of them, then
sends those of the next; it reads answers of any size; and with one request at a time it does not
repeat one whose answer is no completion. Here one client sends every request of a block, each as
lm-eval writes it.
"""

import asyncio
import base64
import json
import logging
import re
import ssl
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from reprlib import Repr
from time import monotonic
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import aiohttp
import requests
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.models.api_models import TemplateAPI
from requests.utils import DEFAULT_CA_BUNDLE_PATH, get_environ_proxies, select_proxy
from yarl import URL

from lm_eval_tasks.lm_eval_private import default_response_limit, payload, slots
from lm_eval_tasks.responses import NoCompletion
from lm_eval_tasks.runner.credentials import hide, public_url

log = logging.getLogger(__name__)

BRIEF = Repr()
BRIEF.maxstring = 300
BRIEF.maxdict = 8

LARGEST_ANSWER = 16 * 2**20
"""Bytes of a server's answer, unpacked. A response of 100,000 tokens has about half a million."""

SILENT_FOR = 60.0
"""Seconds without any answer after which a warning says so; then after twice as many, and so on."""


class Refused(ConnectionError):  # noqa: N818  (an answer)
    """A server's answer that says it failed: its status, the reason and what the body says."""

    def __init__(self, status: int, reason: str | None, text: str) -> None:
        super().__init__(f"{status} {reason}: {text}")
        self.status, self.reason, self.text = status, reason or "", text


class TooLarge(ConnectionError):  # noqa: N818  (an answer)
    """A server's answer of more than LARGEST_ANSWER bytes."""


def fill_every_slot(model: LM) -> None:
    """Have an API model send all requests of a block together, `num_concurrent` at a time.

    Models with a client of their own (LiteLLM) keep it, and prompts with images lm-eval's.
    """
    if not isinstance(model, TemplateAPI) or type(model).amodel_call is not TemplateAPI.amodel_call:
        return
    (concurrent, batch), by_lm_eval = slots(model), model.generate_until

    def generate_until(requests: list[Instance]) -> list[str]:
        if any(len(request.args) > 2 for request in requests):  # prompts with images
            answered: list[str] = by_lm_eval(requests)
            return answered
        return asyncio.run(answer_together(model, requests, max(concurrent, 1), max(batch, 1)))

    model.generate_until = generate_until


async def answer_together(
    model: TemplateAPI, requests: Sequence[Instance], concurrent: int, batch: int
) -> list[str]:
    """Return the responses to all requests, `batch` prompts in each call of the server.

    A call that fails in any way is made again, up to the model's `max_retries` calls in all, with
    lm-eval's waits between them; then it raises what the last one met.
    """
    from tenacity import retry, stop_after_attempt, wait_exponential  # noqa: PLC0415 (lm-eval[api])

    prompts, settings = zip(*(request.args for request in requests), strict=True)
    sent = list(prompts)
    if model.tokenized_requests:
        tokens = model.tok_encode(prompts, add_special_tokens=model.add_bos_token)
        sent = [cut(model, *pair) for pair in zip(tokens, settings, strict=True)]
    # lm-eval names the model's end of text as a stop only where it sends one request at a time
    end = {"eos": model.eos_string} if concurrent == 1 else {}
    responses: list[str] = [""] * len(prompts)
    free, failed = asyncio.Semaphore(concurrent), asyncio.Event()
    repeated = retry(
        stop=stop_after_attempt(model.max_retries),
        wait=wait_exponential(multiplier=0.5, min=1, max=10),
        reraise=True,
    )(complete)

    async with (
        session_of(model, concurrent) as session,
        silence_told(model, len(prompts)) as answered,
    ):

        async def answer(indices: Sequence[int]) -> None:
            body = payload(model, [sent[i] for i in indices], settings[indices[0]], **end)
            try:
                texts = await repeated(model, session, free, failed, body, len(indices))
            except BaseException:
                failed.set()
                raise
            answered(len(indices))
            for i, text in zip(indices, texts, strict=True):
                responses[i] = text
                model.cache_hook.add_partial("generate_until", (prompts[i], settings[i]), text)

        await asyncio.gather(*map(answer, batches(settings, batch)))
    return responses


def cut(model: TemplateAPI, tokens: list[int], settings: dict[str, Any]) -> list[int]:
    """Return a prompt's tokens, cut from the left as lm-eval does where they leave no room."""
    room = model.max_length - settings.get("max_gen_toks", default_response_limit(model))
    return tokens[-room:]


def batches(settings: Sequence[dict[str, Any]], size: int) -> Iterator[list[int]]:
    """Yield the indices of requests that one call can hold: `size` that are generated alike."""
    alike = defaultdict(list)
    for i, generation in enumerate(settings):
        alike[json.dumps(generation, sort_keys=True, default=repr) if size > 1 else i].append(i)
    for indices in alike.values():
        yield from (indices[start : start + size] for start in range(0, len(indices), size))


async def complete(
    model: TemplateAPI,
    session: aiohttp.ClientSession,
    free: asyncio.Semaphore,
    failed: asyncio.Event,
    request: dict[str, Any],
    prompts: int,
) -> list[str]:
    """Return the responses of one call to the server, made once a slot is free.

    Where another call has `failed` for good meanwhile, none is made.
    """
    there, settings = address(model)
    async with free:
        if failed.is_set():
            raise asyncio.CancelledError
        async with session.post(there, json=request, **settings) as answer:
            body = await read(answer)
    content = decode(body)
    try:
        texts: list[str] = model.parse_generations(outputs=[content], contexts=[""] * prompts)
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise NoCompletion(f"as lm-eval can't read it ({error!r})", content) from None
    if len(texts) != prompts:
        raise NoCompletion(f"as it holds {len(texts)} for {prompts} prompts", content)
    return texts


def fetch(model: TemplateAPI, url: str, seconds: float) -> Any:
    """Return the JSON that the model's server has at another URL; waits `seconds` at most."""

    async def get() -> bytes:
        there, settings = address(model, url)
        timeout = aiohttp.ClientTimeout(total=seconds)
        async with (
            session_of(model, 1) as session,
            session.get(there, timeout=timeout, **settings) as answer,
        ):
            return await read(answer)

    return decode(asyncio.run(get()))


def session_of(model: TemplateAPI, concurrent: int) -> aiohttp.ClientSession:
    """Return a session with the model's timeout and certificates."""
    context: ssl.SSLContext | bool = bool(model.verify_certificate)
    if context:
        context = ssl.create_default_context(cafile=model.ca_cert_path or DEFAULT_CA_BUNDLE_PATH)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=concurrent, ssl=context),
        timeout=aiohttp.ClientTimeout(total=model.timeout),
        headers={"Accept-Encoding": "identity"},
        auto_decompress=False,  # it would unpack answers of any size
    )


def address(model: TemplateAPI, url: str | None = None) -> tuple[URL, dict[str, Any]]:
    """Return a URL of the model's server, and how to ask there: its headers and a proxy, if any.

    A user and password in the URL take the place of the Authorization header, as in requests.
    """
    parts, headers = urlsplit(url or model.base_url), dict(model.header)
    user, at, host = parts.netloc.rpartition("@")
    url = urlunsplit(parts._replace(netloc=host))
    settings: dict[str, Any] = {"proxy": select_proxy(url, get_environ_proxies(url))}
    there = URL(url, encoded=url.isascii())  # a signature in it stays as it was made
    if not at:
        return there, settings | {"headers": headers}
    name, _, password = user.partition(":")
    headers = {key: value for key, value in headers.items() if key.lower() != "authorization"}
    basic = base64.b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()
    return there, settings | {"headers": headers | {"Authorization": f"Basic {basic}"}}


async def read(answer: aiohttp.ClientResponse) -> bytes:
    """Return an answer's body; Refused if the server says it failed, TooLarge beyond the limit."""
    packed = bytearray()
    async for part in answer.content.iter_chunked(2**16):
        packed += part
        if len(packed) > LARGEST_ANSWER:
            raise TooLarge
    body = unpack(bytes(packed), answer.headers.get("Content-Encoding", "identity").lower())
    if not answer.ok:
        raise Refused(answer.status, answer.reason, body.decode(errors="replace"))
    return body


def unpack(packed: bytes, encoding: str) -> bytes:
    """Return what an encoding of HTTP packed; TooLarge beyond the limit, NoCompletion of others."""
    if encoding in ("", "identity"):
        return packed
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise NoCompletion("as its encoding is unknown", encoding)
    unpacking = zlib.decompressobj(zlib.MAX_WBITS + 32)  # of gzip or zlib, as its header says
    try:
        body = unpacking.decompress(packed, LARGEST_ANSWER + 1)
    except zlib.error:
        raise NoCompletion(f"as it is no {encoding}", packed) from None
    if len(body) > LARGEST_ANSWER:
        raise TooLarge
    if not unpacking.eof:
        raise NoCompletion(f"as it is half a {encoding}", packed)
    return body


def decode(body: bytes) -> Any:
    """Return the content of a JSON text; NoCompletion for another text or a nesting too deep."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise NoCompletion("as it is no JSON", body.decode(errors="replace")) from None


@asynccontextmanager
async def silence_told(model: TemplateAPI, waiting: int) -> AsyncIterator[Callable[[int], None]]:
    """Warn of a server that accepts requests and answers none; yields a call to count answers.

    A warning comes after SILENT_FOR seconds without an answer, and each time that they double.
    """
    last = monotonic()

    def count(answers: int) -> None:
        nonlocal last, waiting
        last, waiting = monotonic(), waiting - answers

    async def warn() -> None:
        seconds, since = SILENT_FOR, last
        while True:
            await asyncio.sleep(max(since + seconds - monotonic(), 0))
            if last == since:
                log.warning(
                    "the server at %s has answered nothing for %.0f s: %d requests wait; one that "
                    "takes more than %d s is given up (timeout in --model_args)",
                    *(public_url(model.base_url), seconds, waiting, model.timeout),
                )
            seconds, since = 2 * seconds if last == since else SILENT_FOR, last

    watch = asyncio.create_task(warn())
    try:
        yield count
    finally:
        watch.cancel()


def brief(value: object) -> str:
    """Return a short spelling of a value from a server, without the credentials it repeats."""
    return BRIEF.repr(hide(value)) if isinstance(value, str) else hide(BRIEF.repr(value))


class LastRefusal(logging.Handler):
    """Keeps a server's answer without a completion, where lm-eval's own client logs it."""

    pattern = re.compile(r"(?:Response text|error message): (.*)\. Retrying", re.DOTALL)

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the text of a refusal."""
        match = self.pattern.search(record.getMessage())
        self.text = match[1] if match else self.text


@contextmanager
def server_errors(url: str | None, seconds: float) -> Iterator[None]:
    """Turn what is raised of a server into one error that says it in a line and names the server.

    ConnectionError for a server that does not answer within `seconds`, answers with an error, with
    what is no completion, or with more than LARGEST_ANSWER; ValueError for a request that lm-eval
    does not send.
    """
    where = f"the server at {public_url(url)}" if url else "the server"
    log, refusal = logging.getLogger("lm_eval.models.api_models"), LastRefusal()
    log.addHandler(refusal)
    propagate, log.propagate = log.propagate, False
    try:
        yield
    except Refused as error:
        raise ConnectionError(
            f"{where} answered {error.status} {error.reason}: {brief(error.text)}"
        ) from None
    except NoCompletion as error:
        raise ConnectionError(
            f"{where} answered what is no completion, {error.why}: {brief(error.answer)}"
        ) from None
    except TooLarge:
        raise ConnectionError(
            f"{where} answered more than {LARGEST_ANSWER // 2**20} MiB, which is the limit"
        ) from None
    except (TimeoutError, requests.Timeout):
        raise ConnectionError(
            f"{where} did not answer within {seconds:.0f} s: raise timeout in --model_args, or see "
            "whether the server works"
        ) from None
    except (aiohttp.ClientConnectionError, requests.ConnectionError):
        raise ConnectionError(f"no server answers at {where.rpartition(' ')[2]}") from None
    except aiohttp.ClientResponseError as error:
        raise ConnectionError(
            f"{where} answered {error.status} {error.message}: {brief(refusal.text)}"
        ) from None
    except (aiohttp.ClientError, requests.RequestException, json.JSONDecodeError) as error:
        raise ConnectionError(f"{where} answered {brief(str(error))}") from None
    except (AssertionError, NotImplementedError) as error:
        raise ValueError(f"lm-eval rejected the request: {hide(str(error))}") from None
    finally:
        log.removeHandler(refusal)
        log.propagate = propagate
