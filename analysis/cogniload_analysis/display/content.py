"""What a benchmark's analysis finds: tables, pictures, and what the page says of each model."""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cogniload_analysis.display.tables import Table


@dataclass(frozen=True)
class Picture:
    """A figure of the report, drawn for paper and for a phone."""

    name: str
    caption: str
    svg: bytes
    pdf: bytes
    narrow_svg: bytes

    def uri(self, narrow: bool = False) -> str:
        """Return the figure as an address that holds it."""
        content = self.narrow_svg if narrow else self.svg
        return "data:image/svg+xml;base64," + base64.b64encode(content).decode()


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the first screen says of a model: a headline, sentences and one picture.

    `breaks` is the paragraph on the loads that break it, and on the cause that its twins show.
    """

    name: str
    headline: str
    sentences: Sequence[str]
    picture: Picture | None = None
    breaks: str = ""

    @property
    def paragraphs(self) -> list[str]:
        """What stands below the headline."""
        return [*filter(None, [self.breaks]), *self.sentences]


@dataclass(frozen=True, eq=False)
class Findings:
    """What a benchmark's own analysis has for the report.

    Attributes:
        tables: In the order in which they were made.
        pictures: By name.
        models: What the page says of each model; the benchmark's template knows its members.
        verdicts: What the first screen says of each model, the best first.
        front: The first screen's picture where there are several models.
        sections: What the page says in further sections, as `models`, by the section's name.
        symbols: What LaTeX sets for words or characters of its own, wherever they stand.
    """

    tables: Sequence[Table]
    pictures: Mapping[str, Picture]
    models: Sequence[Mapping[str, object]]
    verdicts: Sequence[Verdict] = ()
    front: Picture | None = None
    symbols: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, Sequence[Mapping[str, object]]] = field(default_factory=dict)


def name_file(number: int, model: str) -> str:
    """Return a file's name for the model of a number, of letters, digits, dots and dashes."""
    return f"{number:02}_{re.sub(r'[^A-Za-z0-9.-]+', '_', model)[:60]}"
