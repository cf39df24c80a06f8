"""Stage 1: from the files that lm-eval writes to one row a response."""

import gzip
import io
import json
import logging
import math
import re
import unicodedata
import zlib
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from tqdm import tqdm

log = logging.getLogger(__name__)

OUTCOMES = (
    "correct_valid",
    "correct_poi",
    "correct_last_sentence",
    "wrong_max_context",
    "wrong_logic",
    "wrong_logic_poi",
    "wrong_logic_last_sentence",
    "wrong_other",
)
# The names that EvaluationTracker of lm-eval 0.4.13 gives: a date such as 2026-11-21T08-26-58.1.
SAMPLES_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(\.gz)?")
COLUMNS = ("id", "seed", "d", "N", "rho", "correct", "outcome", "prompt_tokens", "response_tokens")


def read_samples(
    path_or_paths: str | Path | Iterable[str | Path], *, all_runs: bool = False
) -> pd.DataFrame:
    """Read lm-eval's responses to CogniLoad into one frame, a row a response.

    A path is a results folder of lm-eval, whose models' folders are searched, or one
    `samples_*.jsonl`, gzipped or not. Of several runs of a task by a model the newest is kept,
    or every one with `all_runs`. Columns: model, task, date, generator_version, lm_eval_version,
    id, seed, d, N, rho (a fraction in (0, 1]), correct, outcome, prompt_tokens and
    response_tokens (NaN where unknown), and file and offset, by which `read_line` finds the
    texts. Raises FileNotFoundError for a path that isn't there, and ValueError when it holds no
    responses to CogniLoad or a line can't be read (file and line number are named).
    """
    paths = [path_or_paths] if isinstance(path_or_paths, str | Path) else list(path_or_paths)
    searched = ", ".join(map(str, paths)) or "no path"
    found = sorted({file.resolve() for path in paths for file in _find_samples(Path(path))})
    if not found:
        raise ValueError(
            f"no samples_TASK_DATE.jsonl in {searched}: run lm_eval with --output_path and "
            "--log_samples, and give the folder that it wrote"
        )
    runs = [describe_run(file) for file in found if _holds_cogniload(file)]
    if not runs:
        tasks = sorted({SAMPLES_NAME.fullmatch(file.name)["task"] for file in found})
        raise ValueError(
            f"no CogniLoad task in {searched}: the samples there are of {', '.join(tasks)}"
        )
    runs.sort(key=lambda run: (run["model"], run["task"], run["date"]))
    if not all_runs:
        newest = list({(run["model"], run["task"]): run for run in runs}.values())
        if len(newest) < len(runs):
            older = len(runs) - len(newest)
            log.warning("left out %d older runs of the same model and task (see all_runs)", older)
        runs = newest
    frame = pd.concat(
        [_read_run(run) for run in tqdm(runs, "reading", unit="file", disable=None)],
        ignore_index=True,
    )
    repeated = dict.fromkeys(["id", *runs[0]], "category")
    return frame.astype(repeated | {"outcome": pd.CategoricalDtype(OUTCOMES)})


def describe_run(file: Path) -> dict[str, str]:
    """Return what lm-eval says of the run behind a samples file: model, task, date, versions.

    The results file of the same folder and date says it; without one, the folder's name is the
    model's.
    """
    task, date = SAMPLES_NAME.fullmatch(file.name).group("task", "date")
    results = {}
    for candidate in file.parent.iterdir():
        if candidate.name.endswith((f"_{date}.json", f"_{date}.json.gz")):
            try:
                with _open(candidate) as content:
                    results = json.load(content)
            except (ValueError, EOFError, zlib.error, RecursionError) as error:
                raise ValueError(f"{candidate} is no results file of lm-eval: {error}") from error
    metadata = results.get("configs", {}).get(task, {}).get("metadata") or {}
    return {
        "model": show_controls(str(results.get("model_name") or file.parent.name)),
        "task": show_controls(task),
        "date": date,
        "generator_version": show_controls(str(metadata.get("version", ""))),
        "lm_eval_version": show_controls(str(results.get("lm_eval_version", ""))),
        "file": str(file),
    }


def read_line(file: str | Path, offset: int) -> dict:
    """Return the sample that begins at byte `offset` of a samples file, as lm-eval wrote it."""
    with _open(Path(file)) as lines:
        lines.seek(offset)
        return json.loads(lines.readline())


def show_controls(text: str) -> str:
    """Make characters visible that control, turn or break text, as in <U+202E>."""
    if text.isprintable():
        return text
    return "".join(
        f"<U+{ord(character):04X}>"
        if unicodedata.category(character) in {"Cc", "Cf", "Cs"} and character not in "\n\t"
        else character
        for character in text
    )


def _find_samples(path: Path) -> list[Path]:
    if not path.exists():
        raise FileNotFoundError(f"no such file or folder: {path}")
    files = [path] if path.is_file() else path.rglob("samples_*")
    return [file for file in files if SAMPLES_NAME.fullmatch(file.name)]


def _holds_cogniload(file: Path) -> bool:
    """Tell whether a samples file is CogniLoad's, by its task's name or by its first sample."""
    if file.name.startswith("samples_cogniload"):
        return True
    try:
        with _open(file) as lines:
            sample = json.loads(lines.readline())
        return "outcome" in sample and {"d", "N", "rho"} <= set(sample["doc"])
    except (ValueError, KeyError, TypeError, EOFError, OSError, zlib.error, RecursionError):
        return False


def _open(file: Path) -> io.BufferedIOBase:
    return gzip.open(file) if file.suffix == ".gz" else file.open("rb")


def _read_run(run: dict[str, str]) -> pd.DataFrame:
    """Read a samples file: the rows of its first filter, as lm-eval repeats them for each."""
    rows, offset, first_filter = [], 0, None
    try:
        with _open(Path(run["file"])) as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    sample = json.loads(line)
                    first_filter = first_filter or sample["filter"]
                    if sample["filter"] == first_filter:
                        rows.append((*_read_response(sample), offset))
                except (ValueError, KeyError, TypeError, RecursionError) as error:
                    cause = f"no field {error}" if isinstance(error, KeyError) else error
                    raise ValueError(f"{run['file']}, line {number}: {cause}") from error
                offset += len(line)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{run['file']} is no whole gzip file: {error}") from error
    if not rows:
        raise ValueError(f"{run['file']} holds no responses")
    return pd.DataFrame(rows, columns=[*COLUMNS, "offset"]).assign(**run)


def _read_response(sample: dict) -> tuple[str | int | float, ...]:
    puzzle, outcome = sample["doc"], sample["outcome"]
    d, N, rho = int(puzzle["d"]), int(puzzle["N"]), float(puzzle["rho"])
    if not (d >= 1 and N >= 1 and 0 < rho <= 100):
        raise ValueError(f"d and N must be 1 or more and rho in (0, 100], got {d}, {N} and {rho}")
    if outcome not in OUTCOMES:
        raise ValueError(f"outcome must be one of {', '.join(OUTCOMES)}, got {outcome!r}")
    correct = outcome.startswith("correct")
    if sample["acc"] != correct:
        raise ValueError(f"acc must agree with the outcome {outcome}, got {sample['acc']!r}")
    tokens = [
        math.nan if sample.get(count) is None else int(sample[count])
        for count in ("prompt_tokens", "response_tokens")
    ]
    identity = show_controls(str(puzzle["id"])), int(puzzle["seed"])
    return (*identity, d, N, rho / 100, correct, outcome, *tokens)
