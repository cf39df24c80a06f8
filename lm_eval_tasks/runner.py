"""What lm-eval makes of the answers on the disk: their scores, and its result files.

When all answers are there, lm-eval scores them without the model; `--merge` does that alone.
"""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import lm_eval
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks.manager import TaskDict
from lm_eval.utils import handle_non_serializable, hash_string, make_table, sanitize_list

from cogniload_gen import benchmarks
from cogniload_gen.files import one_line, whole_file
from cogniload_gen.never_written import without_keys
from lm_eval_tasks import server
from lm_eval_tasks.answers_file import Answered, AnsweringModel, Answers, Unanswered
from lm_eval_tasks.lm_eval_private import answering_by
from lm_eval_tasks.request_seeds import Key
from lm_eval_tasks.resume import WHAT, Run
from lm_eval_tasks.tasks import refuse_files


@dataclass(frozen=True)
class Results:
    """What became of an evaluation.

    Attributes:
        folder: Where its answers and results are.
        scores: lm-eval's metrics by task; empty until all is answered.
        stopped: Which cap has stopped it; "" if none has.
        lines: What there is to say of it.
        tables: lm-eval's tables of the scores.
        lost: What of that is about puzzles without an answer.
        next: The command that usually follows.
    """

    folder: Path
    scores: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    stopped: str = ""
    lines: Sequence[str] = ()
    tables: Sequence[str] = ()
    lost: Sequence[str] = ()
    next: str = ""


def run_lm_eval(
    model: AnsweringModel,
    config: EvaluatorConfig,
    loaded: TaskDict,
    tracker: EvaluationTracker | None = None,
) -> dict[str, Any]:
    """Have lm-eval evaluate loaded tasks, with its own progress bars out of sight.

    Without a `tracker`, nothing is scored: it ends when all answers are on the disk.
    """
    if tracker is None:
        kinds = {task.get_config("output_type") for task in loaded["tasks"].values()}
        # the method of lm-eval's models that choices are asked by
        choices = {"multiple_choice": "loglikelihood"}
        model.end_after = {choices.get(kind, kind) for kind in kinds}
    names = {*WHAT, "batch_size", "max_batch_size", "device", "confirm_run_unsafe_code"}
    given = asdict(config)
    settings = {name: given[name] for name in names - {"tasks", "seed"}}
    seeds = ("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed")
    settings |= dict(zip(seeds, given["seed"] or 4 * [None], strict=True))
    results: dict[str, Any] = {}
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        redirect_stderr(nowhere),
        answering_by(model, loaded) as manager,
        suppress(Answered),
    ):
        try:
            results = lm_eval.simple_evaluate(
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
    loaded = now.load_tasks(include_path, given, search)
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

    The files have the date when the run was begun, so a run is one result set, however often it is
    scored. Requests that were given up are left out, and named. ValueError where other answers are
    missing, unless what is there is to be scored `partly`.
    """
    model, tracker = AnsweringModel(answers, done.model), EvaluationTracker()
    facts, lost = dict[str, Any](), list[str]()
    try:
        results = run_lm_eval(model, config, loaded, tracker)
    except Unanswered as unanswered:
        facts, lost = _leave_out(unanswered, done, config, loaded, answers, partly=partly)
        results = run_lm_eval(model, config, loaded, tracker)
    end = f"{done.began:%Y-%m-%dT%H-%M-%S.%f}"
    if done.what["until"]:  # its own answers chose the puzzles
        results["results"] = {
            task: {name: score for name, score in row.items() if not name.startswith("acc")}
            for task, row in results["results"].items()
        }
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
    lines = [f"results  {folder / f'results_{end}.json'}", *lost]
    tables, following = [*_make_tables(results)], report_of(out)
    return Results(out, results["results"], lines=lines, tables=tables, lost=lost, next=following)


def report_of(folder: Path) -> str:
    """Return the command that writes the report on a run's folder, over an earlier one."""
    report = folder / "report"
    force = " --force" * (report / "report.html").exists()
    return shlex.join(["cogniload", "report", str(folder), "--out", str(report)]) + force


def _leave_out(
    unanswered: Unanswered,
    done: Run,
    config: EvaluatorConfig,
    loaded: TaskDict,
    answers: Answers,
    *,
    partly: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Have lm-eval score without the requests that have no answer, as `score` says.

    Return what the results say of them, and the lines on those that were given up.
    """
    missing, tasks = unanswered.requests, loaded["tasks"]
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
            "answer yet: the run's command continues; --output_path DIR scores what is there"
        )
    config.limit, config.samples = None, there
    loaded["tasks"] = {name: task for name, task in tasks.items() if there[name]}
    facts: dict[str, Any] = {"lost": len(lost)} if lost else {}
    if waiting:
        facts["interim"] = f"interim: {total - len(left):,} of {total:,} puzzles"
    if not lost:
        return facts, []
    for (_, document), why in lost.items():
        print(f"not answered: {one_line(f'{document}: {why}')}", file=sys.stderr)
    lines = [f"{len(lost):,} of {total:,} puzzles have no answer: the same command asks them again"]
    if answers.scored:
        least, most = (answers.correct + more for more in (0, len(lost)))
        every = answers.scored + len(lost)
        bounds = f"{least / every:.1%} to {most / every:.1%}"
        lines.append(f"accuracy, if all of them were wrong or all right: {bounds}")
    return facts, lines


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
