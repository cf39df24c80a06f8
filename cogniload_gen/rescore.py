"""Responses at hand -> their scores and first errors, without running the model.

They come from lm-eval's samples_*.jsonl (`rescore`), or from tables of responses to the puzzles of
a dataset (`score_responses`). What is written is a samples file that `cogniload report` reads.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import OutcomeName
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
from cogniload_gen.tables import StoredPuzzles, find_tables, read_rows

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
    name = path.name.removesuffix(".gz") if NAME.fullmatch(path.name) else None
    return _score(_attempts(path), out, name, steps=steps, force=force)


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
    puzzles = StoredPuzzles(dataset)
    files = [file for path in responses for file in find_tables(path)]
    rows = (row for file in files for row in read_rows(file, COLUMNS))
    samples = tqdm(_match(puzzles, rows), total=len(puzzles), unit=" responses", disable=None)
    scored = _score(samples, out, steps=steps, force=force)
    if not scored.outcomes:
        raise ValueError(f"{files[0]} must hold at least one response, got none")
    return scored._replace(missing=len(puzzles) - scored.outcomes.total())


def _score(
    samples: Iterable[tuple[str, Sample]],
    out: Path | str | None,
    name: str | None = None,
    *,
    steps: bool,
    force: bool,
) -> Scored:
    """Score samples, each with its place, and write them to `out`; in a folder, to `name`."""
    outcomes: Counter[OutcomeName] = Counter()
    errors: Counter[str] = Counter()
    changed, target, file = 0, None, None
    with ExitStack() as stack:
        for where, sample in samples:
            with naming(where):
                doc, scored = sample["doc"], score_sample(sample)
            if out is not None and file is None:
                target = Path(out)
                if target.suffix != ".jsonl":
                    task = benchmarks.of(doc).name.replace("-", "_")
                    now = f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S.%f}"
                    target /= name or f"samples_{task}_{now}.jsonl"
                target.parent.mkdir(parents=True, exist_ok=True)
                part = stack.enter_context(whole_file(target, force=force))
                file = stack.enter_context(part.open("w", encoding="utf-8"))
            outcomes[scored.outcome] += 1
            changed += sample.get("outcome") not in (None, scored.outcome.value)
            if file or steps:
                read = step_metrics(read_responses(sample)[0], doc)
                if facts := read.get("steps_read"):
                    errors[(facts["error"] or "none") if facts["read"] else "not read"] += 1
            if file:
                metrics = score_metrics(scored) | read | split_failure(doc, int(scored.correct))
                file.write(json.dumps(_replace_metrics(sample, metrics)) + "\n")
    return Scored(outcomes, errors, changed, out=target)


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


def _known_counts(row: Mapping[str, Any], *names: str) -> dict[str, int]:
    counts = {name: as_count(row.get(name)) for name in names}
    return {name: count for name, count in counts.items() if count is not None}


def _attempts(path: Path) -> Iterator[tuple[str, Sample]]:
    """Yield a sample of lm-eval's for each attempt, without counts that are unknown."""
    for where, _, sample in read_samples(path):
        if not {"filtered_resps", "resps"} & sample.keys():
            raise ValueError(f"{where}: no field 'filtered_resps'")
        counts = (*COUNTS, SPENT)
        rest = {name: value for name, value in sample.items() if name not in counts}
        for attempt in split_attempts(rest | _known_counts(sample, *counts)):
            yield where, attempt


def _match(
    puzzles: StoredPuzzles, rows: Iterable[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[str, Sample]]:
    """Yield the rows of a table of responses as samples of lm-eval, without metrics."""
    answered: set[str] = set()
    for where, row in rows:
        if not {"id", "response"} <= row.keys():
            raise ValueError(f"{where} must have id and response, got {', '.join(row)}")
        id, response = str(row["id"]), as_text(row["response"])
        found = puzzles.find(id)
        if found is None or id in answered:
            owner = "another response" if found else "no puzzle"
            raise ValueError(f"{where}: {owner} in {puzzles.path} has the id {id!r}")
        answered.add(id)
        number, doc = found
        sample = {"doc_id": number, "doc": doc, "target": doc.get("answer"), "filter": "none"}
        sample |= {"resps": [[response]], "filtered_resps": [response]}
        known = _known_counts(row, *COUNTS)
        sample |= {"metrics": [*known], **known}
        if limit := as_count(row.get("response_limit")):
            sample["arguments"] = {"gen_args_0": {"arg_1": {"max_gen_toks": limit}}}
        if (reason := row.get("finish_reason")) and isinstance(reason, str):
            sample["finish_reason"] = reason
        yield where, sample
