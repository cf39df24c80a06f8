"""Puzzles that a person solves in the terminal: the first human row of a report."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import OutcomeName
from cogniload_gen.files.response_tables import Answered
from cogniload_gen.files.whole import make_inner_folder, open_to_append
from cogniload_gen.sample import score_metrics
from cogniload_gen.source import Source
from lm_eval_tasks.rescore import read_samples, score_sample
from lm_eval_tasks.score_responses import make_sample


def play(
    source: Source,
    out: Path,
    *,
    ask: Callable[[str], str] = input,
    say: Callable[[str], object] = print,
) -> Counter[OutcomeName]:
    """Show puzzles one by one, take a line for each, and return the outcomes.

    Each response becomes a line of `out/samples_TASK_DATE.jsonl`, scored and with its `seconds`,
    before the next puzzle is shown; `cogniload report` takes the folder's name for the model's.
    Puzzles that the folder has responses to are not shown again, and one whose line is empty is
    left out. EOFError or KeyboardInterrupt, of `ask`, ends. Raises ValueError for a line that is no
    sample, and FileExistsError for a link in a file's place.
    """
    outcomes: Counter[OutcomeName] = Counter()
    make_inner_folder(out)
    solved = set(read_ids(out))
    rows = (row for table in source.tables() for row in table.to_pylist())
    for position, row in enumerate(rows):
        if row["id"] in solved:
            continue
        say(f"\n{row['puzzle']}\n")
        begun = monotonic()
        try:
            response = ask("Your answer (Enter leaves it out, Ctrl-D ends): ").strip()
        except (EOFError, KeyboardInterrupt):
            break
        if not response:
            continue
        answered = Answered("", row["id"], response, None, None, None, "stop")
        sample = make_sample(row, position, answered)
        score = score_sample(sample)
        seconds = round(monotonic() - begun, 1)
        metrics = score_metrics(score) | {"seconds": seconds}
        write_sample(out, sample | {"metrics": [*metrics]} | metrics)
        outcomes[score.outcome] += 1
        judged = "Right" if score.correct else f"Wrong: the answer is {row['answer']}"
        say(f"{judged}. {seconds:.0f} seconds.")
    return outcomes


def read_ids(folder: Path) -> Iterator[str]:
    """Yield the ids of the puzzles that a folder's samples are about."""
    for path in sorted(folder.glob("samples_*.jsonl")):
        for _, puzzle in read_samples(path, lambda sample: str(sample["doc"]["id"])):
            yield puzzle


def write_sample(folder: Path, sample: dict[str, Any]) -> None:
    """Append a sample to the folder's file of its benchmark, which is created if it is missing."""
    task = benchmarks.of(sample["doc"]).name
    date = f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S.%f}"
    path = next(
        iter(sorted(folder.glob(f"samples_{task}_*.jsonl"))),
        folder / f"samples_{task}_{date}.jsonl",
    )
    with open_to_append(path) as file:
        file.write(f"{json.dumps(sample)}\n".encode())
