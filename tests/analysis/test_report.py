"""The report: what it says, what it refuses, and what a browser makes of hostile text."""

import io
import json
import re
import sys
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from command_line import run
from lm_eval_layout import BETA, SMALL, make_puzzle, make_sample, make_samples, write_run
from report_reader import assert_numbers_are_of_the_tables, page_text, read_page, read_table
from stored import cases, contents

from cogniload_analysis import fit_load_glm, read_samples
from cogniload_analysis.cogniload.analysis import COGNILOAD
from cogniload_analysis.cogniload.sections.errors import WRONG_OUTCOMES
from cogniload_analysis.display.page import Verdict
from cogniload_analysis.display.tables import to_csv
from cogniload_analysis.factor.analysis import FACTOR
from cogniload_analysis.frame import label_models
from cogniload_analysis.report import why, write
from cogniload_analysis.report.examples import FAILURES, RESPONSE_END, SUCCESSES, pick_responses
from cogniload_analysis.report.write import build_parts, build_report, write_report

CASES = cases(__file__)
SCRIPT = files("cogniload_analysis.report").joinpath("templates/script.js").read_text("utf-8")
NOWHERE = "http://127.0.0.1:9"
HOSTILE_MODEL = "org/<img src=x onerror=window.ran=1>$x_1$ {{ 7*7 }}"


def hostile_responses(address=NOWHERE):
    """Responses that try to run, fetch, leave their element, be a template, or overflow."""
    return [
        f"<script>window.ran = 1</script><script src='{address}/script.js'></script>",
        f"</pre></style></script><style>@import '{address}/style.css';</style>",
        f"<img src='{address}/a.png' onerror='window.ran = 1'><iframe src='{address}/frame'>",
        f"<svg onload='window.ran = 1'><a href='javascript:window.ran = 1'>{address}</a></svg>",
        "{{ 7*7 }} {% for x in y %} ${7*7} {{ config.__class__ }}",
        "A" * 1_000_000,
        "\u202emirrored\u2066 \u200f\u05d0\u05d1 text\u0000\u001b[31m \ud800",
        "&lt;b&gt; &amp;amp; <!-- --> ]]> <meta http-equiv='refresh' content='0;url=//x'>",
    ]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A decent model, and one whose name and responses attack the reader."""
    folder = tmp_path_factory.mktemp("results")
    write_run(folder, "org/decent", make_samples(BETA, 3, 1, grid=SMALL))
    attacks = [
        make_sample(make_puzzle(1, 20, 5, index), response, "wrong_other", response_tokens=9)
        | {"steps_read": {"read": False, "coverage": 0.0}}
        for index, response in enumerate(hostile_responses())
    ]
    # Unpaired surrogates stand in JSON as escapes: lm-eval's own writer would refuse them.
    write_run(folder, HOSTILE_MODEL, attacks, ensure_ascii=True)
    return folder


@pytest.fixture(scope="module")
def report(results, tmp_path_factory):
    return write_report(results, tmp_path_factory.mktemp("out") / "report")


def assert_cells_explain_the_tables(folder):
    """Assert that the counts of cells.csv give the accuracies, outcomes, fits and thresholds."""
    cells = read_table(folder, "cells")
    right = cells.filter(like="correct_").sum(axis=1)
    wrong = cells.filter(like="wrong_").sum(axis=1)
    cells = cells.assign(successes=right, failures=wrong)
    overview = read_table(folder, "overview").set_index("model")
    fitted = {*overview.index[~overview["at_chance"]]}
    assert (folder / "tables/glm.csv").exists() == bool(fitted)  # at chance, nothing is fitted
    glm_table = read_table(folder, "glm").set_index("model") if fitted else overview[:0]
    assert {*glm_table.index} == fitted
    for model, mine in cells[cells["model"].isin(glm_table.index)].groupby("model"):
        glm = fit_load_glm(mine, penalised="Firth" in glm_table.loc[model, "estimator"])
        row = glm_table.loc[model]
        np.testing.assert_allclose(glm.params, row[list(glm.params.index)].astype(float))
        assert glm.nobs == row["responses"]
        thresholds = read_table(folder, "thresholds").query("meaning == 'projection'")
        thresholds = thresholds.set_index(["model", "threshold"])
        for name, threshold in vars(glm.thresholds()).items():
            stored = thresholds.loc[(model, name)]
            if stored["status"] == "not determined":  # its load is not known to matter
                assert np.isnan(stored["value"])
                continue
            assert stored["status"] == threshold.status
            np.testing.assert_allclose(threshold.value, stored["value"], rtol=1e-6)
    sums = cells.groupby("model")[["successes", "failures"]].sum()
    np.testing.assert_array_equal(sums["successes"], overview.loc[sums.index, "correct"])
    np.testing.assert_array_equal(sums.sum(axis=1), overview.loc[sums.index, "responses"])
    for knob in ("d", "N"):
        table = read_table(folder, f"outcomes_by_{knob}").set_index(["model", knob])
        counts = cells.groupby(["model", knob])[list(WRONG_OUTCOMES.values())].sum()
        np.testing.assert_array_equal(counts, table.loc[counts.index, list(WRONG_OUTCOMES)])


def test_every_number_of_the_report_can_be_recomputed_from_its_csv(report):
    assert_numbers_are_of_the_tables(report)
    assert_cells_explain_the_tables(report.parent)


@pytest.mark.slow
def test_the_demo_s_every_number_can_be_recomputed_from_its_csv(tmp_path):
    """`make demo` for real: its models, their twins, and the report at its end."""
    said = run(sys.executable, "-m", "cogniload_cli", "demo", "--out", tmp_path / "demo")
    carried, cause, better, _, planted, planted_cause, _ = said.splitlines()[-7:]
    ends = re.compile(r"^\S+: .* at (\d+) statements \(95 % interval (\d+) to (\d+)\): ECL50")
    value, low, high = map(int, ends.match(carried).groups())
    assert low < value < high <= 1.25**2 * low
    assert cause.startswith("  It fails because of ")
    assert better.startswith("small-reasoner solves ")
    value, low, high = map(int, ends.match(planted).groups())
    assert low <= 20 <= high
    assert planted_cause.startswith("  It fails because of distraction by hay, ")
    page = tmp_path / "demo/small-reasoner/report/report.html"
    assert_numbers_are_of_the_tables(page)
    assert_cells_explain_the_tables(page.parent)


def test_ten_failures_are_spread_over_buckets_and_models(results, report):
    frame = read_samples(results)
    picked = pick_responses(frame[~frame["correct"]], COGNILOAD, FAILURES)
    assert len(picked) == 10
    assert len({failure["bucket"] for failure in picked}) == 5
    assert len({failure["model"] for failure in picked}) == 2
    articles = read_page(report).cssselect("article")
    assert len(articles) == FAILURES + SUCCESSES
    for number, article in enumerate(articles):
        assert "Solve this logic puzzle." in article.text_content()
        kind = "wrong_" if number < FAILURES else "correct_"
        assert article.cssselect("h3")[0].text.startswith(kind)
        assert article.cssselect("code")[0].text in set(frame["id"])
    assert [article.cssselect("code")[0].text for article in articles[:10]] == [
        each["id"] for each in picked
    ]


@pytest.fixture(scope="module")
def hostile_page(results, tmp_path_factory):
    """A report whose ten examples are all of the hostile model."""
    only = read_samples(results)
    only = only[only["model"] == HOSTILE_MODEL].assign(model="hostile")
    file = tmp_path_factory.mktemp("hostile") / "report.html"
    frames = {"CogniLoad": only.astype({"model": "category"})}
    file.write_bytes(build_report(build_parts(frames))["report.html"])
    return file


@pytest.mark.parametrize("width", [390, 1100])
@pytest.mark.parametrize("which", ["report", "hostile_page"])
def test_nothing_runs_nothing_is_fetched_and_nothing_overflows(browser, request, which, width):
    page = request.getfixturevalue(which)
    browser.open(page, width)
    browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert browser.evaluate("window.ran") is None
    browser.evaluate("document.querySelectorAll('td.heat button').forEach(each => each.click())")
    listed = browser.evaluate("document.querySelectorAll('.responses li').length")
    assert bool(listed) == (which == "report")  # the other's puzzles have one load
    assert browser.evaluate("window.ran") is None
    run = "[...document.scripts].filter(each => !each.type).map(each => each.textContent)"
    assert browser.evaluate(run) == [SCRIPT]
    assert browser.evaluate("document.querySelectorAll('img:not([alt])').length") == 0
    shown = browser.evaluate("document.getElementById('runs').textContent")
    assert (HOSTILE_MODEL if which == "report" else "hostile") in shown
    dangerous = "iframe, object, embed, form, link, svg, [onload], [onerror], [href^=javascript]"
    assert browser.evaluate(f"document.querySelectorAll('{dangerous}').length") == 0
    assert browser.requested() == [page.as_uri()]
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    loaded = "[...document.images].every(image => image.complete && image.naturalWidth > 0)"
    assert browser.evaluate(loaded)


@pytest.mark.parametrize(("cells", "rising"), CASES["columns"].values(), ids=CASES["columns"])
def test_columns_sort_by_number_or_by_name_and_what_is_missing_stands_last(
    browser, tmp_path, cells, rising
):
    rows = "".join(f"<tr><td>{cell}</td></tr>" for cell in cells)
    head = "<thead><tr><th><button>x</button></th></tr></thead>"
    page = tmp_path / "page.html"
    page.write_text(
        f"<meta charset=utf-8><table class=sorts>{head}<tbody>{rows}</tbody></table>"
        f"<script>{SCRIPT}</script>"
    )
    browser.open(page, 390)
    shown = []
    for _ in range(2):
        browser.evaluate("document.querySelector('button').click()")
        shown.append(browser.evaluate("[...document.querySelectorAll('td')].map(e=>e.textContent)"))
    *known, missing = rising
    assert shown == [[*reversed(known), missing], [*known, missing]]


def test_hostile_responses_show_as_text(browser, hostile_page):
    browser.open(hostile_page, 390)
    shown = browser.evaluate("[...document.querySelectorAll('.response')].map(e => e.textContent)")
    ids = browser.evaluate("[...document.querySelectorAll('article code')].map(e => e.textContent)")
    assert len(shown) == len(ids) == 8
    shown = [text for _, text in sorted(zip(ids, shown, strict=True))]
    wrapped = "[...document.querySelectorAll('pre')].every(e => e.scrollWidth <= e.clientWidth)"
    assert browser.evaluate(wrapped)
    script, style, image, svg, template, long, marks, entities = shown
    attacks = hostile_responses()
    assert [script, style, image, svg, template, entities] == [*attacks[:5], attacks[7]]
    assert long.endswith("…]\n" + "A" * RESPONSE_END)
    assert "<U+202E>mirrored<U+2066>" in marks
    assert "<U+0000><U+001B>[31m \ufffd" in marks
    assert "[… 998,500 characters …]" in browser.evaluate("document.body.textContent")
    assert "49" not in template


def test_nothing_is_overwritten_without_force(undrawn, results, tmp_path):
    page = write_report(results, tmp_path)
    before = page.read_bytes()
    with pytest.raises(FileExistsError, match=r"report.html exists: .* --force"):
        write_report(results, tmp_path)
    page.write_text("changed")
    assert write_report(results, tmp_path, force=True).read_bytes() == before
    page.unlink()
    with pytest.raises(FileExistsError, match=r"\.csv exists"):
        write_report(results, tmp_path)
    assert not page.exists()


@pytest.mark.parametrize("written", [0, 1, 2, 3])
def test_the_same_command_goes_on_after_a_kill_at_any_file(tmp_path, monkeypatch, written):
    files = {"tables/a.csv": b"a", "tables/b.csv": b"b", "report.html": b"page"}
    counts, whole_file = iter(range(9)), write.whole_file

    def killed(path, force):
        if next(counts) > written:
            path.with_name(f".{path.name}.1a2b3c4d.part").write_bytes(
                b"half"
            )  # as SIGKILL leaves it
            raise SystemExit
        return whole_file(path, force=force)

    monkeypatch.setattr(write, "whole_file", killed)
    with pytest.raises((SystemExit, FileNotFoundError)):
        write.write_files(tmp_path, files)
        (tmp_path / "nothing").unlink()  # the one that was not killed
    monkeypatch.undo()
    (tmp_path / "own.csv").write_bytes(b"the user's")
    if written < 3:
        write.write_files(tmp_path, files)
    assert contents(tmp_path) == files | {"own.csv": b"the user's"}
    with pytest.raises(FileExistsError, match=r"own\.csv exists"):
        write.write_files(tmp_path, {"new.csv": b"", "own.csv": b""})
    assert not (tmp_path / "new.csv").exists()


@pytest.mark.parametrize("text", ["=1+1", "-1+1", "@SUM(A1)", "\t=1"])
def test_no_text_of_a_table_is_a_formula_of_a_spreadsheet(text):
    table = pd.DataFrame({"model": [text, "org/m=1"], "value": [-1.5, 2], "right": [True, False]})
    table["seed"] = ["-5", "-- 3"]
    for each in (table, table.astype({"model": "category"})):
        read = pd.read_csv(io.BytesIO(to_csv(each)), dtype=str, lineterminator="\n")
        assert read["model"].tolist() == [f"'{text}", "org/m=1"]
        assert read["value"].tolist() == ["-1.5", "2.0"]
        assert read["right"].tolist() == ["True", "False"]
        assert read["seed"].tolist() == ["-5", "'-- 3"]


@pytest.mark.parametrize("outcome", ["correct_valid", "wrong_logic"])
def test_a_handful_of_responses_gives_a_report_that_says_what_it_lacks(undrawn, tmp_path, outcome):
    samples = [make_sample(make_puzzle(1, N, 50), "Text.", outcome) for N in range(20, 30)]
    write_run(tmp_path, "tiny", samples)
    page = write_report(tmp_path, tmp_path / "out")
    assert_numbers_are_of_the_tables(page)
    text = page.read_text("utf-8")
    right = outcome.startswith("correct")
    fits = "all 10 responses are right." if right else "A model at chance has no fits."
    assert fits in text
    assert "The samples hold no token counts." in text
    assert ("No response was wrong." in text) == right
    assert ('<a href="#curves">Accuracy</a>' in text) == right  # at chance, accuracy is noise
    assert [f"figures/figure_{number}.svg" in text for number in (5, 6, 7)] == [0, 0, right]


def test_puzzles_of_one_load_have_their_share_as_the_headline(undrawn, tmp_path):
    outcomes = ["wrong_logic"] + 19 * ["correct_valid"]
    samples = [make_sample(make_puzzle(1, 20, 50, n), "", each) for n, each in enumerate(outcomes)]
    write_run(tmp_path, "m", samples)
    (part,) = build_parts({"CogniLoad": read_samples(tmp_path)})
    assert part.verdicts[0].headline.startswith("Solves 95 % of the puzzles at d = 1, N = 20")


def test_repeated_puzzles_are_clustered_and_several_tasks_told_apart(undrawn, tmp_path):
    for date in ("2026-01-01T00-00-00.1", "2026-01-02T00-00-00.1"):
        write_run(tmp_path, "org/m", make_samples(BETA, 1, 1, grid=SMALL), date=date)
    write_run(tmp_path, "org/m", make_samples(BETA, 1, 1, grid=SMALL), task="cogniload_mini")
    frame = read_samples(tmp_path)
    labels = label_models(frame)
    assert set(labels) == {"m (cogniload)", "m (cogniload_mini)"}
    made = build_report(build_parts({"CogniLoad": frame}))
    assert "clustered by puzzle" in made["tables/glm.csv"].decode().splitlines()[1]
    assert "clustered" not in made["tables/glm.csv"].decode().splitlines()[2]


@pytest.fixture
def tried_again():
    """A model of two suites, of which one has twins, in which no filler cures all failures."""
    ids = [f"p-{index}{twin}" for index in range(60) for twin in ("", "~context=0")]
    right = [id.endswith("~context=0") for id in ids]
    frame = pd.DataFrame({"id": ids, "correct": right, "model": "m", "suite": "symbolic", "N": 3})
    plain = frame[:1].assign(id="q-1", suite="realistic")
    return pd.concat([plain, frame]).assign(context=4000)  # whose index repeats


def test_the_twins_of_a_suite_explain_that_suite_alone(tried_again):
    names = ["m, realistic suite", "m, symbolic suite", "other"]
    verdicts = [Verdict(name, "", []) for name in names]
    plain, explained, other = why.add_causes(verdicts, why.explain_models(tried_again))
    assert plain.breaks == other.breaks == ""
    assert explained.breaks.startswith("It fails because of the context around the task")


def test_a_cure_is_shown_by_a_failure_and_its_own_twin(tried_again, monkeypatch):
    monkeypatch.setattr(why, "describe_response", lambda row, _: row.id)
    ((rows, found),) = why.explain_models(tried_again).values()
    assert why.show_cure(rows.sample(frac=1, random_state=1), found, FACTOR) in (
        [[f"p-{index}", f"p-{index}~context=0"] for index in range(60)]
    )


def test_names_are_short_where_that_is_unique(tmp_path):
    for model in ("a/same", "b/same", "/home/me/models/other/"):
        write_run(tmp_path, model, [make_sample(make_puzzle(1, 20, 5), "", "wrong_other")])
    frame = read_samples(tmp_path)
    assert set(label_models(frame)) == {"a/same", "b/same", "other"}


def test_the_public_names_are_these_and_importing_them_loads_no_matplotlib():
    code = "import cogniload_analysis as c, inspect, sys\n"
    code += "public = {name for name in dir(c) if not name.startswith('_')}\n"
    code += "modules = {name for name in public if inspect.ismodule(getattr(c, name))}\n"
    code += "assert 'matplotlib' not in sys.modules\n"
    code += "assert set(c.__all__) == public - modules, set(c.__all__) ^ (public - modules)"
    run(sys.executable, "-c", code)


def test_a_citation_says_what_was_run_in_three_forms(report, results):
    """What it says is that of the samples; that LaTeX takes it as text, each page's test says."""
    about = json.loads((report.parent / "tables/cite.json").read_text("utf-8"))
    frame = read_samples(results)
    (method, *found), bibtex = [about["method"], *about["results"]], about["bibtex"]
    asked = frame.groupby("model", observed=True)["id"].nunique()
    assert f" answered {asked.min()} to {asked.max()} puzzles of" in method
    for level in (frame["d"].max(), frame["N"].max(), frame["seed"].iloc[0]):
        assert re.search(rf"\b{level:g}\b", method)
    assert ["decent" in said for said in found].count(True) == 1
    label = build_parts({"CogniLoad": frame.assign(model="mine")})[0].citation
    assert f"mine ({frame['served'].iloc[0]})" in label.method
    text = (report.parent / "tables/cite.txt").read_text("utf-8")
    assert text == "\n\n".join([method, *found, bibtex]) + "\n"
    assert bibtex.count("{") == bibtex.count("}")
    assert (report.parent / "tables/cite.bib").read_text("utf-8").startswith("@inproceedings{")
    page = page_text(read_page(report).get_element_by_id("cite"))
    assert " ".join(method.split()) in page
