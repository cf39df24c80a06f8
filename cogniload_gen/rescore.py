"""Responses at hand -> their scores and first errors, without running the model.

They come from lm-eval's samples_*.jsonl (`rescore`), or from tables of responses to the puzzles of
a dataset (`score_responses`). What is written is a samples file that `cogniload report` reads.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import OutcomeName, Row, Score
from cogniload_gen.files import whole_file
from cogniload_gen.sample import (
    COUNTS,
    SPENT,
    Sample,
    as_count,
    as_text,
    naming,
    read_responses,
    read_samples,
    score_metrics,
    score_sample,
    split_attempts,
    split_failure,
    step_metrics,
)
from cogniload_gen.tables import BATCH_ROWS, StoredPuzzles, find_tables, read_rows

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
    attempts at a puzzle each is scored, and written as a sample of its own, as `split_attempts`
    makes them. With `out`, a file that ends in .jsonl or a folder for one, the samples with their
    outcomes and first errors are written, whole or not at all; without it, `steps` reads first
    errors too.

    Raises ValueError that names the line which is no sample of ours, and FileExistsError if the
    file to write exists, unless `force`.
    """
    return _score(_attempts(path), path.name, out, steps=steps, force=force)


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
    samples = ((sample, score_sample(sample)) for sample in _match(puzzles, rows))
    first = next(samples, None)
    if first is None:
        raise ValueError(f"{files[0]} must hold at least one response, got none")
    shown = tqdm(chain([first], samples), total=len(puzzles), unit=" responses", disable=None)
    scored = _score(iter(shown), "", out, steps=steps, force=force)
    return scored._replace(missing=len(puzzles) - scored.outcomes.total())


def _score(
    samples: Iterator[tuple[Sample, Score]],
    name: str,
    out: Path | str | None,
    *,
    steps: bool,
    force: bool,
) -> Scored:
    """Count scored samples, and write them to `out`; in a folder, as a samples file `name`."""
    outcomes: Counter[OutcomeName] = Counter()
    errors: Counter[str] = Counter()
    changed, target, file = 0, None, None
    with ExitStack() as stack:
        for sample, scored in samples:
            if out is not None and file is None:
                target = _name_target(Path(out), name, sample)
                target.parent.mkdir(parents=True, exist_ok=True)
                part = stack.enter_context(whole_file(target, force=force))
                file = stack.enter_context(part.open("w", encoding="utf-8"))
            outcomes[scored.outcome] += 1
            changed += sample.get("outcome") not in (None, scored.outcome.value)
            if file or steps:
                read = step_metrics(read_responses(sample)[0], sample["doc"])
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
        name = f"samples_{task}_{datetime.now(UTC):%Y-%m-%dT%H-%M-%S.%f}.jsonl"
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


def _attempts(path: Path) -> Iterator[tuple[Sample, Score]]:
    """Yield a sample with its score for each attempt, without counts that are unknown."""
    for where, _, sample in read_samples(path):
        with naming(where):
            if not {"filtered_resps", "resps"} & sample.keys():
                raise KeyError("filtered_resps")
            counts = {name: as_count(sample.pop(name, None)) for name in (*COUNTS, SPENT)}
            known = {name: count for name, count in counts.items() if count is not None}
            scored = [(each, score_sample(each)) for each in split_attempts(sample | known)]
        yield from scored


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
    response, reason = as_text(row["response"]), row.get("finish_reason")
    counts = {name: as_count(row.get(name)) for name in COUNTS}
    known = {name: count for name, count in counts.items() if count is not None}
    sample = {"doc_id": position, "doc": doc, "target": doc["answer"], "filter": "none"}
    sample |= {"resps": [[response]], "filtered_resps": [response], "metrics": [*known], **known}
    if limit := as_count(row.get("response_limit")):
        sample["arguments"] = {"gen_args_0": {"arg_1": {"max_gen_toks": limit}}}
    if reason and isinstance(reason, str):
        sample["finish_reason"] = reason
    return sample
