"""What lm-eval keeps to itself and is used here: each behind one function, as in version 0.4.13.

Where another version has it differently, the function raises an ImportError that says so in a line.
What is changed of a backend, for as long as it is as it was, is in `responses.py`.
"""

import inspect
import re
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import lm_eval.api.registry
import lm_eval.evaluator
from lm_eval.api.model import LM
from lm_eval.loggers.utils import get_commit_from_path
from lm_eval.models.api_models import TemplateAPI


@contextmanager
def as_expected() -> Iterator[None]:
    """Turn what comes of using another lm-eval than was expected into an ImportError."""
    try:
        yield
    except (ImportError, AttributeError, LookupError, TypeError) as error:
        raise ImportError(
            f"lm-eval {version('lm_eval')} is not as 0.4.13 was ({error}): use 0.4.13"
        ) from error


def model_under_evaluation() -> LM | None:
    """Return the model that lm-eval is preparing requests for, or None outside of an evaluation.

    Only the model knows how its backend will encode a prompt and where it would cut it, and lm-eval
    does not hand it to tasks. It is the local `lm` of `lm_eval.evaluator.evaluate`, which calls
    `build_all_requests`.
    """
    evaluate = inspect.unwrap(lm_eval.evaluator.evaluate).__code__
    frame = inspect.currentframe()
    while frame is not None and frame.f_code is not evaluate:
        frame = frame.f_back
    if frame is None:
        return None
    with as_expected():
        if "lm" not in frame.f_locals:
            raise LookupError("it keeps its model where it is not found")
        return frame.f_locals["lm"]


def parse_words(
    words: Sequence[str], refuse: Callable[[ArgumentParser, str], NoReturn]
) -> dict[str, Any]:
    """Return the arguments that words for `lm_eval run` give, by name.

    `refuse` takes the parser, and its message where a word is wrong.
    """
    with as_expected():
        from lm_eval._cli.run import Run

        commands = ArgumentParser().add_subparsers()
        Run(commands)
        parser = commands.choices["run"]
    parser.prog = "cogniload eval"
    parser.error = partial(refuse, parser)  # type: ignore[method-assign]
    try:
        arguments = vars(parser.parse_args(words))
    except ValueError as error:  # which has all of a text that may hold a key
        raise ValueError(re.sub("(?s)Invalid JSON: .* Hint", "JSON", str(error))) from None
    return {name: value for name, value in arguments.items() if value is not None}


def read_levels(listed: str) -> dict[str, Any]:
    """Return the values in a text such as `low,high`, by text, as --gen_kwargs reads them."""
    with as_expected():
        from lm_eval._cli.utils import handle_cli_value_string, split_top_level, try_parse_json

        texts = filter(None, (text.strip() for text in split_top_level(listed)))
        return {
            text: try_parse_json(text) if text[0] in "{[" else handle_cli_value_string(text)
            for text in texts
        }


def read_task(path: Path) -> dict[str, Any]:
    """Return the configuration in a task's YAML, with the functions that it names."""
    with as_expected():
        from lm_eval.tasks._yaml_loader import load_yaml

        read: dict[str, Any] = load_yaml(path, resolve_func=True)
    return dict(read)


def slots(model: LM) -> tuple[int, int]:
    """Return an API model's requests at once, and the prompts of a request."""
    with as_expected():
        return model._concurrent, model._batch_size


def payload(model: TemplateAPI, prompt: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Return what an API model's `amodel_call` sends to its server for a prompt.

    One that it encodes itself is cut from the left, as lm-eval does. A stream is to end with the
    counts of tokens.
    """
    with as_expected():
        create, seed, usual_limit = model._create_payload, model._seed, model._max_gen_toks
    if model.tokenized_requests:
        room = model.max_length - settings.get("max_gen_toks", usual_limit)
        prompt = model.tok_encode(prompt, add_special_tokens=model.add_bos_token)[-room:]
    message = model.create_message([prompt])
    sent: dict[str, Any] = create(message, generate=True, gen_kwargs=deepcopy(settings), seed=seed)
    return ({"stream_options": {"include_usage": True}} if sent.get("stream") else {}) | sent


@contextmanager
def answering_by(model: object, loaded: Mapping[str, Any]) -> Iterator[Any]:
    """Have `simple_evaluate` evaluate loaded tasks by a given model; yield its task manager.

    It takes a model by its name alone if its results are to name it, and loads tasks itself.
    """
    backend = SimpleNamespace(create_from_arg_obj=lambda *_: model)
    manager = SimpleNamespace(load=lambda _: loaded, task_index={})
    registry, evaluator = lm_eval.api.registry, lm_eval.evaluator
    with as_expected():
        before = registry.get_model, evaluator.get_git_commit_hash
    registry.get_model = lambda _: backend
    # git, which lm-eval calls, complains on standard error where there is no repository
    evaluator.get_git_commit_hash = lambda: get_commit_from_path(Path.cwd())
    try:
        yield manager
    finally:
        registry.get_model, evaluator.get_git_commit_hash = before


@contextmanager
def outputs_as_they_come(
    model: LM, tell: Callable[[str, str, str, int, int], None]
) -> Iterator[None]:
    """Have vLLM, in this process, tell of each response when it is finished.

    lm-eval learns of them all when the last one is. `tell` gets the prompt, the response, the
    finish reason and the tokens of both. Nothing happens with another backend, or where several
    processes generate.
    """
    engine: Any = getattr(getattr(model, "model", None), "llm_engine", None)
    if not (hasattr(engine, "step") and hasattr(model, "tok_encode")):
        yield
        return
    encode, step = model.tok_encode, engine.step
    prompts: dict[int, str] = {}

    def tok_encode(text: Any, *arguments: Any, **settings: Any) -> Any:
        encoded = encode(text, *arguments, **settings)
        if not isinstance(text, str):
            prompts.update(zip(map(hash, map(tuple, encoded)), text, strict=True))
        return encoded

    def step_and_tell(*arguments: Any, **settings: Any) -> Any:
        outputs = step(*arguments, **settings)
        for output in outputs:
            prompt = prompts.get(hash(tuple(output.prompt_token_ids or ())))
            if output.finished and prompt is not None:
                done, counts = output.outputs[0], (len(output.prompt_token_ids),)
                tell(prompt, done.text, done.finish_reason, *counts, len(done.token_ids))
        return outputs

    model.tok_encode, engine.step = tok_encode, step_and_tell
    try:
        yield
    finally:
        model.tok_encode, engine.step = encode, step
