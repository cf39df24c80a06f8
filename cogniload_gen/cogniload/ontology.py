"""The people and the categories with their values (CogniLoad, Appendix G) and their words."""

from functools import cache
from importlib.resources import files
from typing import Any

from cogniload_gen.files import read_words
from cogniload_gen.grid import ENGLISH


def read_table(name: str) -> dict[str, Any]:
    """Return the tables of data/NAME.toml."""
    return read_words(__package__, name)


def read_language(language: str, name: str) -> dict[str, Any]:
    """Return the tables of data/languages/LANGUAGE/NAME.toml."""
    return read_table(f"languages/{language}/{name}")


_FOLDERS = (each.name for each in files(__package__).joinpath("data", "languages").iterdir())

LANGUAGES = (ENGLISH, *sorted({*_FOLDERS} - {ENGLISH}))
"""The languages that puzzles are made in: each is a folder of data."""

PEOPLE: tuple[str, ...] = tuple(read_table("ontology")["people"])

VOCABULARIES: dict[str, tuple[str, ...]] = {
    category: tuple(values) for category, values in read_table("ontology")["categories"].items()
}
"""The values of each of the 12 categories, from which a puzzle's value domains are drawn."""

CATEGORIES: tuple[str, ...] = tuple(VOCABULARIES)

STATE = "state"
"""In place of a category, of a question about all attributes of the PoI."""

WORDS: dict[str, dict[str, Any]] = {
    category: read_language(ENGLISH, "reading")[category] for category in CATEGORIES
}
"""The words of each category, by which responses are read and planted errors are written."""


@cache
def forms_of(category: str, language: str) -> dict[str, Any]:
    """Return what templates take for each value of a category: its forms by name, or itself.

    The form "word" is what the value is called as an answer.
    """
    tables = read_language(language, "sentences").get("values")
    if tables is None:
        return {value: value for value in VOCABULARIES[category]}
    table = tables.get(category) or tables["colors"]
    names = table["forms"]
    return {value: dict(zip(names, table[value], strict=True)) for value in VOCABULARIES[category]}


def vocabulary(category: str, language: str = ENGLISH) -> list[str]:
    """Return what the values of a category are called as answers in a language.

    Examples:
        >>> vocabulary("hair")[:3], vocabulary("hair", "de")[:3]
        (['blue', 'red', 'yellow'], ['blau', 'rot', 'gelb'])
    """
    forms = forms_of(category, language).values()
    return [form if isinstance(form, str) else form["word"] for form in forms]
