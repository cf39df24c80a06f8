"""The values that a text about a puzzle may name: their categories and their spellings."""

from collections.abc import Iterable, Sequence

from cogniload_gen.cogniload.ontology import VOCABULARIES, read_language
from cogniload_gen.cogniload.score import SYNONYMS
from cogniload_gen.cogniload.solve import Solution
from cogniload_gen.grid import ENGLISH


def vocabulary(category: str, language: str) -> tuple[str, ...]:
    """Return the values of a category in a language."""
    if language == ENGLISH:
        return VOCABULARIES.get(category, ())
    tables = read_language(language, "sentences")["values"]
    table = tables.get(category) or tables["colors"]
    return tuple(table[value][0] for value in VOCABULARIES.get(category, ()))


def value_categories(
    solution: Solution, categories: Sequence[str], language: str = ENGLISH
) -> dict[str, tuple[str, ...]]:
    """Return the categories that each value may be of: those whose vocabulary has it.

    Of places, only those that the puzzle names count, since many are words of their own.
    """
    owners: dict[str, list[str]] = {}
    for category in categories:
        used = {part[category] for part in solution.parts if category in part}
        others = () if category == "location" else vocabulary(category, language)
        for value in sorted({*used, *others}):
            owners.setdefault(value, []).append(category)
    return {value: tuple(categories) for value, categories in owners.items()}


def spellings(values: Iterable[str], language: str = ENGLISH) -> dict[str, str]:
    """Return the value of each accepted spelling, in lowercase."""
    if language != ENGLISH:
        listed = read_language(language, "reading")["spellings"]
        by_term = {term: value for value in values for term in listed.get(value, "").split("|")}
        terms = (by_term | {value: value for value in values}).items()
        return {term.lower(): value for term, value in terms if term}
    meant = {"grey": "gray", "scifi": "sci-fi", "nonfiction": "non-fiction", "sci fi": "sci-fi"}
    for value in values:
        meant |= {spelling: value for spelling in SYNONYMS.get(value, ()) if spelling not in values}
        meant[value] = value
    return {spelling: value for spelling, value in meant.items() if value in values}
