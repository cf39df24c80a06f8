"""A thousand stored responses, and what every harness must make of them.

`replays()` are rows with the puzzle's id, its prompt, the limit of its response in tokens, the
response with what a server says of it, and the outcome by the benchmark's own scorer; only the base
install is needed. `python tests/helpers/replayed.py FILE` writes them as JSON Lines, for a harness
that has an environment of its own.
"""

import json
import sys
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from cogniload_gen import benchmarks
from cogniload_gen.context_budget import CONTEXT_BUDGET, Share, response_limit
from cogniload_gen.tokens import estimate

DATA = Path(__file__).parents[1]

PARAMETERS = {
    "cogniload": {"d": [2, 3], "N": [10, 40, 100], "rho": [25, 75], "num_puzzles": 42},
    "factor_symbolic": {"N": [4, 5, 7, 11, 19], "context": 0, "num_puzzles": 50},
    "factor_realistic": {"op": [2, 3, 4, 6, 9], "context": 4000, "num_puzzles": 50},
}
"""What makes the puzzles, by the benchmark's name in its ids: 504, 250 and 250 of them."""


class Replay(NamedTuple):
    """A stored response to a puzzle; None for a count that its server did not say."""

    benchmark: str
    id: str
    prompt: str
    response: str
    finish_reason: str
    prompt_tokens: int | None
    response_tokens: int | None
    limit: int
    outcome: str
    correct: bool


def parameters_of(name):
    """Return the dataset of a benchmark, and what makes its puzzles there."""
    dataset, _, suite = name.partition("_")
    return dataset, PARAMETERS[name] | ({"suite": suite} if suite else {})


@cache
def replays():
    """Return the rows: 1,004, the same each time."""
    return [replay for name in PARAMETERS for replay in replays_of(name)]


def replays_of(name):
    dataset, parameters = parameters_of(name)
    source = benchmarks.datasets()[dataset].puzzles(**parameters)
    rows = [row for table in source.tables() for row in table.to_pylist()]
    stored = cycle(stored_responses(name))
    for place, row in enumerate(rows):
        limit = response_limit(estimate(row["puzzle"]), CONTEXT_BUDGET)
        response, said = respond(place, row, next(stored)), say(place, limit)
        share = Share(estimate(row["puzzle"]), limit, counted=False)
        counts = share.scored(*said[1:])
        scored = benchmarks.score(response, row, finish_reason=said[0], **counts)
        outcome = scored.outcome.value
        yield Replay(
            name, row["id"], row["puzzle"], response, *said, limit, outcome, scored.correct
        )


def stored_responses(name):
    """Return responses that people and models wrote, to other puzzles."""
    if name == "cogniload":
        files = sorted((DATA / "cogniload" / "data").glob("traces_*.json"))
        return [each["response"] for file in files for each in json.loads(file.read_text("utf-8"))]
    rows = []
    for file in ("responses.jsonl", "responses_unseen.jsonl"):
        lines = (DATA / "factor" / "data" / file).read_text("utf-8").splitlines()
        rows += [each for each in map(json.loads, lines) if name.endswith(each["suite"])]
    return [each["response"] for each in rows]


def respond(place, row, stored):
    """Return a response: a stored one, alone or before an end that is right or wrong, or empty."""
    answer = row["answer"]
    options = row.get("options") or ["v77", "none", "12345"]
    wrong = next(option for option in options if option != answer)
    poi = row.get("poi", "it")
    ends = [
        f"So {poi} is wearing, located in, had, read or listened to {answer}.",
        f"So {poi} is wearing, located in, had, read or listened to {wrong}.",
        f"For {poi}: {answer}.",
        f"For {poi}: {wrong}.",
        f"The answer is {answer}.",
        f"The answer is {wrong}.",
        "I cannot tell.",
    ]
    kind = place % (len(ends) + 3)
    if kind < len(ends):
        return f"{stored}\n\n{ends[kind]}" if place % 2 else ends[kind]
    return [stored, stored[: len(stored) * 2 // 3], ""][kind - len(ends)]


def say(place, limit):
    """Return what a server says: why it ended, and its counts, or not all of that."""
    return [
        ("stop", 500, 700),
        ("length", 500, limit),
        ("stop", None, None),
        ("stop", 31, limit - 21),
        ("stop", 31, limit - 20),
        ("stop", 90, 12),
        ("length", None, None),
    ][place % 7 if place % 3 == 0 else 0]


if __name__ == "__main__":
    with Path(sys.argv[1]).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(replay._asdict()) + "\n" for replay in replays())
