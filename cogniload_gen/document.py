"""A document of any benchmark and a response -> its outcome, by the scorer that it needs."""

from typing import NamedTuple

from cogniload_gen.budget import CONTEXT_BUDGET
from cogniload_gen.cogniload.score import Outcome, outcome_metrics, score_response
from cogniload_gen.factor.score import FactorOutcome, score_factor, score_metrics


class ScoredResponse(NamedTuple):
    """A response's outcome, and the metrics that a sample of it holds (`acc`, `outcome`, ...)."""

    outcome: Outcome | FactorOutcome
    metrics: dict[str, object]


def score_document(
    doc: dict,
    response: str,
    *,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
    context_budget: int | None = None,
) -> ScoredResponse:
    """The score of a response to a puzzle, given as a row: with a `suite` one of FACTOR's.

    The token counts are those of `score_response` and `score_factor`; without `context_budget`,
    CogniLoad has the paper's and FACTOR none. Raises LookupError for a row without the columns that
    its scorer needs, and ValueError where they hold what no puzzle has.
    """
    counts = {"prompt_tokens": prompt_tokens, "response_tokens": response_tokens}
    if "suite" in doc:
        score = score_factor(
            response,
            suite=doc["suite"],
            answer=doc["answer"],
            target=doc.get("target"),
            **counts,
            context_budget=context_budget,
        )
        return ScoredResponse(score.outcome, score_metrics(score))
    outcome = score_response(
        response,
        poi=doc["poi"],
        answer=doc["answer"],
        category=doc["category"],
        options=doc["options"],
        **counts,
        context_budget=CONTEXT_BUDGET if context_budget is None else context_budget,
    )
    return ScoredResponse(outcome, outcome_metrics(outcome))
