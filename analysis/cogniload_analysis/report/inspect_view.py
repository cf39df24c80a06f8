"""Inspect's log files, written from lm-eval's samples for `inspect view`."""

import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from tqdm import tqdm

from cogniload_analysis import analyses
from cogniload_analysis.report.examples import score_again
from cogniload_analysis.samples.files import (
    find_samples,
    read_samples,
    split_name,
    to_utc,
)
from cogniload_analysis.samples.inspect_logs import OURS
from cogniload_analysis.samples.read import holds
from cogniload_analysis.samples.runs import describe_run
from cogniload_gen.checks import require
from cogniload_gen.endings import kind_of
from cogniload_gen.files import show_controls, whole_file
from cogniload_gen.reasoning import split
from cogniload_gen.sample import (
    COUNTS,
    as_count,
    naming,
    read_reasoning,
    read_responses,
    read_results,
    request_settings,
    score_attempts,
)

TEXTS = ("doc", "resps", "filtered_resps", "arguments", "target", "reasoning")
"""Fields of a sample that a log holds elsewhere than in the score's metadata."""

STOP_REASONS = {"cut": "max_tokens", "ended": "stop", "filtered": "content_filter"}
"""How a response ended, in Inspect's words."""


def write_logs(paths: Sequence[Path], out: Path, *, force: bool = False) -> list[Path]:
    """Write a log of Inspect for each run that the paths hold, and return the logs' paths.

    A path is a results folder of lm-eval or `cogniload eval`, or one `samples_*.jsonl`, gzipped or
    not. A log is `DATE_TASK_KEY.eval` in the folder `out`; `read_samples` reads of it what it reads
    of the samples. Raises ImportError without Inspect, FileNotFoundError for a path that isn't
    there, FileExistsError where a log is there unless `force`, and ValueError where the paths hold
    no responses to the benchmarks or a line can't be read (file and line number are named).
    """
    require("view", "inspect", ("inspect_ai",))
    files = sorted({file for path in paths for file in find_samples(path)})
    tasks = {file: split_name(file)[0] for file in files}
    runs = [f for f in files if any(holds(tasks[f], f, each) for each in analyses.ANALYSES)]
    if not runs:
        searched = ", ".join(map(str, paths))
        raise ValueError(f"no samples_TASK_DATE.jsonl of a benchmark's task in {searched}")
    out.mkdir(parents=True, exist_ok=True)
    return [_write_log(file, out, force=force) for file in runs]


def view_command(logs: Path) -> list[str]:
    """Return the command that serves a folder of logs to a browser on this machine."""
    return ["inspect", "view", "--log-dir", str(logs)]


def open_viewer(logs: Path) -> None:
    """Serve a folder of logs by `inspect view` until it is interrupted."""
    subprocess.run([sys.executable, "-P", "-m", "inspect_ai", *view_command(logs)[1:]], check=False)  # noqa: S603


def _write_log(file: Path, out: Path, *, force: bool) -> Path:
    """Write the log of a samples file, and return its path."""
    from inspect_ai import log
    from inspect_ai.viewer import ViewerConfig

    run = describe_run(file)
    (named, date), model = split_name(file), run.columns["model"]
    results = {name: held for name, held in read_results(file).items() if name != "results"}
    samples: list[Any] = []
    epochs: Counter[str] = Counter()
    for where, _, line in tqdm(read_samples(file), file.name, unit=" samples", disable=None):
        with naming(where):
            # Half a surrogate pair is no text that a log could hold.
            sample = json.loads(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace"))
            identity = show_controls(str(sample["doc"]["id"]))
            for attempt in score_attempts(sample):
                epochs[identity] += 1
                samples.append(_make_sample(attempt, identity, epochs[identity], model))
    key = hashlib.sha256(json.dumps([model, run.task, date]).encode()).hexdigest()[:22]
    share = fmean(sample.scores["acc"].value == "C" for sample in samples)
    metrics = {"accuracy": log.EvalMetric(name="accuracy", value=share)}
    accuracy = log.EvalScore(name="acc", scorer="acc", metrics=metrics)
    whole = log.EvalLog(
        status="success",
        eval=log.EvalSpec(
            created=to_utc(date),
            task=run.task,
            task_id=key,
            eval_id=key,
            run_id=key,
            task_version=run.columns["generator_version"],
            dataset=log.EvalDataset(name=run.task, samples=len(epochs), sample_ids=list(epochs)),
            model=model,
            config=log.EvalConfig(epochs=max(epochs.values())),
            # What a model wrote is shown as plain text.
            viewer=ViewerConfig(trust_content=False),
            metadata={OURS: {"task": named, "date": date, "results": results}},
        ),
        results=log.EvalResults(
            total_samples=len(samples), completed_samples=len(samples), scores=[accuracy]
        ),
        samples=samples,
    )
    target = out / f"{date}_{re.sub(r'[^A-Za-z0-9.]+', '-', run.task)}_{key}.eval"
    with whole_file(target, force=force) as temporary:
        log.write_eval_log(whole, temporary, format="eval")
    return target


def _make_sample(sample: dict[str, Any], identity: str, epoch: int, name: str) -> Any:
    """Return lm-eval's sample as Inspect's, with nothing left out that a report reads."""
    from inspect_ai import log, model, scorer

    puzzle, response = sample["doc"], read_responses(sample)[0]
    thought = read_reasoning(sample).text
    prompt = str(puzzle.get("puzzle") or "")
    spent, answered = (as_count(sample.get(name)) or 0 for name in COUNTS)
    usage = model.ModelUsage(
        input_tokens=spent, output_tokens=answered, total_tokens=spent + answered
    )
    shown = split(response)
    parts: Any = shown.response
    if thought:
        told = model.ContentReasoning(reasoning=thought)
        parts = [told, model.ContentText(text=shown.response)]
    answer = model.ChatMessageAssistant(content=parts)
    stopped: Any = STOP_REASONS.get(str(kind_of(sample.get("finish_reason"))), "unknown")
    choice = model.ChatCompletionChoice(message=answer, stop_reason=stopped)
    # Its prompt, which a log holds once, is left out.
    arguments = {"gen_args_0": {"arg_1": request_settings(sample)}}
    result = score_again(sample)
    evidence = result and result.evidence
    quoted = f"\n\n“{response[slice(*evidence)]}”" if evidence else ""
    score = scorer.Score(
        value=str(sample["outcome"]),
        answer=str(result.value or "") if result else "",
        explanation=f"{result.explanation}{quoted}" if result else "",
        metadata={key: held for key, held in sample.items() if key not in TEXTS}
        | {"arguments": arguments},
    )
    return log.EvalSample(
        id=identity,
        epoch=epoch,
        input=prompt,
        target=str(sample.get("target", puzzle.get("answer", ""))),
        messages=[model.ChatMessageUser(content=prompt), answer],
        output=model.ModelOutput(model=name, choices=[choice], usage=usage),
        scores={"outcome": score, "acc": scorer.Score(value="C" if sample.get("acc") else "I")},
        metadata={key: held for key, held in puzzle.items() if key != "puzzle"},
        model_usage={name: usage},
    )
