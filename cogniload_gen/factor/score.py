"""A response -> what became of it (FACTOR, section 3), by rules and without a judge model.

A response is `max_context` if it is blank, if its backend says that a limit cut it, or if
prompt_tokens + response_tokens + 20 >= context_budget, as far as they are known. Else
`reading/answer.py` says which answer it gives: `no_answer` if none, `correct` if it equals the gold
one, else `wrong_set`.
"""

from enum import StrEnum
from reprlib import repr as brief
from typing import NamedTuple, Unpack

from cogniload_gen.answers.endings import is_cut_off
from cogniload_gen.benchmark import Counts, Row, Score
from cogniload_gen.checks import check_texts

SUITES = ("symbolic", "realistic")


class FactorOutcome(StrEnum):
    """The outcome of a response."""

    CORRECT = "correct"
    WRONG_SET = "wrong_set"
    NO_ANSWER = "no_answer"
    MAX_CONTEXT = "max_context"

    @property
    def correct(self) -> bool:
        """Whether the response counts as correct in the accuracy."""
        return self is FactorOutcome.CORRECT

    @property
    def cut(self) -> bool:
        """Whether a limit cut the response off."""
        return self is FactorOutcome.MAX_CONTEXT


class FactorScore(NamedTuple):
    """The outcome of a response, and for a wrong set how it differs from the gold one.

    `missing` and `extra` are variables in order of their number, or one number each.
    """

    outcome: FactorOutcome
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


def score_factor(
    response: str,
    *,
    suite: str,
    answer: str,
    target: int | None = None,
    question: str | None = None,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
    context_budget: int | None = None,
) -> FactorScore:
    """Return the score of a response to a FACTOR puzzle, by the rules of `answer.py`.

    Reasoning that stands in the response (`<think>`) is left out.
    `suite` is "symbolic" or "realistic"; `answer` is the gold answer as in the column, such as
    "v0, v12", "none" or "8"; `target` is the value that a symbolic puzzle asks for; `question` is
    a realistic puzzle's; it helps tell an answer from unfinished work (N2). `prompt_tokens`
    and `response_tokens` are counted against `context_budget`, which they share; a count that is
    not known counts as 0, and without a budget nothing is cut off.

    Raises ValueError if there is no such suite, or for a symbolic puzzle without its target.

    Examples:
        >>> score_factor("So v0 and v3.", suite="symbolic", answer="v0, v12", target=2)
        FactorScore(outcome=<FactorOutcome.WRONG_SET: 'wrong_set'>, missing=('v12',), extra=('v3',))
    """
    score = score_row(
        response,
        {"suite": suite, "answer": answer, "target": target, "question": question},
        prompt_tokens=prompt_tokens,
        response_tokens=response_tokens,
        context_budget=context_budget,
    )
    missing, extra = (tuple(score.details[name]) for name in ("missing", "extra"))
    return FactorScore(FactorOutcome(score.outcome.value), missing, extra)


def score_row(response: str, row: Row, **counts: Unpack[Counts]) -> Score:
    """Return the score of a response to a puzzle of either suite, columns as a row.

    `row` holds the columns suite and answer, and target (symbolic) or question (realistic); the
    `counts` are those of `score_factor`. The details are `missing` and `extra`. Raises
    ValueError if the row lacks a column, or holds what none of its kind has.
    """
    columns = check_texts(row, ("suite", "answer"))
    suite, answer, target = columns["suite"], columns["answer"], row.get("target")
    question = row.get("question")
    if suite not in SUITES:
        raise ValueError(f"suite must be one of {', '.join(SUITES)}, got {brief(suite)}")
    if suite == "symbolic" and not isinstance(target, int):
        raise ValueError(f"target must be an integer in the symbolic suite, got {brief(target)}")
    if is_cut_off(**counts) or not response.strip():
        why = "cut off by a limit" if response.strip() else "blank"
        return Score(FactorOutcome.MAX_CONTEXT, None, None, why, {"missing": [], "extra": []})
    # they compile many patterns, and making puzzles needs none
    from cogniload_gen.factor.reading.answer import read_number, read_variables
    from cogniload_gen.factor.reading.equations import in_order
    from cogniload_gen.factor.reading.text import WORDS

    if isinstance(target, int) and suite == "symbolic":
        value, rule, place = read_variables(response, target)
    else:
        value, rule, place = read_number(response, question)
    reason = WORDS["explanations"][rule] if value or place else "no statement gives an answer"
    outcome, extra, missing = FactorOutcome.NO_ANSWER, set[str](), set[str]()
    if value is not None:
        read, gold = (set(text.split(", ")) - {"none"} for text in (value, answer))
        outcome = FactorOutcome.CORRECT if read == gold else FactorOutcome.WRONG_SET
        extra, missing = read - gold, gold - read
    details = {"missing": in_order(missing), "extra": in_order(extra)}
    return Score(outcome, value, place, f"{rule}: {reason}", details)
