"""The arguments of `cogniload eval`: lm-eval's, by its own parser and checks, and ours."""

import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from reprlib import repr as brief
from typing import get_args, get_origin, get_type_hints

from lm_eval.config.evaluate_config import EvaluatorConfig

from cogniload_gen.cli import Parser
from lm_eval_tasks.internals import run_parser
from lm_eval_tasks.server import without_password

COMPARED = (
    *("model", "model_args", "tasks", "metadata", "gen_kwargs", "apply_chat_template"),
    *("system_instruction", "num_fewshot", "fewshot_as_multiturn", "limit", "samples", "seed"),
)
"""lm-eval's arguments that say what is evaluated: a folder takes one value of each."""

FREE = ("batch_size", "max_batch_size", "device", "include_path")
"""lm-eval's arguments that say where and how fast: they may change when a run is continued."""

FREE_OF_MODEL = (
    *("base_url", "num_concurrent", "max_retries", "timeout", "verify_certificate", "ca_cert_path"),
    *("batch_size", "max_batch_size", "device", "gpu_memory_utilization", "tensor_parallel_size"),
    *("data_parallel_size", "max_num_seqs", "swap_space", "enforce_eager"),
)
"""The same among --model_args."""

SECRET = ("auth_token", "header", "token", "hf_token", "api_key")
"""Among --model_args, what is written nowhere."""

REFUSED = (
    *("use_cache", "cache_requests", "predict_only", "check_integrity", "write_out", "show_config"),
    *("wandb_args", "wandb_config_args", "trackio_args", "hf_hub_log_args"),
)
"""lm-eval's arguments that blocks replace or that have no place in a long run."""

OURS = ("block_size", "shard", "output_path")
"""What a --config file may hold beside lm-eval's arguments."""


def read_configuration(given: Namespace, others: Sequence[str]) -> tuple[EvaluatorConfig, dict]:
    """lm-eval's configuration, checked by lm-eval, and our own arguments.

    The command line goes before the file of --config. ValueError for an unknown or refused name, a
    value of the wrong type, a wrong shard or block size, and whatever lm-eval refuses.
    """
    parsed = vars(run_parser(Parser, "cogniload eval").parse_args(list(others)))
    said = {name: value for name, value in parsed.items() if value is not None}
    file = said.pop("config", None) if given.config is None else given.config
    if file is not None:
        said = read_file(file) | said
    for implied in ("func", "log_samples"):
        said.pop(implied, None)
    ours = {name: said.pop(name, None) for name in OURS}
    ours |= {name: value for name in OURS if (value := getattr(given, name)) is not None}
    refused = [name for name in REFUSED if said.get(name)]
    if refused:
        raise ValueError(f"--{refused[0]} is refused: cogniload eval has no use for it")
    for name, needed in (("output_path", ours["output_path"]), ("tasks", said.get("tasks"))):
        if not needed:
            raise ValueError(f"--{name} is missing: give it, or write it into the --config file")
    config = EvaluatorConfig.from_cli(Namespace(**said))
    if config.limit is not None and not config.limit > 0:
        raise ValueError(f"limit must be above 0, got {config.limit}")
    if config.samples is not None and not isinstance(config.samples, dict):
        raise ValueError(
            "samples must be a mapping of tasks to lists of indices, or a JSON file that holds "
            f"one, got {brief(config.samples)}"
        )
    return config, {
        "folder": Path(ours["output_path"]),
        "shard": read_shard("1/1" if ours["shard"] is None else ours["shard"]),
        "block_size": read_block_size(ours["block_size"]),
    }


def read_file(path: Path | str) -> dict:
    """The arguments in a YAML file; ValueError for an unknown name, or a value of a wrong type."""
    try:
        written = EvaluatorConfig.load_yaml_config(path)
    except TypeError as error:
        raise ValueError(error) from None
    types = get_type_hints(EvaluatorConfig) | dict.fromkeys(OURS, object)
    types |= {"batch_size": int | str, "limit": float | int | None, "output_path": str}
    del types["config"]
    for name, value in written.items():
        if name not in types:
            raise ValueError(
                f"{path} takes lm-eval's arguments and {', '.join(OURS)}; got {brief(name)}"
            )
        allowed = [get_origin(kind) or kind for kind in get_args(types[name]) or [types[name]]]
        if name not in REFUSED and not isinstance(value, tuple(allowed)):
            names = " or ".join("null" if kind is type(None) else kind.__name__ for kind in allowed)
            raise ValueError(f"{name} of {path} must be {names}, got {brief(value)}")
    return written


def read_shard(text: object) -> tuple[int, int]:
    """(3, 8) of "3/8"; ValueError unless it is I/N with 1 <= I <= N."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", str(text))
    shard, shards = map(int, found.groups()) if found else (0, 0)
    if not 1 <= shard <= shards:
        raise ValueError(f"shard must be I/N with 1 <= I <= N, got {brief(text)}")
    return shard, shards


def read_block_size(size: object) -> int | None:
    """A number of documents, or None where none is asked for; ValueError for anything else."""
    if size is not None and (type(size) is not int or size < 1):
        raise ValueError(f"block_size must be an integer of at least 1, got {brief(size)}")
    return size


def arguments_of(config: EvaluatorConfig) -> tuple[dict, dict]:
    """The arguments that a folder takes one value of, and those that may change."""
    compared = {name: getattr(config, name) for name in COMPARED}
    free = {name: getattr(config, name) for name in FREE}
    tasks = [config.tasks] if isinstance(config.tasks, str) else config.tasks
    compared["tasks"] = [name for task in tasks for name in str(task).split(",")]
    model_args = {name: arg for name, arg in config.model_args.items() if name not in SECRET}
    compared["model_args"] = {n: arg for n, arg in model_args.items() if n not in FREE_OF_MODEL}
    free["model_args"] = {n: arg for n, arg in model_args.items() if n in FREE_OF_MODEL}
    if "base_url" in model_args:
        free["model_args"]["base_url"] = without_password(str(model_args["base_url"]))
    compared["metadata"] = {  # lm-eval has mixed the model's arguments into it
        name: value
        for name, value in config.metadata.items()
        if config.model_args.get(name) != value
    }
    return compared, free
