"""What a sample records of its response: score and ending, first error, and what was retrieved."""

from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.answers.endings import Ending
from cogniload_gen.answers.reasoning import NO_REASONING, Reasoning
from cogniload_gen.benchmark import Row, Score

_STEP_FACTS = ("read", "first_error", "error", "recovered", "coverage")

# What was read of texts, by their hashes, and of how many at most.
_known: dict[bytes, dict[str, Any]] = {}
_MOST_KNOWN = 32_768


def score_metrics(score: Score, ending: Ending | None) -> dict[str, Any]:
    """Return a score as a sample holds it, with how the response ended.

    `acc`, the outcome's name, 1 or 0 for every wrong outcome, the score's details, and under
    `answer_read` the value that was read, its place in the response and the reason. `acc_uncut` is
    `acc`, but None for a response that a limit cut, and `overflow` is 1 for such a one, 0 for
    others and None where nobody knows.
    """
    kinds: Any = type(score.outcome)
    wrong = {kind.value: int(kind is score.outcome) for kind in kinds if not kind.correct}
    evidence = None if score.evidence is None else list(score.evidence)
    read = {"value": score.value, "evidence": evidence, "explanation": score.explanation}
    acc, cut = int(score.correct), ending == "cut"
    return {
        "acc": acc,
        "acc_uncut": None if cut else acc,
        "overflow": None if ending is None else int(cut),
        "ending": ending,
        "outcome": score.outcome.value,
        **wrong,
        **score.details,
        "answer_read": read,
    }


def step_metrics(
    response: str,
    row: Row,
    told: Reasoning = NO_REASONING,
    transcript: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return where a response's reasoning breaks, as a sample holds it under `steps_read`.

    `error_none` and `error_` with each kind of a first error are 1 or 0, None if it can't be read:
    as of a reasoning that is hidden, which `reasoning_hidden` then names. For a benchmark whose
    responses nothing reads, there is the reasoning alone. A puzzle that the solver can't read, as
    one that was published elsewhere, has responses that can't be read either. Of a `transcript`,
    as `Sample` has it, the facts name the reader and count the records.
    """
    benchmark = benchmarks.of(row)
    about: dict[str, Any] = {"reasoning": told.text}
    if told.hidden:
        about["reasoning_hidden"] = told.hidden
    if not benchmark.step_errors:
        return about
    facts: dict[str, Any] = dict.fromkeys(_STEP_FACTS) | {"read": False, "coverage": 0.0}
    with suppress(ValueError):
        if transcript and not told.hidden:
            steps = benchmarks.read_steps(response, row, told.text, transcript["records"])
            names = (*_STEP_FACTS, "records", "dropped")
            facts = {name: getattr(steps, name) for name in names}
            facts["reader"] = transcript["reader"]
        elif not told.hidden:
            facts = _read_once(response, row, told.text)
    first = str(facts["error"] or "none")
    kinds = ("none", *benchmark.step_errors)
    flags = {f"error_{kind}": int(kind == first) if facts["read"] else None for kind in kinds}
    return about | {"steps_read": facts} | flags


def _read_once(response: str, row: Row, reasoning: str | None) -> dict[str, Any]:
    """Return the facts that rules read: a run reads a response as it comes, and scores it later."""
    text = "\0".join([str(row.get("id")), str(row.get("puzzle")), str(reasoning), str(response)])
    key = sha256(text.encode(errors="surrogatepass")).digest()
    if key not in _known:
        steps = benchmarks.read_steps(response, row, reasoning)
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = {name: getattr(steps, name) for name in _STEP_FACTS}
    return dict(_known[key])


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
