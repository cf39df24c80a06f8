"""Inspect's log files, written from lm-eval's samples for `inspect view`."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cogniload_analysis import analyses
from cogniload_analysis.columns import members, read_response
from cogniload_analysis.report.examples import score_again
from cogniload_analysis.samples.files import (
    find_samples,
    naming_line,
    read_first_filter,
    read_results,
    split_name,
    to_utc,
)
from cogniload_analysis.samples.inspect_logs import OURS
from cogniload_analysis.samples.read import holds
from cogniload_gen.benchmark import Row
from cogniload_gen.extras import require
from cogniload_gen.files.inputs import show_controls
from cogniload_gen.files.whole import make_inner_folder, whole_file

TEXTS = ("doc", "resps", "filtered_resps", "arguments", "target")
LONGEST_ID = 1000
"""Fields of a sample that a log holds elsewhere than in the score's metadata."""


def write_logs(paths: Iterable[Path], out: Path, *, force: bool = False) -> list[Path]:
    """Write a log of Inspect for each run that the paths hold, and return the logs' paths.

    A path is a results folder of lm-eval or `cogniload eval`, or one `samples_*.jsonl`, gzipped or
    not. A log is `DATE_TASK_KEY.eval` in the folder `out`; `read_samples` reads of it what it reads
    of the samples. Raises ImportError without Inspect, FileNotFoundError for a path that isn't
    there, FileExistsError where a log is there unless `force`, and ValueError where the paths hold
    no responses to the benchmarks or a line can't be read (file and line number are named).
    """
    require("view", "inspect", ("inspect_ai",))
    paths = list(paths)
    files = {file.resolve(): file for path in paths for file in find_samples(path)}
    runs = [file for file in sorted(files.values()) if _is_ours(file)]
    if not runs:
        searched = ", ".join(map(str, paths))
        raise ValueError(f"no samples_TASK_DATE.jsonl of a benchmark's task in {searched}")
    make_inner_folder(out)
    return [_write_log(file, out, force) for file in runs]


def bundle_logs(logs: Path, out: Path) -> None:
    """Write the static site of a folder of logs into a new folder.

    Raises FileExistsError where the folder exists, and ValueError where it is inside that of the
    logs.
    """
    from inspect_ai.log import bundle_log_dir  # noqa: PLC0415  (an extra)

    if os.path.lexists(out):
        raise FileExistsError(f"{out} exists: choose another name or remove it")
    # Whole, so that Inspect takes no path for the name of a place to upload to.
    logs, out = logs.resolve(), out.resolve()
    if out.is_relative_to(logs):
        raise ValueError(f"the site must be outside of the logs' folder {logs}, got {out}")
    bundle_log_dir(str(logs), str(out))


def view_command(logs: Path) -> list[str]:
    """Return the command that serves a folder of logs to a browser on this machine."""
    return ["inspect", "view", "--log-dir", str(logs)]


def open_viewer(logs: Path) -> None:
    """Serve a folder of logs by `inspect view` until it is interrupted."""
    subprocess.run([sys.executable, "-P", "-m", "inspect_ai", *view_command(logs)[1:]], check=False)  # noqa: S603


def _is_ours(file: Path) -> bool:
    """Tell whether a file holds samples of a benchmark."""
    task, _ = split_name(file)
    return any(holds(task, file, analysis) for analysis in analyses.ANALYSES)


def _write_log(file: Path, out: Path, force: bool) -> Path:
    from inspect_ai.log import condense_sample  # noqa: PLC0415  (an extra)

    named, date = split_name(file)
    task, results = show_controls(named), _describe_run(file, named)
    model = show_controls(str(results.get("model_name") or file.parent.name))
    key = hashlib.sha256(json.dumps([model, task, date]).encode()).hexdigest()[:22]
    target = out / f"{date}_{re.sub(r'[^A-Za-z0-9.]+', '-', task)}_{key}.eval"
    outcomes: Counter[str] = Counter()
    epochs: Counter[str] = Counter()
    summaries = []
    right = 0
    with (
        whole_file(target, force=force) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as log,
    ):
        samples = read_first_filter(file, _parse_whole)
        for number, _, sample in tqdm(samples, target.name, unit=" samples", disable=None):
            with naming_line(file, number):
                identity = show_controls(str(sample["doc"]["id"]))
                if len(identity) > LONGEST_ID:
                    raise ValueError(f"id must have at most {LONGEST_ID} characters")
                outcomes[str(sample["outcome"])] += 1
                right += bool(sample["acc"])
            epochs[identity] += 1
            made = condense_sample(_make_sample(sample, identity, epochs[identity], model))
            entry = f"samples/{identity}_epoch_{epochs[identity]}.json"
            log.writestr(entry, made.model_dump_json(exclude_none=True))
            summaries.append(made.summary().model_dump_json(exclude_none=True))
        log.writestr("summaries.json", f"[{','.join(summaries)}]")
        header = _make_header(
            {"task": task, "date": date, "results": results},
            {"model": model, "key": key, "ids": list(epochs), "epochs": max(epochs.values())},
            outcomes,
            right,
        )
        for entry, content in header.items():
            log.writestr(entry, content)
    return target


def _parse_whole(line: bytes) -> Any:
    """Return what a line of JSON holds; half a surrogate pair is no text that a log could hold."""
    sample = json.loads(line)
    if b"\\ud" in line:
        sample = json.loads(json.dumps(sample, ensure_ascii=False).encode("utf-8", "replace"))
    return sample


def _describe_run(file: Path, task: str) -> dict[str, Any]:
    """Return what lm-eval says of a run, without the results and the settings of other tasks."""
    results = read_results(file)
    kept = {name: held for name, held in results.items() if name != "results"}
    about = {task: members(members(results, "configs"), task)}
    return kept | {"configs": about} if results else {}


def _make_sample(sample: dict[str, Any], identity: str, epoch: int, name: str) -> Any:
    """Return lm-eval's sample as Inspect's, with nothing left out that a report reads."""
    from inspect_ai import log, model, scorer  # noqa: PLC0415  (an extra)

    puzzle = sample["doc"]
    prompt = str(puzzle.get("puzzle") or "")
    response = read_response(sample)
    counts = {key: _count(sample.get(key)) for key in ("prompt_tokens", "response_tokens")}
    answer = model.ChatMessageAssistant(content=response, id=f"{identity}-{epoch}")
    usage = model.ModelUsage(
        input_tokens=counts["prompt_tokens"] or 0,
        output_tokens=counts["response_tokens"] or 0,
        total_tokens=sum(count or 0 for count in counts.values()),
    )
    value, explanation = _explain(response, sample, counts)
    kept = {key: held for key, held in sample.items() if key not in TEXTS}
    kept |= {"arguments": _drop_prompts(sample.get("arguments"))}
    return log.EvalSample(
        id=identity,
        epoch=epoch,
        input=prompt,
        target=str(sample.get("target", puzzle.get("answer", ""))),
        messages=[model.ChatMessageUser(content=prompt, id=identity), answer],
        output=model.ModelOutput(
            model=name, choices=[model.ChatCompletionChoice(message=answer)], usage=usage
        ),
        scores={
            "outcome": scorer.Score(
                value=str(sample["outcome"]), answer=value, explanation=explanation, metadata=kept
            ),
            "acc": scorer.Score(value="C" if sample["acc"] else "I"),
        },
        metadata={key: held for key, held in puzzle.items() if key != "puzzle"},
        model_usage={name: usage},
        uuid=f"{identity}-{epoch}",
    )


def _explain(response: str, sample: Row, counts: Mapping[str, int | None]) -> tuple[str, str]:
    """Return the answer that was read, and in words why a response has its outcome."""
    result = score_again(response, sample["doc"], sample["outcome"], counts)
    if result is None:
        return "", ""
    evidence = f"\n\n“{response[slice(*result.evidence)]}”" if result.evidence else ""
    return str(result.value or ""), f"{result.explanation}{evidence}"


def _drop_prompts(arguments: Any) -> Any:
    """Return the arguments of a sample's requests without the prompts, which a log holds once."""
    if not isinstance(arguments, dict):
        return arguments
    return {
        name: {key: held for key, held in request.items() if key != "arg_0"}
        if isinstance(request, dict)
        else request
        for name, request in arguments.items()
    }


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**63 else None


def _make_header(
    lm_eval: dict[str, Any], about: dict[str, Any], outcomes: Counter[str], right: int
) -> dict[str, bytes]:
    """Return the entries of a log that stand beside its samples, as Inspect writes them."""
    from inspect_ai import log  # noqa: PLC0415  (an extra)
    from inspect_ai.viewer import ViewerConfig  # noqa: PLC0415

    total = outcomes.total()
    config = members(members(lm_eval["results"], "configs"), lm_eval["task"])
    shares = {
        name: log.EvalMetric(name=name, value=count / total) for name, count in outcomes.items()
    }
    scores = [
        log.EvalScore(
            name="acc",
            scorer="acc",
            metrics={"accuracy": log.EvalMetric(name="accuracy", value=right / total)},
        ),
        log.EvalScore(name="outcome", scorer="outcome", metrics=dict(sorted(shares.items()))),
    ]
    completed = to_utc(lm_eval["date"])
    spec = log.EvalSpec(
        created=completed,
        task=lm_eval["task"],
        task_id=about["key"],
        eval_id=about["key"],
        run_id=about["key"],
        task_version=str(members(config, "metadata").get("version", "")),
        dataset=log.EvalDataset(
            name=lm_eval["task"], samples=len(about["ids"]), sample_ids=about["ids"]
        ),
        model=about["model"],
        config=log.EvalConfig(epochs=about["epochs"]),
        # What a model wrote is shown as plain text.
        viewer=ViewerConfig(trust_content=False),
        metadata={OURS: lm_eval},
    )
    whole = log.EvalLog(
        status="success",
        eval=spec,
        results=log.EvalResults(total_samples=total, completed_samples=total, scores=scores),
        stats=log.EvalStats(
            started_at=_find_start(completed, lm_eval["results"]), completed_at=completed
        ),
        samples=[],
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "header.eval"
        log.write_eval_log(whole, file)
        with zipfile.ZipFile(file) as written:
            entries = ("_journal/start.json", "header.json")
            return {entry: written.read(entry) for entry in entries}


def _find_start(completed: str, results: Mapping[str, Any]) -> str:
    """Return when a run began, by the seconds that lm-eval counted; its end if it tells none."""
    try:
        seconds = float(results["total_evaluation_time_seconds"])
        return (datetime.fromisoformat(completed) - timedelta(seconds=seconds)).isoformat()
    except (LookupError, ValueError, TypeError, OverflowError):
        return completed
