"""What a run is: what decides its scores, as run.json records it and as `==` compares it.

A command goes on with a run, or merges it, only if it is the same. What says where and how fast it
runs may change.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from reprlib import Repr
from typing import Any

from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.tasks import TaskManager
from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable, hash_string
from pandas import json_normalize

from cogniload_gen import benchmarks
from cogniload_gen.files import naming, whole_file
from cogniload_gen.never_written import without_keys
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.tasks import TASKS, refuse_misspelt
from lm_eval_tasks.until import Search

WHAT = (
    *("model", "model_args", "tasks", "metadata", "gen_kwargs", "apply_chat_template"),
    *("system_instruction", "num_fewshot", "fewshot_as_multiturn", "limit", "samples", "seed"),
)
"""lm-eval's arguments that decide the scores."""

# Arguments, also of --model_args, that say where and how fast: a run may go on with others.
_FREE = (
    *("base_url", "num_concurrent", "max_retries", "timeout", "verify_certificate", "ca_cert_path"),
    *("batch_size", "max_batch_size", "device", "gpu_memory_utilization", "tensor_parallel_size"),
    *("data_parallel_size", "max_num_seqs", "swap_space", "enforce_eager", "include_path"),
)

# The arguments by which a run's model is asked again, about other puzzles.
_ASKED = (
    *("model", "model_args", "gen_kwargs", "device", "batch_size", "system_instruction"),
    *("seed", "apply_chat_template"),
)

_HERE = r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?(?:[/\"',]|$)"
# What the recorded arguments of a model may not say: the folder may be anyone's.
_UNTRUSTED = {
    "a model that brings code": "trust_remote_code|allow_all_kernels|attn_implementation.*/",
    "a server elsewhere, which would get your key": f"://(?!{_HERE})",
}

_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = 60


# The names of a path to puzzles by which it is known wherever a run lies: RUN/why/puzzles.
_END = 2


@dataclass(slots=True)
class Run:
    """What run.json holds.

    `what` decides the scores: lm-eval's arguments, our `until`, and the versions. `free` are the
    arguments that may change. `model` are facts of the model, known once it was loaded; `about` is
    when the run began and on what; `total` counts the puzzles, unless a design does.
    """

    what: dict[str, Any]
    model: dict[str, Any] = field(default_factory=dict)
    free: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    total: int = 0

    @classmethod
    def of(cls, config: EvaluatorConfig, until: Mapping[str, Any] | None) -> "Run":
        """Return the run of lm-eval's configuration, without keys."""
        given = {name: getattr(config, name) for name in (*WHAT, *_FREE) if hasattr(config, name)}
        model_args = given["model_args"] = given["model_args"] or {}
        # lm-eval has mixed the model's arguments into the metadata
        given["metadata"] = {n: v for n, v in given["metadata"].items() if model_args.get(n) != v}
        tasks = [given["tasks"]] if isinstance(given["tasks"], str) else given["tasks"]
        given["tasks"] = [name for task in tasks for name in str(task).split(",")]
        given = _plain(without_keys(given))
        model_args = given["model_args"]
        free = {name: given.pop(name) for name in _FREE if name in given}
        free["model_args"] = {name: model_args.pop(name) for name in _FREE if name in model_args}
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

    def recorded_settings(self) -> dict[str, Any]:
        """Return the settings by which its model is asked again, by their names in `Evaluation`."""
        held = self.what | self.free | {"model_args": self.model_args}
        return {name: held[name] for name in _ASKED if held.get(name)}

    def refuse_untrusted(self, folder: Path) -> None:
        """Raise ValueError if the arguments of its model, from a folder, can't be trusted."""
        for text in _texts("", self.model_args):
            for what, pattern in _UNTRUSTED.items():
                # clients of HTTP drop tabs and line breaks within a URL
                if re.search(pattern, re.sub(r"[\n\r\t]", "", text)):
                    raise ValueError(
                        f"{folder} names {what}: give --model_args (gate: --base-config)"
                    )

    def search(self, include_path: str | None) -> Search | None:
        """Return the design of a run by --until, whose task is ours or below `include_path`."""
        if not self.what["until"]:
            return None
        metadata = self.model_args | self.what["metadata"]
        return Search(self.what["tasks"][0], metadata, self.what["until"], include_path)

    def load_tasks(
        self, include_path: str | None, model_args: Mapping[str, Any], search: Search | None
    ) -> TaskDict:
        """Return the tasks, as lm-eval loads them; learn their versions and count their documents.

        Tasks may read `model_args` beside their metadata; a `search` has set up its own task. Our
        own tasks need no --include_path, and are found without reading lm-eval's thousands.
        ValueError for a task that there is not, for examples in the prompts of our own, and for
        unread metadata.
        """
        what = self.what
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
        ours = any(isinstance(task, SharedBudgetTask) for task in tasks.values())
        if ours and what["num_fewshot"]:
            raise ValueError(
                f"--num_fewshot {what['num_fewshot']} is refused: our tasks are zero-shot, as in "
                "their papers, and each prompt has to leave its budget to the response"
            )
        read = {(task.config.dataset_kwargs or {}).get("dataset") for task in tasks.values()}
        unread = sorted(what["metadata"].keys() - read)
        if unread and read <= benchmarks.datasets().keys():
            known = " or ".join(f'{{"{name}": {{...}}}}' for name in sorted(map(str, read)))
            raise ValueError(f"metadata must be {known}, got the key {unread[0]!r}")
        what["versions"] |= {"tasks": {name: str(task.VERSION) for name, task in tasks.items()}}
        what["versions"] |= search.fingerprint if search else {}
        self.total = sum(map(len, self.shard(tasks, 1, 1).values()))
        return loaded

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
        what = "must be what this version of cogniload eval wrote, or name another --output_path"
        with naming(f"{file} {what}"):
            return cls.of_json(json.loads(file.read_text("utf-8")))

    @classmethod
    def of_json(cls, held: Mapping[str, Any]) -> "Run":
        """Return the run that JSON holds; TypeError, or another error, if it is none."""
        run = cls(**held)
        nested = run.free["model_args"], *map(run.what.get, ("model_args", "metadata"))
        parts = run.what, run.model, run.free, run.about, run.what["versions"], *nested
        sound = all(isinstance(part, dict) for part in parts) and type(run.total) is int
        if not (sound and {*WHAT, "until"} <= {*run.what} and type(run.what["tasks"]) is list):
            raise TypeError("a part is missing, or of another kind")
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

        Facts of the model that only one of the two knows (the Hub was not reached) don't count, nor
        do the beginnings of a path to puzzles: their texts are compared prompt by prompt.
        """
        known = sorted(self.model.keys() & now.model.keys())
        begun, facts = (
            run.what
            | {"metadata": {name: _end_of_path(it) for name, it in run.what["metadata"].items()}}
            | {"model facts": {name: run.model[name] for name in known}}
            for run in (self, now)
        )
        if begun != facts:
            changes = "; ".join(_differences(begun, facts)[:3])
            hint = "give what it was begun with, or another --output_path"
            raise ValueError(f"{folder} was begun with {changes}: {hint}")


def _end_of_path(parameters: Any) -> Any:
    """Return a dataset's parameters with the end of a path alone, which a copy of a run has too."""
    path = parameters.get("path") if isinstance(parameters, dict) else None
    return parameters | {"path": Path(path).parts[-_END:]} if isinstance(path, str) else parameters


def _texts(names: str, value: object) -> Iterator[str]:
    """Yield each value below some names, however deep, as NAMES=VALUE."""
    inner = value.items() if isinstance(value, dict) else []
    inner = [("", its) for its in value] if isinstance(value, list) else inner
    for name, its in inner:
        yield from _texts(f"{names} {name}", its)
    if not inner:
        yield f"{names}={value}"


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
