"""What a run is: the command line and the --config file, checked, and what run.json says of it.

A run is what decides its scores. It is compared with `==` when a command goes on with it or merges
it; what says where and how fast it runs (FREE) may change.
"""

import json
import math
import re
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from reprlib import Repr
from typing import Any, NamedTuple

import yaml
from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.tasks import TaskManager
from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable

from cogniload_gen import benchmarks
from cogniload_gen.checks import check_shard
from cogniload_gen.files import without_keys
from cogniload_gen.files.whole import whole_file
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.links import TASKS
from lm_eval_tasks.lm_eval_private import run_parser
from lm_eval_tasks.task_names import refuse_misspelt

REFUSED = (
    *("use_cache", "cache_requests", "predict_only", "check_integrity", "write_out", "show_config"),
    *("wandb_args", "wandb_config_args", "trackio_args", "hf_hub_log_args"),
)
"""lm-eval's arguments that the answers on the disk replace, or that have no place in a long run."""

CAPS = ("max_tokens_total", "price", "max_cost")
OURS = ("output_path", "shard", "until", "budget", "range", *CAPS)
"""What a --config file may hold beside lm-eval's arguments."""

FREE = ("batch_size", "max_batch_size", "device", "include_path")
"""lm-eval's arguments that say where and how fast: they may change when a run goes on."""

FREE_OF_MODEL = (
    *("base_url", "num_concurrent", "max_retries", "timeout", "verify_certificate", "ca_cert_path"),
    *("batch_size", "max_batch_size", "device", "gpu_memory_utilization", "tensor_parallel_size"),
    *("data_parallel_size", "max_num_seqs", "swap_space", "enforce_eager"),
)
"""The same among --model_args."""

_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = 60


# --- the command line -----------------------------------------------------------------------------


class Price(NamedTuple):
    """The price of a million tokens of prompts, and of responses, in any currency."""

    prompts: float
    responses: float

    def cost(self, tokens: Sequence[int]) -> float:
        """Return the cost of tokens of prompts and of responses."""
        return (self.prompts * tokens[0] + self.responses * tokens[1]) / 1_000_000


@dataclass(frozen=True, slots=True)
class Caps:
    """The most tokens of a run, and its highest cost at a price."""

    tokens: float = math.inf
    price: Price | None = None
    cost: float = math.inf

    def reached(self, tokens: Sequence[int], uncounted: int) -> str | None:
        """Return which cap the tokens of all answers have reached; None where none is.

        ValueError if a cap is set and the tokens of some answers are not known.
        """
        if math.isinf(self.tokens) and math.isinf(self.cost):
            return None
        if uncounted:
            raise ValueError(
                f"{uncounted} answers have no counts of tokens to hold a cap against: name a "
                "tokenizer in --model_args, or leave the cap out"
            )
        if sum(tokens) >= self.tokens:
            return f"{sum(tokens):,} tokens reach --max-tokens-total {self.tokens:,.0f}"
        cost = self.price.cost(tokens) if self.price else 0.0
        if cost >= self.cost:
            return f"a cost of {cost:,.2f} reaches --max-cost {self.cost:,.2f}"
        return None


@dataclass(frozen=True, slots=True)
class Own:
    """Our own arguments: where, which shard I of N, until what, and at which cost at most."""

    folder: Path
    shard: tuple[int, int]
    until: tuple[object, object, object] | None
    caps: Caps


def read_configuration(arguments: Namespace, others: Sequence[str]) -> tuple[EvaluatorConfig, Own]:
    """Return lm-eval's configuration, checked by lm-eval, and our own arguments.

    The command line goes before the file of --config. ValueError for an unknown or refused name, a
    wrong shard, goal or cap, and whatever lm-eval refuses.
    """
    parsed = vars(run_parser("cogniload eval").parse_args(list(others)))
    settings = {name: value for name, value in parsed.items() if value is not None}
    file = settings.pop("config", None) if arguments.config is None else arguments.config
    if file is not None:
        settings = _read_file(Path(file)) | settings
    for implied in ("func", "log_samples"):
        settings.pop(implied, None)
    ours = {name: settings.pop(name, None) for name in OURS}
    ours |= {name: value for name in OURS if (value := getattr(arguments, name)) is not None}
    refused = [name for name in REFUSED if settings.get(name)]
    if refused:
        raise ValueError(f"--{refused[0]} is refused: cogniload eval has no use for it")
    tasks = any(str(task).strip(", ") for task in settings.get("tasks") or ())
    for name, needed in (
        ("output_path", ours["output_path"]),
        ("tasks", tasks),
        ("model_args", settings.get("model_args") or settings.get("model") == "dummy"),
    ):
        if not needed:
            raise ValueError(f"--{name} is missing: give it, or write it into the --config file")
    config = EvaluatorConfig.from_cli(Namespace(**settings))
    if config.limit is not None and not config.limit > 0:
        raise ValueError(f"limit must be above 0, got {config.limit}")
    if without_keys(config.gen_kwargs or {}) != (config.gen_kwargs or {}):
        raise ValueError(
            "gen_kwargs must hold no key or token, since it is written beside each response: give "
            "it in --model_args or the environment"
        )
    until = None if ours["until"] is None else (ours["until"], ours["budget"], ours["range"])
    for name in ("budget", "range"):
        if ours[name] is not None and until is None:
            raise ValueError(f"{name} is of a run with --until, which is not given")
    shard = check_shard("1/1" if ours["shard"] is None else ours["shard"])
    return config, Own(Path(ours["output_path"]), shard, until, read_caps(*(ours[n] for n in CAPS)))


def _read_file(path: Path) -> dict[str, Any]:
    try:
        written = yaml.safe_load(path.read_text("utf-8-sig"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        raise ValueError(f"{path}{where} must be YAML") from None
    if not isinstance(written, dict):
        raise ValueError(f"{path} must be a mapping of arguments, got {type(written).__name__}")
    known = [*EvaluatorConfig.__dataclass_fields__, *OURS]
    for name in written:
        if name not in known or name == "config":
            near = get_close_matches(str(name), known, n=1)
            hint = f": did you mean {near[0]}?" if near else ""
            raise ValueError(
                f"{path} takes lm-eval's arguments and {', '.join(OURS)}, got {name!r}{hint}"
            )
    return written


def read_caps(tokens: object, price: object, cost: object) -> Caps:
    """Return the caps that arguments name; ValueError for a malformed one, and a cost unpriced."""
    if cost is not None and price is None:
        raise ValueError("max_cost takes a price: give --price IN,OUT for a million tokens")
    return Caps(
        math.inf if tokens is None else _read_number("max_tokens_total", tokens),
        None if price is None else read_price(price),
        math.inf if cost is None else _read_number("max_cost", cost),
    )


def _read_number(name: str, value: object) -> float:
    """Return a number above 0, written with K, M or B for its thousands, millions or billions."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMB]?)", str(value).upper())
    units = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9}
    if match is None or not (number := float(match[1]) * units[match[2]]):
        raise ValueError(f"{name} must be a number above 0, such as 20M, got {str(value)!r}")
    return number


def read_price(text: object) -> Price:
    """Return the price in "IN,OUT"; ValueError for anything else."""
    try:
        prompts, responses = map(float, str(text).split(","))
    except ValueError:
        prompts = responses = -1.0
    if not (0 <= prompts < math.inf and 0 <= responses < math.inf):
        raise ValueError(
            "price must be IN,OUT for a million tokens of prompts and of responses, such as "
            f"0.4,1.6, got {str(text)!r}"
        )
    return Price(prompts, responses)


# --- the tasks ------------------------------------------------------------------------------------


def load_tasks(
    settings: Mapping[str, Any],
    include_path: str | None,
    metadata: Mapping[str, Any],
    adaptive: dict[str, Any] | None = None,
) -> TaskDict:
    """Return the tasks in `settings`, with overrides applied as lm-eval's own command does.

    `adaptive` is the configuration of a task that a design has set up, in their place. Our own
    tasks need no --include_path, and are found without reading lm-eval's thousands. ValueError for
    a task that there is not, and for examples in the prompts of our own.
    """
    names = settings["tasks"]
    manager = TaskManager(include_path=str(TASKS), include_defaults=False, metadata=dict(metadata))
    unknown = [name for name in names if not manager.match_tasks([name])]
    if unknown and not include_path:
        refuse_misspelt(unknown)
    if unknown or include_path:
        paths = [str(TASKS), *filter(None, [include_path])]
        every = EvaluatorConfig(tasks=list(names), include_path=paths)
        manager = every.process_tasks(dict(metadata))
        names = every.tasks
    else:
        names = [task for name in names for task in _matching(name, manager)]
    loaded = manager.load([adaptive] if adaptive else [*dict.fromkeys(names)])
    examples = settings["num_fewshot"]
    for name, task in loaded["tasks"].items():
        if examples and isinstance(task, SharedBudgetTask):
            raise ValueError(
                f"--num_fewshot {examples} is refused: {name} is zero-shot, as in its paper, and "
                "each prompt has to leave its budget to the response; leave it out or give 0"
            )
        if settings["gen_kwargs"] and task.get_config("output_type") == "generate_until":
            task.set_config("generation_kwargs", dict(settings["gen_kwargs"]), update=True)
        its_own = task.get_config("num_fewshot")
        if its_own is None or (examples is not None and its_own != 0):
            task.set_config("num_fewshot", examples or 0)
    _check_metadata(loaded["tasks"], settings["metadata"])
    return loaded


def _matching(name: str, manager: TaskManager) -> list[str]:
    return [name] if name in manager.all_tasks else sorted(manager.match_tasks([name]))


def _check_metadata(tasks: Mapping[str, Task], metadata: Mapping[str, object]) -> None:
    """Raise ValueError for --metadata that no task reads, where all tasks are our own."""
    read = {(task.config.dataset_kwargs or {}).get("dataset") for task in tasks.values()}
    unread = sorted(metadata.keys() - read)
    if unread and read <= benchmarks.datasets().keys():
        known = " or ".join(f'{{"{name}": {{...}}}}' for name in sorted(map(str, read)))
        raise ValueError(f"metadata must be {known}, got the key {unread[0]!r}")


def chosen_documents(
    tasks: Mapping[str, Task], settings: Mapping[str, Any], shard: tuple[int, int] = (1, 1)
) -> dict[str, list[int]]:
    """Return the indices of each task's documents that --limit, --samples and a shard choose."""
    samples, limit = settings["samples"] or {}, settings["limit"]
    if unknown := sorted(samples.keys() - tasks.keys()):
        raise ValueError(f"samples must be of {', '.join(tasks)}; got {unknown[0]!r}")
    chosen = {}
    for name, task in tasks.items():
        count = len(task.eval_docs)
        listed = sorted(set(samples.get(name, ()))) or [*range(count)]
        if listed[-1] >= count:
            raise ValueError(f"samples of {name} must be from 0 to {count - 1}, got {listed[-1]}")
        if limit is not None:
            listed = listed[: math.ceil(count * limit) if limit < 1 else int(limit)]
        chosen[name] = listed[shard[0] - 1 :: shard[1]]
    return chosen


# --- run.json -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """What run.json holds.

    `what` decides the scores: lm-eval's arguments, without keys, the versions and the documents.
    `model` are facts of the model, known once it was loaded. `about` is when, where and how fast.
    """

    what: dict[str, Any]
    model: dict[str, Any]
    about: dict[str, Any]

    @property
    def model_args(self) -> dict[str, Any]:
        """All arguments of the model, also those that may change."""
        return self.what["model_args"] | dict(self.about["arguments"]["model_args"])

    @property
    def settings(self) -> dict[str, Any]:
        """What was asked for, as `settings_of` returns it."""
        return {n: fact for n, fact in self.what.items() if n not in ("versions", "documents")}

    @property
    def documents(self) -> int:
        """The number of documents of a run without --until."""
        return sum(task["count"] for task in self.what["documents"].values())

    def write(self, folder: Path) -> None:
        """Write run.json into a run's state folder."""
        facts = {"what": self.what, "model": self.model, "about": self.about}
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / "run.json", force=True) as part:
            part.write_text(json.dumps(facts, indent=2, ensure_ascii=False), "utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Run | None":
        """Return the run that a state folder holds; None if none was begun."""
        file = folder / "run.json"
        if not file.exists():
            return None
        try:
            return cls(**json.loads(file.read_text("utf-8")))
        except (ValueError, TypeError):
            raise ValueError(
                f"{file} must be what this version of cogniload eval wrote: name another "
                "--output_path"
            ) from None

    def refuse_another(self, folder: Path, now: "Run") -> None:
        """Raise ValueError if this run, begun in a folder, is not the run `now`.

        Facts of the model that only one of the two knows (the Hub was not reached) don't count.
        """
        known = self.model.keys() & now.model.keys()
        begun, facts = (
            run.what | {"model": {name: run.model[name] for name in sorted(known)}}
            for run in (self, now)
        )
        if begun != facts:
            changes = "; ".join(_differences(begun, facts)[:3])
            hint = "give what it was begun with, or another --output_path"
            raise ValueError(f"{folder} was begun with {changes}: {hint}")


def begun_run(folder: Path) -> Run:
    """Return the run of an --output_path; ValueError if none was begun there."""
    run = Run.read(folder / "state")
    if run is None:
        raise ValueError(f"{folder} must hold an evaluation by cogniload eval: none is begun")
    return run


def _differences(begun: Any, now: Any, path: str = "") -> list[str]:
    """Return where two descriptions differ, each as "NAME VALUE, now VALUE"."""
    if isinstance(begun, dict) and isinstance(now, dict):
        return [
            difference
            for name in dict.fromkeys([*begun, *now])
            for difference in _differences(begun.get(name), now.get(name), f"{path}.{name}")
        ]
    if begun == now:
        return []
    return [f"{path.lstrip('.')} {_BRIEF.repr(begun)}, now {_BRIEF.repr(now)}"]


def settings_of(config: EvaluatorConfig, until: dict[str, Any] | None) -> dict[str, Any]:
    """Return lm-eval's arguments that decide the scores, without keys, as run.json has them."""
    names = (
        *("model", "gen_kwargs", "apply_chat_template", "system_instruction", "num_fewshot"),
        *("fewshot_as_multiturn", "limit", "samples", "seed"),
    )
    model_args, tasks = config.model_args or {}, config.tasks
    metadata = {  # lm-eval has mixed the model's arguments into it
        name: value for name, value in config.metadata.items() if model_args.get(name) != value
    }
    settings = {name: getattr(config, name) for name in names} | {
        "tasks": [
            name
            for task in ([tasks] if isinstance(tasks, str) else tasks)
            for name in str(task).split(",")
        ],
        "model_args": {n: arg for n, arg in model_args.items() if n not in FREE_OF_MODEL},
        "metadata": metadata,
        "until": until,
    }
    return without_keys(settings)


def free_settings(config: EvaluatorConfig) -> dict[str, Any]:
    """Return lm-eval's arguments that say where and how fast, without keys."""
    model_args = {n: arg for n, arg in (config.model_args or {}).items() if n in FREE_OF_MODEL}
    return without_keys({n: getattr(config, n) for n in FREE} | {"model_args": model_args})


def make_run(
    settings: dict[str, Any],
    tasks: Mapping[str, Task],
    about: dict[str, Any],
    design: Mapping[str, str] | None = None,
) -> Run:
    """Return the run of some settings and tasks; `design` is the version of an adaptive one."""
    versions = {one.name: one.version for one in benchmarks.BENCHMARKS}
    what = settings | {
        "versions": {"generator": versions, "lm_eval": version("lm_eval"), **(design or {})},
        "documents": {
            name: {
                "version": str(tasks[name].VERSION),
                "count": len(chosen),
                "ids": _digest(tasks[name], chosen),
            }
            for name, chosen in chosen_documents(tasks, settings).items()
        },
    }
    return Run(plain(what), {}, plain(about))


def _digest(task: Task, chosen: Sequence[int]) -> str | None:
    """Return the SHA-256 of the ids of some documents; None where they have none."""
    documents = task.eval_docs
    if "id" not in (getattr(documents, "column_names", None) or ()):
        return None
    ids = documents["id"]
    return sha256("\n".join(str(ids[i]) for i in chosen).encode()).hexdigest()


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values as JSON brings them back."""
    read: dict[str, Any] = json.loads(json.dumps(values, default=handle_non_serializable))
    return read
