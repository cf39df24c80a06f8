"""Stage 1: from the files that lm-eval writes to one row a response."""

import gzip
import io
import json
import logging
import math
import re
import reprlib
import textwrap
import unicodedata
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
FACTOR_OUTCOMES = ("correct", "wrong_set", "no_answer", "max_context")
# The names that EvaluationTracker of lm-eval 0.4.13 gives: a date such as 2026-11-21T08-26-58.1.
SAMPLES_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(\.gz)?")
COUNTS = ("prompt_tokens", "response_tokens")
# The suites of FACTOR with the column of their complexity, and the kinds of text around a puzzle.
FACTOR_SUITES = {"symbolic": "N", "realistic": "op"}
FACTOR_NOISES = ("none", "filler", "close", "general")
DECODING_LENGTH = 120
BROKEN_GZIP = (EOFError, zlib.error, gzip.BadGzipFile)


@dataclass(frozen=True)
class Benchmark:
    """How a benchmark's samples are told from others, and read.

    A samples file is the benchmark's if its name begins with one of `prefixes`, or if the first
    puzzle in it has the columns `marks`. `read_puzzle` returns the values of the columns `knobs`,
    and raises ValueError for one that is out of range.
    """

    name: str
    prefixes: tuple[str, ...]
    marks: frozenset[str]
    outcomes: tuple[str, ...]
    knobs: tuple[str, ...]
    read_puzzle: Callable[[dict], tuple]


def read_samples(
    path_or_paths: str | Path | Iterable[str | Path], *, all_runs: bool = False
) -> pd.DataFrame:
    """Read lm-eval's responses to CogniLoad into one frame, a row a response.

    A path is a results folder of lm-eval, whose models' folders are searched, or one
    `samples_*.jsonl`, gzipped or not. Of several runs of a task by a model the newest is kept,
    or every one with `all_runs`. Columns: model, task, date, generator_version, lm_eval_version,
    decoding (as lm-eval was told), id, seed, d, N, rho (a fraction in (0, 1]), correct, outcome,
    prompt_tokens, response_tokens and context_budget (NaN where unknown, as the seed), and file and
    offset, by which `read_line` finds the texts. Raises FileNotFoundError for a path that isn't
    there, and ValueError when it holds no responses to CogniLoad or a line can't be read (file and
    line number are named).
    """
    return read_benchmarks(path_or_paths, [COGNILOAD], all_runs=all_runs)[COGNILOAD.name]


def read_factor_samples(
    path_or_paths: str | Path | Iterable[str | Path], *, all_runs: bool = False
) -> pd.DataFrame:
    """Read lm-eval's responses to FACTOR into one frame, a row a response.

    As `read_samples`, with the columns suite ("symbolic" or "realistic"), N (the complexity: the
    number of variables, or in the realistic suite of operations, its `op`), context (tokens of
    filler, or in the realistic suite of the whole problem; 0 for none) and noise ("none", "close",
    "general", or the symbolic suite's "filler") instead of d, N and rho. Puzzles that were answered
    several times, with `all_runs`, have a row an answer.
    """
    return read_benchmarks(path_or_paths, [FACTOR], all_runs=all_runs)[FACTOR.name]


def read_benchmarks(
    path_or_paths: str | Path | Iterable[str | Path],
    benchmarks: Iterable[Benchmark] | None = None,
    *,
    all_runs: bool = False,
) -> dict[str, pd.DataFrame]:
    """Return a frame for each of `benchmarks` that the paths hold samples of, by its name.

    All benchmarks unless some are given; otherwise as `read_samples`.
    """
    benchmarks = [COGNILOAD, FACTOR] if benchmarks is None else list(benchmarks)
    paths = [path_or_paths] if isinstance(path_or_paths, str | Path) else list(path_or_paths)
    searched = ", ".join(map(str, paths)) or "no path"
    found = sorted({file.resolve() for path in paths for file in _find_samples(Path(path))})
    if not found:
        raise ValueError(
            f"no samples_TASK_DATE.jsonl in {searched}: run lm_eval with --output_path and "
            "--log_samples, and give the folder that it wrote"
        )
    files = {each.name: [file for file in found if _holds(file, each)] for each in benchmarks}
    if not any(files.values()):
        tasks = sorted({SAMPLES_NAME.fullmatch(file.name)["task"] for file in found})
        raise ValueError(
            f"no {' or '.join(files)} task in {searched}: the samples there are of "
            f"{', '.join(tasks)}"
        )
    return {
        each.name: _read_runs(files[each.name], each, all_runs)
        for each in benchmarks
        if files[each.name]
    }


def describe_run(file: Path) -> dict[str, str]:
    """Return what lm-eval says of the run behind a samples file: model, task, date, versions.

    The results file of the same folder and date says it; without one, the folder's name is the
    model's.
    """
    task, date = SAMPLES_NAME.fullmatch(file.name).group("task", "date")
    results = {}
    for candidate in file.parent.iterdir():
        if candidate.name.endswith((f"_{date}.json", f"_{date}.json.gz")):
            results = _read_results(candidate)
    config = _members(_members(results, "configs"), task)
    metadata = _members(config, "metadata")
    return {
        "model": show_controls(str(results.get("model_name") or file.parent.name)),
        "task": show_controls(task),
        "date": date,
        "generator_version": show_controls(str(metadata.get("version", ""))),
        "lm_eval_version": show_controls(str(results.get("lm_eval_version", ""))),
        "decoding": _describe_decoding(_members(config, "generation_kwargs")),
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


def _holds(file: Path, benchmark: Benchmark) -> bool:
    """Tell whether a samples file is a benchmark's, by its task's name or by its first sample."""
    if file.name.startswith(benchmark.prefixes):
        return True
    try:
        with _open(file) as lines:
            sample = json.loads(lines.readline())
        return "outcome" in sample and benchmark.marks <= set(sample["doc"])
    except (ValueError, KeyError, TypeError, OSError, *BROKEN_GZIP, RecursionError):
        return False


def _open(file: Path) -> io.BufferedIOBase:
    return gzip.open(file) if file.suffix == ".gz" else file.open("rb")


def _read_results(file: Path) -> dict:
    try:
        with _open(file) as content:
            results = json.load(content)
    except (ValueError, *BROKEN_GZIP, RecursionError) as error:
        raise ValueError(f"{file} is no results file of lm-eval: {error}") from error
    if not isinstance(results, dict):
        raise ValueError(
            f"{file} is no results file of lm-eval: it must hold an object, "
            f"got {reprlib.repr(results)}"
        )
    return results


def _members(holder: dict, name: str) -> dict:
    """The object of a name in a results file; empty where something else stands, or nothing."""
    found = holder.get(name)
    return found if isinstance(found, dict) else {}


def _describe_decoding(settings: dict) -> str:
    """Say how a task's responses were decoded; stop strings and lengths go unsaid."""
    said = [
        f"{name} {value}"
        for name, value in settings.items()
        if name not in {"until", "max_gen_toks"}
    ]
    return show_controls(textwrap.shorten(", ".join(said), DECODING_LENGTH, placeholder=" …"))


def _read_runs(files: Iterable[Path], benchmark: Benchmark, all_runs: bool) -> pd.DataFrame:
    runs = [describe_run(file) for file in files]
    runs.sort(key=lambda run: (run["model"], run["task"], run["date"]))
    if not all_runs:
        newest = list({(run["model"], run["task"]): run for run in runs}.values())
        if len(newest) < len(runs):
            older = len(runs) - len(newest)
            log.warning("left out older runs of the same model and task (see all_runs): %d", older)
        runs = newest
    frame = pd.concat(
        [_read_run(run, benchmark) for run in tqdm(runs, "reading", unit="file", disable=None)],
        ignore_index=True,
    )
    repeated = dict.fromkeys(["id", *runs[0], *{"suite", "noise"} & set(frame)], "category")
    return frame.astype(repeated | {"outcome": pd.CategoricalDtype(benchmark.outcomes)})


def _read_run(run: dict[str, str], benchmark: Benchmark) -> pd.DataFrame:
    """Read a samples file: the rows of its first filter, as lm-eval repeats them for each."""
    rows, offset, first_filter = [], 0, None
    try:
        with _open(Path(run["file"])) as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    sample = json.loads(line)
                    first_filter = first_filter or sample["filter"]
                    if sample["filter"] == first_filter:
                        rows.append((*_read_response(sample, benchmark), offset))
                except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
                    cause = f"no field {error}" if isinstance(error, KeyError) else error
                    raise ValueError(f"{run['file']}, line {number}: {cause}") from error
                offset += len(line)
    except BROKEN_GZIP as error:
        raise ValueError(f"{run['file']} is no whole gzip file: {error}") from error
    if not rows:
        raise ValueError(f"{run['file']} holds no responses")
    columns = ["id", "seed", *benchmark.knobs, "correct", "outcome", *COUNTS, "context_budget"]
    return pd.DataFrame(rows, columns=[*columns, "offset"]).assign(**run)


def _read_response(sample: dict, benchmark: Benchmark) -> tuple[str | int | float, ...]:
    puzzle, outcome = sample["doc"], sample["outcome"]
    knobs = benchmark.read_puzzle(puzzle)
    if outcome not in benchmark.outcomes:
        allowed = ", ".join(benchmark.outcomes)
        raise ValueError(f"outcome must be one of {allowed}, got {reprlib.repr(outcome)}")
    correct = outcome.startswith("correct")
    if sample["acc"] != correct:
        raise ValueError(
            f"acc must agree with the outcome {outcome}, got {reprlib.repr(sample['acc'])}"
        )
    tokens = [_read_count(sample, count) for count in COUNTS]
    identity = show_controls(str(puzzle["id"])), _read_count(puzzle, "seed")
    return (*identity, *knobs, correct, outcome, *tokens, _read_count(puzzle, "context_budget"))


def _read_count(holder: dict, name: str) -> int | float:
    return math.nan if holder.get(name) is None else _read_integer(holder, name)


def _read_integer(holder: dict, name: str) -> int:
    value = holder[name]
    sound = isinstance(value, int | float) and -(2**63) <= value < 2**63 and value == int(value)
    if not sound:
        raise ValueError(f"{name} must be an integer of 64 bits, got {reprlib.repr(value)}")
    return int(value)


def _read_cogniload(puzzle: dict) -> tuple[int, int, float]:
    d, N, rho = _read_integer(puzzle, "d"), _read_integer(puzzle, "N"), float(puzzle["rho"])
    if not (d >= 1 and N >= 1 and 0 < rho <= 100):
        raise ValueError(f"d and N must be 1 or more and rho in (0, 100], got {d}, {N} and {rho}")
    return d, N, rho / 100


def _read_factor(puzzle: dict) -> tuple[str, int, int, str]:
    suite = puzzle["suite"]
    if suite not in FACTOR_SUITES:
        allowed = " or ".join(FACTOR_SUITES)
        raise ValueError(f"suite must be {allowed}, got {reprlib.repr(suite)}")
    N, context = (_read_integer(puzzle, name) for name in (FACTOR_SUITES[suite], "context"))
    if not (N >= 1 and context >= 0):
        raise ValueError(f"N or op must be 1 or more and context 0 or more, got {N} and {context}")
    noise = puzzle["noise"] if suite == "realistic" else "filler" if context else "none"
    if noise not in FACTOR_NOISES:
        raise ValueError(
            f"noise must be one of {', '.join(FACTOR_NOISES)}, got {reprlib.repr(noise)}"
        )
    return suite, N, context, noise


COGNILOAD = Benchmark(
    name="CogniLoad",
    prefixes=("samples_cogniload",),
    marks=frozenset({"d", "N", "rho"}),
    outcomes=OUTCOMES,
    knobs=("d", "N", "rho"),
    read_puzzle=_read_cogniload,
)
FACTOR = Benchmark(
    name="FACTOR",
    prefixes=("samples_factor_symbolic", "samples_factor_realistic"),
    marks=frozenset({"suite", "context"}),
    outcomes=FACTOR_OUTCOMES,
    knobs=("suite", "N", "context", "noise"),
    read_puzzle=_read_factor,
)
