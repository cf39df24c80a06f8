"""What the page of a report consists of: sections, and the verdicts of its first screen."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from cogniload_analysis.display.figures import Figure
from cogniload_analysis.display.tables import Table

Content: TypeAlias = Any
"""A note (str), sentences (list), a Table, a Figure, a part (Section), or an example (dict)."""

MOST_SAID = 2
"""Up to this number of models, a terminal and a citation have each verdict whole."""


@dataclass(frozen=True, eq=False)
class Section:
    """A section of the page, or a part of one, in reading order.

    Attributes:
        heading: Its heading.
        content: What it shows. What the page has shown before is left out.
        id: Its anchor, which a section needs, and a part may have.
        folded: Whether it opens on a click only.
        link: Its name in the page's navigation, if it has one there.
    """

    heading: str
    content: Sequence[Content]
    id: str = ""
    folded: bool = False
    link: str = ""

    kind: ClassVar = "section"


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the first screen says of a model: a headline, sentences and one figure.

    `breaks` is the paragraph on the loads that break it, and on the cause that its twins show.
    """

    name: str
    headline: str
    sentences: Sequence[str]
    figure: Figure | None = None
    breaks: str = ""

    @property
    def paragraphs(self) -> list[str]:
        """What stands below the headline."""
        return [*filter(None, [self.breaks]), *self.sentences]


@dataclass(frozen=True, eq=False)
class Findings:
    """What a benchmark's own analysis has for the report.

    Attributes:
        sections: In reading order; those that are folded stand behind the examples.
        verdicts: What the first screen says of each model, the best first.
        overview: What the first screen shows of several models.
        models: What was fitted, by model, for comparing them.
    """

    sections: Sequence[Section]
    verdicts: Sequence[Verdict] = ()
    overview: Sequence[Table | Figure] = ()
    models: Mapping[str, Any] = field(default_factory=dict)


def walk(content: Sequence[Content]) -> Iterator[Content]:
    """Yield everything that some content holds, in reading order."""
    for each in content:
        yield each
        if isinstance(each, Section):
            yield from walk(each.content)


def name_file(number: int, model: str) -> str:
    """Return a file's name for the model of a number, of letters, digits, dots and dashes."""
    return f"{number:02}_{re.sub(r'[^A-Za-z0-9.-]+', '_', model)[:60]}"
