"""Responses at hand -> their scores and first errors, without running the model.

They come from lm-eval's samples_*.jsonl (`rescore`), or from tables of responses to the puzzles of
a dataset (`score_responses`). What is written is a samples file that `cogniload report` reads.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import chain, islice
from math import isfinite, isnan
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tqdm import tqdm

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import OutcomeName, Row, Score
from cogniload_gen.files import MALFORMED, read_objects, whole_file
from cogniload_gen.sample import COUNTS, SPENT, score_metrics, step_metrics
from cogniload_gen.tables import BATCH_ROWS, StoredPuzzles, find_tables, read_rows
from lm_eval_tasks.metrics import split_failure

Sample = dict[str, Any]
"""A response as lm-eval's samples hold it: `doc`, `resps`, `filtered_resps`, `arguments`, ..."""

Judged = TypeVar("Judged")

LIMITS = ("max_gen_toks", "max_tokens", "max_new_tokens", "max_completion_tokens")
"""The names of the limit of a response, in tokens, that requests have."""

COLUMNS = ("id", "response", *COUNTS, "response_limit", "finish_reason")
"""What is read of a table of responses; the first two it must have."""

NAME = re.compile(r"samples_.+_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*\.jsonl(\.gz)?")
"""How a samples file must be named for a report to find it."""


class Scored(NamedTuple):
    """What became of some responses.

    Attributes:
        outcomes: How many responses have each outcome.
        errors: How many have each first error, "none" or "not read"; empty if no steps were read.
        changed: How many outcomes differ from those that the samples file held.
        missing: How many puzzles of the dataset have no response.
        out: The file that was written; None for none.
    """

    outcomes: Counter[OutcomeName]
    errors: Counter[str]
    changed: int = 0
    missing: int = 0
    out: Path | None = None


def rescore(
    path: Path, out: Path | str | None = None, *, steps: bool = False, force: bool = False
) -> Scored:
    """Score the responses of a samples file of lm-eval, gzipped or not, again.

    Of samples that stand there once for each filter, the first filter's are taken. Of several
    attempts at a puzzle each is scored, and written as a sample of its own; only the first has the
    counts of tokens and the finish reason. With `out`, a file that ends in .jsonl or a folder for
    one, the samples with their outcomes and first errors are written, whole or not at all; without
    it, `steps` reads first errors too.

    Raises ValueError that names the line which is no sample of ours, and FileExistsError if the
    file to write exists, unless `force`.
    """
    attempts = (attempt for _, some in read_samples(path, _attempts) for attempt in some)
    return _score(attempts, path.name, out, steps=steps, force=force)


def score_responses(
    dataset: Path,
    responses: Sequence[Path],
    out: Path | str | None = None,
    *,
    steps: bool = False,
    force: bool = False,
) -> Scored:
    """Score tables of responses to the puzzles of a dataset.

    `dataset` is a file of puzzles, or a folder with Parquet files of them; `responses` are tables
    (.parquet, .jsonl, .csv) with COLUMNS, or folders of tables. Counts that are no numbers of
    tokens are unknown. `out`, `steps` and `force` are as `rescore` takes them. Raises ValueError
    for ids that are no puzzle's or that two responses have, and for what can't be read.
    """
    puzzles = StoredPuzzles(dataset, texts=steps or out is not None)
    files = [file for path in responses for file in find_tables(path)]
    rows = (row for file in files for row in read_rows(file, COLUMNS))
    samples = _match(puzzles, rows)
    first = next(samples, None)
    if first is None:
        raise ValueError(f"{files[0]} must hold at least one response, got none")
    shown = tqdm(chain([first], samples), total=len(puzzles), unit=" responses", disable=None)
    scored = _score(iter(shown), "", out, steps=steps, force=force)
    return scored._replace(missing=len(puzzles) - scored.outcomes.total())


def read_samples(path: Path, judge: Callable[[Sample], Judged]) -> Iterator[tuple[Sample, Judged]]:
    """Yield the samples of a file's first filter, each with what `judge` says of it.

    ValueError names a line that is no sample, or a file without one.
    """
    first: list[object] = []
    for where, sample in read_objects(path):
        first = first or [sample.get("filter")]
        if sample.get("filter", first[0]) == first[0]:
            try:
                judged = judge(sample)
            except MALFORMED as error:
                cause = f"{type(error).__name__}: {error}"
                raise ValueError(f"{where} must be a sample of a task of ours: {cause}") from None
            yield sample, judged
    if not first:
        raise ValueError(f"{path} must hold at least one sample, got an empty file")


def score_sample(sample: Mapping[str, Any]) -> Score:
    """Return the score of a sample's response, with the tokens and the budget that it had.

    The budget is the prompt and the limit of the response; of its document where the sample does
    not say both. Where a count is unknown, a response that was cut off by its outcome still is.
    """
    doc = sample["doc"]
    outcomes: Any = benchmarks.of(doc).outcomes
    prompt, response = (_count(sample.get(name)) for name in COUNTS)
    limit = _request_limit(sample)
    budget = _count(doc.get("context_budget"))
    if prompt is not None and limit is not None:
        budget = prompt + limit
    cut = {outcome.value for outcome in outcomes if outcome.cut}
    if None in (prompt, response, limit) and sample.get("outcome") in cut:
        prompt, response, budget = 0, 1, 1
    counts = {"prompt_tokens": prompt, "response_tokens": response, "context_budget": budget}
    return benchmarks.score(_responses(sample)[0], doc, **counts)


def _score(
    samples: Iterator[Sample], name: str, out: Path | str | None, *, steps: bool, force: bool
) -> Scored:
    """Score samples, and write them to `out`, in a folder under the name of a samples file."""
    outcomes: Counter[OutcomeName] = Counter()
    errors: Counter[str] = Counter()
    changed, target, file = 0, None, None
    with ExitStack() as stack:
        for sample in samples:
            if out is not None and file is None:
                target = _name_target(Path(out), name, sample)
                target.parent.mkdir(parents=True, exist_ok=True)
                part = stack.enter_context(whole_file(target, force=force))
                file = stack.enter_context(part.open("w", encoding="utf-8"))
            scored = score_sample(sample)
            outcomes[scored.outcome] += 1
            changed += sample.get("outcome") not in (None, scored.outcome.value)
            if file or steps:
                read = step_metrics(_responses(sample)[0], sample["doc"])
                if facts := read.get("steps_read"):
                    errors[(facts["error"] or "none") if facts["read"] else "not read"] += 1
            if file:
                failure = split_failure(sample["doc"], int(scored.correct))
                metrics = score_metrics(scored) | read | failure
                file.write(json.dumps(_replace_metrics(sample, metrics)) + "\n")
    return Scored(outcomes, errors, changed, out=target)


def _name_target(out: Path, name: str, sample: Sample) -> Path:
    if out.suffix == ".jsonl":
        return out
    if not NAME.fullmatch(name):
        task = benchmarks.of(sample["doc"]).name.replace("-", "_")
        name = f"samples_{task}_{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}.jsonl"
    return out / name.removesuffix(".gz")


def _replace_metrics(sample: Sample, metrics: dict[str, Any]) -> Sample:
    """Return a sample with other metrics, all named in its `metrics`.

    What lm-eval's aggregations fit is left out: those metrics are lists that hold the old score.
    """
    listed = sample.get("metrics")
    named = dict.fromkeys([*map(str, listed if isinstance(listed, list) else ()), *metrics])
    fitted = {name for name in named if isinstance(sample.get(name), list)} - metrics.keys()
    kept = {name: value for name, value in sample.items() if name not in fitted}
    replaced = {"filter": "none"} | kept | metrics
    return replaced | {"metrics": [name for name in named if name in replaced]}


# --- Samples of lm-eval ----------------------------------------------------------------------


def _attempts(sample: Sample) -> list[Sample]:
    """Return a sample for each attempt at its puzzle, without counts that are unknown."""
    score_sample(sample)  # raises for what is no sample
    counts = {name: _count(sample[name]) for name in (*COUNTS, SPENT) if name in sample}
    known = {name: count for name, count in counts.items() if count is not None}
    sample = {name: value for name, value in sample.items() if name not in counts} | known
    first, *others = _responses(sample)
    if not others:
        return [sample]
    of_first = ("response_tokens", SPENT, "finish_reason", "outcome")
    shared = {name: value for name, value in sample.items() if name not in of_first}
    alone = {name: sample[name] for name in of_first if name in sample and name != SPENT}
    return [
        shared | {"resps": [[response]], "filtered_resps": [response]} | facts
        for response, facts in [(first, alone), *((other, {}) for other in others)]
    ]


def _responses(sample: Mapping[str, Any]) -> list[str]:
    """Return the responses of a sample, one for each attempt; a missing one is empty."""
    if not {"filtered_resps", "resps"} & sample.keys():
        raise KeyError("filtered_resps")
    kept, raw = (_first(sample.get(name)) for name in ("filtered_resps", "resps"))
    attempts = raw if isinstance(raw, list) else [raw]
    if isinstance(kept, list):
        attempts = kept
    elif kept is not None and kept not in attempts[:1]:  # a filter made something else of them
        attempts = [kept]
    return [_text(response) for response in attempts or [None]]


def _first(values: Any) -> Any:
    return (values[0] if values else None) if isinstance(values, list) else values


def _request_limit(sample: Mapping[str, Any]) -> int | None:
    """Return the limit of a sample's response, in tokens; None where its request says none.

    Older versions of lm-eval write requests as lists, newer ones as mappings.
    """
    for request in _members(sample.get("arguments")):
        for settings in _members(request):
            if isinstance(settings, Mapping):
                limits = [_count(settings.get(name)) for name in LIMITS]
                return next((limit for limit in limits if limit), None)
    return None


def _members(values: Any) -> list[Any]:
    if isinstance(values, Mapping):
        return list(values.values())
    return list(values) if isinstance(values, list) else []


def _count(value: Any) -> int | None:
    """Return a number of tokens, also one that is written as 12.0 or "12"; None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return int(number) if isfinite(number) and number >= 0 and number == int(number) else None


def _text(value: Any) -> str:
    """Return a text, or what else a cell holds as one; NaN, as of pandas, and None are empty."""
    return "" if value is None or (isinstance(value, float) and isnan(value)) else str(value)


# --- Tables of responses ---------------------------------------------------------------------


def _match(puzzles: StoredPuzzles, rows: Iterator[tuple[str, dict[str, Any]]]) -> Iterator[Sample]:
    """Yield responses as samples of lm-eval, without metrics."""
    answered: set[int] = set()
    while batch := list(islice(rows, BATCH_ROWS)):
        for where, row in batch:
            if not {"id", "response"} <= row.keys():
                raise ValueError(f"{where} must have id and response, got {', '.join(row)}")
        positions = puzzles.positions([str(row["id"]) for _, row in batch])
        for (where, row), position in zip(batch, positions, strict=True):
            if position is None or position in answered:
                owner = "another response" if position in answered else "no puzzle"
                raise ValueError(f"{where}: {owner} in {puzzles.path} has the id {row['id']!r}")
            answered.add(position)
        docs = puzzles.rows([position for position in positions if position is not None])
        for (_, row), position, doc in zip(batch, positions, docs, strict=True):
            yield _make_sample(row, doc, position)


def _make_sample(row: Mapping[str, Any], doc: Row, position: int | None) -> Sample:
    response, reason = _text(row["response"]), row.get("finish_reason")
    counts = {name: _count(row.get(name)) for name in COUNTS}
    known = {name: count for name, count in counts.items() if count is not None}
    sample = {"doc_id": position, "doc": doc, "target": doc["answer"], "filter": "none"}
    sample |= {"resps": [[response]], "filtered_resps": [response], "metrics": [*known], **known}
    if limit := _count(row.get("response_limit")):
        sample["arguments"] = {"gen_args_0": {"arg_1": {"max_gen_toks": limit}}}
    if reason and isinstance(reason, str):
        sample["finish_reason"] = reason
    return sample
