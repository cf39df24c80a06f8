"""What a sample says of a response, whichever harness obtained it."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Row, Score

COUNTS = ("prompt_tokens", "response_tokens")
SPENT = "spent_response_tokens"
"""What a sample with several attempts at its puzzle holds: the tokens of all their responses."""

REASONS = {
    kind: frozenset(words.split())
    for kind, words in {
        "ended": """stop eos eos_token end_turn end_of_text stop_sequence stop_word complete
            completed finished tool_calls tool_use tool_call function_call""",
        "cut": """length limit max_tokens max_token max_length max_new_tokens max_output_tokens
            max_completion_tokens token_limit model_length context_length context_length_exceeded
            context_window_exceeded model_context_window_exceeded truncated incomplete""",
        "filtered": """content_filter content_filtered safety sensitive refusal recitation blocklist
            prohibited_content spii guardrail guardrail_intervened error_toxic""",
        "broken": """error abort aborted cancel cancelled canceled user_cancel network_error timeout
            time_limit server_error internal_error insufficient_system_resource not_finished load
            unload error_limit overloaded unavailable""",
    }.items()
}
"""The words of servers and of harnesses for how a response ended, by kind.

A response that broke off is to be asked for again: the server could not finish it.
"""

CUT_REASONS, FILTERED_REASONS, BROKEN_OFF_REASONS = (
    REASONS[kind] for kind in ("cut", "filtered", "broken")
)
KINDS = {word.replace("_", ""): kind for kind, words in REASONS.items() for word in words}

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


def split_failure(doc: Mapping[str, Any], right: int) -> dict[str, Any]:
    """Return what became of a retrieved prompt; empty for a whole one.

    `recall` is [statements found, statements needed]. A wrong answer is `not_retrieved` if any of
    these is missing, else `not_reasoned`: acc, `not_retrieved` and `not_reasoned` add up to 1.
    """
    if "retrieval" not in doc:
        return {}
    closed = doc["found"] == doc["needed"]
    return {
        "recall": [doc["found"], doc["needed"]],
        "closure_recall": int(closed),
        "not_retrieved": int(not right and not closed),
        "not_reasoned": int(not right and closed),
    }


def ending(finish_reason: object) -> Literal["ended", "cut", "filtered", "broken"] | None:
    """Return how a response ended, by what the server called it.

    "ended" by itself, "cut" at a limit, "filtered" by the server, or "broken" off by a fault of the
    server. Case and separators don't matter, nor does "finish reason" before the word. None for an
    unknown word, and for anything that is no text: the counts of tokens decide then.
    """
    if not isinstance(finish_reason, str):
        return None
    letters = "".join(filter(str.isalpha, finish_reason.lower()))
    known: Any = KINDS.get(letters.removeprefix("finishreason"))
    return known


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
    return sample.get("outcome") in cut or ending(sample.get("finish_reason")) == "cut"
