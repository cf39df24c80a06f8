"""`cogniload eval`: every answer is asked for once, and lm-eval scores what is on the disk.

lm-eval keeps all answers in memory until the last one is there. Here its model is wrapped: what is
answered is appended to a file as it comes, and is not asked for again (`answers.py`). So the same
command goes on after a kill, and shards need nothing of each other. When all answers are there,
lm-eval scores them without the model, and its result files are written; `--merge` does that alone.
With `--until` a design asks batch after batch (`adaptive.py`).
"""

import json
import os
import random
import re
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import aiohttp
import lm_eval.evaluator
import numpy as np
import requests
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers.utils import add_env_info, add_tokenizer_info, get_commit_from_path
from lm_eval.models.api_models import TemplateAPI
from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable, make_table, sanitize_list, set_torch_seed

from cogniload_gen.files import without_keys
from cogniload_gen.files.whole import whole_file
from lm_eval_tasks.adaptive import Search, read_until, refuse_beside_until
from lm_eval_tasks.answers import Answered, AnsweringModel, Answers, Unanswered
from lm_eval_tasks.budget import SharedBudgetTask, context_budget
from lm_eval_tasks.configuration import (
    Own,
    Run,
    begun_run,
    chosen_documents,
    free_settings,
    load_tasks,
    make_run,
    plain,
    read_configuration,
    settings_of,
)
from lm_eval_tasks.lm_eval_private import experiment
from lm_eval_tasks.responses import NoCompletion, keep_what_is_said
from lm_eval_tasks.server import check_server, explain, fill_every_slot
from lm_eval_tasks.status import Progress, each_warning_once, print_status
from lm_eval_tasks.task_names import refuse_files

BOOTSTRAP_ITERS = 100_000
"""lm-eval's own default, for the standard errors that have no formula."""

SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
"""lm-eval's names for the four of --seed."""


def run(arguments: Namespace, others: Sequence[str]) -> None:
    """Run `cogniload eval`, with our arguments in `arguments` and lm-eval's in `others`.

    ValueError or OSError, in a line, for what can't be evaluated.
    """
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # as lm-eval's own command does
    with each_warning_once():
        if arguments.status:
            print_status(arguments.status, arguments.price, _include_path(others))
        elif arguments.merge:
            merge(arguments.merge, arguments.output_path, _include_path(others))
        else:
            evaluate(*read_configuration(arguments, others))


def _include_path(others: Sequence[str]) -> str | None:
    """Return --include_path, the one argument of lm-eval that goes with --merge and --status."""
    given = " ".join(others)
    if match := re.fullmatch(r"--include_path[ =](\S.*)", given):
        return match[1]
    if others:
        raise ValueError(f"--merge and --status take folders and --include_path alone, got {given}")
    return None


def _say_next(command: str) -> None:
    print(f"next: {command}", file=sys.stderr)


def evaluate(config: EvaluatorConfig, own: Own) -> None:
    """Ask what has no answer yet, up to a cap; score a whole run and write its results.

    ValueError for a folder that was begun with something else.
    """
    until = None
    if own.until is not None:
        refuse_beside_until(config, own.shard)
        until = read_until(config.tasks, *own.until, config.include_path)
    run, loaded, search = load_run(
        settings_of(config, until), config.include_path, config.model_args, free_settings(config)
    )
    state, (index, shards) = own.folder / "state", own.shard
    if begun := Run.read(state):
        begun.refuse_another(own.folder, run)
        run = replace(run, model=begun.model, about=begun.about)
    model = _Asked(config, own, run, loaded)
    try:
        if search:
            search.ask_all(model)
        elif shards > 1 or len(model.answers) < run.documents:
            model.ask(chosen_documents(loaded["tasks"], run.what, own.shard))
    except CapReached as reached:
        print(f"stopped: {reached}", file=sys.stderr)
        _say_next("the same command with a higher cap goes on")
        return
    if search:
        print("\n".join(search.design.summary()))
    if shards > 1:
        left = max(run.documents - len(model.answers), 0)
        print(f"shard {index}/{shards} is done; {left:,} puzzles are left to others")
        _say_next(f"cogniload eval --merge {own.folder}" + ", when all are done" * (left > 0))
        return
    documents, unsafe = chosen_documents(loaded["tasks"], run.what), config.confirm_run_unsafe_code
    write_results(model.run, loaded, model.answers, own.folder, documents, unsafe_code=unsafe)


def load_run(
    settings: dict[str, Any],
    include_path: str | None,
    model_args: Mapping[str, Any],
    free: dict[str, Any],
) -> tuple[Run, TaskDict, Search | None]:
    """Return a run of some settings with its tasks loaded, and its search if it has --until.

    `model_args` are what tasks may read beside their metadata.
    """
    search = Search(settings, include_path) if settings["until"] else None
    metadata = dict(model_args) | settings["metadata"]
    adaptive = search and search.configuration
    loaded = load_tasks(settings, include_path, metadata, adaptive)
    about = {"date": time.time(), "arguments": free}
    return make_run(settings, loaded["tasks"], about, search and search.fingerprint), loaded, search


# --- ask ------------------------------------------------------------------------------------------


class CapReached(Exception):  # noqa: N818  (no error)
    """Ends the asking: what is answered stays, and a higher cap goes on."""


class _Asked:
    """A run's model, which is loaded when there is something to ask."""

    def __init__(self, config: EvaluatorConfig, own: Own, run: Run, loaded: TaskDict) -> None:
        self.config, self.own, self.run, self.loaded = config, own, run, loaded
        self.tasks, self.state = loaded["tasks"], own.folder / "state"
        self.answers = Answers([self.state])
        file = self.state / f"answers-{own.shard[0]}.jsonl"
        self.wrapped = AnsweringModel(self.answers, file, self._describe, self._watch)
        self.progress: Progress | None = None

    def ask(self, documents: Mapping[str, list[int]], *, check: bool = False) -> None:
        """Ask for the answers of some documents, by task; nothing is asked twice.

        With `check`, have each budget refuse what does not fit, and ask nothing. CapReached where a
        cap ends it.
        """
        self._stop_at_cap()
        if self.wrapped.inner is None:
            self.wrapped.inner = self._load_model()
        tasks = {name: task for name, task in self.tasks.items() if documents[name]}
        total = sum(
            len(documents[name]) * (task.get_config("repeats") or 1) for name, task in tasks.items()
        )
        self.wrapped.ask_kinds = {kind_of(task) for task in tasks.values()}
        self.wrapped.only_check = check
        with Progress(total, self.answers) as self.progress, suppress(Answered):
            _evaluate(
                self.wrapped,
                self.loaded | {"tasks": tasks},
                documents,
                self.run.what,
                unsafe_code=self.config.confirm_run_unsafe_code,
            )

    def _load_model(self) -> LM:
        """Return the model, in lm-eval's backend; run.json is written with what is known of it.

        ValueError if it can't be loaded, or is not the one that the folder was begun with.
        """
        config = self.config
        sizes = {name: getattr(config, name) for name in ("batch_size", "max_batch_size", "device")}
        try:
            model = get_model(config.model).create_from_arg_obj(config.model_args, sizes)
        except Exception as error:  # every backend fails in its own way
            raise ValueError(f"{config.model}: {error or type(error).__name__}") from error
        if model.world_size > 1:
            raise ValueError(f"--shard takes the place of {model.world_size} processes in one run")
        keep_what_is_said(model)
        fill_every_slot(model, lambda: self._cap() is not None)
        served = check_server(model, context_budget(self.tasks))
        facts = describe_model(model, served, config.apply_chat_template)
        run = replace(self.run, model=facts)
        if begun := Run.read(self.state):
            begun.refuse_another(self.own.folder, run)
        else:
            about = self.run.about | describe_environment(model, served)
            self.run = replace(run, about=about)
            self.run.write(self.state)
        return model

    def _describe(self, request: Instance, answer: Any) -> dict[str, Any]:
        task = self.tasks[str(request.task_name)]
        return task.describe(request, answer) if isinstance(task, SharedBudgetTask) else {}

    def _watch(self, left: int) -> None:
        if self.progress:
            self.progress.show(left)
        if not isinstance(self.wrapped.inner, TemplateAPI):  # a server's client stops by itself
            self._stop_at_cap()

    def _cap(self) -> str | None:
        return self.own.caps.reached(self.answers.tokens, self.answers.uncounted)

    def _stop_at_cap(self) -> None:
        if reached := self._cap():
            raise CapReached(reached)


def kind_of(task: Task) -> str:
    """Return the method of lm-eval's models that a task's requests are for."""
    kind = str(task.get_config("output_type"))
    return "loglikelihood" if kind == "multiple_choice" else kind


def _evaluate(
    model: AnsweringModel,
    loaded: TaskDict,
    documents: Mapping[str, list[int]],
    what: Mapping[str, Any],
    *,
    unsafe_code: bool,
) -> dict[str, Any]:
    """Have lm-eval evaluate some documents, by task, with its own progress bars out of sight."""
    seeds = what["seed"] or 4 * [None]
    for seed, sow in zip(seeds, (random.seed, np.random.seed, set_torch_seed), strict=False):
        if seed is not None:
            sow(seed)
    for task in loaded["tasks"].values():
        task.set_fewshot_seed(seeds[3])
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
        try:
            return lm_eval.evaluator.evaluate(
                lm=model,
                task_dict=loaded,
                samples={name: documents[name] for name in loaded["tasks"]},
                bootstrap_iters=BOOTSTRAP_ITERS,
                system_instruction=what["system_instruction"],
                apply_chat_template=what["apply_chat_template"],
                fewshot_as_multiturn=bool(what["fewshot_as_multiturn"]),
                confirm_run_unsafe_code=unsafe_code,
            )
        except (OSError, aiohttp.ClientError, requests.RequestException, NoCompletion) as error:
            raise explain(error, model.inner) from error


def describe_model(
    model: LM, served: Mapping[str, str], chat_template: bool | str
) -> dict[str, Any]:
    """Return what is known of a model and its tokenizer: all that is not empty."""
    facts = model.get_model_info() if hasattr(model, "get_model_info") else {}
    facts |= {name: fact for name, fact in served.items() if name != "vllm_version"}
    # `tok_encode` comes first: without one, DummyLM's `tokenizer` asks the Hub for another model's
    tokenizer = getattr(model, "tokenizer", None) if hasattr(model, "tok_encode") else None
    if tokenizer is not None and hasattr(tokenizer, "get_vocab"):
        vocabulary = json.dumps(sorted(tokenizer.get_vocab().items()))
        facts["tokenizer"] = f"{len(tokenizer)} tokens, {sha256(vocabulary.encode()).hexdigest()}"
    if chat_template:
        facts["chat_template"] = model.chat_template(chat_template)
    return plain(without_keys({n: fact for n, fact in facts.items() if fact not in ("", None)}))


def describe_environment(model: LM, served: Mapping[str, str]) -> dict[str, Any]:
    """Return what lm-eval's results say besides of where a model runs."""
    facts: dict[str, Any] = {"git_hash": get_commit_from_path(Path.cwd())}
    facts["vllm_version"] = served.get("vllm_version")
    if type(model).__module__ == "lm_eval.models.vllm_causallms":
        facts["vllm_version"] = version("vllm")
    add_env_info(facts)
    if hasattr(model, "tok_encode"):
        add_tokenizer_info(facts, model)
    return plain(facts)


# --- score ----------------------------------------------------------------------------------------


def merge(
    folders: Sequence[Path], out: Path | None = None, include_path: str | None = None
) -> None:
    """Score the answers of shards, in one folder or in several, and write lm-eval's result files.

    Only tasks that are installed, or below `include_path`, are loaded. ValueError if the folders
    are not of one run or not of this version, and while answers are missing, unless an `out` of its
    own takes the results of what is there.
    """
    runs = [begun_run(folder) for folder in folders]
    run = runs[0]
    refuse_files(run.what["tasks"], include_path)
    # tasks of others may load code by what they read of a model's arguments
    model_args = run.model_args if include_path else {}
    now, loaded, search = load_run(run.settings, include_path, model_args, {})
    for folder, begun in zip(folders, runs, strict=True):
        begun.refuse_another(folder, replace(now, model=run.model))
    answers = Answers([folder / "state" for folder in folders])
    if search:
        search.read_all(answers, loaded["tasks"])
    documents = chosen_documents(loaded["tasks"], run.what)
    try:
        write_results(run, loaded, answers, out or folders[0], documents)
    except Unanswered as missing:
        lost = {(request.task_name, request.doc_id) for request in missing.requests}
        there = {  # lm-eval numbers the documents that it was given
            name: [index for i, index in enumerate(chosen) if (name, i) not in lost]
            for name, chosen in documents.items()
        }
        if out is None or not any(there.values()):
            raise ValueError(
                f"{', '.join(map(str, folders))}: {len(lost):,} of {run.documents:,} puzzles have "
                "no answer yet: the run's command goes on; --output_path DIR scores what is there"
            ) from None
        write_results(run, loaded, answers, out, there)


def write_results(
    run: Run,
    loaded: TaskDict,
    answers: Answers,
    out: Path,
    documents: Mapping[str, list[int]],
    *,
    unsafe_code: bool = False,
) -> None:
    """Have lm-eval score the answers to some documents; write its results and print its table.

    The files have the date of the newest answer, so the same answers are one result set, however
    often they are merged. `unsafe_code` is lm-eval's `confirm_run_unsafe_code`. Unanswered where
    answers are missing.
    """
    names = experiment(
        run.what["model"],
        run.model_args,
        system_instruction=run.what["system_instruction"],
        chat_template=run.model.get("chat_template"),
        fewshot_as_multiturn=bool(run.what["fewshot_as_multiturn"]),
    )
    folder = out / folder_name(str(names["model_name_sanitized"]))
    newest = max((file.stat().st_mtime for file in answers.counts), default=0.0)
    date = datetime.fromtimestamp(newest).isoformat().replace(":", "-")
    path = folder / f"results_{date}.json"
    if not path.exists():
        print(f"scoring {sum(map(len, documents.values())):,} puzzles", file=sys.stderr)
        loaded = loaded | {
            "tasks": {n: task for n, task in loaded["tasks"].items() if documents[n]}
        }
        model = AnsweringModel(answers)
        results = _evaluate(model, loaded, documents, run.what, unsafe_code=unsafe_code)
        samples, hashes = results.pop("samples"), {}
        folder.mkdir(parents=True, exist_ok=True)
        for name, of_task in samples.items():
            parts = ("doc_hash", "prompt_hash", "target_hash")
            digest = "".join(sample[part] for sample in of_task for part in parts)
            hashes[name] = sha256(digest.encode()).hexdigest()
            _write(folder / f"samples_{name}_{date}.jsonl", map(_sample_line, of_task))
        results["config"] = _configuration(run)
        results |= {name: fact for name, fact in run.about.items() if name != "arguments"}
        results |= {"task_hashes": hashes} | names
        text = json.dumps(results, indent=2, default=handle_non_serializable, ensure_ascii=False)
        _write(path, [text])
    print_results(path)
    _say_next(f"cogniload report {out} --out {out / 'report'}")


def folder_name(model: str) -> str:
    """Return the folder of a model's results: its name, shortened where no disk takes it."""
    if model in (".", ".."):
        return model.replace(".", "_")
    name = model.encode()
    if len(name) <= 200:
        return model
    return f"{name[:180].decode(errors='ignore')}-{sha256(name).hexdigest()[:12]}"


def _write(path: Path, lines: Iterable[str]) -> None:
    with whole_file(path, force=True) as part, part.open("wb") as file:
        # half of an emoji, where a limit cut a response, becomes its escape
        file.writelines(line.encode("utf-8", "backslashreplace") for line in lines)


def _sample_line(sample: dict[str, Any]) -> str:
    """Return a line of lm-eval's samples_*.jsonl, as its EvaluationTracker writes it."""
    written = sample | {
        "target": str(sample["target"]),
        "arguments": {
            f"gen_args_{i}": {f"arg_{j}": part for j, part in enumerate(request)}
            for i, request in enumerate(sample["arguments"])
        },
        "resps": sanitize_list(sample["resps"]),
        "filtered_resps": sanitize_list(sample["filtered_resps"]),
    }
    return json.dumps(written, default=handle_non_serializable, ensure_ascii=False) + "\n"


def _configuration(run: Run) -> dict[str, Any]:
    """Return the "config" of lm-eval's results."""
    what, versions = run.what, run.what["versions"]
    design = {name: versions[name] for name in ("design", "prior") if name in versions}
    return {
        "model": what["model"],
        **{name: fact for name, fact in run.model.items() if name != "chat_template"},
        **run.about["arguments"],
        "model_args": run.model_args,
        "batch_sizes": [],
        "use_cache": None,
        "limit": what["limit"],
        "bootstrap_iters": BOOTSTRAP_ITERS,
        "gen_kwargs": what["gen_kwargs"],
        **dict(zip(SEEDS, what["seed"] or 4 * [None], strict=True)),
        **({"until": what["until"] | design} if what["until"] else {}),
    }


def print_results(path: Path) -> None:
    """Print lm-eval's table of a results file, and where that is."""
    results = json.loads(path.read_text("utf-8"))
    for column in ("results", "groups"):
        if column in results:
            shown = {name: _with_number(row) for name, row in results[column].items()}
            print(make_table(results | {column: shown}, column))
    print(f"results  {path}")


def _with_number(row: dict[str, Any]) -> dict[str, Any]:
    """Return a task's results without the metrics that have no number, as where none is known."""
    words = {
        name
        for name, value in row.items()
        if "," in name and "_stderr," not in name and not isinstance(value, int | float)
    }
    return {
        name: value for name, value in row.items() if name.replace("_stderr,", ",") not in words
    }
