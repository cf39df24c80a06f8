"""What a run is: the command line and the --config file, checked, and what run.json says of it.

A run is what decides its scores. It is compared with `==` when a command goes on with it or merges
it; what says where and how fast it runs (FREE) may change.
"""

import json
import math
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from importlib.metadata import version
from pathlib import Path
from reprlib import Repr
from typing import Any, NoReturn

from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.tasks import TaskManager
from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable, hash_string
from pandas import json_normalize

from cogniload_gen import benchmarks
from cogniload_gen.checks import check_price, check_shard
from cogniload_gen.files import whole_file
from cogniload_gen.never_written import without_keys
from lm_eval_tasks.adaptive import Search
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.lm_eval_private import run_parser
from lm_eval_tasks.tasks import TASKS, refuse_misspelt

UNTIL = "until", "budget", "N", "at", "d"
"""Our own arguments that say what a design is to find out; all but the first need it."""

OURS = "output_path", "shard", *UNTIL, "max_tokens_total", "price", "max_cost", "anew"
"""Our own arguments, which a --config file may hold beside lm-eval's."""

REFUSED = (
    *("use_cache", "cache_requests", "predict_only", "check_integrity", "write_out", "show_config"),
    *("wandb_args", "wandb_config_args", "trackio_args", "hf_hub_log_args"),
)
"""lm-eval's arguments that the answers on the disk replace, or that have no place in a long run."""

WHAT = (
    *("model", "model_args", "tasks", "metadata", "gen_kwargs", "apply_chat_template"),
    *("system_instruction", "num_fewshot", "fewshot_as_multiturn", "limit", "samples", "seed"),
)
"""lm-eval's arguments that decide the scores."""

FREE = (
    *("base_url", "num_concurrent", "max_retries", "timeout", "verify_certificate", "ca_cert_path"),
    *("batch_size", "max_batch_size", "device", "gpu_memory_utilization", "tensor_parallel_size"),
    *("data_parallel_size", "max_num_seqs", "swap_space", "enforce_eager", "include_path"),
)
"""Arguments, also of --model_args, that say where and how fast: a run may go on with others."""

HIGHER_CAP = "the same command with a higher cap goes on"
"""What comes after a run that a cap has stopped."""

_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = 60


# --- the command line -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Own:
    """Our own arguments: where, which shard I of N, until what, and when to stop.

    `until` are a design's `UNTIL`, as given. The run stops at so many `tokens`, or at a `cost`, by
    the `price` of a million tokens of prompts, and of responses. With `anew`, the answers that are
    there are put aside.
    """

    folder: Path
    shard: tuple[int, int]
    until: tuple[object, ...] | None
    tokens: float
    price: tuple[float, float]
    cost: float
    anew: bool = False

    def cap_reached(self, tokens: Sequence[int], uncounted: int) -> str | None:
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
        if (cost := cost_of(tokens, self.price)) >= self.cost:
            return f"a cost of {cost:,.2f} reaches --max-cost {self.cost:,.2f}"
        return None


def cost_of(tokens: Sequence[int], price: tuple[float, float]) -> float:
    """Return the cost of tokens of prompts and of responses, at the price of a million."""
    return sum(count * of_million for count, of_million in zip(tokens, price, strict=True)) / 1e6


def _number(name: str, value: object) -> float:
    """Return a number above 0, written with K, M or B for its thousands, millions or billions."""
    if value is None:
        return math.inf
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMB]?)", str(value).upper())
    units = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9}
    if match is None or not (number := float(match[1]) * units[match[2]]):
        raise ValueError(f"{name} must be a number above 0, such as 20M, got {str(value)!r}")
    return number


def read_configuration(arguments: Namespace, others: Sequence[str]) -> tuple[EvaluatorConfig, Own]:
    """Return lm-eval's configuration, checked by lm-eval, and our own arguments.

    The command line goes before the file of --config. ValueError for an unknown or refused name, a
    wrong shard or cap, and whatever lm-eval refuses.
    """
    parser = run_parser("cogniload eval")
    parser.error = partial(_refuse_words, parser)  # type: ignore[method-assign]
    parsed = vars(parser.parse_args(list(others)))
    settings = {name: value for name, value in parsed.items() if value is not None}
    if arguments.include_path is not None:
        settings["include_path"] = arguments.include_path
    file = settings.pop("config", None) if arguments.config is None else arguments.config
    try:
        settings = (EvaluatorConfig.load_yaml_config(file) if file else {}) | settings
        for implied in ("func", "log_samples"):
            settings.pop(implied, None)
        ours = {name: settings.pop(name, None) for name in OURS}
        ours |= {name: it for name in OURS if (it := getattr(arguments, name)) is not None}
        for name in ("model_args", "gen_kwargs", "metadata"):
            if isinstance(given := settings.get(name), str):
                settings[name] = getattr(parser.parse_args([f"--{name}={given}"]), name)
        _check_given(settings | ours)
        config = EvaluatorConfig.from_cli(Namespace(**settings))
    except TypeError as error:
        problem = re.sub(r".*unexpected keyword argument", "there is no setting", str(error))
        raise ValueError(f"{file}: {problem}") from None
    tokens, cost = (_number(name, ours[name]) for name in ("max_tokens_total", "max_cost"))
    return config, Own(
        Path(ours["output_path"]),
        check_shard("1/1" if ours["shard"] is None else ours["shard"]),
        None if ours["until"] is None else tuple(ours[name] for name in UNTIL),
        tokens,
        check_price(ours["price"]) or (0.0, 0.0),
        cost,
        bool(ours["anew"]),
    )


def _refuse_words(parser: ArgumentParser, message: str) -> NoReturn:
    """Raise ValueError with the message of a parser, and the option that is nearest."""
    names = [*re.findall(r"--\w+", parser.format_help()), *(f"--{name}" for name in OURS)]
    word = message.removeprefix("unrecognized arguments: ").split()[0]
    near = get_close_matches(word, names, 1, 0.75)
    raise ValueError(f"there is no {word}: did you mean {near[0]}?" if near else message)


def _check_given(settings: Mapping[str, Any]) -> None:
    model, tasks = settings.get("model"), settings.get("tasks") or ()
    for name, needed in (
        ("output_path", settings["output_path"]),
        ("tasks", any(str(task).strip(", ") for task in tasks)),
        ("model", model or settings.get("model_args")),
        ("model_args", settings.get("model_args") or model == "dummy"),
    ):
        if not needed:
            raise ValueError(f"--{name} is missing: give it, or write it into the --config file")
    for name in REFUSED:
        if settings.get(name):
            raise ValueError(f"--{name} is refused: cogniload eval has no use for it")
    for name in UNTIL:
        if settings[name] is not None and settings["until"] is None:
            raise ValueError(f"{name} is of a run with --until, which is not given")
    if settings["max_cost"] is not None and settings["price"] is None:
        raise ValueError("max_cost takes a price: give --price IN,OUT for a million tokens")
    if (limit := settings.get("limit")) is not None and not limit > 0:
        raise ValueError(f"limit must be above 0, got {limit}")
    generation = settings.get("gen_kwargs")
    if isinstance(generation, dict) and without_keys(generation) != generation:
        raise ValueError(
            "gen_kwargs must hold no key or token, since it is written beside each response: give "
            "it in --model_args or the environment"
        )


# --- the tasks ------------------------------------------------------------------------------------


def load_tasks(
    run: "Run", include_path: str | None, model_args: Mapping[str, Any], search: Search | None
) -> TaskDict:
    """Return the tasks of a run, which learns their versions and how many documents they have.

    Tasks may read `model_args` beside their metadata; a `search` has set up its own task. Our own
    tasks need no --include_path, and are found without reading lm-eval's thousands. ValueError for
    a task that there is not, for examples in the prompts of our own, and for unread metadata.
    """
    what = run.what
    names, metadata = what["tasks"], dict(model_args) | what["metadata"]
    manager = TaskManager(include_path=str(TASKS), include_defaults=False, metadata=metadata)
    unknown = [name for name in names if not manager.match_tasks([name])]
    if unknown and not include_path:
        refuse_misspelt(unknown)
    if unknown or include_path:
        paths = [str(TASKS), *filter(None, [include_path])]
        every = EvaluatorConfig(tasks=list(names), include_path=paths)
        manager = every.process_tasks(metadata)
        names = every.tasks
    else:
        names = [task for name in names for task in sorted(manager.match_tasks([name]))]
    loaded = manager.load([search.configuration()] if search else [*dict.fromkeys(names)])
    tasks = loaded["tasks"]
    if what["num_fewshot"] and any(isinstance(task, SharedBudgetTask) for task in tasks.values()):
        raise ValueError(
            f"--num_fewshot {what['num_fewshot']} is refused: our tasks are zero-shot, as in their "
            "papers, and each prompt has to leave its budget to the response"
        )
    read = {(task.config.dataset_kwargs or {}).get("dataset") for task in tasks.values()}
    unread = sorted(what["metadata"].keys() - read)
    if unread and read <= benchmarks.datasets().keys():
        known = " or ".join(f'{{"{name}": {{...}}}}' for name in sorted(map(str, read)))
        raise ValueError(f"metadata must be {known}, got the key {unread[0]!r}")
    what["versions"] |= {"tasks": {name: str(task.VERSION) for name, task in tasks.items()}}
    what["versions"] |= search.fingerprint if search else {}
    run.total = sum(map(len, run.shard(tasks, 1, 1).values()))
    return loaded


# --- run.json -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Run:
    """What run.json holds.

    `what` decides the scores: the arguments WHAT without FREE, our `until`, and the versions.
    `model` are facts of the model, known once it was loaded; `free` are the arguments that may
    change; `about` is when it began and on what; `total` counts the puzzles, unless a design does.
    """

    what: dict[str, Any]
    model: dict[str, Any] = field(default_factory=dict)
    free: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    total: int = 0

    @classmethod
    def of(cls, config: EvaluatorConfig, until: Mapping[str, Any] | None) -> "Run":
        """Return the run of lm-eval's configuration, without keys."""
        given = {name: getattr(config, name) for name in (*WHAT, *FREE) if hasattr(config, name)}
        model_args = given["model_args"] = given["model_args"] or {}
        # lm-eval has mixed the model's arguments into the metadata
        given["metadata"] = {n: v for n, v in given["metadata"].items() if model_args.get(n) != v}
        tasks = [given["tasks"]] if isinstance(given["tasks"], str) else given["tasks"]
        given["tasks"] = [name for task in tasks for name in str(task).split(",")]
        given = _plain(without_keys(given))
        model_args = given["model_args"]
        free = {name: given.pop(name) for name in FREE if name in given}
        free["model_args"] = {name: model_args.pop(name) for name in FREE if name in model_args}
        generators = {one.name: one.version for one in benchmarks.BENCHMARKS}
        versions = {"generator": generators, "lm_eval": version("lm_eval")}
        return cls(given | {"until": until, "versions": versions}, free=free)

    @property
    def model_args(self) -> dict[str, Any]:
        """All arguments of the model, also those that may change."""
        return self.what["model_args"] | dict(self.free["model_args"])

    @property
    def seed(self) -> object:
        """What the seeds of its requests follow from, besides their documents and attempts."""
        own = ((self.what[name] or {}).get("seed") for name in ("model_args", "gen_kwargs"))
        return [self.what["seed"], *own]

    @property
    def id(self) -> str:
        """What tells its result set from others, wherever it is: what it is, and when it began."""
        known = self.what, self.about.get("date"), self.about.get("anew", 0)
        return hash_string(json.dumps(known, sort_keys=True))[:16]

    @property
    def began(self) -> datetime:
        """When it was begun, in UTC; 1970 where run.json does not say."""
        return datetime.fromtimestamp(self.about.get("date") or 0, UTC)

    def configuration(self) -> EvaluatorConfig:
        """Return lm-eval's configuration, without keys."""
        given = {name: self.what[name] for name in WHAT} | self.free
        return EvaluatorConfig(**given | {"model_args": self.model_args})

    def search(self, include_path: str | None) -> Search | None:
        """Return the design of a run by --until, whose task is ours or below `include_path`."""
        if not self.what["until"]:
            return None
        metadata = self.model_args | self.what["metadata"]
        return Search(self.what["tasks"][0], metadata, self.what["until"], include_path)

    def shard(self, tasks: Mapping[str, Task], index: int, shards: int) -> dict[str, list[int]]:
        """Return the documents of a shard, by task: every so many of those that the run chooses."""
        samples, limit, chosen = self.what["samples"] or {}, self.what["limit"], {}
        if unknown := sorted(samples.keys() - tasks.keys()):
            raise ValueError(f"samples must be of {', '.join(tasks)}; got {unknown[0]!r}")
        for name, task in tasks.items():
            count = len(task.eval_docs)
            listed = [*range(count)]
            if name in samples:
                listed = samples[name] if isinstance(samples[name], list) else [samples[name]]
                wrong = [each for each in listed if type(each) is not int or not 0 <= each < count]
                if wrong or not listed:
                    given = wrong[0] if wrong else "none"
                    raise ValueError(
                        f"samples of {name} must be from 0 to {count - 1}, got {given}"
                    )
                listed = sorted(set(listed))
            if limit is not None:
                listed = listed[: math.ceil(count * limit) if limit < 1 else int(limit)]
            chosen[name] = listed[index - 1 :: shards]
        return chosen

    def write(self, folder: Path) -> None:
        """Write run.json into the state folder of an --output_path."""
        file = folder / "state" / "run.json"
        with whole_file(file, force=True) as part:
            part.write_text(json.dumps(asdict(self), indent=2, ensure_ascii=False), "utf-8")

    @classmethod
    def read(cls, folder: Path) -> "Run | None":
        """Return the run that was begun in an --output_path; None if none was."""
        file = folder / "state" / "run.json"
        if not file.exists():
            return None
        try:
            run = cls(**json.loads(file.read_text("utf-8")))
            nested = run.free["model_args"], *map(run.what.get, ("model_args", "metadata"))
            held = run.what, run.model, run.free, run.about, run.what["versions"], *nested
            sound = all(isinstance(part, dict) for part in held) and type(run.total) is int
            sound = sound and {*WHAT, "until"} <= {*run.what} and type(run.what["tasks"]) is list
        except (ValueError, TypeError, LookupError, AttributeError):
            sound = False
        if not sound:
            what = "must be what this version of cogniload eval wrote"
            raise ValueError(f"{file} {what}: name another --output_path")
        return run

    @classmethod
    def begun(cls, folder: Path) -> "Run":
        """Return the run that was begun in an --output_path; ValueError if none was."""
        if (run := cls.read(folder)) is None:
            raise ValueError(f"{folder} must hold an evaluation by cogniload eval: none is begun")
        return run

    def learn(self, folder: Path, facts: Mapping[str, Any]) -> None:
        """Take facts of the loaded model; ValueError if the run was begun with another model."""
        told = {name: fact for name, fact in facts.items() if fact not in ("", None)}
        now = Run(self.what, _plain(without_keys(told)))
        self.refuse_another(folder, now)
        self.model |= now.model

    def refuse_another(self, folder: Path, now: "Run") -> None:
        """Raise ValueError if this run, begun in a folder, is not the run `now`.

        Facts of the model that only one of the two knows (the Hub was not reached) don't count.
        """
        known = sorted(self.model.keys() & now.model.keys())
        begun, facts = (
            run.what | {"model facts": {name: run.model[name] for name in known}}
            for run in (self, now)
        )
        if begun != facts:
            changes = "; ".join(_differences(begun, facts)[:3])
            hint = "give what it was begun with, or another --output_path"
            raise ValueError(f"{folder} was begun with {changes}: {hint}")


def _differences(begun: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return where two descriptions differ, each as "NAME VALUE, now VALUE"."""
    before, after = (json_normalize(each).to_dict("records")[0] for each in (begun, now))
    changed = [n for n in dict.fromkeys([*before, *after]) if before.get(n) != after.get(n)]
    brief = _BRIEF.repr
    return [f"{name} {brief(before.get(name))}, now {brief(after.get(name))}" for name in changed]


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values as JSON brings them back."""
    read: dict[str, Any] = json.loads(json.dumps(values, default=handle_non_serializable))
    return read
