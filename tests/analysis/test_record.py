"""The benchmarks' records: whole, listed once, and all that a further benchmark needs."""

import subprocess
import sys
from configparser import ConfigParser
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import pandas as pd
import pytest
from lm_eval_layout import make_sample, write_run
from lxml import html

import cogniload_analysis
from cogniload_analysis import analyses
from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.display.content import Findings
from cogniload_analysis.display.figures import Panel, Series, draw_all, draw_panels
from cogniload_analysis.display.print import accuracy_columns, accuracy_table
from cogniload_analysis.display.tables import TableSpec
from cogniload_analysis.factor.loads import COMPLEXITY_COLUMNS
from cogniload_analysis.load import Load
from cogniload_analysis.model_labels import label_models
from cogniload_analysis.report.write import write_report
from cogniload_analysis.samples.read import read_benchmarks
from cogniload_gen.cogniload import BENCHMARK
from cogniload_gen.factor import FACTOR

ROOT = Path(cogniload_analysis.__file__).parent


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda analysis: analysis.name)
def test_a_record_is_whole(analysis):
    """Each wrong outcome has its meaning in words, and no other name has one."""
    assert set(analysis.meanings) == {each for each in analysis.outcomes if not each.correct}
    assert set(analysis.growth) <= {load.name for load in analysis.loads}


def test_without_a_package_of_the_extra_it_is_said_how_to_install_it():
    """Of each that setup.cfg lists; nothing else is imported before."""
    setup = ConfigParser()
    setup.read(ROOT.parents[1] / "setup.cfg")
    lines = setup["options.extras_require"]["analysis"].split()
    assert len(lines) >= 5
    for package in (line.partition(">")[0] for line in lines):
        code = f"import sys; sys.modules[{package!r}] = None; import cogniload_analysis"
        ran = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        assert f"needs {package}: pip install 'cogniload[analysis]'" in ran.stderr


def test_every_suite_of_factor_has_its_complexity():
    assert set(COMPLEXITY_COLUMNS) == set(FACTOR.suites)


def test_no_two_benchmarks_share_a_name_a_prefix_or_a_task():
    for names in (
        [each.name for each in ANALYSES],
        [each.prefix for each in ANALYSES],
        [task for each in ANALYSES for task in each.tasks],
    ):
        assert len(set(names)) == len(names)


class ToyOutcome(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"

    @property
    def correct(self):
        return self is ToyOutcome.RIGHT


def report_toy(frame):
    table = accuracy_table(frame, "size")
    series = [
        Series(model, rows["size"], rows["accuracy"], rows["low"], rows["high"])
        for model, rows in table.groupby("model", observed=True)
    ]
    panel = Panel(series, "Size", "Accuracy")
    drawings = {"toy_curve": ("Accuracy.", lambda columns: draw_panels([panel], columns))}
    spec = TableSpec("toy_accuracy", "Accuracy.", accuracy_columns(TOY.loads))
    return Findings([spec.table(table)], draw_all(drawings), [{"name": "all models"}])


TOY = Analysis(
    name="Toy",
    prefix="toy_",
    tasks=("toy",),
    benchmarks=(
        replace(BENCHMARK, name="toy", owns_row=lambda row: "size" in row, outcomes=ToyOutcome),
    ),
    meanings={ToyOutcome.WRONG: "not the right answer"},
    loads=(Load("size", "Size"),),
    read_loads=lambda puzzle: (int(puzzle["size"]),),
    growth=("size",),
    describe_load=lambda row: f"size {row.size}",
    label=label_models,
    report=report_toy,
    package="toy_analysis",
)


def toy_samples(number):
    for index in range(number):
        doc = {"id": f"toy-{index}", "index": index, "size": 1 + index % 3, "answer": "4"}
        doc |= {"puzzle": "2 + 2", "question": "?"}
        outcome = "right" if index % 2 else "wrong"
        sample = make_sample(doc, "four <b>", outcome, prompt_tokens=5)
        yield sample | {"acc": float(index % 2)}


@pytest.fixture
def toy_templates(tmp_path, monkeypatch):
    """The package of a further benchmark's templates."""
    folder = tmp_path / "packages" / "toy_analysis" / "templates"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "part.html").write_text(
        '{% extends "part.html" %}{% from "macros.html" import show_picture, show_table %}'
        "{% block models %}{{ show_table(part.tables.toy_accuracy) }}"
        "{{ show_picture(part.findings.pictures.toy_curve) }}{% endblock %}"
    )
    monkeypatch.syspath_prepend(tmp_path / "packages")
    yield
    sys.modules.pop("toy_analysis", None)


def test_a_further_benchmark_is_read_and_reported_by_its_record_alone(
    tmp_path, monkeypatch, toy_templates
):
    monkeypatch.setattr(analyses, "ANALYSES", (*ANALYSES, TOY))
    write_run(tmp_path / "results", "org/m", toy_samples(12), task="my_sums")
    frame = read_benchmarks(tmp_path / "results", analyses.ANALYSES)["Toy"]
    assert frame["outcome"].value_counts().to_dict() == {"right": 6, "wrong": 6}
    page = write_report(tmp_path / "results", tmp_path / "out")
    text = page.read_text("utf-8")
    assert "<title>Toy report</title>" in text
    links = {link.get("href") for link in html.fromstring(text).cssselect("a")}
    written = {str(file.relative_to(page.parent)) for file in page.parent.rglob("*.*")}
    assert {link for link in links if "/" in link} | {"report.html"} == written
    articles = html.fromstring(text).cssselect("article")
    assert len(articles) == 6 + 4
    assert articles[0].cssselect("h3")[0].text.strip() == "wrong: not the right answer"
    assert "four <b>" in articles[0].text_content()
    cells = pd.read_csv(page.parent / "tables" / "toy_cells.csv")
    assert cells[["right", "wrong"]].sum().tolist() == [6, 6]


def test_a_report_may_be_of_some_benchmarks(tmp_path, toy_templates):
    write_run(tmp_path / "results", "org/m", toy_samples(4), task="my_sums")
    assert write_report(tmp_path / "results", tmp_path / "out", among=[TOY]).is_file()
    with pytest.raises(ValueError, match=r"no CogniLoad or FACTOR task in .* are of my_sums"):
        write_report(tmp_path / "results", tmp_path / "other")
