"""Samples: what they say of a response, whichever harness obtained it, and how they are read.

A sample is a line of lm-eval's samples_*.jsonl: `doc`, `resps`, `filtered_resps`, `arguments`, the
metrics, and what the harness counted. Other tools leave fields out or write them otherwise, so that
they are read leniently: an unknown count is None, and a missing response is empty.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from math import isnan
from pathlib import Path
from typing import Any, Literal

from cogniload_gen import benchmarks
from cogniload_gen.benchmark import Row, Score
from cogniload_gen.files import MALFORMED, read_objects

Sample = dict[str, Any]

COUNTS = ("prompt_tokens", "response_tokens")
SPENT = "spent_response_tokens"
"""What a sample with several attempts at its puzzle holds: the tokens of all their responses."""

LIMITS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
"""The names under which requests have the limit of a response, in tokens."""

OF_FIRST = ("response_tokens", "finish_reason", "outcome")
"""What a sample with several attempts says of the first one alone."""

REASONS = {
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
}
"""The words of servers and of harnesses for how a response ended, by kind.

A response that broke off is to be asked for again: the server could not finish it.
"""

KINDS = {word.replace("_", ""): kind for kind, words in REASONS.items() for word in words.split()}

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


def was_cut(sample: Mapping[str, Any], outcomes: Any) -> bool:
    """Return whether a limit cut a response off, by its outcome or by what the backend said.

    `outcomes` are the benchmark's.
    """
    cut = [outcome.value for outcome in outcomes if outcome.cut]
    return sample.get("outcome") in cut or ending(sample.get("finish_reason")) == "cut"


# --- Read ------------------------------------------------------------------------------------


def read_samples(path: Path) -> Iterator[tuple[str, int, Sample]]:
    """Yield the samples of a file's first filter, as lm-eval repeats them for each filter.

    A sample comes with its places, as `read_objects` gives them. ValueError as there, and for a
    file without samples.
    """
    first = None
    for where, offset, sample in read_objects(path):
        first = first or [sample.get("filter")]
        if sample.get("filter", first[0]) == first[0]:
            yield where, offset, sample
    if not first:
        raise ValueError(f"{path} holds no responses")


@contextmanager
def naming(where: str, *errors: type[Exception]) -> Iterator[None]:
    """Raise what a sample that can't be read raises as a ValueError that begins with its place.

    That are the errors of malformed JSON, and further ones.
    """
    try:
        yield
    except MALFORMED + errors as error:
        cause = f"no field {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{where}: {' '.join(cause.split())[:300]}") from error


def as_count(value: object) -> int | None:
    """Return an integer from 0 to 2^63 - 1, also one that is written as 12.0 or "12".

    None for all else: nobody knows how many these are.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    with suppress(ValueError):
        number = float(value) if isinstance(value, str) else value
        if 0 <= number < 2**63 and number == int(number):
            return int(number)
    return None


def as_text(value: object) -> str:
    """Return a text, or what else a cell holds as one; NaN, as of pandas, and None are empty."""
    return "" if value is None or (isinstance(value, float) and isnan(value)) else str(value)


def read_responses(sample: Mapping[str, Any]) -> list[str]:
    """Return the responses of a sample, one for each attempt at its puzzle; "" for a missing one.

    Where a filter made something else of them, there is that alone, as it was scored.
    """
    kept, raw = (_first(sample.get(name)) for name in ("filtered_resps", "resps"))
    attempts = raw if isinstance(raw, list) else [raw]
    if isinstance(kept, list):
        attempts = kept
    elif kept is not None and kept not in attempts[:1]:
        attempts = [kept]
    return [as_text(text) for text in attempts or [None]]


def _first(values: Any) -> Any:
    return (values[0] if values else None) if isinstance(values, list) else values


def request_settings(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of generation that a sample's request had.

    Older versions of lm-eval write requests as lists, newer ones as mappings.
    """
    for request in _members(sample.get("arguments")):
        for settings in _members(request):
            if isinstance(settings, Mapping):
                return dict(settings)
    return {}


def _members(values: Any) -> list[Any]:
    if isinstance(values, Mapping):
        return list(values.values())
    return values if isinstance(values, list) else []


def request_limit(sample: Mapping[str, Any]) -> int | None:
    """Return the limit of a sample's response, in tokens; None where its request says none."""
    settings = request_settings(sample)
    limits = (as_count(settings.get(name)) for name in LIMITS)
    return next((limit for limit in limits if limit), None)


def spent_tokens(sample: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the tokens of a sample's prompts and of its responses; None where nobody counts.

    All attempts count: those of a sample without SPENT as the first one.
    """
    prompt, response, spent = (as_count(sample.get(name)) for name in (*COUNTS, SPENT))
    attempts = _first(sample.get("resps"))
    count = len(attempts) if isinstance(attempts, list) else 1
    if spent is None and response is not None:
        spent = count * response
    return None if prompt is None or spent is None else (count * prompt, spent)


# --- Scored again ----------------------------------------------------------------------------


def split_attempts(sample: Sample) -> list[Sample]:
    """Return a sample for each attempt of one that has several, as with lm-eval's `repeats`.

    What is said of the first attempt alone, its outcome too, stays with it. Nothing tells the
    tokens of the others apart: each attempt has under SPENT an equal share of those of all.
    """
    responses = read_responses(sample)
    if len(responses) == 1:
        return [sample]
    spent, count = spent_tokens(sample), len(responses)
    shared = {name: held for name, held in sample.items() if name not in (*OF_FIRST, SPENT)}
    of_first = {name: sample[name] for name in OF_FIRST if name in sample}
    attempts = []
    for place, response in enumerate(responses):
        attempt = shared | {"resps": [[response]], "filtered_resps": [response]}
        if spent:  # whole tokens, which add up
            attempt[SPENT] = spent[1] * (place + 1) // count - spent[1] * place // count
        attempts.append(attempt if place else attempt | of_first)
    return attempts


def score_attempts(sample: Sample) -> list[Sample]:
    """Return a sample for each attempt; lm-eval scores the first one, so the others are here.

    The attempts at a puzzle that can't be scored again, as it was made elsewhere, stay one sample.
    """
    first, *others = split_attempts(sample)
    with suppress(*MALFORMED):
        return [first, *(each | _metrics_again(each) for each in others)]
    return [sample]


def _metrics_again(sample: Sample) -> dict[str, Any]:
    scored, doc = score_sample(sample), sample["doc"]
    steps = step_metrics(read_responses(sample)[0], doc)
    return score_metrics(scored) | steps | split_failure(doc, int(scored.correct))


def score_sample(sample: Mapping[str, Any]) -> Score:
    """Return the score of a sample's response, with the tokens and the budget that it had.

    The budget is the prompt and the limit of the response; of its document where the sample does
    not say both. Where a count is unknown, a response that was cut off by its outcome still is.
    """
    doc = sample["doc"]
    outcomes: Any = benchmarks.of(doc).outcomes
    prompt, response = (as_count(sample.get(name)) for name in COUNTS)
    limit = request_limit(sample)
    budget = as_count(doc.get("context_budget"))
    if prompt is not None and limit is not None:
        budget = prompt + limit
    cut = {outcome.value for outcome in outcomes if outcome.cut}
    if None in (prompt, response, limit) and sample.get("outcome") in cut:
        prompt, response, budget = 0, 1, 1
    counts = {"prompt_tokens": prompt, "response_tokens": response, "context_budget": budget}
    return benchmarks.score(read_responses(sample)[0], doc, **counts)
