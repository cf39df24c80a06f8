"""Tables of responses to the puzzles of a dataset -> samples as lm-eval writes them, scored."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from cogniload_gen.benchmark import OutcomeName
from cogniload_gen.files.puzzle_store import StoredPuzzles, find_files
from cogniload_gen.files.response_tables import Answered, find_tables, read_table
from cogniload_gen.sample import COUNTS, score_metrics
from lm_eval_tasks.rescore import file_of, score_sample

BATCH = 256
"""Responses that are in memory at once."""


def score_responses(
    dataset: Path, responses: Sequence[Path], out: Path | None = None, *, force: bool = False
) -> tuple[Counter[OutcomeName], int]:
    """Return the outcomes of responses to a dataset's puzzles, and how many puzzles have none.

    `dataset` is a file of puzzles, or a folder with Parquet files of them; `responses` are tables,
    or folders of tables (`cogniload_gen.files.response_tables`). With `out`, a sample for each
    response is written there, whole or not at all; raises FileExistsError if it exists, unless
    `force`. Raises ValueError for ids that are no puzzle's or that two responses have, for what
    can't be read, and for an `out` that is read.
    """
    puzzles = StoredPuzzles(dataset, texts=out is not None)
    files = [file for path in responses for file in find_tables(path)]
    if out is not None and out.exists():
        for path in (*find_files(dataset), *files):
            if out.samefile(path):
                raise ValueError(f"{out} is read: name another file to write")
    rows = chain.from_iterable(map(read_table, files))
    outcomes: Counter[OutcomeName] = Counter()
    with (
        file_of(out, force=force) as file,
        tqdm(rows, total=len(puzzles), unit=" responses", disable=None) as progress,
    ):
        for batch in batches(match(puzzles, progress), BATCH):
            docs = puzzles.rows([position for position, _ in batch])
            for doc, (position, answered) in zip(docs, batch, strict=True):
                sample = make_sample(doc, position, answered)
                score = score_sample(sample)
                outcomes[score.outcome] += 1
                if file:
                    metrics = score_metrics(score)
                    named = [*metrics, *(name for name in COUNTS if name in sample)]
                    file.write(json.dumps(sample | {"metrics": named} | metrics) + "\n")
        if not outcomes:
            raise ValueError(f"{files[0]} must hold at least one response, got none")
    return outcomes, len(puzzles) - outcomes.total()


def match(puzzles: StoredPuzzles, rows: Iterable[Answered]) -> Iterator[tuple[int, Answered]]:
    """Yield responses with the positions of their puzzles.

    Raises ValueError at the end, with how many there were, for ids that are unknown or come again.
    """
    answered = np.zeros(len(puzzles), bool)
    unknown, again = Refused(), Refused()
    for batch in batches(rows, BATCH):
        positions = puzzles.positions([row.id for row in batch])
        for row, position in zip(batch, positions, strict=True):
            if position is None:
                unknown.add(row)
            elif answered[position]:
                again.add(row)
            else:
                answered[position] = True
                yield position, row
    problems = [
        *unknown.say(f"no puzzle in {puzzles.path} has"),
        *again.say("another response has"),
    ]
    if problems:
        raise ValueError("; ".join(problems))


class Refused:
    """Responses with a wrong id: how many, and which is the first."""

    def __init__(self) -> None:
        self.count, self.first = 0, ""

    def add(self, row: Answered) -> None:
        """Count a response."""
        self.first = self.first or f"{row.id!r} ({row.where})"
        self.count += 1

    def say(self, what: str) -> list[str]:
        """Return what is wrong with their ids in a line; nothing if there are none."""
        have = "response has" if self.count == 1 else "responses have"
        return [f"{self.count} {have} an id that {what}, first {self.first}"] * bool(self.count)


def batches(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield rows in lists of a size, the last one shorter."""
    left = iter(rows)
    while batch := list(islice(left, size)):
        yield batch


def make_sample(doc: dict[str, Any], position: int, answered: Answered) -> dict[str, Any]:
    """Return a response as a sample of lm-eval, without its metrics."""
    facts = {name: getattr(answered, name) for name in (*COUNTS, "finish_reason")}
    limit = {"max_gen_toks": answered.response_limit}
    request = {} if answered.response_limit is None else {"gen_args_0": {"arg_1": limit}}
    response = answered.response or ""
    return {
        "doc_id": position,
        "doc": doc,
        "target": doc["answer"],
        **({"arguments": request} if request else {}),
        "resps": [[response]],
        "filtered_resps": [response],
        "filter": "none",
        **{name: fact for name, fact in facts.items() if fact is not None},
    }
