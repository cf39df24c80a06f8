"""From the words of a command and its --config file to an `Evaluation`."""

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

from lm_eval.config.evaluate_config import EvaluatorConfig

from cogniload_gen.answers.files import run_of
from cogniload_gen.checks import did_you_mean
from cogniload_gen.files import naming
from lm_eval_tasks.evaluation import CAPS, DESIGN, Evaluation
from lm_eval_tasks.lm_eval_private import parse_words
from lm_eval_tasks.resume import Run

OURS = "output_path", "shard", "anew", *DESIGN, *CAPS
"""Our own arguments, which a --config file may hold beside lm-eval's."""

REFUSED = (
    *("use_cache", "cache_requests", "predict_only", "check_integrity", "write_out", "show_config"),
    *("wandb_args", "wandb_config_args", "trackio_args", "hf_hub_log_args"),
)
"""lm-eval's arguments that the answers on the disk replace, or that have no place in a long run."""

IMPLIED = "func", "log_samples", "verbosity"
"""lm-eval's arguments that decide nothing here."""

# Settings that choose puzzles, or where the answers are: not of a model.
_CHOSEN = {"tasks", "metadata", "limit", "samples", "output_path", "shard", "anew", *DESIGN}


def read_command(arguments: Namespace, others: Sequence[str]) -> tuple[Evaluation, dict[str, Any]]:
    """Return the evaluation of `cogniload eval`, and what `Evaluation.run` takes.

    `arguments` are our own, parsed; `others` are words for lm-eval. The command line goes before
    the file of --config. ValueError for an unknown, missing or refused setting.
    """
    ours = {name: getattr(arguments, name) for name in ("config", "include_path", *OURS)}
    settings = _with_file(parse_words(others, _refuse_words) | _given(ours))
    if not (out := settings.pop("output_path", None)):
        raise ValueError("--output_path is missing: give it, or write it into the --config file")
    how = {name: settings.pop(name) for name in {"shard", "anew"} & settings.keys()}
    model = "hf" if settings.get("model_args") else ""  # lm-eval's own default
    return Evaluation(**{"tasks": (), "model": model} | settings), how | {"out": out}


def read_model(others: Sequence[str], run: Path, recorded: Run | None = None) -> Evaluation:
    """Return whom `others`, words for lm-eval, say to ask about puzzles that a command chooses.

    What a run has recorded of its model and its decoding holds where the words say nothing, unless
    they name a file of --config, which has all of it; `recorded` is then what a pool says of its
    base. ValueError for a model that neither names, for recorded arguments that can't be trusted,
    and for words that choose puzzles.
    """
    given = parse_words(others, _refuse_words)
    if unused := sorted(given.keys() & _CHOSEN):
        what = "the command chooses the puzzles, and --out has the answers"
        raise ValueError(f"--{unused[0]} is not taken: {what}")
    has_file, settings = "config" in given, _with_file(given)
    begun: Run | None = None
    if not has_file:
        begun = recorded or Run.read(run_of(run))
    if not (begun or has_file or {"model", "model_args"} & settings.keys()):
        raise ValueError(
            f"{run} has no state/run.json, so it is no --output_path of cogniload eval: name one, "
            "or give --model (gate: --base-config)"
        )
    if begun is not None and "model_args" not in settings:
        begun.refuse_untrusted(run)
    model = "hf" if settings.get("model_args") else ""  # lm-eval's own default
    asked = begun.recorded_settings() if begun else {"model": model}
    kept = {name: value for name, value in settings.items() if name not in _CHOSEN}
    return Evaluation(**asked | kept)


def read_file(file: str) -> Evaluation:
    """Return whom a file like that of --config says to ask, and when to stop.

    ValueError for a file that chooses tasks or puzzles.
    """
    settings = _with_file({"config": file})
    if chosen := sorted(settings.keys() & _CHOSEN - {"metadata"}):
        raise ValueError(f"{file} must say whom to ask, not what: got {chosen[0]}")
    return Evaluation(**{"model": "hf"} | settings)


def _with_file(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings, and those of the file that `config` names where it has further ones."""
    file = settings.pop("config", None)
    with naming(str(file)):
        held = _given(EvaluatorConfig.load_yaml_config(file)) if file else {}
    known = {*OURS, *IMPLIED, *REFUSED, *(each.name for each in fields(Evaluation))}
    if unknown := sorted(map(str, held.keys() - known)):
        near = did_you_mean(unknown[0], [*OURS, *(each.name for each in fields(Evaluation))])
        where = (
            "a model's name and address are in model_args, decoding in gen_kwargs, and model is "
            "lm-eval's backend, such as local-chat-completions"
        )
        raise ValueError(f"{file}: there is no setting {unknown[0]!r}{near or f': {where}'}")
    settings = held | settings
    for name in ("model_args", "gen_kwargs", "metadata"):
        if isinstance(given := settings.get(name), str):
            settings[name] = parse_words([f"--{name}={given}"], _refuse_words)[name]
    for name in REFUSED:
        if settings.get(name):
            raise ValueError(f"--{name} is refused: cogniload eval has no use for it")
    return {name: it for name, it in settings.items() if name not in (*IMPLIED, *REFUSED)}


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _refuse_words(parser: ArgumentParser, message: str) -> NoReturn:
    """Raise ValueError with the message of a parser, and the option that is nearest."""
    names = [*re.findall(r"--\w+", parser.format_help()), *(f"--{name}" for name in OURS)]
    word = message.removeprefix("unrecognized arguments: ").split()[0]
    if word in names:
        raise ValueError(f"{word} is not taken here")
    near = did_you_mean(word, names, 0.75)
    raise ValueError(f"there is no {word}{near}" if near else message)
