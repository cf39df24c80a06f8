"""The sentences and captions of the report, which ship as `data/sentences.toml`."""

from collections.abc import Mapping
from functools import cached_property
from string import Formatter
from types import MappingProxyType
from typing import Any

from cogniload_gen.files import read_words


class Sentences(Formatter):
    """The sentences of one part of the report, by name, filled with the numbers of a row."""

    def __init__(self, part: str) -> None:
        self.part = part

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The sentences as they ship."""
        texts: Mapping[str, str] = read_words("cogniload_analysis", "sentences")[self.part]
        return texts

    def __call__(
        self, name: str, row: Mapping[str, Any] = MappingProxyType({}), **others: object
    ) -> str:
        """Return a sentence, filled with the members of a row and with others."""
        return self.vformat(self.texts[name], (), {**row, **others})

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Set one value; a format that ends in % sets a fraction in percent, without the sign."""
        if format_spec.endswith("%"):
            kind = "" if format_spec.endswith("g%") else "f"
            return format(100 * value, format_spec[:-1] + kind)
        return super().format_field(value, format_spec)
