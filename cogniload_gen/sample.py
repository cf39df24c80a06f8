"""What a sample says of a response, whichever harness obtained it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Row, Score

COUNTS = ("prompt_tokens", "response_tokens")
SPENT = "spent_response_tokens"
"""What a sample with several attempts at its puzzle holds: the tokens of all their responses."""

STEP_FACTS = ("read", "first_error", "error", "recovered", "coverage")


def sample_metrics(response: str, row: Row) -> dict[str, Any]:
    """Return the score of a response, where its reasoning breaks, and its counts of tokens.

    `row` is the puzzle with `prompt_tokens`, `response_tokens` (None where nobody counts) and as
    `context_budget` its prompt and the limit of its response.
    """
    known = {name: row[name] for name in (*COUNTS, "context_budget")}
    counts = {name: row[name] for name in COUNTS if row[name] is not None}
    scored = score_metrics(benchmarks.score(response, row, **known))
    return scored | step_metrics(response, row) | counts


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


def step_metrics(response: str, row: Row) -> dict[str, Any]:
    """Return where a response's reasoning breaks, as a sample holds it under `steps_read`.

    `error_none` and `error_` with each kind of a first error are 1 or 0, None if it can't be read.
    Empty for a benchmark whose responses nothing reads. A puzzle that the solver can't read, as one
    that was published elsewhere, has responses that can't be read either.
    """
    benchmark = benchmarks.of(row)
    if not benchmark.step_errors:
        return {}
    facts: dict[str, Any] = dict.fromkeys(STEP_FACTS) | {"read": False, "coverage": 0.0}
    with suppress(ValueError):
        steps = benchmarks.read_steps(response, row)
        facts = {name: getattr(steps, name) for name in STEP_FACTS}
    first = str(facts["error"] or "none")
    kinds = ("none", *benchmark.step_errors)
    flags = {f"error_{kind}": int(kind == first) if facts["read"] else None for kind in kinds}
    return {"steps_read": facts} | flags


def spent_tokens(sample: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the tokens of a sample's prompts and of its responses; None where nobody counts.

    All attempts count: those of a sample without SPENT as the first one.
    """
    prompt, response = (sample.get(name) for name in COUNTS)
    if not (type(prompt) is int and type(response) is int):
        return None
    attempts = next(iter(sample.get("resps") or ()), None)
    count = len(attempts) if isinstance(attempts, list) else 1
    spent = sample.get(SPENT)
    return count * prompt, spent if type(spent) is int else count * response


def was_cut(sample: Mapping[str, Any], outcomes: Any) -> bool:
    """Return whether a limit cut a response off, by its outcome or by what the backend said.

    `outcomes` are the benchmark's.
    """
    cut = [outcome.value for outcome in outcomes if outcome.cut]
    return sample.get("outcome") in cut or sample.get("finish_reason") == "length"
