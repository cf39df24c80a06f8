"""The command line and the file of --config -> lm-eval's arguments, checked by it, and ours."""

from argparse import Namespace
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NoReturn, get_args, get_origin, get_type_hints

import yaml
from lm_eval.config.evaluate_config import EvaluatorConfig

from cogniload_gen.checks import check_shard
from cogniload_gen.files.inputs import read_whole
from cogniload_gen.parser import Parser
from lm_eval_tasks.lm_eval_private import run_parser
from lm_eval_tasks.runner.caps import CAPS, read_caps
from lm_eval_tasks.runner.credentials import hide, public
from lm_eval_tasks.runner.search import read_until, refuse_beside_until

REFUSED = (
    *("use_cache", "cache_requests", "predict_only", "check_integrity", "write_out", "show_config"),
    *("wandb_args", "wandb_config_args", "trackio_args", "hf_hub_log_args"),
)
"""lm-eval's arguments that blocks replace or that have no place in a long run."""

OURS = ("block_size", "shard", "output_path", "until", "budget", "range", *CAPS)
"""What a --config file may hold beside lm-eval's arguments."""


LARGEST_FILE, MOST_ALIASES, MOST_BRACKETS = 2**18, 10, 10**4
"""Of a --config file: bytes, which a YAML reader takes seconds for; aliases; [ and {."""


class EvalParser(Parser):
    """A parser whose errors repeat no credential of the arguments that they quote."""

    def error(self, message: str) -> NoReturn:
        """End the program with one line that says what was wrong."""
        super().error(hide(message))


def read_configuration(
    arguments: Namespace, others: Sequence[str]
) -> tuple[EvaluatorConfig, dict[str, Any]]:
    """Return lm-eval's configuration, checked by lm-eval, and our own arguments.

    The command line goes before the file of --config. ValueError for an unknown or refused name, a
    value of the wrong type, a wrong shard, block size, goal or cap, and whatever lm-eval refuses.
    """
    parsed = vars(run_parser(EvalParser, "cogniload eval").parse_args(list(others)))
    settings = {name: value for name, value in parsed.items() if value is not None}
    file = settings.pop("config", None) if arguments.config is None else arguments.config
    if file is not None:
        settings = read_file(file) | settings
    for implied in ("func", "log_samples"):
        settings.pop(implied, None)
    ours = {name: settings.pop(name, None) for name in OURS}
    ours |= {name: value for name in OURS if (value := getattr(arguments, name)) is not None}
    refused = [name for name in REFUSED if settings.get(name)]
    if refused:
        raise ValueError(f"--{refused[0]} is refused: cogniload eval has no use for it")
    tasks = any(str(task).strip(", ") for task in settings.get("tasks") or ())
    for name, needed in (("output_path", ours["output_path"]), ("tasks", tasks)):
        if not needed:
            raise ValueError(f"--{name} is missing: give it, or write it into the --config file")
    config = EvaluatorConfig.from_cli(Namespace(**settings))
    if config.limit is not None and not config.limit > 0:
        raise ValueError(f"limit must be above 0, got {config.limit}")
    if config.samples is not None and not isinstance(config.samples, dict):
        raise ValueError(
            "samples must be a mapping of tasks to lists of indices, or a JSON file that holds "
            f"one, got {brief(config.samples)}"
        )
    for number, setting in enumerate((config.gen_kwargs or {}).items(), start=1):
        if public(dict([setting])) != dict([setting]):  # the message repeats no credential
            raise ValueError(
                f"key {number} of gen_kwargs is refused: a credential would be written beside each "
                "response; give it in --model_args or the environment"
            )
    goal, budget, span = (ours[name] for name in ("until", "budget", "range"))
    until = read_until(config.tasks, goal, budget, span, config.include_path)
    if until:
        refuse_beside_until(config)
    return config, {
        "folder": Path(ours["output_path"]),
        "shard": check_shard("1/1" if ours["shard"] is None else ours["shard"]),
        "block_size": read_block_size(ours["block_size"]),
        "until": until,
        "caps": read_caps(*(ours[name] for name in CAPS)),
    }


def read_file(path: Path | str) -> dict[str, Any]:
    """Return the arguments in a YAML file; ValueError for an unknown name or a wrong type."""
    content = read_whole(Path(path), LARGEST_FILE)
    if content.count(b"[") + content.count(b"{") > MOST_BRACKETS:  # half a millisecond each
        raise ValueError(f"{path} must have at most {MOST_BRACKETS:,} brackets")
    try:
        # each may repeat all that stands above it: in ten lines to a thousand million values
        if sum(isinstance(token, yaml.AliasToken) for token in yaml.scan(content)) > MOST_ALIASES:
            raise ValueError(f"{path} must have at most {MOST_ALIASES} aliases (*name)")
        written = yaml.safe_load(content)
    except yaml.YAMLError as error:  # its message repeats the line, which may hold a credential
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        raise ValueError(f"{path}{where} must be YAML") from None
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply for a file of arguments") from None
    if not isinstance(written, dict):
        raise ValueError(f"{path} must be a mapping of arguments, got {type(written).__name__}")
    types = get_type_hints(EvaluatorConfig) | dict.fromkeys(OURS, object)
    types |= {"batch_size": int | str, "limit": float | int | None, "output_path": str}
    del types["config"]
    for number, (name, value) in enumerate(written.items(), start=1):
        if name not in types:  # the name may be a credential in a wrong place: it is not repeated
            near = get_close_matches(str(name)[:100], types, n=1)
            raise ValueError(
                f"{path} takes lm-eval's arguments and {', '.join(OURS)}; its key {number} is none "
                "of these" + "".join(f": did you mean {match}?" for match in near)
            )
        allowed = [get_origin(kind) or kind for kind in get_args(types[name]) or [types[name]]]
        if name not in REFUSED and not isinstance(value, tuple(allowed)):
            names = " or ".join("null" if kind is type(None) else kind.__name__ for kind in allowed)
            shown = "a mapping" if isinstance(value, dict) else brief(value)
            raise ValueError(f"{name} of {path} must be {names}, got {shown}")
    return written


def read_block_size(size: object) -> int | None:
    """Return a number of documents, or None if none is given; ValueError for anything else."""
    if size is not None and (type(size) is not int or size < 1):
        raise ValueError(f"block_size must be an integer of at least 1, got {brief(size)}")
    return size
