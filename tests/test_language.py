"""The words of pages and programs: names are nouns, and every sentence says who does what."""

import ast
import re

import pytest
from source_tree import ROOT

PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "*_tasks/**/*.md", "recipes/**/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)

PROGRAMS = sorted(
    path
    for folder in (
        "analysis", "benchmarks", "cogniload_gen", "docs", "inspect_tasks", "lm_eval_tasks",
        "reasoning_gym_tasks", "recipes", "spaces", "studies", "verifiers_tasks",
    )
    for path in (ROOT / folder).rglob("*.py")
)  # fmt: skip
PROGRAMS.append(ROOT / "cogniload_dataset.py")

NAMES = {"told", "asked", "said", "found", "given", "each"}
"""What no variable, parameter, function or attribute is called: a noun says what it is."""

PUBLIC = {
    "design.py": {"told"},
    "first_error.py": {"told"},
    "recall.py": {"found"},
    "retrieval.py": {"found"},
    "rules.py": {"told"},
}
"""Attributes that users read by these names."""

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


def names_of(tree: ast.Module) -> set[str]:
    """Return the names that a program gives."""
    names = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store()) | ast.arg(name) | ast.alias(_, str(name)):
                names.add(name)
            case ast.FunctionDef(name) | ast.ClassDef(name):
                names.add(name)
    return names


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_are_nouns_and_docstrings_are_plain(path):
    tree = ast.parse(path.read_text("utf-8"))
    assert not names_of(tree) & NAMES - PUBLIC.get(path.name, set())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = (node for node in ast.walk(tree) if isinstance(node, documented))
    assert not riddles("\n".join(filter(None, map(ast.get_docstring, nodes))))


@pytest.mark.parametrize("text", ["which is told", "So many of them", "one of which"])
def test_a_riddle_is_seen(text):
    assert riddles(text)


def test_quotations_are_let_through():
    assert not riddles('a name such as `told`, or "what is told"')
