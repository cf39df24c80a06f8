"""What the benchmarks' metrics share."""

from collections import Counter


def token_counts(doc: dict) -> dict[str, int]:
    """The token counts of a response as metrics; those that the model could not make are left out.

    `doc` is a document of a `SharedBudgetTask`.
    """
    counts = {name: doc[name] for name in ("prompt_tokens", "response_tokens")}
    return {name: count for name, count in counts.items() if count is not None}


def most_frequent(outcomes: list[str]) -> str:
    """The most frequent outcome of a run; the first in alphabetical order of equally frequent."""
    return Counter(sorted(outcomes)).most_common(1)[0][0]
