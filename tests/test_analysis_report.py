"""The report: what it says, what it refuses, and what a browser makes of hostile text."""

import http.server
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, find_browser
from lm_eval_layout import (
    GRID,
    make_factor_puzzle,
    make_puzzle,
    make_sample,
    make_samples,
    write_factor_runs,
    write_run,
)
from lxml import html
from report_reader import (
    assert_no_number_is_left,
    assert_tables_are_printed_from_csv,
    page_text,
    read_table,
)

import cogniload_analysis
from cogniload_analysis import failures, figures, fit_load_glm, read_samples, tables, words
from cogniload_analysis import report as reporting
from cogniload_analysis.page import label_models

SMALL = GRID[GRID["d"].isin([1, 5, 10]) & GRID["N"].isin([20, 250])]
BETA = [7.22, -0.29, -2.75, -3.21, 2.75]
HOSTILE_MODEL = "org/<img src=x onerror=window.ran=1>$x_1$ {{ 7*7 }}"


def hostile_responses(address):
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
def server():
    """A server on this machine that counts who asks."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", asked
        running.shutdown()


@pytest.fixture(scope="module")
def results(tmp_path_factory, server):
    """A decent model, and one whose name and responses attack the reader."""
    folder = tmp_path_factory.mktemp("results")
    write_run(folder, "org/decent", make_samples(BETA, 3, 1, grid=SMALL))
    attacks = [
        make_sample(make_puzzle(1, 20, 5, index), response, "wrong_other", response_tokens=9)
        for index, response in enumerate(hostile_responses(server[0]))
    ]
    # Unpaired surrogates stand in JSON as escapes: lm-eval's own writer would refuse them.
    write_run(folder, HOSTILE_MODEL, attacks, ensure_ascii=True)
    return folder


@pytest.fixture(scope="module")
def report(results, tmp_path_factory):
    return reporting.write_report(results, tmp_path_factory.mktemp("out") / "report")


PRINTERS = {
    "runs": tables.print_runs,
    "accuracy": tables.print_accuracy,
    "glm": tables.print_glm,
    "thresholds": tables.print_thresholds,
    "ranking": tables.print_ranking,
    "aic": tables.print_aic,
    "interactions": tables.print_interactions,
    "outcomes": tables.print_outcomes,
    "tokens": tables.print_tokens,
}


def assert_recomputable(page_file):
    """Assert that every number on the page follows from the CSV files beside it."""
    folder = page_file.parent
    page = html.fromstring(page_file.read_text("utf-8"))
    assert_tables_are_printed_from_csv(page, folder, lambda name: PRINTERS[name.split("_")[0]])
    said = [page_text(element) for element in page.cssselect(".said")]
    expected = []
    words_of = {"note": object, "method": object}
    thresholds = (
        read_table(folder, "thresholds").astype(words_of).fillna(dict.fromkeys(words_of, ""))
    )
    fits = read_table(folder, "glm").set_index("model")
    for row in read_table(folder, "accuracy").to_dict("records"):
        mine = thresholds[thresholds["model"] == row["model"]].to_dict("records")
        expected += [words.say_accuracy(row), words.say_cells(fits.loc[row["model"]])]
        expected += map(words.say_threshold, mine)
    assert said == expected
    assert_no_number_is_left(page)


def assert_cells_explain_the_tables(folder):
    """Assert that the counts of cells.csv give the accuracies, outcomes, fits and thresholds."""
    cells = read_table(folder, "cells")
    right = cells.filter(like="correct_").sum(axis=1)
    wrong = cells.filter(like="wrong_").sum(axis=1)
    cells = cells.assign(successes=right, failures=wrong)
    glm_table = read_table(folder, "glm").set_index("model")
    for model, mine in cells.groupby("model"):
        glm = fit_load_glm(mine, penalised="Firth" in glm_table.loc[model, "estimator"])
        row = glm_table.loc[model]
        np.testing.assert_allclose(glm.params, row[list(glm.params.index)].astype(float))
        assert glm.nobs == row["responses"]
        thresholds = read_table(folder, "thresholds").set_index(["model", "threshold"])
        for name, threshold in vars(glm.thresholds()).items():
            stored = thresholds.loc[(model, name)]
            assert stored["status"] == threshold.status
            np.testing.assert_allclose(threshold.value, stored["value"], rtol=1e-6)
    accuracy = read_table(folder, "accuracy").set_index("model")
    sums = cells.groupby("model")[["successes", "failures"]].sum()
    np.testing.assert_array_equal(sums["successes"], accuracy.loc[sums.index, "correct"])
    np.testing.assert_array_equal(sums.sum(axis=1), accuracy.loc[sums.index, "responses"])
    for knob in ("d", "N"):
        table = read_table(folder, f"outcomes_by_{knob}").set_index(["model", knob])
        counts = cells.groupby(["model", knob])[list(tables.WRONG_OUTCOMES.values())].sum()
        np.testing.assert_array_equal(counts, table.loc[counts.index, list(tables.WRONG_OUTCOMES)])


def test_every_number_of_the_report_can_be_recomputed_from_its_csv(report):
    assert_recomputable(report)
    assert_cells_explain_the_tables(report.parent)


@pytest.mark.slow
def test_the_demo_s_every_number_can_be_recomputed_from_its_csv(tmp_path):
    """`make demo` for real: the model, lm-eval, the baselines, and the report at its end."""
    command = [sys.executable, "-m", "cogniload_gen.cli", "demo", "--out", tmp_path / "demo"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    said = dict(line.split(maxsplit=1) for line in ran.stdout.splitlines() if "  " in line)
    assert said["accuracy"].split()[3:6] == ["100.0", "±", "0.0"]  # the solver's
    page = Path(said["report"])
    assert_recomputable(page)
    assert_cells_explain_the_tables(page.parent)


def test_every_table_and_figure_lies_beside_the_report(report):
    page = html.fromstring(report.read_text("utf-8"))
    linked = [
        link.get("href") for link in page.cssselect("a") if not link.get("href").startswith("#")
    ]
    written = {str(file.relative_to(report.parent)) for file in report.parent.rglob("*.*")}
    assert set(linked) | {"report.html"} == written
    assert {
        "tables/glm.csv",
        "tables/glm.tex",
        "figures/figure_7.svg",
        "figures/figure_7.pdf",
    } <= written
    for file in report.parent.rglob("*.tex"):
        latex = file.read_text()
        assert r"\toprule" in latex
        (caption,) = re.findall(r"^\\caption\{(.*)\}", latex, re.MULTILINE)
        assert caption.isascii()
        assert not re.search(r"(?<!\\)%", caption)


def test_ten_failures_are_spread_over_buckets_and_models(results, report):
    frame = read_samples(results)
    picked = failures.pick_failures(frame)
    assert len(picked) == 10
    assert len({failure["bucket"] for failure in picked}) == 5
    assert len({failure["model"] for failure in picked}) == 2
    assert picked == failures.pick_failures(frame)
    page = html.fromstring(report.read_text("utf-8"))
    articles = page.cssselect("article")
    assert len(articles) == 10
    for article in articles:
        assert "Solve this logic puzzle." in article.text_content()
        assert article.cssselect("h3")[0].text.startswith("wrong_")


@pytest.fixture(scope="module")
def hostile_page(results, report, tmp_path_factory, server):
    """A report whose ten examples are all of the hostile model."""
    only = read_samples(results)
    only = only[only["model"] == HOSTILE_MODEL].assign(model="hostile")
    file = tmp_path_factory.mktemp("hostile") / "report.html"
    frames = {"CogniLoad": only.astype({"model": "category"})}
    file.write_bytes(reporting.build_report(frames)["report.html"])
    return file


@pytest.fixture(scope="module")
def factor_page(tmp_path_factory, server):
    """FACTOR's report, on a model whose name and responses attack the reader."""
    folder = tmp_path_factory.mktemp("factor")
    write_factor_runs(folder, HOSTILE_MODEL, {("symbolic", 0): (-0.05, 0.3)}, attempts=2)
    attacks = [
        make_sample(make_factor_puzzle(2, context=4000, index=index), response, "wrong_set")
        for index, response in enumerate(hostile_responses(server[0]))
    ]
    run = folder / "attacks"
    write_run(run, HOSTILE_MODEL, attacks, task="factor_symbolic_4k", ensure_ascii=True)
    return reporting.write_report(folder, folder / "out")


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the figures empty, which takes most of a report's time, where a test needs none."""
    monkeypatch.setattr(figures, "save_figure", lambda *_: b"<svg/>")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if find_browser() is None:
        if "CI" in os.environ:
            pytest.fail("chromium is not installed: apt-get install chromium")
        pytest.skip("chromium is not installed")
    with Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.mark.parametrize("width", [390, 1100])
@pytest.mark.parametrize("which", ["report", "hostile_page", "factor_page"])
def test_nothing_runs_nothing_is_fetched_and_nothing_overflows(
    browser, server, request, which, width, tmp_path
):
    page = request.getfixturevalue(which)
    browser.open(page, width)
    browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert browser.evaluate("window.ran") is None
    assert browser.evaluate("document.scripts.length") == 0
    dangerous = "iframe, object, embed, form, link, svg, [onload], [onerror], [href^=javascript]"
    assert browser.evaluate(f"document.querySelectorAll('{dangerous}').length") == 0
    assert browser.requested() == [page.as_uri()]
    assert server[1] == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    loaded = "[...document.images].every(image => image.complete && image.naturalWidth > 0)"
    assert browser.evaluate(loaded)
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 50_000


def test_hostile_responses_show_as_text(browser, hostile_page, server):
    browser.open(hostile_page, 390)
    shown = browser.evaluate("[...document.querySelectorAll('.response')].map(e => e.textContent)")
    assert len(shown) == 8
    wrapped = "[...document.querySelectorAll('pre')].every(e => e.scrollWidth <= e.clientWidth)"
    assert browser.evaluate(wrapped)
    script, style, image, svg, template, long, marks, entities = shown
    attacks = hostile_responses(server[0])
    assert [script, style, image, svg, template, entities] == [*attacks[:5], attacks[7]]
    assert long == "A" * failures.RESPONSE_END
    assert "<U+202E>mirrored<U+2066>" in marks
    assert "<U+0000><U+001B>[31m <U+D800>" in marks
    assert "after 998500 characters" in browser.evaluate("document.body.textContent")
    assert "49" not in template


@pytest.mark.parametrize(("which", "runs"), [("report", "runs"), ("factor_page", "factor_runs")])
def test_a_hostile_model_name_shows_as_text(browser, request, which, runs):
    browser.open(request.getfixturevalue(which), 1100)
    assert HOSTILE_MODEL in browser.evaluate(f"document.getElementById('{runs}').textContent")
    assert browser.evaluate("document.querySelectorAll('img:not([alt])').length") == 0


def test_nothing_is_overwritten_without_force(undrawn, results, tmp_path):
    page = reporting.write_report(results, tmp_path)
    before = page.read_bytes()
    with pytest.raises(FileExistsError, match=r"report.html exists: .* with --force"):
        reporting.write_report(results, tmp_path)
    page.write_text("changed")
    assert reporting.write_report(results, tmp_path, force=True).read_bytes() == before
    assert not list(tmp_path.rglob("*.part"))


def test_a_table_in_the_way_is_not_overwritten_either(undrawn, results, tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "glm.csv").write_text("mine")
    with pytest.raises(FileExistsError, match=r"glm.csv exists"):
        reporting.write_report(results / "org__decent", tmp_path)
    assert not (tmp_path / "report.html").exists()
    assert (tmp_path / "tables" / "glm.csv").read_text() == "mine"


def test_no_responses_means_no_files(tmp_path):
    with pytest.raises(ValueError, match="no samples_TASK_DATE"):
        reporting.write_report(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("outcome", ["correct_valid", "wrong_logic"])
def test_a_handful_of_responses_gives_a_report_that_says_what_it_lacks(undrawn, tmp_path, outcome):
    samples = [make_sample(make_puzzle(1, 20, 50, index), "Text.", outcome) for index in range(10)]
    write_run(tmp_path, "tiny", samples)
    page = reporting.write_report(tmp_path, tmp_path / "out")
    assert_recomputable(page)
    text = page.read_text("utf-8")
    side = "right" if outcome.startswith("correct") else "wrong"
    assert f"No ECL50: all 10 responses are {side}." in text
    assert "The samples hold no token counts." in text
    assert ("No response was wrong." in text) == (side == "right")


def test_separated_answers_are_marked_as_penalised(undrawn, tmp_path):
    samples = [
        make_sample(make_puzzle(d, N, rho), "Text.", "correct_valid" if N == 20 else "wrong_logic")
        for d, N, rho in GRID[GRID["N"].isin([20, 250])].itertuples(index=False)
    ]
    write_run(tmp_path, "separated", samples)
    page = reporting.write_report(tmp_path, tmp_path / "out")
    assert_recomputable(page)
    assert_cells_explain_the_tables(page.parent)
    assert "this one is by Firth&#39;s penalised likelihood" in page.read_text("utf-8")


def test_repeated_puzzles_are_clustered_and_several_tasks_told_apart(undrawn, tmp_path):
    once = list(make_samples(BETA, 1, 1, grid=SMALL))
    for date in ("2026-01-01T00-00-00.1", "2026-01-02T00-00-00.1"):
        write_run(tmp_path, "org/m", once, date=date)
    write_run(tmp_path, "org/m", once, task="cogniload_mini")
    frame = read_samples(tmp_path, all_runs=True)
    labels = label_models(frame)
    assert set(labels) == {"m (cogniload)", "m (cogniload_mini)"}
    files = reporting.build_report({"CogniLoad": frame})
    assert "clustered by puzzle" in files["tables/glm.csv"].decode().splitlines()[1]
    assert "clustered" not in files["tables/glm.csv"].decode().splitlines()[2]


def test_names_are_short_where_that_is_unique(tmp_path):
    for model in ("a/same", "b/same", "/home/me/models/other/"):
        write_run(tmp_path, model, [make_sample(make_puzzle(1, 20, 5), "", "wrong_other")])
    frame = read_samples(tmp_path)
    assert set(label_models(frame)) == {"a/same", "b/same", "other"}


def test_importing_the_fits_loads_no_matplotlib():
    code = "import sys, cogniload_analysis; print('matplotlib' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "False\n"


def test_the_public_names_are_these():
    public = {name for name in dir(cogniload_analysis) if not name.startswith("_")}
    modules = {
        "cogniload_report",
        "decay",
        "factor_figures",
        "factor_report",
        "factor_tables",
        "failures",
        "figures",
        "glm",
        "modes",
        "page",
        "published",
        "read",
        "report",
        "sampling",
        "tables",
        "thresholds",
        "words",
    }
    assert set(cogniload_analysis.__all__) == public - modules
