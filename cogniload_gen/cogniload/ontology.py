"""The people and the categories with their values (CogniLoad, Appendix G)."""

import tomllib
from importlib.resources import files

_ONTOLOGY = tomllib.loads(files(__package__).joinpath("data/ontology.toml").read_text("utf-8"))

PEOPLE: tuple[str, ...] = tuple(_ONTOLOGY["people"])

VOCABULARIES: dict[str, tuple[str, ...]] = {
    category: tuple(values) for category, values in _ONTOLOGY["categories"].items()
}
"""The values of each of the 12 categories, from which a puzzle's value domains are drawn."""

CATEGORIES: tuple[str, ...] = tuple(VOCABULARIES)
