"""The values that a text about a puzzle may name: their categories and their spellings."""

from collections.abc import Iterable, Sequence

from cogniload_gen.cogniload.ontology import VOCABULARIES
from cogniload_gen.cogniload.score import SYNONYMS
from cogniload_gen.cogniload.solve import Solution


def value_categories(solution: Solution, categories: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the categories that each value may be of: those whose vocabulary has it.

    Of places, only those that the puzzle names count, since many are words of their own.
    """
    owners: dict[str, list[str]] = {}
    for category in categories:
        used = {part[category] for part in solution.parts if category in part}
        others = () if category == "location" else VOCABULARIES.get(category, ())
        for value in sorted({*used, *others}):
            owners.setdefault(value, []).append(category)
    return {value: tuple(categories) for value, categories in owners.items()}


def spellings(values: Iterable[str]) -> dict[str, str]:
    """Return the value of each accepted spelling."""
    meant = {"grey": "gray", "scifi": "sci-fi", "nonfiction": "non-fiction", "sci fi": "sci-fi"}
    for value in values:
        meant |= {spelling: value for spelling in SYNONYMS.get(value, ()) if spelling not in values}
        meant[value] = value
    return {spelling: value for spelling, value in meant.items() if value in values}
