"""Stage 1: from the files that lm-eval writes to one row a response."""

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import pandas as pd
from tqdm import tqdm

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.frame import read_count
from cogniload_analysis.samples.copies import count_repeats_once, digest, drop_copies
from cogniload_analysis.samples.runs import Run, describe_run, name_runs
from cogniload_analysis.samples.stop_reasons import CUT, ENDINGS, describe_ending
from cogniload_gen.answers import inspect_logs
from cogniload_gen.answers.files import find_samples, read_lines, read_samples, warn_once
from cogniload_gen.answers.sample import COUNTS, Sample
from cogniload_gen.benchmark import Row
from cogniload_gen.files import MALFORMED, naming, show_controls

log = logging.getLogger(__name__)

# The columns with the tokens that a response took.
_SPENT_TOKENS = ("spent_prompt_tokens", "spent_response_tokens")

OnePath = str | Path
Paths = OnePath | Iterable[OnePath] | Mapping[str, OnePath | Iterable[OnePath]]
"""A path, several, or labels with the path or the paths of each."""


def read_benchmarks(
    paths: Paths, among: Sequence[Analysis], *, text: bool = False, spoken: bool = False
) -> dict[str, pd.DataFrame]:
    """Return a frame for each benchmark that the paths hold samples of, by its name.

    A path is a results folder of lm-eval, whose models' folders are searched, or one
    `samples_*.jsonl`, gzipped or not; or a log of Inspect, or a folder of logs. `paths` is one
    or several of them; or a mapping from labels to paths, whose runs are named by their label (by
    their model under the label ""). `among` are the analyses to choose from.
    With `spoken`, paths may hold nothing but conversations.

    A frame has one row per response. Runs of one model that differ in anything that decides their
    scores have names of their own, such as "org/model, temperature 0"; runs that differ in nothing
    are attempts at the same puzzles. What copies of a file hold, or other results of the same run,
    counts once, and so do attempts if more than half repeat the text of an earlier one.

    Columns: model (that name), setting (its part after the model or the label), base_model (and its
    settings but those of effort, limits and decoding, in words), task, date, generator_version,
    lm_eval_version, decoding (in lm-eval's terms), prompting (what stands before a puzzle, "" for
    nothing), until (the settings of the adaptive design that chose the puzzles, as JSON), backend,
    precision, device, chat_template, output_limit ("" where unknown), interim ("" for a run that is
    done),
    lost (how many puzzles of the run have no answer, and are left out), run (its number in the
    frame, from 1), repeats (what the texts of attempts say of them, "" if nothing), id, seed,
    the benchmark's loads, attempt (from 1), correct, outcome, prompt_tokens,
    response_tokens and context_budget (NaN where unknown, as the seed),
    spent_prompt_tokens and spent_response_tokens (of an attempt of several its share),
    ending ("ended" by itself, "cut", "filtered", "empty" although nothing cut it, or "unknown"),
    cut_by (an "output limit" below the budget or the "window"; "" for others), acc (1 or 0),
    acc_uncut (NaN for a response that was cut), reasoning_hidden (why its reasoning can't be read;
    "" if it can), chance (1 / options; NaN without options), the benchmark's own facts, with `text`
    the response and its reasoning (None without), file and offset, by which `read_lines` finds the
    texts, take (which of a sample's attempts it is, from 0), said (a hash of the response and its
    reasoning; "" where there is none, or where it is hidden and nobody counted its tokens) and
    greedy (whether it was decoded at temperature 0). Raises FileNotFoundError for a
    path that isn't there, and ValueError for a label
    that is no name, when the paths hold no responses to the benchmarks, or when a line can't be
    read (file and line number are named).
    """
    labelled = label_paths(paths)
    searched = ", ".join(str(path) for _, path in labelled) or "no path"
    labels = _label_files(labelled)
    if not labels:
        begun = [path for _, path in labelled if any(path.rglob("state/run.json"))]
        hint = "run lm_eval with --output_path and --log_samples, and give the folder that it wrote"
        if begun:
            hint = "`cogniload eval --merge` writes them, with --output_path of what is answered"
        if any((path / "report.html").exists() for _, path in labelled):
            hint = "it holds a report, so give the folder of the run that the report is of"
        raise ValueError(f"no samples_TASK_DATE.jsonl in {searched}: {hint}")
    runs = [describe_run(file, labels[file]) for file in sorted(labels)]
    own = {each: [run for run in runs if holds(run.task, run.file, each)] for each in among}
    if not any(own.values()) and not spoken:
        titles = (one.title.partition(",")[0] for each in among for one in each.benchmarks)
        names = " or ".join(dict.fromkeys(titles))
        tasks = ", ".join(sorted({run.task for run in runs}))
        raise ValueError(f"no {names} task in {searched}: the samples there are of {tasks}")
    return {each.name: _read_runs(runs, each, text) for each, runs in own.items() if runs}


def read_conversations(paths: Paths, analysis: Analysis) -> list[dict[str, Any]]:
    """Return the conversations turn by turn in the logs that paths hold, scored.

    Each is what `score_replies` said of it, with its model, its puzzle's id and its history; of a
    compacted one this is the strategy. A model's name has what differs in how its conversations
    were made. Raises as `read_benchmarks`, but not where there are none.
    """
    found = []
    for file, label in sorted(_label_files(label_paths(paths)).items()):
        if not inspect_logs.is_log(file):
            continue
        run = describe_run(file, label)
        if run.task.startswith(analysis.tasks) and run.task.endswith("_turns"):
            for _, _, talk in inspect_logs.read_log(file, read=_read_conversation):
                found.append(talk | {"model": run.base})
    for name, shown in (("k", "k"), ("asks", "poi"), ("every", "every")):
        count = Counter(m for m, _ in {(t["model"], t[name]) for t in found if name in t})
        for each in found:
            if name in each and count[each["model"]] > 1:
                each["model"] += f", {shown} {each[name]}"
    return found


def _read_conversation(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was scored of a conversation; ValueError for columns that are none."""
    scores = [*held["scores"].values()] or [{"metadata": {}}]
    scored = scores[0]["metadata"]
    columns = [(scored, ["right", *["held"] * ("held" in scored)])]
    columns += [(each, ["age", "matter", "fresh", "kind"]) for each in scored.get("summaries", ())]
    for holder, names in columns:
        lists = [holder[name] for name in names]
        numbers = [number for each in lists[:3] for number in each]
        if len({*map(len, lists)}) > 1 or not all(type(n) in (int, type(None)) for n in numbers):
            raise ValueError(f"{', '.join(names)} must be lists of one length, of numbers")
    puzzle, history = held["id"].rpartition("/")[0], scored.get("strategy") or scored["history"]
    return scored | {"puzzle": show_controls(puzzle), "history": show_controls(history)}


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


def _label_files(labelled: Iterable[tuple[str, Path]]) -> dict[Path, str]:
    """Return the label of each samples file; ValueError for one that has two."""
    labels: dict[Path, str] = {}
    without: list[str] = []
    for label, path in labelled:
        files = find_samples(path)
        if not files:
            without.append(show_controls(str(path)))
        for file in files:
            other = labels.get(file, "")
            if label and other and other != label:
                raise ValueError(f"{file} must have one label, got {other!r} and {label!r}")
            labels[file] = other or label
    if labels and without:
        log.warning("no samples in %s", ", ".join(without))
    return labels


def holds(task: str, file: Path, analysis: Analysis) -> bool:
    """Tell whether samples are of a benchmark, by their task's name or by the first one.

    A conversation has no one response.
    """
    if task.startswith(analysis.tasks):
        return not task.endswith("_turns") and not task.startswith(analysis.others)
    try:
        _, _, sample = next(read_samples(file))
        return sample.outcome is not None and analysis.owns(sample.doc)
    except (*MALFORMED, OSError):
        return False


def _read_runs(runs: Sequence[Run], analysis: Analysis, text: bool) -> pd.DataFrame:
    shown = tqdm(runs, "reading", unit="file", disable=None)
    read = drop_copies((run, _read_run(run, analysis, text)) for run in shown)
    names = name_runs([run for run, _ in read], [frame for _, frame in read], analysis)
    named = ((name, *each) for name, each in zip(names, read, strict=True))
    ordered = sorted(
        named, key=lambda each: (each[1].base, each[0], each[1].task, each[1].columns["date"])
    )
    frames = []
    for number, (name, run, frame) in enumerate(ordered, start=1):
        setting = "".join(f", {each}" for each in (name, run.columns["interim"]) if each)
        about = run.columns | {"model": run.base + setting, "setting": setting}
        frames.append(frame.assign(**about, run=number))
    whole = pd.concat(frames, ignore_index=True)
    if lost := int(whole.groupby("run", observed=True)["lost"].first().sum()):
        log.warning("left out samples that ended with an error: %d", lost)
    texts = ["cut_by", "reasoning_hidden", "id", "file", "setting", *ordered[0][1].columns]
    types: dict[str, Any] = dict.fromkeys(texts, "category")
    types |= {load.name: load.dtype for load in analysis.loads}
    types["outcome"] = pd.CategoricalDtype([each.value for each in analysis.outcomes])
    types["ending"] = pd.CategoricalDtype([*ENDINGS])
    for group in analysis.facts:
        types |= {name: dtype for name, dtype in group.types.items() if dtype}
    whole = whole.astype(types)
    if text:  # pandas would have a NaN for none
        held = whole["reasoning"]
        whole["reasoning"] = held.astype(object).where(held.notna(), None)
    whole = count_repeats_once(whole)
    tried = whole.groupby(["model", "task", "id"], observed=True)
    return whole.assign(attempt=tried.cumcount() + 1)


def _read_run(run: Run, analysis: Analysis, text: bool) -> pd.DataFrame:
    """Return a row for each response of the run's first filter, and where its sample is."""
    rows, scored, documents = [], run.count("effective"), set()
    for where, offset, sample in read_samples(run.file):
        document = sample.document or str(offset)
        if scored is not None and sample.attempt is None and document in documents:
            warn_once(f"{run.file} holds other answers to the same documents: the first ones count")
            continue
        documents.add(document)
        with naming(where):
            for take, attempt in enumerate(sample.scored_attempts()):
                row = _read_row(attempt, analysis)
                greedy = attempt.is_greedy(run.results, run.generation)
                row |= {"said": digest(attempt), "greedy": greedy}
                if text:
                    row["reasoning"] = attempt.reasoning.text
                    row["response"] = attempt.apart.response
                rows.append(row | {"file": str(run.file), "offset": offset, "take": take})
    logged = inspect_logs.is_log(run.file)
    lost = inspect_logs.count_log_samples(run.file) - len(rows) if logged else run.lost
    if scored is not None and len(documents) not in (scored, scored - lost):
        warn_once(f"{run.file} holds {len(documents):,} of {scored:,} puzzles that were scored")
    return pd.DataFrame(rows).assign(lost=lost)


def _read_row(sample: Sample, analysis: Analysis) -> dict[str, Any]:
    puzzle, outcome = sample.doc, sample.outcome
    correct = _correct(analysis.outcomes)
    row = {"id": show_controls(sample.id), "seed": read_count(puzzle, "seed")}
    names = [load.name for load in analysis.loads]
    row |= zip(names, analysis.read_loads(puzzle), strict=True)
    if outcome is None or outcome not in correct:
        raise ValueError(f"outcome must be one of {', '.join(correct)}, got {brief(outcome)}")
    right = correct[outcome]
    row |= {"correct": right, "outcome": outcome, "acc": int(right)}
    row |= {name: read_count(sample.held, name) for name in COUNTS}
    row |= zip(_SPENT_TOKENS, sample.spent or (math.nan, math.nan), strict=True)
    row |= {"context_budget": read_count(puzzle, "context_budget")}
    row |= describe_ending(sample) | {"chance": read_chance(puzzle)}
    row |= {"acc_uncut": math.nan if row["ending"] == CUT else float(right)}
    row |= {"reasoning_hidden": sample.reasoning.hidden or ""}
    for group in analysis.facts:
        row |= zip(group.types, group.read(sample), strict=True)
    return row


@cache
def _correct(outcomes: Any) -> dict[str, bool]:
    """Return whether each of some outcomes is right, by its name."""
    return {each.value: each.correct for each in outcomes}


def read_rows(frame: pd.DataFrame) -> Iterator[tuple[Any, Sample]]:
    """Yield the sample of each row of a frame of `read_benchmarks`, with the row's index."""
    for file, rows in frame.groupby("file", observed=True):
        samples = read_lines(str(file), rows["offset"])
        for index, take, sample in zip(rows.index, rows["take"], samples, strict=True):
            yield index, sample.attempts()[take]


def read_chance(puzzle: Row) -> float:
    """Return the accuracy of a guess among a puzzle's options; NaN where it has none.

    Options of several attributes each begin with their attribute's name and a colon.
    """
    options = puzzle.get("options")
    if not isinstance(options, list) or not options:
        return math.nan
    counts = Counter(str(option).rpartition(": ")[0] for option in options)
    return 1 / math.prod(counts.values())
