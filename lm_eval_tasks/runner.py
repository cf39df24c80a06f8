"""`cogniload eval`: every answer is asked for once, and lm-eval scores what is on the disk.

lm-eval keeps all answers in memory until the last one is there. Here its model is wrapped: what is
answered is appended to a file as it comes, and is not asked for again (`answers_file.py`). So the
same command goes on after a kill, and shards need nothing of each other. When all answers are
there, lm-eval scores them without the model, and its result files are written; `--merge` does that
alone. With `--until` a design asks batch after batch (`until.py`).
"""

import json
import logging
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, redirect_stderr, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lm_eval
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.api_models import TemplateAPI
from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable, hash_string, make_table, sanitize_list
from tqdm import tqdm

from cogniload_gen import benchmarks
from cogniload_gen.checks import check_path
from cogniload_gen.files import naming, one_line, whole_file
from cogniload_gen.never_written import without_keys
from lm_eval_tasks import server
from lm_eval_tasks.answers_file import Answered, AnsweringModel, Answers, Unanswered, held
from lm_eval_tasks.budget import SharedBudgetTask, context_budget
from lm_eval_tasks.lm_eval_private import answering_by
from lm_eval_tasks.load_tasks import load_tasks
from lm_eval_tasks.request_seeds import Key
from lm_eval_tasks.responses import keep_facts
from lm_eval_tasks.resume import WHAT, Run
from lm_eval_tasks.spending_caps import HIGHER_CAP, CapReached, Caps
from lm_eval_tasks.tasks import refuse_files
from lm_eval_tasks.until import Search

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Results:
    """What became of an evaluation.

    Attributes:
        folder: Where its answers and results are.
        scores: lm-eval's metrics by task; empty until all is answered.
        stopped: Which cap has stopped it; "" if none has.
        lines: What there is to say of it.
        lost: What of that is about puzzles without an answer.
        next: The command that usually follows.
    """

    folder: Path
    scores: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    stopped: str = ""
    lines: Sequence[str] = ()
    lost: Sequence[str] = ()
    next: str = ""


def evaluate(asking: "Asking") -> Results:
    """Ask what has no answer yet, up to a cap; score a whole run and write its results."""
    search, (index, shards), lines = asking.search, asking.shard, list[str]()
    with asking:
        try:
            if search:
                search.ask_all(asking)
            elif not asking.is_answered():
                asking.ask()
        except CapReached as reached:
            return Results(asking.folder, stopped=str(reached), next=HIGHER_CAP)
        if search:
            lines = search.summary()
        if shards == 1:
            done = score(asking.run, asking.config, asking.loaded, asking.answers, asking.folder)
            return replace(done, lines=[*lines, *done.lines])
        left = max(asking.run.total - len(asking.answers.documents), 0)
        said = f"shard {index}/{shards} is done; {left:,} puzzles are left to others"
        merge = f"cogniload eval --merge {asking.folder}" + ", when all are done" * (left > 0)
        return Results(asking.folder, lines=[*lines, said], next=merge)


# --- ask ------------------------------------------------------------------------------------------


class Asking:
    """A run's model, which is loaded when there is something to ask, and its answers in a folder.

    `until` are a design's settings, as given, and `shard` is the I-th of N. With `anew`, the
    answers that are there are put aside.
    """

    def __init__(
        self,
        config: EvaluatorConfig,
        folder: Path,
        shard: tuple[int, int],
        until: Sequence[Any] | None,
        caps: Caps,
        *,
        anew: bool = False,
    ) -> None:
        self.config, self.folder, self.shard, self._caps = config, folder, shard, caps
        self.search = None if until is None else Search.begin(config, until, shard)
        self.run = Run.of(config, self.search.until if self.search else None)
        self.loaded = load_tasks(self.run, config.include_path, config.model_args, self.search)
        self.tasks = self.loaded["tasks"]
        file = folder / "state" / f"answers-{shard[0]}.jsonl"
        self.answers = Answers([folder])
        self._locks, self._holds = ExitStack(), False
        # what was refused before its first answer binds nobody; another shard may still be loading
        if (self.answers or shard[1] > 1) and (begun := Run.read(folder)):
            begun.refuse_another(folder, self.run)
            self.run.model, self.run.about = begun.model, begun.about
        if anew and file.exists():
            self._hold()
            begins = self.run.about["anew"] = self.run.about.get("anew", 0) + 1
            self.run.model = {}  # another one may have its name now
            self.run.write(folder)
            file.rename(file.with_name(f"{file.name}.before-{begins}"))
            self.answers = Answers([folder])
        if self.answers:
            print(
                f"continuing: {len(self.answers):,} answers are there, of a run that was begun "
                f"{self.run.began:%Y-%m-%d %H:%M} UTC; --anew asks the model again",
                file=sys.stderr,
            )
        self.model = AnsweringModel(self.answers, {}, file, self._describe, self._watch)
        self.model.run_seed = self.run.seed
        self.left, self.screen = 0, sys.stderr
        self.bar: tqdm[Any] | None = None

    def __enter__(self) -> "Asking":
        return self

    def __exit__(self, *_: object) -> None:
        self._locks.close()

    def _hold(self) -> None:
        """Hold the answers file as long as this lives, and read what others have written."""
        if not self._holds:
            self._locks.enter_context(held(self.folder / "state", self.shard[0]))
            self._holds = True
            self.answers.catch_up()

    def ask(self, *, check: bool = False) -> None:
        """Ask for the answers of this shard's documents; nothing is asked twice.

        With `check`, have each budget refuse what does not fit, and ask nothing. CapReached where a
        cap ends it.
        """
        self._hold()
        self._stop_at_cap()
        self.run.about.pop("stopped", None)
        self.model.inner = self.model.inner or self._load_model()
        self.model.only_check, self.left = check, 0
        try:
            self._evaluate_shard(self.model)
        finally:
            if self.bar is not None:
                self.bar.close()
                self.bar = None
        if self.left:
            self._stop_at_cap()

    def is_answered(self) -> bool:
        """Return whether all answers of this shard are on the disk."""
        if len(self.answers.documents) < self.run.total // self.shard[1]:
            return False
        try:
            self._evaluate_shard(AnsweringModel(self.answers, {}))
        except Unanswered:
            return False
        return True

    def _evaluate_shard(self, model: AnsweringModel) -> None:
        """Have lm-eval evaluate this shard's documents, until all of them are answered."""
        (index, shards), config, tasks = self.shard, asdict(self.config), self.tasks
        if shards > 1:
            samples = self.run.shard(tasks, index, shards)
            config |= {"limit": None, "samples": samples}
            tasks = {name: task for name, task in tasks.items() if samples[name]}
        model.end_after = {_kind_of(task) for task in tasks.values()}
        if tasks:  # more shards than documents leave some with nothing
            with suppress(Answered):
                _evaluate(model, config, self.loaded | {"tasks": tasks})

    def _load_model(self) -> LM:
        """Return the model, in lm-eval's backend; run.json is written with what is known of it.

        ValueError if it can't be loaded, or is not the one that the folder was begun with.
        """
        config = self.config
        _warn_of_thinking(config)
        server.check_arguments(config)
        for name in ("pretrained", "tokenizer", "peft"):
            check_path(name, config.model_args.get(name))
        sizes = {name: getattr(config, name) for name in ("batch_size", "max_batch_size", "device")}
        with naming(config.model, Exception):  # every backend fails in its own way
            model = get_model(config.model).create_from_arg_obj(config.model_args, sizes)
        if model.world_size > 1:
            raise ValueError(f"--shard takes the place of {model.world_size} processes in one run")
        keep_facts(model)
        server.fill_every_slot(model, lambda: self._cap() is not None, self.model.give_up)
        served = server.check_server(model, context_budget(self.tasks))
        facts = model.get_model_info() if hasattr(model, "get_model_info") else {}
        facts |= {"root": served.get("root")}
        if config.apply_chat_template:
            facts["chat_template"] = model.chat_template(config.apply_chat_template)
        self.run.learn(self.folder, facts)
        if not self.run.about:
            in_process = type(model).__module__ == "lm_eval.models.vllm_causallms"
            engine = version("vllm") if in_process else served.get("version")
            self.run.about = {"date": time.time(), "vllm_version": engine}
        self.run.write(self.folder)
        return model

    def _describe(self, request: Instance, answer: Any) -> dict[str, Any]:
        """Return what the task says of an answer, if it is one of ours."""
        task = self.tasks[str(request.task_name)]
        return task.describe(request, answer) if isinstance(task, SharedBudgetTask) else {}

    def _watch(self, done: int, total: int) -> None:
        """Show how far the run is; CapReached where a cap ends it."""
        if self.bar is None:  # before anything is asked
            seconds = 0.1 if self.screen.isatty() else 30  # a line that moves, or one now and then
            pace = partial(tqdm, unit=" puzzles", smoothing=0, mininterval=seconds)
            self.bar = pace(total=total, initial=done, file=self.screen)
        if self.answers.scored:
            accuracy = self.answers.correct / self.answers.scored
            self.bar.set_postfix_str(f"acc {accuracy:.1%}", refresh=False)
        self.bar.update(done - self.bar.n)
        self.left = total - done
        if self.left and not isinstance(self.model.inner, TemplateAPI):  # which stops by itself
            self._stop_at_cap()

    def _cap(self) -> str | None:
        return self._caps.reached(self.answers.tokens, self.answers.uncounted)

    def _stop_at_cap(self) -> None:
        if reached := self._cap():
            self.run.about["stopped"] = reached
            self.run.write(self.folder)
            raise CapReached(reached)


def _warn_of_thinking(config: EvaluatorConfig) -> None:
    """Warn of an `enable_thinking` that lm-eval 0.4.13 overwrites in its vLLM model."""
    given = config.model_args or {}
    nested = given.get("chat_template_args")
    asked = nested.get("enable_thinking") if isinstance(nested, dict) else None
    if config.model == "vllm" and asked not in (None, given.get("enable_thinking")):
        plain = f"enable_thinking={asked}{',think_end_token=</think>' * bool(asked)}"
        says = "lm-eval's vLLM model ignores enable_thinking in chat_template_args"
        log.warning("%s: give %s in --model_args itself", says, plain)


def _kind_of(task: Any) -> str:
    """Return the method of lm-eval's models that a task's requests are for."""
    kind = str(task.get_config("output_type"))
    return "loglikelihood" if kind == "multiple_choice" else kind


def _evaluate(
    model: AnsweringModel,
    config: Mapping[str, Any],
    loaded: Mapping[str, Any],
    tracker: EvaluationTracker | None = None,
) -> dict[str, Any]:
    """Have lm-eval evaluate loaded tasks, with its own progress bars out of sight."""
    names = {*WHAT, "batch_size", "max_batch_size", "device", "confirm_run_unsafe_code"}
    settings = {name: config[name] for name in names - {"tasks", "seed"}}
    seeds = ("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed")
    settings |= dict(zip(seeds, config["seed"] or 4 * [None], strict=True))
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        redirect_stderr(nowhere),
        answering_by(model, loaded) as manager,
    ):
        try:
            results: dict[str, Any] = lm_eval.simple_evaluate(
                **settings,
                tasks=[*loaded["tasks"]],
                task_manager=manager,
                evaluation_tracker=tracker,
            )
        except server.FAILURES as error:
            raise server.explain(error, model.inner) from error
    return results


# --- score ----------------------------------------------------------------------------------------


def merge(
    folders: Sequence[Path], out: Path | None = None, include_path: str | None = None
) -> Results:
    """Score the answers of shards, in one folder or in several, and write lm-eval's result files.

    Only tasks that are installed, or below `include_path`, are loaded. ValueError if the folders
    are not of one run or not of this version, and while answers are missing. With `out`, what is
    there is scored then, except of a run by --until, whose design has to be done.
    """
    runs = [Run.begun(folder) for folder in folders]
    first, place = runs[0], out or folders[0]
    refuse_files(first.what["tasks"], include_path)
    config, search = first.configuration(), first.search(include_path)
    now = Run.of(config, first.what["until"])
    # tasks of others may load code by what they read of a model's arguments
    ours = benchmarks.datasets()
    given = {name: it for name, it in first.model_args.items() if include_path or name in ours}
    loaded = load_tasks(now, include_path, given, search)
    for folder, begun in zip(folders, runs, strict=True):
        begun.refuse_another(folder, Run(now.what, first.model))
    # in whatever order the folders are given
    first.about["date"] = min(run.about.get("date") or 0 for run in runs)
    answers = Answers(folders)
    if search:
        search.read_all(answers, loaded["tasks"])
    return score(first, config, loaded, answers, place, partly=out is not None)


def score(
    done: Run,
    config: EvaluatorConfig,
    loaded: TaskDict,
    answers: Answers,
    out: Path,
    *,
    partly: bool = False,
) -> Results:
    """Have lm-eval score the answers on the disk, and write its result files.

    Requests that were given up are left out, and named. ValueError where other answers are missing,
    unless what is there is to be scored `partly`.
    """
    tasks = loaded["tasks"]
    try:
        return _write_results(done, config, loaded, answers, out, {})
    except Unanswered as unanswered:
        missing = unanswered.requests
    # lm-eval numbers the documents that it was given
    left = {(request.task_name, request.doc_id) for request in missing}
    keys = {Key.of(request, 0)[:2] for request in missing}
    lost = {key[:2]: why for key, why in answers.lost.items() if key[:2] in keys}
    chosen = done.shard(tasks, 1, 1)
    there = {
        name: [index for i, index in enumerate(listed) if (name, i) not in left]
        for name, listed in chosen.items()
    }
    total = sum(map(len, chosen.values()))
    waiting = len(left) - len(lost)
    if (waiting and not partly) or not any(there.values()):
        raise ValueError(
            f"{', '.join(map(str, answers.folders))}: {len(left):,} of {total:,} puzzles have no "
            "answer yet: the run's command goes on; --output_path DIR scores what is there"
        )
    config.limit, config.samples = None, there
    loaded["tasks"] = {name: task for name, task in tasks.items() if there[name]}
    about: dict[str, Any] = {"lost": len(lost)} if lost else {}
    if waiting:
        about["interim"] = f"interim: {total - len(left):,} of {total:,} puzzles"
    scored = _write_results(done, config, loaded, answers, out, about)
    for (_, document), why in lost.items():
        print(f"not answered: {one_line(f'{document}: {why}')}", file=sys.stderr)
    if not lost:
        return scored
    lines = [f"{len(lost):,} of {total:,} puzzles have no answer: the same command asks them"]
    if answers.scored:
        least, most = (answers.correct + more for more in (0, len(lost)))
        every = answers.scored + len(lost)
        bounds = f"{least / every:.1%} to {most / every:.1%}"
        lines.append(f"accuracy, were they wrong or right: {bounds}")
    return replace(scored, lines=[*scored.lines, *lines], lost=lines)


def _write_results(
    done: Run,
    config: EvaluatorConfig,
    loaded: TaskDict,
    answers: Answers,
    out: Path,
    facts: dict[str, Any],
) -> Results:
    """Have lm-eval score the answers on the disk, and write its result files.

    The files have the date when the run was begun, so a run is one result set, however often it is
    scored. `facts` are further ones of the results. Unanswered where answers are missing.
    """
    tracker = EvaluationTracker()
    results = _evaluate(AnsweringModel(answers, done.model), asdict(config), loaded, tracker)
    end = f"{done.began:%Y-%m-%dT%H-%M-%S.%f}"
    names = asdict(tracker.general_config_tracker)
    if not {*done.model_args} & {"pretrained", "model", "path", "peft", "delta", "engine"}:
        names["model_name"] = names["model_name_sanitized"] = config.model  # lm-eval draws one
    name = str(names["model_name_sanitized"])[-80:]  # a disk takes 255 bytes
    folder = out / (name.replace(".", "_") if name in (".", "..") else name)
    folder.mkdir(parents=True, exist_ok=True)
    results["task_hashes"] = {}
    for name, samples in results.pop("samples").items():
        _write(folder / f"samples_{name}_{end}.jsonl", map(_sample_line, samples))
        parts = ("doc_hash", "prompt_hash", "target_hash")
        hashes = "".join(sample[part] for sample in samples for part in parts)
        results["task_hashes"][name] = hash_string(hashes)
    about = {name: fact for name, fact in done.model.items() if name != "chat_template"}
    if done.what["until"]:
        design = {name: done.what["versions"][name] for name in ("design", "prior")}
        about["until"] = done.what["until"] | design
    results["config"] = without_keys(results["config"]) | about | {"run_id": done.id} | facts
    for task in results["configs"].values():  # lm-eval mixes the model's arguments into it
        task["metadata"] = without_keys(task.get("metadata") or {})
    results |= names | done.about
    text = json.dumps(results, indent=2, default=handle_non_serializable, ensure_ascii=False)
    _write(folder / f"results_{end}.json", [text])
    lines = [*_make_tables(results), f"results  {folder / f'results_{end}.json'}"]
    report = f"cogniload report {out} --out {out / 'report'}"
    return Results(out, results["results"], lines=lines, next=report)


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


def _make_tables(results: Mapping[str, Any]) -> Iterator[str]:
    """Yield lm-eval's tables, without rows that have no number."""
    for column in ("results", "groups"):
        if column not in results:
            continue
        rows = {
            name: {n: v for n, v in row.items() if row.get(n.replace("_stderr,", ",")) is not None}
            for name, row in results[column].items()
        }
        yield make_table({**results, column: rows}, column)
