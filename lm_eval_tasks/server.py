"""A model that a server answers for: whether it can, work for all its slots, and how it fails."""

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from reprlib import Repr

import aiohttp
import requests
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.models.api_models import TemplateAPI

from lm_eval_tasks.internals import slots

BRIEF = Repr()
BRIEF.maxstring = 300
brief = BRIEF.repr

COMPLETIONS = re.compile(r"/(chat/)?completions/?$")
USER = re.compile(r"(?<=//)[^/@]*@")


def without_password(url: str) -> str:
    """A URL without the user and password that it may hold."""
    return USER.sub("", url)


def check_server(model: LM, context_budget: int) -> dict:
    """What an API model's server says of the model: its id and root; nothing of another backend.

    ConnectionError if no server answers or it fails, ValueError if it does not know the model or
    takes fewer tokens than `context_budget`. A server that has no list of models is believed.
    """
    if not isinstance(model, TemplateAPI) or not COMPLETIONS.search(model.base_url or ""):
        return {}
    url = COMPLETIONS.sub("/models", model.base_url)
    with server_errors(url):
        answer = requests.get(
            url, headers=model.header, verify=model.verify_certificate, timeout=60
        )
        if 400 <= answer.status_code < 500:
            return {}
        answer.raise_for_status()
        try:
            known = {str(each["id"]): each for each in answer.json()["data"]}
        except (ValueError, TypeError, LookupError):
            return {}
    url = without_password(url)
    if model.model not in known:
        names = ", ".join(sorted(known))
        raise ValueError(f"{url}: the models are {brief(names)}; got model={model.model!r}")
    window = known[model.model].get("max_model_len")
    if type(window) is int and window < context_budget:
        raise ValueError(
            f"{url}: the model takes {window} tokens and context_budget is {context_budget}: raise "
            "the server's (--max-model-len of vllm serve) or lower context_budget"
        )
    root = known[model.model].get("root")
    return {"served": model.model, "root": root if isinstance(root, str) else None}


def vllm_version(model: LM) -> str | None:
    """The version of the vLLM that answers, in this process or as a server; None if none says so.

    vLLM's servers tell theirs at /version, beside /v1.
    """
    if type(model).__module__ == "lm_eval.models.vllm_causallms":
        return version("vllm")
    if not isinstance(model, TemplateAPI) or not COMPLETIONS.search(model.base_url or ""):
        return None
    url = re.sub(r"(/v1)?$", "/version", COMPLETIONS.sub("", model.base_url), count=1)
    try:
        told = requests.get(
            url, headers=model.header, verify=model.verify_certificate, timeout=60
        ).json()["version"]
    except (requests.RequestException, TypeError, LookupError):
        return None
    return told if isinstance(told, str) else None


class LastRefusal(logging.Handler):
    """Keeps what a server answered instead of a completion: lm-eval's API models log it alone."""

    said = re.compile(r"(?:Response text|error message): (.*)\. Retrying", re.DOTALL)

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        found = self.said.search(record.getMessage())
        self.text = found[1] if found else self.text


@contextmanager
def server_errors(url: str | None) -> Iterator[None]:
    """Turns what requests, aiohttp and lm-eval raise of a server into one that says it in a line.

    ConnectionError for one that does not answer, or answers with an error; ValueError for a request
    that lm-eval does not send.
    """
    url = url and without_password(url)
    log, refusal = logging.getLogger("lm_eval.models.api_models"), LastRefusal()
    log.addHandler(refusal)
    propagate, log.propagate = log.propagate, False
    try:
        yield
    except (TimeoutError, requests.Timeout) as error:
        raise ConnectionError(
            f"the server at {url} did not answer in time: raise timeout in --model_args"
        ) from error
    except (aiohttp.ClientConnectionError, requests.ConnectionError) as error:
        raise ConnectionError(f"no server answers at {url}") from error
    except aiohttp.ClientResponseError as error:
        raise ConnectionError(
            f"the server at {url} answered {error.status} {error.message}: {brief(refusal.text)}"
        ) from error
    except requests.HTTPError as error:
        answer = error.response
        raise ConnectionError(
            f"the server at {url} answered {answer.status_code} {answer.reason}: "
            f"{brief(answer.text)}"
        ) from error
    except (aiohttp.ClientError, requests.RequestException, json.JSONDecodeError) as error:
        raise ConnectionError(f"the server at {url} answered {brief(str(error))}") from error
    except (AssertionError, NotImplementedError) as error:
        raise ValueError(f"lm-eval asks for something else: {error}") from error
    finally:
        log.removeHandler(refusal)
        log.propagate = propagate


def fill_every_slot(model: LM) -> None:
    """Makes an API model send requests of every response limit together, `num_concurrent` at once.

    lm-eval sends those of one limit, waits for the last of them, then sends those of the next: with
    a limit of its own for each length of prompt, a served GPU would wait most of the time.
    """
    if not isinstance(model, TemplateAPI):
        return
    (concurrent, batch), one_after_the_other = slots(model), model.generate_until

    def generate_until(requests: list[Instance]) -> list[str]:
        if any(len(request.args) > 2 for request in requests):  # prompts with images
            return one_after_the_other(requests)
        return asyncio.run(answer_together(model, requests, concurrent))

    if concurrent > 1 and batch == 1:
        model.generate_until = generate_until


async def answer_together(
    model: TemplateAPI, requests: list[Instance], concurrent: int
) -> list[str]:
    """The responses to all requests, by lm-eval's own call of the server, with its retries."""
    from tenacity import retry, stop_after_attempt, wait_exponential  # noqa: PLC0415 (lm-eval[api])

    prompts, settings = zip(*(request.args for request in requests), strict=True)
    if model.tokenized_requests:
        prompts = model.tok_encode(prompts, add_special_tokens=model.add_bos_token)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=concurrent, ssl=model.verify_certificate),
        timeout=aiohttp.ClientTimeout(total=model.timeout),
    ) as session:
        call = retry(
            stop=stop_after_attempt(model.max_retries),
            wait=wait_exponential(multiplier=0.5, min=1, max=10),
            reraise=True,
        )(model.amodel_call)
        slots = asyncio.Semaphore(concurrent)
        answers = await asyncio.gather(
            *(
                call(
                    session=session,
                    sem=slots,
                    messages=[prompt],
                    cache_keys=[request.args],
                    gen_kwargs=generation,
                )
                for prompt, request, generation in zip(prompts, requests, settings, strict=True)
            )
        )
    return [response for (response,) in answers]
