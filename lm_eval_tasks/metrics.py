"""What the benchmarks' metrics share."""

from collections import Counter
from logging import Logger

from cogniload_gen.document import ScoredResponse, score_document

COUNTS = ("prompt_tokens", "response_tokens")


def score_counted(doc: dict, response: str) -> ScoredResponse:
    """The score of a response to a document of a `SharedBudgetTask`, with its token counts."""
    known = {name: doc[name] for name in (*COUNTS, "context_budget")}
    return score_document(doc, response, **known)


def token_counts(doc: dict) -> dict[str, int]:
    """The token counts of a response as metrics; those that the model could not make are left out.

    `doc` is a document of a `SharedBudgetTask`.
    """
    return {name: doc[name] for name in COUNTS if doc[name] is not None}


def most_frequent(outcomes: list[str]) -> str:
    """The most frequent outcome of a run; the first in alphabetical order of equally frequent."""
    return Counter(sorted(outcomes)).most_common(1)[0][0]


def log_problems(log: Logger, problems: dict[str, str]) -> None:
    """Warn of numbers that do not exist or must be read with care: once for each reason."""
    for reason in dict.fromkeys(problems.values()):
        names = ", ".join(name for name, of in problems.items() if of == reason)
        log.warning("%s: %s", names, reason)
