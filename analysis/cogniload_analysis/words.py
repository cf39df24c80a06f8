"""What pages call things, and the sentences that they say (data/words.toml)."""

from typing import Any

from cogniload_gen.files import read_words

WORDS: dict[str, Any] = read_words("cogniload_analysis", "words")


def say(name: str, /, **values: object) -> str:
    """Return the sentence of a name with its values."""
    return str(WORDS["sentences"][name]).format(**values)
