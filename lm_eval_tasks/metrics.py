"""From a response to the metrics of its sample, and from those of a run to its numbers."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from logging import Logger
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Score, enough_read

COUNTS = ("prompt_tokens", "response_tokens")
STEP_FACTS = ("read", "first_error", "error", "recovered", "coverage")

Fit = Callable[[tuple[Any, ...]], dict[str, float | None]]
"""A fit of a run: from what its samples hold for it, to its numbers by name."""


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
    """Return the metrics of one response.

    `doc` is a puzzle with the token counts and the budget of its request (`SharedBudgetTask`).
    """
    known = {name: doc[name] for name in (*COUNTS, "context_budget")}
    counts = {name: doc[name] for name in COUNTS if doc[name] is not None}
    scored = score_metrics(benchmarks.score(results[0], doc, **known))
    return scored | step_metrics(results[0], doc) | counts


def score_metrics(score: Score) -> dict[str, Any]:
    """Return a score as a sample holds it.

    `acc`, the outcome's name, 1 or 0 for every wrong outcome, the score's details, and under
    `answer_read` the value that was read, its place in the response and the reason.
    """
    kinds: Any = type(score.outcome)
    wrong = {kind.value: int(kind is score.outcome) for kind in kinds if not kind.correct}
    evidence = None if score.evidence is None else list(score.evidence)
    read = {"value": score.value, "evidence": evidence, "explanation": score.explanation}
    metrics = {"acc": int(score.correct), "outcome": score.outcome.value, **wrong}
    return metrics | dict(score.details) | {"answer_read": read}


def step_metrics(response: str, doc: dict[str, Any]) -> dict[str, Any]:
    """Return where a response's reasoning breaks, as a sample holds it under `steps_read`.

    `error_none` and `error_` with each kind of a first error are 1 or 0, None if it can't be read.
    Empty for a benchmark whose responses nothing reads. A puzzle that the solver can't read, as one
    that was published elsewhere, has responses that can't be read either.
    """
    benchmark = benchmarks.of(doc)
    if benchmark.read_steps is None:
        return {}
    facts: dict[str, Any] = dict.fromkeys(STEP_FACTS) | {"read": False, "coverage": 0.0}
    with suppress(ValueError):
        steps = benchmarks.read_steps(response, doc)
        facts = {name: getattr(steps, name) for name in STEP_FACTS}
    first = str(facts["error"] or "none")
    kinds = {
        f"error_{kind}": int(kind == first) if facts["read"] else None
        for kind in ("none", *benchmark.step_errors)
    }
    return {"steps_read": facts} | kinds


def share_of_read(kind: Sequence[int | None]) -> float | None:
    """Return the share of the responses read that have a kind of first error; None if too few."""
    read = [each for each in kind if each is not None]
    return sum(read) / len(read) if enough_read(len(read), len(kind)) else None


def share_of_steps_read(steps: Sequence[dict[str, Any]]) -> float:
    """Return the share of responses whose reasoning could be read."""
    return sum(each["read"] for each in steps) / len(steps)


def share_read(read: Sequence[dict[str, Any]]) -> float:
    """Return the share of responses that an answer was read from."""
    return sum(each["value"] is not None for each in read) / len(read)


def most_frequent(outcomes: Sequence[str]) -> str:
    """Return the most frequent outcome of a run; of several, the first in alphabetical order."""
    return Counter(sorted(outcomes)).most_common(1)[0][0]


def numbers_of(fit: Fit, names: Sequence[str]) -> tuple[Callable[[list[Any]], float | None], ...]:
    """Return an aggregation for each number of a fit, which all share one fit of a run."""
    once = lru_cache(maxsize=1)(fit)

    def number(name: str) -> Callable[[list[Any]], float | None]:
        return lambda responses: once(tuple(responses))[name]

    return tuple(map(number, names))


def log_problems(log: Logger, problems: dict[str, str]) -> None:
    """Warn of numbers that do not exist or must be read with care: once for each reason."""
    for reason in dict.fromkeys(problems.values()):
        names = ", ".join(name for name, of in problems.items() if of == reason)
        log.warning("%s: %s", names, reason)
