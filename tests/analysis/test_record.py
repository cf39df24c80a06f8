"""The benchmarks' records: whole, listed once, and all that a further benchmark needs."""

import pytest
from lm_eval_layout import make_sample, write_run
from report_reader import links_of, read_page, read_table, written_files
from toy.analysis import TOY

from cogniload_analysis import analyses
from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.factor.loads import COMPLEXITY_COLUMNS
from cogniload_analysis.report.write import write_report
from cogniload_analysis.samples.read import read_benchmarks
from cogniload_gen.factor import FACTOR


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda analysis: analysis.name)
def test_a_record_is_whole(analysis):
    """Each wrong outcome has its meaning in words, and no other name has one."""
    assert set(analysis.meanings) == {each for each in analysis.outcomes if not each.correct}
    assert set(analysis.growth) <= {load.name for load in analysis.loads}


def test_every_suite_of_factor_has_its_complexity():
    assert set(COMPLEXITY_COLUMNS) == set(FACTOR.suites)


def test_no_two_benchmarks_share_a_name_a_prefix_or_a_task():
    for names in (
        [each.name for each in ANALYSES],
        [each.prefix for each in ANALYSES],
        [task for each in ANALYSES for task in each.tasks],
    ):
        assert len(set(names)) == len(names)


def toy_samples(number):
    for index in range(number):
        doc = {"id": f"toy-{index}", "index": index, "n": 1 + index % 3, "answer": "4"}
        doc |= {"puzzle": "2 + 2", "question": "?"}
        sample = make_sample(doc, "four <b>", "right" if index % 2 else "off", prompt_tokens=5)
        yield sample | {"acc": float(index % 2)}


def test_a_further_benchmark_is_read_and_reported_by_its_record_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(analyses, "ANALYSES", (*ANALYSES, TOY))
    write_run(tmp_path / "results", "org/m", toy_samples(12), task="my_sums")
    frame = read_benchmarks(tmp_path / "results", analyses.ANALYSES)["Toy"]
    assert frame["outcome"].value_counts().to_dict() == {"right": 6, "off": 6, "mute": 0}
    file = write_report(tmp_path / "results", tmp_path / "out")
    page = read_page(file)
    assert page.findtext("head/title") == "Toy report"
    links = {link for link in links_of(page) if "/" in link}
    assert links | {"report.html"} == written_files(file.parent)
    articles = page.cssselect("article")
    assert len(articles) == 6 + 4
    assert articles[0].cssselect("h3")[0].text.strip() == "off"  # whose meaning is its name
    assert "four <b>" in articles[0].text_content()
    assert read_table(file.parent, "toy_cells")[["right", "off"]].sum().tolist() == [6, 6]


def test_a_report_may_be_of_some_benchmarks(tmp_path):
    write_run(tmp_path / "results", "org/m", toy_samples(4), task="my_sums")
    assert write_report(tmp_path / "results", tmp_path / "out", among=[TOY]).is_file()
    with pytest.raises(ValueError, match=r"no CogniLoad or FACTOR task in .* are of my_sums"):
        write_report(tmp_path / "results", tmp_path / "other")
