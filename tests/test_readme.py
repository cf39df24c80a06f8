"""What README.md and the pages of docs/ show is true: sessions, imports, commands and tables."""

import ast
import doctest
import re
import shlex
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import parse

from cogniload_gen.benchmarks import BENCHMARKS
from cogniload_gen.files.run_folder import cut_in_blocks
from lm_eval_tasks.runner.progress import Part, Status, lines_of

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *(f"docs/{path.name}" for path in sorted(ROOT.glob("docs/*.md")))]
OURS = ("cogniload_gen", "cogniload_dataset", "cogniload_analysis", "lm_eval_tasks")
for name in OURS:
    import_module(name)  # once for all tests: libraries draw from the global state when imported
COLUMNS = {"takes": "allowed", "default": "usual", "what it sets": "meaning"}
TABLES = {
    "docs/parameters.md": {"cogniload": 9, "factor": 8},
    "lm_eval_tasks/cogniload/README.md": {"cogniload": 7},
    "lm_eval_tasks/factor/README.md": {"factor": 9},
}
"""The tables of knobs: the rows of each benchmark's data set on each page."""


def code_blocks(page, language):
    """Return the code blocks of a page in a language ("" for none)."""
    text = (ROOT / page).read_text("utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [code for name, code in found if name == language]


def sessions(page):
    return "\n".join(code for code in code_blocks(page, "python") if code.startswith(">>>"))


@pytest.mark.parametrize("page", [page for page in PAGES if sessions(page)])
def test_a_session_prints_what_the_page_says(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    test = doctest.DocTestParser().get_doctest(sessions(page), {}, page, None, 0)
    assert len(test.examples) >= 3
    assert doctest.DocTestRunner().run(test).failed == 0


def test_most_pages_have_a_session():
    assert {"README.md", "docs/factor.md", "docs/parameters.md", "docs/results.md"} <= {
        *filter(sessions, PAGES)
    }


@pytest.mark.parametrize("page", PAGES)
def test_a_program_compiles_and_imports_what_there_is(page):
    for code in code_blocks(page, "python"):
        if code.startswith(">>>"):
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] in OURS:
                module = import_module(node.module)
                assert all(hasattr(module, alias.name) for alias in node.names), code


def commands(page):
    """Return the lines of a page's blocks that begin with `cogniload`, as arguments."""
    for language in ("", "bash"):
        for code in code_blocks(page, language):
            for line in code.replace("\\\n", " ").splitlines():
                if line.startswith("cogniload "):
                    yield shlex.split(line, comments=True)[1:]


@pytest.mark.parametrize(
    "page", [*PAGES, *map("recipes/{}.md".format, ("README", "answering/README", "cuda", "rocm"))]
)
def test_a_command_can_be_parsed(page):
    """Each command of a page has options that there are. What lm-eval takes, it knows itself."""
    for arguments in commands(page):
        for harness in parse(arguments)[1]:
            if harness.startswith("--"):
                assert harness in HARNESS_OPTIONS, arguments


HARNESS_OPTIONS = {
    *("--tasks", "--model", "--model_args", "--gen_kwargs", "--metadata"),
    *("--apply_chat_template", "--batch_size", "--include_path", "--log_samples"),
}


def test_the_status_is_that_of_the_rehearsal_above_it():
    blocks = cut_in_blocks({"cogniload_mini": range(54)}, 10)
    shards = {"1/2": Part(3, [0.1] * 3)}
    run = SimpleNamespace(tasks={"cogniload_mini": None})
    status = Status(run, blocks, blocks[::2], shards, 30, 0.0)
    (shown,) = (
        code for code in code_blocks("docs/running.md", "") if code.startswith("runs/try: ")
    )
    assert shown.splitlines() == lines_of(Path("runs/try"), status)


def test_every_benchmark_finds_what_it_imports():
    """With the path that the Makefile gives to all, and the page to one."""
    (path,) = re.findall(r"PYTHONPATH=(\S+) \$\(RUN\)", (ROOT / "Makefile").read_text("utf-8"))
    assert f"PYTHONPATH={path} python" in (ROOT / "benchmarks/README.md").read_text("utf-8")
    programs = [*(ROOT / "benchmarks").glob("*.py")]
    beside = {file.stem for file in (*programs, *(ROOT / path).glob("*.py"))}
    for program in programs:
        for node in ast.walk(ast.parse(program.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                name = node.module.partition(".")[0]
                assert name in beside or find_spec(name), program


@pytest.mark.parametrize("page", PAGES)
def test_a_link_leads_to_a_file(page):
    text = (ROOT / page).read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert target.startswith("https://") or (ROOT / page).parent.joinpath(target).exists(), (
            target
        )


def test_the_costs_are_the_arithmetic_that_they_say():
    """Prompt tokens are the paper's means over the grid; hours are response tokens at 2,000/s."""
    lines = (ROOT / "tests/cogniload/data/prompt_tokens.csv").read_text("utf-8").splitlines()[2:]
    mean = sum(float(line.split(",")[2]) for line in lines) / len(lines)
    text = (ROOT / "docs" / "costs.md").read_text("utf-8")
    assert f"{mean:,.0f} a puzzle over the grid" in text
    for name, puzzles in (("`cogniload_lite`", 1400), ("`cogniload`, the paper's grid", 14000)):
        row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
        _, _, total, prompts, responses, hours, _ = (cell.strip() for cell in row.split("|"))
        assert total == f"{puzzles:,}"
        assert float(prompts.split()[0]) == pytest.approx(puzzles * mean / 1e6, rel=0.01)
        assert float(responses.split()[0]) == puzzles * 5000 / 1e6
        assert hours == f"{puzzles * 5000 / 2000 / 3600:.1f}"
    assert f"{14000 * (32768 - mean) / 1e6:.0f} million tokens" in text
    costs = dict(re.findall(r"^\| (`\w+`).* \| ([\d.]+) \|$", text, re.MULTILINE))
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = dict(re.findall(r"^\| (`\w+`) .* \| ([\d.]+) \|$", readme, re.MULTILINE))
    assert len(shown) == 5
    assert shown.items() <= costs.items()


def tables(page):
    """Yield the rows of a page's tables of parameters, as dictionaries by the columns' heads."""
    head = None
    for line in (ROOT / page).read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            head = None
        elif "parameter" in cells:
            head = cells
        elif head and not line.startswith("| ---"):
            yield dict(zip(head, cells, strict=True))


@pytest.mark.parametrize("page", TABLES)
def test_the_knobs_are_as_the_records_say(page):
    rows = list(tables(page))
    names = [row["parameter"] for row in rows]
    assert len(rows) == sum(TABLES[page].values()), names
    for row in rows:
        dataset = "factor" if "suite" in row else "cogniload"
        suites = [row["suite"]] if row.get("suite") in ("symbolic", "realistic") else None
        owners = [
            each
            for each in BENCHMARKS
            if each.dataset == dataset and (suites is None or each.suite in suites)
        ]
        assert owners
        for benchmark in owners:
            knobs = {f"`{knob.name}`": knob for knob in benchmark.parameters}
            knob = knobs[row["parameter"]]
            for head, field in COLUMNS.items():
                assert row.get(head, getattr(knob, field)) == getattr(knob, field), knob.name


def test_the_page_of_parameters_has_every_knob():
    rows = {(row.get("suite"), row["parameter"]) for row in tables("docs/parameters.md")}
    for benchmark in BENCHMARKS:
        assert {(benchmark.suite, f"`{knob.name}`") for knob in benchmark.knobs} <= rows
