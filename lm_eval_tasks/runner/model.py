"""lm-eval's configuration -> its model, loaded, and what a run records of it."""

import json
import re
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import aiohttp
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers.utils import add_env_info, add_tokenizer_info, get_commit_from_path
from lm_eval.models.api_models import TemplateAPI
from msgspec.structs import replace

from cogniload_gen.files.run_folder import RunSpec
from lm_eval_tasks.responses import NoCompletion, keep_what_is_said
from lm_eval_tasks.runner.client import Refused, brief, fetch, fill_every_slot, server_errors
from lm_eval_tasks.runner.credentials import hide, public, public_url
from lm_eval_tasks.runner.run import plain

COMPLETIONS = re.compile(r"/(chat/)?completions/?$")

PATIENCE = 30
"""Seconds that a server may take to list its models, or to tell its version."""


def load_model(config: EvaluatorConfig, run: RunSpec, context_budget: int) -> tuple[LM, RunSpec]:
    """Return the model, in lm-eval's backend, and the run with what is known of the model.

    ValueError if it can't be loaded, and what `check_server` raises.
    """
    sizes = {name: getattr(config, name) for name in ("batch_size", "max_batch_size", "device")}
    try:
        model = get_model(config.model).create_from_arg_obj(config.model_args, sizes)
    except Exception as error:  # every backend fails in its own way
        raise ValueError(f"{config.model}: {error or type(error).__name__}") from error
    if model.world_size > 1:
        raise ValueError(f"--shard takes the place of {model.world_size} processes in one run")
    keep_what_is_said(model)
    fill_every_slot(model)
    facts = check_server(model, context_budget)
    facts = describe_model(model, facts, run.arguments.apply_chat_template)
    return model, replace(run, model=facts, recorded=run.recorded | describe_environment(model))


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
            known = fetch(model, url, PATIENCE)
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
        number = fetch(model, url, PATIENCE)["version"]
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


def describe_model(
    model: LM, served: dict[str, str | None], chat_template: bool | str
) -> dict[str, Any]:
    """Return what is known of a model and its tokenizer: all that is not empty."""
    facts = model.get_model_info() if hasattr(model, "get_model_info") else {}
    facts = public(facts | served)
    # `tok_encode` comes first: without one, DummyLM's `tokenizer` asks the Hub for another model's
    tokenizer = getattr(model, "tokenizer", None) if hasattr(model, "tok_encode") else None
    if tokenizer is not None and hasattr(tokenizer, "get_vocab"):
        vocabulary = json.dumps(sorted(tokenizer.get_vocab().items()))
        facts["tokenizer"] = f"{len(tokenizer)} tokens, {sha256(vocabulary.encode()).hexdigest()}"
    if chat_template:
        facts["chat_template"] = model.chat_template(chat_template)
    return plain({name: fact for name, fact in facts.items() if fact not in ("", None)})


def describe_environment(model: LM) -> dict[str, Any]:
    """Return what lm-eval's results say besides of where a model runs."""
    facts: dict[str, Any] = {
        "git_hash": get_commit_from_path(Path.cwd()),
        "vllm_version": vllm_version(model),
    }
    add_env_info(facts)
    if hasattr(model, "tok_encode"):
        add_tokenizer_info(facts, model)
    shown: dict[str, Any] = public(plain(facts))
    return shown
