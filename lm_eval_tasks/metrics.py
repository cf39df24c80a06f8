"""From a response to the metrics of its sample, and from those of a run to its numbers."""

import re
from collections.abc import Callable, ItemsView, Iterable, Mapping, Sequence
from functools import lru_cache
from logging import Logger
from typing import Any

from cogniload_gen.answers import Sample
from cogniload_gen.benchmark import enough_read

_OF_TWINS = re.compile(r"acc_(?!uncut).+|.*_tokens|overflow")


class Fields(dict[str, Any]):
    """The fields of a sample, whose `items` are those that lm-eval aggregates.

    lm-eval logs every field, as it copies a sample's by their keys (`dict.update`). Twins are no
    sample of puzzles: of these, the accuracy by change, the tokens and the overflow are aggregated
    alone.
    """

    def __init__(
        self, fields: Mapping[str, Any], aggregated: Iterable[str], *, of_twin: bool = False
    ) -> None:
        super().__init__(fields)
        kept = (name for name in aggregated if not of_twin or _OF_TWINS.fullmatch(name))
        self._aggregated = frozenset(kept)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]  # dict's own type is final
        """Return the fields that are aggregated: no texts, such as the outcome."""
        return {name: self[name] for name in self if name in self._aggregated}.items()


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
    """Return the metrics of one response.

    `doc` is a puzzle with the token counts and the budget of its request (`SharedBudgetTask`).
    """
    return Sample.from_answer(results[0], doc).metrics


def share_of_read(kind: Sequence[int | None]) -> float | None:
    """Return the share of the responses read that have a kind of first error; None if too few."""
    read = [error for error in kind if error is not None]
    return sum(read) / len(read) if enough_read(len(read), len(kind)) else None


def mean_of_known(values: Sequence[int | None]) -> float | None:
    """Return the mean of the values that are known; None if none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def share_of_steps_read(steps: Sequence[dict[str, Any]]) -> float:
    """Return the share of responses whose reasoning could be read."""
    return sum(reading["read"] for reading in steps) / len(steps)


def share_read(read: Sequence[dict[str, Any]]) -> float:
    """Return the share of responses that an answer was read from."""
    return sum(answer["value"] is not None for answer in read) / len(read)


def numbers_of(
    fit: Callable[[tuple[Any, ...]], dict[str, float | None]], names: Iterable[str]
) -> tuple[Callable[[list[Any]], float | None], ...]:
    """Return an aggregation for each number of a fit, by name, which all share one fit of a run.

    `fit` takes what the samples hold for it.
    """
    once = lru_cache(maxsize=1)(fit)

    def number(name: str) -> Callable[[list[Any]], float | None]:
        return lambda responses: once(tuple(responses))[name]

    return tuple(map(number, names))


def log_problems(log: Logger, problems: dict[str, str]) -> None:
    """Warn of numbers that do not exist or must be read with care: once for each reason."""
    for reason in dict.fromkeys(problems.values()):
        names = ", ".join(name for name, of in problems.items() if of == reason)
        log.warning("%s: %s", names, reason)
