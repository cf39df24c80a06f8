"""What README.md and the pages of docs/ show is true: sessions, imports, commands and tables."""

import ast
import doctest
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from command_line import parse
from harness import lm_eval_random_state  # noqa: F401 (every test's fixture)

from cogniload_gen.benchmarks import BENCHMARKS

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *(f"docs/{path.name}" for path in sorted(ROOT.glob("docs/*.md")))]
OURS = ("cogniload_gen", "cogniload_dataset", "cogniload_analysis", "lm_eval_tasks")
for name in OURS:
    import_module(name)  # once for all tests: libraries draw from the global state when imported
COLUMNS = {"takes": "allowed", "default": "usual", "what it sets": "meaning"}


def code_blocks(page, language):
    """Return the code blocks of a page in a language ("" for none)."""
    text = (ROOT / page).read_text("utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [code for name, code in found if name == language]


def sessions(page):
    return "\n".join(code for code in code_blocks(page, "python") if code.startswith(">>>"))


@pytest.mark.parametrize("page", [page for page in PAGES if sessions(page)])
def test_a_session_prints_what_the_page_says(page, monkeypatch, tmp_path):
    for path in ROOT.iterdir():  # what a session writes is not left here
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(sessions(page), {}, page, None, 0)
    assert len(test.examples) >= 3
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("page", PAGES)
def test_a_program_compiles_and_imports_what_there_is(page):
    programs = [code for code in code_blocks(page, "python") if not code.startswith(">>>")]
    for node in ast.walk(ast.parse("\n".join(programs))):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] in OURS:
            module = import_module(node.module)
            assert all(hasattr(module, alias.name) for alias in node.names), node.module


@pytest.mark.parametrize("page", [*PAGES, "recipes/README.md", "lm_eval_tasks/README.md"])
def test_a_command_can_be_parsed(page):
    """Each command of a page has options that there are. What lm-eval takes, it knows itself."""
    blocks = [*code_blocks(page, ""), *code_blocks(page, "bash")]
    for line in "".join(blocks).replace("\\\n", " ").splitlines():
        if line.startswith("cogniload "):
            left = parse(shlex.split(line, comments=True)[1:])[1]
            assert {word for word in left if word.startswith("--")} <= HARNESS_OPTIONS, line


HARNESS_OPTIONS = {
    *("--tasks", "--model", "--model_args", "--gen_kwargs", "--metadata"),
    "--system_instruction",
    *("--apply_chat_template", "--batch_size", "--include_path", "--log_samples", "--num_fewshot"),
}


def rows_of_parameters():
    """Yield the rows of the tables of parameters, as dictionaries by the columns' heads."""
    head = None
    for line in (ROOT / "docs/puzzles.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            head = None
        elif "parameter" in cells:
            head = cells
        elif head and not line.startswith("| ---"):
            yield dict(zip(head, cells, strict=True))


def test_the_page_of_parameters_has_every_knob_as_it_is():
    rows = {(row.get("suite"), row["parameter"].strip("`")): row for row in rows_of_parameters()}
    for benchmark in BENCHMARKS:
        assert {(benchmark.suite, knob.name) for knob in benchmark.knobs} <= rows.keys()
        for knob in benchmark.parameters:
            row = rows.pop((benchmark.suite, knob.name), {})
            for head, field in COLUMNS.items():
                assert row.get(head, getattr(knob, field)) == getattr(knob, field), knob.name
    assert not rows
