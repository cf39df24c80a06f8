"""The words of the pages: every sentence says who does what."""

import re

import pytest
from source_tree import ROOT

PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "*_tasks/**/*.md", "recipes/**/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)

RIDDLES = re.compile(
    r"\b(told|asked|so (?:many|few)(?! that)|of which|tells of|be it|(?<!there )(?:is|are) none|"
    r"is said|are said|was said|what is given)\b",
    re.IGNORECASE,
)
"""What no sentence needs: it hides who does what."""

QUOTED = re.compile(r"```.*?```|`[^`]*`|“[^”]*”|\"[^\"]*\"", re.DOTALL)


def riddles(text: str) -> list[str]:
    """Return the passages of a text, outside of quotations, that hold a riddle."""
    plain = QUOTED.sub(" ", text)
    return [plain[max(0, m.start() - 40) : m.end() + 20] for m in RIDDLES.finditer(plain)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_are_plain(path):
    assert not riddles(path.read_text("utf-8"))


@pytest.mark.parametrize("text", ["which is told", "So many of them", "one of which"])
def test_a_riddle_is_seen(text):
    assert riddles(text)


def test_quotations_are_let_through():
    assert not riddles('a name such as `told`, or "what is told"')
