"""The people and the categories with their values (CogniLoad, Appendix G) and their words."""

from dataclasses import dataclass, field
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


LANGUAGES = (
    ENGLISH,
    *sorted(
        folder.name
        for folder in files(__package__).joinpath("data", "languages").iterdir()
        if folder.is_dir() and folder.name != ENGLISH
    ),
)
"""The languages that puzzles are made in: each is a folder of data."""


@dataclass(frozen=True, slots=True)
class CategoryWords:
    """The English words of a category; data/languages/en/reading.toml says what they are."""

    question: str
    qualifiers: list[str]
    noun: str
    phrase: str
    answer: str
    words: str
    verbs: str = ""
    synonyms: dict[str, list[str]] = field(default_factory=dict)


_ONTOLOGY = read_table("ontology")

PEOPLE: tuple[str, ...] = tuple(_ONTOLOGY["people"])

VOCABULARIES: dict[str, tuple[str, ...]] = {
    category: tuple(values) for category, values in _ONTOLOGY["categories"].items()
}
"""The values of each of the 12 categories, from which a puzzle's value domains are drawn."""

CATEGORIES: tuple[str, ...] = tuple(VOCABULARIES)

STATE = "state"
"""In place of a category, of a question about all attributes of the PoI."""

WORDS: dict[str, CategoryWords] = {
    category: CategoryWords(**words)
    for category, words in read_language(ENGLISH, "reading").items()
}
"""The words of each category, by which responses are read and planted errors are written."""
