"""Tables of responses to the puzzles of a dataset -> samples as lm-eval writes them, scored."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from cogniload_gen.benchmark import OutcomeName
from cogniload_gen.files.puzzle_store import StoredPuzzles, find_files
from cogniload_gen.files.response_tables import Answered, find_tables, read_table
from cogniload_gen.sample import COUNTS, score_metrics
from lm_eval_tasks.rescore import file_of, score_sample

BATCH, BATCH_CHARACTERS = 256, 1 << 26
"""Of the responses that are in memory at once."""


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
        for batch in match(puzzles, progress):
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


def match(
    puzzles: StoredPuzzles, responses: Iterable[Answered]
) -> Iterator[list[tuple[int, Answered]]]:
    """Yield batches of responses, each with the position of its puzzle.

    Raises ValueError at the end, with how many there were, for ids that are unknown or come again.
    """
    answered = np.zeros(len(puzzles), bool)
    counts: Counter[str] = Counter()
    first: dict[str, Answered] = {}
    for batch in batches(responses):
        matched = []
        for row, position in zip(batch, puzzles.positions([row.id for row in batch]), strict=True):
            if position is not None and not answered[position]:
                answered[position] = True
                matched.append((position, row))
            else:
                owner = f"no puzzle in {puzzles.path}" if position is None else "another response"
                counts[owner] += 1
                first.setdefault(owner, row)
        yield matched
    if counts:
        raise ValueError(
            "; ".join(
                f"{count} {'response has' if count == 1 else 'responses have'} an id that {owner} "
                f"has, first {first[owner].id!r} ({first[owner].where})"
                for owner, count in sorted(counts.items(), reverse=True)
            )
        )


def batches(rows: Iterable[Answered]) -> Iterator[list[Answered]]:
    """Yield rows in lists of BATCH, the last one and those of long texts shorter."""
    batch: list[Answered] = []
    characters = 0
    for row in rows:
        batch.append(row)
        characters += len(row.id) + len(row.response or "")
        if len(batch) == BATCH or characters > BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    yield batch


def make_sample(doc: dict[str, Any], position: int, answered: Answered) -> dict[str, Any]:
    """Return a response as a sample of lm-eval, without its metrics."""
    facts = {name: getattr(answered, name) for name in (*COUNTS, "finish_reason")}
    sample = {"doc_id": position, "doc": doc, "target": doc["answer"]}
    if answered.response_limit is not None:
        request = {"gen_args_0": {"arg_1": {"max_gen_toks": answered.response_limit}}}
        sample["arguments"] = request
    response = answered.response or ""
    sample |= {"resps": [[response]], "filtered_resps": [response], "filter": "none"}
    return sample | {name: fact for name, fact in facts.items() if fact is not None}
