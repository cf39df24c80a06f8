"""CONTRIBUTING.md and the architecture page: what they name exists, and their steps work."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from lm_eval_layout import make_samples, write_run
from source_tree import ROOT, folders

from cogniload_gen.version import __version__

GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


class Step(NamedTuple):
    """A numbered step: its words, the files that it links to, and the code that it gives."""

    words: str
    files: list[str]
    code: str


def steps(title: str) -> list[Step]:
    """Return the numbered steps of a section of CONTRIBUTING.md."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", GUIDE, re.M | re.S)
    found = []
    for text in re.split(r"^\d+\. ", section, flags=re.M)[1:]:
        words, *code = re.split(r"^   ```\w*\n", text, flags=re.M)
        code = re.sub(r"^   ", "", code[0], flags=re.M) if code else ""
        found.append(Step(" ".join(words.split()), re.findall(r"\]\(([^)]+)\)", words), code))
    return found


def follow(step: Step, folder: Path) -> None:
    """Do what a step says, in a copy of the source: add its code where it belongs."""
    path = folder / step.files[0]
    lines = path.read_text("utf-8").splitlines(keepends=True)
    if step.words.startswith("At the end of"):
        place = len(lines)
    else:
        marker = re.search("below `([^`]+)`", step.words)[1]
        (before,) = [i for i, line in enumerate(lines) if line.strip() == marker]
        place = before + 1
    path.write_text("".join([*lines[:place], step.code, *lines[place:]]), "utf-8")


@pytest.fixture
def copy(tmp_path) -> Path:
    """A copy of the packages, as they stand in the repository and as they are imported."""
    for name, folder in folders().items():
        place = tmp_path / folder.relative_to(ROOT)
        shutil.copytree(folder, place, ignore=shutil.ignore_patterns("__pycache__"))
        if name != str(folder.relative_to(ROOT)):
            (tmp_path / name).symlink_to(place)
    return tmp_path


def run(program: str, copy: Path) -> subprocess.CompletedProcess:
    """Run a program with the packages of the copy."""
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )


SHOES = """
from cogniload_gen import generate_puzzles, score, solve
from cogniload_gen.cogniload import BENCHMARK
from cogniload_gen.cogniload.score import question_category

rows = generate_puzzles(13, 5, 50, num_puzzles=60).to_pylist()
assert all(solve(row["puzzle"]) == row["answer"] for row in rows)
asked = [row for row in rows if row["category"] == "clothes_shoes"]
assert asked
for row in asked:
    assert question_category(row["question"]) == "clothes_shoes"
    for value in row["options"]:
        response = f"1. {row['poi']} is wearing {value} shoes."
        assert score(response, row).correct == (value == row["answer"]), response
        assert (BENCHMARK.reward_answer(response, row) == 1) == (value == row["answer"])
        assert 0 <= BENCHMARK.reward_steps(response, row) <= 1
"""


def test_a_category_can_be_added_by_its_steps(copy):
    assert run(SHOES, copy).returncode != 0
    for step in steps("Add a category"):
        if step.code:
            follow(step, copy)
    ran = run(SHOES, copy)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("number", range(5))
def test_no_step_towards_a_category_can_be_left_out(copy, number):
    added = [step for step in steps("Add a category") if step.code]
    assert len(added) == 5
    for step in added[:number] + added[number + 1 :]:
        follow(step, copy)
    assert run(SHOES, copy).returncode != 0


TOY = """
from cogniload_gen import generate_puzzles, score, solve

english = generate_puzzles([3, 12], 6, 50, num_puzzles=60).to_pylist()
rows = generate_puzzles([3, 12], 6, 50, num_puzzles=60, language="xx").to_pylist()
for row, original in zip(rows, english, strict=True):
    assert "-s42-xx-d" in row["id"]
    assert "Diejenigen Leute" in row["puzzle"]
    assert solve(row["puzzle"]) == row["answer"]
    assert row["options"].index(row["answer"]) == original["options"].index(original["answer"])
    clause = f"{row['answer']}: Socken Hemd Hose Hut Handschuhe Unterw\u00e4sche Haare Film Musik"
    sentence = f"{row['poi']} hat, ist, las, isst {clause}."
    assert score(sentence, row).correct, sentence
"""


def test_a_language_can_be_added_by_its_steps(copy):
    first, translated, solver, reading, *_ = steps("Add a language")
    german = (copy / first.files[0]).parent
    names = {Path(step.files[0]).name for step in (translated, solver, reading)}
    assert names == {path.name for path in german.iterdir()}
    toy = german.with_name("xx")
    shutil.copytree(german, toy)
    assert run(TOY, copy).returncode != 0
    for step in (translated, solver):
        path = toy / Path(step.files[0]).name
        text = path.read_text("utf-8").replace("Die Personen, die", "Diejenigen Leute, die")
        path.write_text(text, "utf-8")
    ran = run(TOY, copy)
    assert ran.returncode == 0, ran.stderr


REPORT = """
from cogniload_analysis.report.write import write_report

page = write_report("results", "report").read_text("utf-8")
assert "Accuracy by d at each N." in page
"""


def test_a_figure_can_be_added_by_its_steps(copy):
    samples = make_samples((7, -0.3, -2.5, -2, 1.4), 2, seed=1)
    write_run(copy / "results", "model", samples)
    for step in steps("Add a figure"):
        if step.code:
            follow(step, copy)
    ran = run(REPORT, copy)
    assert ran.returncode == 0, ran.stderr
    assert (copy / "report" / "figures" / "d_by_N.svg").is_file()


def test_the_lists_that_a_benchmark_is_added_to_are_there():
    for words, files, _ in steps("Add a benchmark"):
        for name, path in zip(re.findall("to `([A-Z]+)` in", words), files, strict=False):
            assert re.search(rf"^{name}\b.* = \(", (ROOT / path).read_text("utf-8"), re.M)


@pytest.mark.parametrize(
    ("what", "told_by"),
    [
        ("the template of a sentence", "[clothes_socks]"),
        ("the rule (I2)", "(I2)"),
        ("the sentence windows of the scorer", "def sentence_windows"),
        ("the solver", "def solve("),
        ("the rewards", "def answer_reward"),
        ("the token budget", "class SharedBudgetTask"),
        ("the lm-eval YAML", "task: cogniload"),
        ("the files of blocks of an evaluation", "state/block"),
        ("the formula of ECL50", "def capacity_thresholds"),
        ("the published tables", "Table 2"),
        ("the card of a published split", "def dataset_card"),
        ("the report's HTML page", "<html"),
    ],
)
def test_the_architecture_page_says_where_things_are(what, told_by):
    (row,) = [line for line in ARCHITECTURE.splitlines() if line.startswith(f"| {what} |")]
    path = re.search(r"\]\(\.\./([^)]+)\)", row)[1]
    assert told_by in (ROOT / path).read_text("utf-8")


def test_the_commands_are_targets_of_the_makefile():
    assert set(re.findall(r"`make ([a-z-]+)`", GUIDE)) <= TARGETS
    workflows = [
        yaml.safe_load(path.read_text("utf-8"))["jobs"]
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
    ]
    steps = [step for jobs in workflows for job in jobs.values() for step in job["steps"]]
    lines = [step["run"] for step in steps if "run" in step]
    made = {line.removeprefix("make ") for line in lines if line.startswith("make ")}
    assert {"test", "docs", "release"} == made <= TARGETS
    paths = re.findall(r"(?:tests|\.ci)/[\w./]+", " ".join(lines))
    assert len(paths) > 5
    assert all((ROOT / path).exists() for path in paths)


def test_what_is_published_was_tried_and_no_other_job_may_publish():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    publish = jobs.pop("publish")
    assert publish["needs"] == "try"
    assert publish["if"] == "github.ref_type == 'tag'"
    assert publish["permissions"] == {"id-token": "write"}
    assert jobs["try"]["needs"] == "build"
    assert not any("permissions" in job for job in jobs.values())


def test_one_command_has_every_page_name_the_released_package(tmp_path):
    pages = run_git("ls-files", "*.md").splitlines()
    for name in pages:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    before = [(tmp_path / name).read_text("utf-8") for name in pages]
    code = steps("Release")[-1].code.partition("```")[0].replace("git ls-files '*.md'", "cat list")
    (tmp_path / "list").write_text("\n".join(pages), "utf-8")
    subprocess.run(["bash", "-c", code], cwd=tmp_path, check=True)
    texts = [(tmp_path / name).read_text("utf-8") for name in pages]
    assert sum(text.count("pip install .") for text in before) >= 5
    assert not any(re.search(r"pip install '?\.(?!venv)", text) for text in texts)
    changed = [re.sub(r"(pip install '?)cogniload", r"\1.", text) for text in texts]
    plain = [re.sub(r"(pip install '?)cogniload", r"\1.", text) for text in before]
    assert changed == plain


def run_git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    ).stdout


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## (\S+)", changes, re.M)[1] in (__version__, "Unreleased")
    about = " ".join((ROOT / "README.md").read_text("utf-8").split())
    for paper in citation["references"]:
        assert paper["title"] in about
        assert all(author["family-names"] in about for author in paper["authors"])
