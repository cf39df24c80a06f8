"""Samples and tables of responses, scored again by the rules of today."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from cogniload_gen import benchmarks
from cogniload_gen.answers.files import SAMPLES_NAME, read_samples
from cogniload_gen.answers.sample import COUNTS, Sample
from cogniload_gen.benchmark import OutcomeName
from cogniload_gen.files import naming, whole_file

# What is read of a table of responses; the first two it must have.
_COLUMNS = ("id", "response", "reasoning", *COUNTS, "response_limit", "finish_reason")


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
    attempts at a puzzle each is scored, and written as a sample of its own, as `Sample.attempts`
    makes them. With `out`, a file that ends in .jsonl or a folder for one, the samples with their
    outcomes and first errors are written, whole or not at all; without it, `steps` reads first
    errors too.

    Raises ValueError that names the line which is no sample of ours, and FileExistsError if the
    file to write exists, unless `force`.
    """
    name = path.name.removesuffix(".gz") if SAMPLES_NAME.fullmatch(path.name) else None
    read = read_samples(path)
    attempts = ((where, each) for where, _, sample in read for each in sample.attempts())
    return _score(attempts, out, name, steps=steps, force=force)


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
    (.parquet, .jsonl, .csv), or folders of tables, with id and response, and perhaps with
    reasoning, prompt_tokens, response_tokens, response_limit and finish_reason. Counts that are no
    numbers of tokens are unknown. `out`, `steps` and `force` are as `rescore` takes them. Raises
    ValueError for ids that are no puzzle's or that two responses have, and for what can't be read.
    """
    from cogniload_gen.tables import find_tables, read_rows  # takes pyarrow

    puzzles, places = _load_puzzles(dataset)
    files = [file for path in responses for file in find_tables(path)]
    rows = (row for file in files for row in read_rows(file, _COLUMNS))
    samples = _match(dataset, tqdm(rows, unit=" responses", disable=None), puzzles, places)
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
                outcome = sample.check_answered().score.outcome
            if out is not None and file is None:
                target = Path(out)
                if target.suffix != ".jsonl":
                    task = benchmarks.of(sample.doc).name.replace("-", "_")
                    now = f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S.%f}"
                    target /= name or f"samples_{task}_{now}.jsonl"
                part = stack.enter_context(whole_file(target, force=force))
                file = stack.enter_context(part.open("w", encoding="utf-8"))
            outcomes[outcome] += 1
            changed += sample.outcome not in (None, outcome.value)
            if not (file or steps):
                continue
            again = sample.rescored()
            if facts := again.steps:
                errors[(facts["error"] or "none") if facts["read"] else "not read"] += 1
            if file:
                file.write(json.dumps(again.line()) + "\n")
    return Scored(outcomes, errors, changed, out=target)


def _load_puzzles(path: Path) -> tuple[Any, dict[str, int]]:
    """Return the puzzles of a file, or of all Parquet files of a folder, and their places by id.

    `datasets` keeps them on the disk, in its cache. ValueError for a file that holds no rows with
    ids.
    """
    from datasets import load_dataset

    from cogniload_gen.tables import find_tables

    suffixes = (".parquet",) if path.is_dir() else (".parquet", ".jsonl", ".jsonl.gz")
    files = [*map(str, find_tables(path, suffixes))]
    kind = "parquet" if files[0].endswith(".parquet") else "json"
    with naming(f"{path} must hold puzzles", Exception):
        puzzles = load_dataset(kind, data_files=files, split="train")
        return puzzles, {str(id): place for place, id in enumerate(puzzles["id"])}


def _match(
    path: Path, rows: Iterable[tuple[str, Mapping[str, Any]]], puzzles: Any, places: dict[str, int]
) -> Iterator[tuple[str, Sample]]:
    """Yield the rows of a table of responses as samples."""
    answered: set[str] = set()
    for where, row in rows:
        if not {"id", "response"} <= row.keys():
            raise ValueError(f"{where} must have id and response, got {', '.join(row)}")
        id = str(row["id"])
        if id not in places or id in answered:
            owner = "another response" if id in answered else "no puzzle"
            raise ValueError(f"{where}: {owner} in {path} has the id {id!r}")
        answered.add(id)
        yield where, Sample.from_row(puzzles[places[id]], row, places[id])
