"""Inspect's log files, read as lm-eval's samples are.

`inspect_ai.log` is not used: a report reads logs where Inspect is not installed, and a log is
untrusted, so that each of its parts has a bound on its size, which Inspect's own reader lacks.
"""

import importlib
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from reprlib import repr as brief
from typing import Any, BinaryIO, cast

from cogniload_gen.extras import how_to_install
from cogniload_gen.files.inputs import LARGEST, MALFORMED, read_stream, read_whole
from cogniload_gen.words import read_words

LOG_NAME = re.compile(r".+\.eval|\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d.*\.json", re.DOTALL)
"""How Inspect names its logs: zip files, or JSON that begins with a date."""

OURS = "lm_eval"
"""The field of a log's metadata in which `cogniload view` keeps what lm-eval says of the run."""

ATTACHMENT = "attachment://"
ZSTANDARD = 93
"""The number of a compression that Inspect's newer logs have and Python before 3.14 has not."""

LARGEST_LOG, LARGEST_HEADER, MOST_VALUES = 1 << 30, 1 << 24, 1 << 25
"""Bytes of a log in JSON, and of another's header, which names every sample and may take 24 times
as many once parsed; values of the former, which take some 70 bytes each."""

Read = Callable[[], Any]

BROKEN = (*MALFORMED, NotImplementedError, OSError, zipfile.BadZipFile)


def is_log(file: Path) -> bool:
    """Tell by its name whether a file is a log of Inspect."""
    return LOG_NAME.fullmatch(file.name) is not None


def find_logs(path: Path) -> list[Path]:
    """Return the logs of Inspect that a path is, or that its folders hold."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return [file for file in files if is_log(file) and file.is_file()]


def describe_log(file: Path) -> tuple[str, str, dict[str, Any]]:
    """Return the task and the date of a log, and what lm-eval's results file would say of the run.

    Logs that `cogniload view` wrote hold that file's content. Of others it is made from the model,
    its arguments and its settings for generation. Raises ValueError for a file that is no log.
    """
    try:
        with _open_log(file) as (read_header, _):
            header = read_header()
        spec = header["eval"]
        written = spec.get("metadata") or {}
        ours = written.get(OURS)
        if ours:
            return str(ours["task"]), str(ours["date"]), dict(ours["results"])
        task = str(spec["task"]).rpartition("/")[2].replace("-", "_")
        # The model's own settings for generation, then those of the task and of the command.
        plan = (header.get("plan") or {}).get("config") or {}
        generation = {**(spec.get("model_generate_config") or {}), **plan}
        how_fast = read_words("cogniload_analysis", "settings")["how_fast_in_inspect"]
        settings = {name: value for name, value in generation.items() if name not in how_fast}
        if "max_tokens" in settings:
            settings["max_gen_toks"] = settings.pop("max_tokens")
        about = {"version": str(spec.get("task_version") or "")}
        config = {"model": "inspect", "model_args": spec.get("model_args") or {}}
        config |= {"until": written["until"]} if "until" in written else {}
        results = {
            "model_name": str(spec["model"]),
            "config": config,
            "configs": {task: {"generation_kwargs": settings, "metadata": about}},
        }
        return task, str(spec["created"]), results
    except BROKEN as error:
        raise ValueError(f"{file} is no log of Inspect: {say_cause(error)}") from error


def read_log_lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each sample of a log as a line of lm-eval's samples, with its place in the log.

    A `.eval` file is read sample by sample. Samples that ended with an error, and so without a
    score, are left out. Raises ValueError where a sample can't be read.
    """
    for place, sample in _read_samples(file, None):
        yield place, json.dumps(sample).encode()


def count_log_samples(file: Path) -> int:
    """Return how many samples a log holds, those that ended with an error too."""
    with _open_log(file) as (_, samples):
        return len(samples)


def read_log_samples(file: Path, places: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Yield the samples at some places of a log, in the form of lm-eval's."""
    for _, sample in _read_samples(file, places):
        yield sample


def _read_samples(file: Path, places: Iterable[int] | None) -> Iterator[tuple[int, dict[str, Any]]]:
    place = 0
    try:
        with _open_log(file) as (_, samples):
            for place in range(len(samples)) if places is None else places:
                sample = samples[place]()
                if places is not None or not _is_lost(sample):
                    yield place, _translate(sample)
    except BROKEN as error:
        raise ValueError(f"{file}, sample {place + 1}: {say_cause(error)}") from error


@contextmanager
def _open_log(file: Path) -> Iterator[tuple[Read, list[Read]]]:
    """Yield the function that reads a log's header, and those that read its samples."""
    if file.suffix == ".json":
        content = read_whole(file, LARGEST_LOG)
        if sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
            raise ValueError(f"it must have at most {MOST_VALUES:,} values")
        whole = json.loads(content)
        yield lambda: whole, [partial(dict, sample) for sample in whole["samples"] or []]
        return
    with zipfile.ZipFile(file) as log:
        names = dict.fromkeys(log.namelist())  # the last of an entry that was written again holds
        # A log that is still being written has no header yet.
        header = "header.json" if "header.json" in names else "_journal/start.json"
        samples = [name for name in names if name.startswith("samples/")]
        yield (
            partial(_read_entry, log, header, LARGEST_HEADER),
            [partial(_read_entry, log, name) for name in samples],
        )


def _is_lost(held: dict[str, Any]) -> bool:
    """Tell whether a sample ended with an error before it was scored."""
    return bool(held.get("error")) and not held.get("scores")


def _read_entry(log: zipfile.ZipFile, name: str, largest: int = LARGEST) -> Any:
    """Return what an entry of a log holds; ValueError if it is large or can't be unpacked."""
    if log.getinfo(name).compress_type == ZSTANDARD:
        try:
            importlib.import_module("zipfile_zstd")  # it adds to zipfile, and comes with Inspect
        except ImportError as error:
            raise ValueError(f"it is packed by Zstandard: {how_to_install('inspect')}") from error
    try:
        with log.open(name) as entry:
            content = read_stream(cast(BinaryIO, entry), name, largest)
    except BROKEN:
        raise
    except Exception as error:  # each compression has errors of its own
        raise ValueError(f"{name} can't be unpacked: {error}") from error
    return json.loads(content)


def _translate(held: dict[str, Any]) -> dict[str, Any]:
    """Return a sample of Inspect in the form of lm-eval's samples."""
    attachments = held.get("attachments") or {}
    output = held.get("output") or {}
    choices = output.get("choices") or [{"message": {"content": ""}}]
    response = _join(choices[0]["message"]["content"], attachments)
    usage = output.get("usage") or {}
    score = _find_score(held)
    prompt = held.get("input")
    if isinstance(prompt, list):
        contents = [message.get("content") for message in prompt]
        prompt = [part for content in contents for part in [{"text": "\n\n"}, *_parts(content)]][1:]
    puzzle = {"id": held.get("id"), "answer": held.get("target")}
    puzzle |= {"puzzle": _join(prompt, attachments)} | (held.get("metadata") or {})
    return {
        "filter": "none",
        "acc": _read_accuracy(score),
        "prompt_tokens": usage.get("input_tokens"),
        "response_tokens": usage.get("output_tokens"),
        "resps": [[response]],
        "filtered_resps": [response],
        **score["metadata"],
        "doc": puzzle,
    }


def _find_score(held: dict[str, Any]) -> dict[str, Any]:
    """Return the score of a sample whose metadata holds an outcome; ValueError without one."""
    scores = held.get("scores") or {}
    for score in scores.values():
        if "outcome" in (score.get("metadata") or {}):
            return dict(score)
    raise ValueError(f"the metadata of a score must hold an outcome, got {brief(list(scores))}")


def _read_accuracy(score: dict[str, Any]) -> float:
    """Return 1 for a score that says correct and 0 for another, as Inspect's accuracy does."""
    value = score.get("value")
    if isinstance(value, int | float):
        return float(value)
    outcome = str(score["metadata"]["outcome"])
    return float(value == "C" if value in ("C", "I") else outcome.startswith("correct"))


def _join(content: Any, attachments: dict[str, str]) -> str:
    """Return the text of a message's content, whose long parts a log keeps as attachments.

    ValueError for a long one: each of its parts may repeat the same attachment.
    """
    texts = [text for part in _parts(content) if isinstance(text := part.get("text"), str)]
    whole = [attachments.get(text.removeprefix(ATTACHMENT), text) for text in texts]
    if sum(map(len, whole)) > LARGEST:
        raise ValueError(f"a text must have at most {LARGEST} characters")
    return "".join(whole)


def _parts(content: Any) -> list[dict[str, Any]]:
    return content if isinstance(content, list) else [{"text": content}]


def say_cause(error: Exception) -> str:
    """Return what is wrong with a sample, from the error of reading it."""
    return f"no field {error}" if isinstance(error, KeyError) else str(error)
