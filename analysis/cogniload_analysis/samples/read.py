"""Stage 1: from the files that lm-eval writes to one row a response."""

import json
import logging
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import pandas as pd
from tqdm import tqdm

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.samples.columns import members, read_count, read_response
from cogniload_analysis.samples.files import (
    find_samples,
    locate,
    naming_line,
    number_lines,
    read_first_filter,
    read_results,
    split_name,
)
from cogniload_analysis.samples.inspect_logs import (
    count_log_samples,
    describe_log,
    find_logs,
    is_log,
)
from cogniload_analysis.samples.runs import (
    Run,
    describe_machine,
    drop_copies,
    name_puzzles,
    name_settings,
    name_views,
    read_limit,
    read_settings,
)
from cogniload_analysis.samples.stop_reasons import ENDINGS, read_ending
from cogniload_analysis.samples.unfinished import RUN_FILE, Going, is_going, read_going
from cogniload_gen.benchmark import Row
from cogniload_gen.credentials import hide_by_rule, names_credential
from cogniload_gen.files.inputs import show_controls

log = logging.getLogger(__name__)

COUNTS = ("prompt_tokens", "response_tokens")
DECODING_LENGTH = 120

OnePath = str | Path
Paths = OnePath | Iterable[OnePath] | Mapping[str, OnePath | Iterable[OnePath]]
"""A path, several, or labels with the path or the paths of each."""


def read_benchmarks(
    paths: Paths, among: Sequence[Analysis], *, text: bool = False
) -> dict[str, pd.DataFrame]:
    """Return a frame for each benchmark that the paths hold samples of, by its name.

    A path is a results folder of lm-eval, whose models' folders are searched, or one
    `samples_*.jsonl`, gzipped or not; or a log of Inspect, or a folder of logs. Of a folder in
    which `cogniload eval` is still going, the finished blocks are read. `paths` is one or several
    of them; or a mapping from labels to paths, whose runs are named by their label (by their model
    under the label ""). `among` are the analyses to choose from.

    A frame has a row a response. Runs of one model that differ in anything that decides their
    scores have names of their own, such as "org/model, temperature 0"; runs that differ in nothing
    are attempts at the same puzzles. Files that are copies of one another are read once. Columns:
    model (that name), setting (its part after the model or the label), task, date,
    generator_version, lm_eval_version, decoding (as lm-eval was told), until (the settings of the
    adaptive design that asked for the puzzles, as JSON), backend, precision, device, chat_template,
    output_limit ("" where unknown), interim ("" for a run that is done), copies (how many were left
    out), lost (how many samples ended with an error, and are left out), run (its number in the
    frame, from 1), id, seed, the benchmark's loads, attempt (from 1), correct, outcome,
    prompt_tokens, response_tokens and context_budget (NaN where unknown, as the seed), ending
    ("ended" by itself, cut at an "output limit", with the "window" full, or "unknown"), chance (1 /
    options; NaN without options), the benchmark's own facts, with `text` the response, and file and
    offset, by which `read_line` finds the texts. Raises FileNotFoundError for a path that isn't
    there, and ValueError for a label that is no name, when the paths hold no responses to the
    benchmarks, or when a line can't be read (file and line number are named).
    """
    labelled = label_paths(paths)
    searched = ", ".join(str(path) for _, path in labelled) or "no path"
    labels = _label_files(labelled)
    if not labels:
        raise ValueError(
            f"no samples_TASK_DATE.jsonl in {searched}: run lm_eval with --output_path and "
            "--log_samples, and give the folder that it wrote"
        )
    found = sorted(labels)
    runs = [run for file in found for run in describe_runs(file, labels[file])]
    by_name = {
        each.name: [run for run in runs if holds(run.task, run.parts[0], each)] for each in among
    }
    if not any(by_name.values()):
        tasks = sorted({run.task for run in runs}) or ["runs without a finished block"]
        raise ValueError(
            f"no {' or '.join(by_name)} task in {searched}: the samples there are of "
            f"{', '.join(tasks)}"
        )
    return {
        each.name: _read_runs(by_name[each.name], each, text)
        for each in among
        if by_name[each.name]
    }


def label_paths(paths: Paths) -> list[tuple[str, Path]]:
    """Return paths with their labels, "" for none; ValueError for a label that is no name."""
    if not isinstance(paths, Mapping):
        paths = {"": paths}
    for label in paths:
        if not isinstance(label, str) or "/" in label or label != " ".join(label.split()):
            raise ValueError(
                f"a label must be words in one line, without a slash; got {brief(label)}"
            )
    return [
        (str(label), Path(path))
        for label, under in paths.items()
        for path in ([under] if isinstance(under, str | Path) else under)
    ]


def describe_runs(file: Path, label: str = "") -> list[Run]:
    """Return the run behind a samples file; or those, a task each, of a run.json still going."""
    if file.name == RUN_FILE.name:
        return [
            _make_run(
                file,
                label,
                {"task": each.task, "date": "", "version": each.version},
                each.results,
                each.results["generation"],
                each,
            )
            for each in read_going(file)
        ]
    return [describe_run(file, label)]


def describe_run(file: Path, label: str = "") -> Run:
    """Return what lm-eval says of the run behind a samples file.

    The results file of the same folder and date says it. Without one, the folder's name is the
    model's, and nothing is known of the settings: runs of two such folders are kept apart. With a
    `label`, that is what its row is named by.
    """
    if is_log(file):
        task, date, results = describe_log(file)
    else:
        (task, date), results = split_name(file), read_results(file)
    config = members(members(results, "configs"), task)
    version = str(members(config, "metadata").get("version", ""))
    about = {"task": task, "date": date, "version": version}
    return _make_run(file, label, about, results, members(config, "generation_kwargs"))


def _make_run(
    file: Path,
    label: str,
    about: dict[str, str],
    results: dict[str, Any],
    generation: dict[str, Any],
    going: Going | None = None,
) -> Run:
    version, limit = show_controls(about["version"]), read_limit(generation)
    columns = {
        "model": show_controls(str(results.get("model_name") or file.parent.name)),
        "task": show_controls(about["task"]),
        "date": about["date"],
        "generator_version": version,
        "lm_eval_version": show_controls(str(results.get("lm_eval_version", ""))),
        "decoding": _describe_decoding(generation),
        "until": _describe_until(members(members(results, "config"), "until")),
        **describe_machine(results),
        "output_limit": limit,
        "interim": going.progress if going else "",
    }
    settings = read_settings(results, generation)
    if not results:
        settings["folder"] = f"in {show_controls(str(file.parent))}"
    own = {"output limit": f"output limit {limit}" if limit else "no output limit"}
    own |= {"version": f"version {version}"} if version else {}
    base = show_controls(label) or columns["model"]
    return Run(file, base, columns, settings, own, going.blocks if going else (file,))


def _label_files(labelled: Iterable[tuple[str, Path]]) -> dict[Path, str]:
    """Return the label of each samples file; ValueError for one that has two."""
    labels: dict[Path, str] = {}
    without: list[Path] = []
    for label, path in labelled:
        files = [*map(locate, _find_samples(path))]
        if not files:
            without.append(path)
        for file in files:
            other = labels.get(file, "")
            if label and other and other != label:
                raise ValueError(f"{file} must have one label, got {other!r} and {label!r}")
            labels[file] = other or label
    if labels and without:
        log.warning("no samples in %s", ", ".join(show_controls(str(path)) for path in without))
    return labels


def _find_samples(path: Path) -> list[Path]:
    files = find_samples(path)
    files += [run for run in path.rglob(str(RUN_FILE)) if is_going(run)]
    # A folder's logs may be copies of its samples: they are read where there are no samples.
    return files or find_logs(path)


def holds(task: str, file: Path, analysis: Analysis) -> bool:
    """Tell whether samples are of a benchmark, by their task's name or by the first one."""
    if task.startswith(analysis.tasks):
        return True
    try:
        sample = json.loads(next(number_lines(file))[1])
        return "outcome" in sample and analysis.owns(sample["doc"])
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OSError,
        RecursionError,
        StopIteration,
    ):
        return False


def _describe_decoding(settings: dict[str, Any]) -> str:
    """Say how a task's responses were decoded; stop strings and lengths go unsaid."""
    said = [
        f"{name} {value}"
        for name, value in settings.items()
        if name not in {"until", "max_gen_toks"} and not names_credential(name)
    ]
    text = hide_by_rule(", ".join(said))
    return show_controls(textwrap.shorten(text, DECODING_LENGTH, placeholder=" …"))


def _describe_until(settings: dict[str, Any]) -> str:
    """Return the settings of a run with `--until` as JSON; nothing if there are none."""
    return json.dumps(settings, sort_keys=True) if settings else ""


def _read_runs(found: Iterable[Run], analysis: Analysis, text: bool) -> pd.DataFrame:
    copies = drop_copies(found)
    if any(copies.values()):
        log.warning("left out files that are copies of another: %d", sum(copies.values()))
    about = zip(copies, name_settings(list(copies)), strict=True)
    in_order = sorted(about, key=lambda each: (each[0].base, each[1], each[0].task, each[0].date))
    runs, settings = zip(*in_order, strict=True)
    frames = [
        _read_run(run, analysis, text) for run in tqdm(runs, "reading", unit="file", disable=None)
    ]
    views = name_views([run.base for run in runs], frames, analysis.views)
    rows = [(run.base, run.task, *named) for run, *named in zip(runs, settings, views, strict=True)]
    puzzles = name_puzzles(rows, frames, analysis.loads)
    for run, frame, *named in zip(runs, frames, settings, views, puzzles, strict=True):
        named.append(run.columns["interim"])
        setting = "".join(f", {each}" for each in named if each)
        about_it = run.columns | {"model": run.base + setting, "setting": setting}
        for column, value in about_it.items():
            frame[column] = value
        frame["copies"], frame["run"] = copies[run], runs.index(run) + 1
        frame["lost"] = count_log_samples(run.file) - len(frame) if is_log(run.file) else 0
    if lost := sum(int(frame["lost"].iloc[0]) for frame in frames):
        log.warning("left out samples that ended with an error: %d", lost)
    whole = pd.concat(frames, ignore_index=True)
    types = dict.fromkeys(["id", "file", "setting", *runs[0].columns], "category")
    types |= {load.name: load.dtype for load in analysis.loads} | dict(analysis.facts)
    whole = whole.astype(
        types
        | {"outcome": pd.CategoricalDtype([each.value for each in analysis.outcomes])}
        | {"ending": pd.CategoricalDtype(list(ENDINGS))}
    )
    tried = whole.groupby(["model", "task", "id"], observed=True)
    return whole.assign(attempt=tried.cumcount() + 1)


def _read_run(run: Run, analysis: Analysis, text: bool) -> pd.DataFrame:
    """Read a run's samples: the rows of the first filter, as lm-eval repeats them for each."""
    rows = [row for file in run.parts for row in _read_file(file, analysis, text)]
    columns = [
        "id",
        "seed",
        *(load.name for load in analysis.loads),
        "correct",
        "outcome",
        *COUNTS,
        "context_budget",
        "ending",
        "chance",
        *analysis.facts,
        *(["response"] if text else []),
    ]
    return pd.DataFrame(rows, columns=[*columns, "file", "offset"])


def _read_file(file: Path, analysis: Analysis, text: bool) -> list[tuple[str | int | float, ...]]:
    rows: list[tuple[str | int | float, ...]] = []
    correct = {each.value: each.correct for each in analysis.outcomes}
    for number, offset, sample in read_first_filter(file):
        with naming_line(file, number):
            said = [read_response(sample)] if text else []
            row = _read_row(sample, analysis, correct)
        rows.append((*row, *said, str(file), offset))
    return rows


def _read_row(
    sample: dict[str, Any], analysis: Analysis, correct: dict[str, bool]
) -> tuple[str | int | float, ...]:
    """Return the values of a row; `correct` says which outcomes count as correct."""
    puzzle, outcome = sample["doc"], sample["outcome"]
    loads = analysis.read_loads(puzzle)
    if outcome not in correct:
        raise ValueError(f"outcome must be one of {', '.join(correct)}, got {brief(outcome)}")
    if sample["acc"] != correct[outcome]:
        raise ValueError(f"acc must agree with the outcome {outcome}, got {brief(sample['acc'])}")
    tokens = [read_count(sample, count) for count in COUNTS]
    identity = show_controls(str(puzzle["id"])), read_count(puzzle, "seed")
    budget = read_count(puzzle, "context_budget")
    ending = read_ending(sample, *tokens)
    facts = analysis.read_facts(sample)
    about = *tokens, budget, ending, read_chance(puzzle)
    return (*identity, *loads, correct[outcome], outcome, *about, *facts)


def read_chance(puzzle: Row) -> float:
    """Return the accuracy of a guess among a puzzle's options; NaN where it has none."""
    options = puzzle.get("options")
    return 1 / len(options) if isinstance(options, list) and options else math.nan
