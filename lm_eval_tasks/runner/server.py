"""A model that a server answers for: does the server know it, and how to say that it fails.

The requests themselves are sent by `client.py`.
"""

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from reprlib import Repr
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import requests
from lm_eval.api.model import LM
from lm_eval.models.api_models import TemplateAPI

from lm_eval_tasks.responses import NoCompletion
from lm_eval_tasks.runner.client import LARGEST_ANSWER, Refused, TooLarge, decode, fetch
from lm_eval_tasks.runner.credentials import hide, public_url

BRIEF = Repr()
BRIEF.maxstring = 300
BRIEF.maxdict = 8

COMPLETIONS = re.compile(r"/(chat/)?completions/?$")

PATIENCE = 30
"""Seconds that a server may take to list its models, or to tell its version."""


def brief(value: object) -> str:
    """Return a short spelling of a value from a server, without the credentials it repeats."""
    return BRIEF.repr(hide(value)) if isinstance(value, str) else hide(BRIEF.repr(value))


def check_server(model: LM, context_budget: int) -> dict[str, str | None]:
    """Return what an API model's server says of the model: its id and root; {} of other backends.

    ConnectionError if no server answers or it fails, ValueError for a malformed URL, a model that
    the server does not know, and one that takes fewer tokens than `context_budget`. A server
    without a list of models is believed.
    """
    url = beside_completions(model, "/models")
    if url is None:
        return {}
    with server_errors(url, PATIENCE):
        try:
            known = decode(asyncio.run(fetch(model, url, PATIENCE)))
            listed = {str(entry["id"]): entry for entry in known["data"]}
        except Refused as refused:
            if 400 <= refused.status < 500:
                return {}
            raise
        except (NoCompletion, TypeError, LookupError):
            return {}
    if model.model not in listed:
        names = ", ".join(sorted(listed))
        name = hide(f"model={model.model!r}")
        raise ValueError(f"{public_url(url)}: the models are {brief(names)}; got {name}")
    window = listed[model.model].get("max_model_len")
    if type(window) is int and window < context_budget:
        raise ValueError(
            f"{public_url(url)}: the model takes {window} tokens and context_budget is "
            f"{context_budget}: raise the server's (--max-model-len of vllm serve) or lower "
            "context_budget"
        )
    root = listed[model.model].get("root")
    return {"served": model.model, "root": root if isinstance(root, str) else None}


def vllm_version(model: LM) -> str | None:
    """Return the version of the vLLM that answers, in this process or as a server; else None.

    vLLM's servers tell theirs at /version, beside /v1.
    """
    if type(model).__module__ == "lm_eval.models.vllm_causallms":
        return version("vllm")
    url = beside_completions(model, "")
    if url is None:
        return None
    url = re.sub(r"(/v1)?(?=$|\?)", "/version", url, count=1)
    try:
        number = decode(asyncio.run(fetch(model, url, PATIENCE)))["version"]
    except (OSError, aiohttp.ClientError, NoCompletion, TypeError, LookupError):
        return None
    return number[:100] if isinstance(number, str) else None


def beside_completions(model: LM, path: str) -> str | None:
    """Return the URL of a path beside the one that an API model's completions have.

    None for another backend, or a server of another API. ValueError for a malformed URL.
    """
    if not isinstance(model, TemplateAPI) or not model.base_url:
        return None
    try:
        parts = urlsplit(model.base_url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ValueError(
            "base_url must be http://HOST:PORT/PATH or https://HOST/PATH, "
            f"got {public_url(str(model.base_url))}"
        )
    if not COMPLETIONS.search(parts.path):
        return None
    beside: str = urlunsplit(parts._replace(path=COMPLETIONS.sub(path, parts.path)))
    return beside


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
