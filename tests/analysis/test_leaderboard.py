"""The leaderboard: its ranks, its links, and what it does with hostile names."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from lm_eval_layout import BETA, GRID, make_samples, write_run

from cogniload_analysis import published_table
from cogniload_analysis.report.leaderboard import leaderboard_table, write_leaderboard
from cogniload_gen.commands import main

HOSTILE = "<img src=x onerror=alert(1)> & co"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("leaderboard")
    better = np.add(BETA, [3, 0, 0, 0, 0])
    cell = GRID[(GRID["d"] == 1) & (GRID["N"] == 20)]
    write_run(folder / "a", HOSTILE, make_samples(BETA, 2, 1))
    write_run(folder / "a", "better", make_samples(better, 2, 2))
    write_run(folder / "b", "cell", make_samples(better, 4, 3, grid=cell))
    page = write_leaderboard([folder / "a", folder / "b"], folder / "site")
    return page, page.read_text("utf-8")


def rows_of(text):
    """The cells of each row of the table, as text, with the link of its name."""
    body = text.partition("<tbody>")[2].partition("</tbody>")[0]
    for row in body.split("</tr>")[:-1]:
        cells = re.findall(r"<td>(.*?)</td>", row)
        link = re.search(r'href="(.*?)"', row)
        plain = [html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in cells]
        yield plain, link and html.unescape(link[1])


def test_ranks_are_those_of_ECL50_among_all(site):
    rows = [cells for cells, _ in rows_of(site[1])]
    ranked = {cells[1]: float(cells[2].replace("< ", "0.")) for cells in rows if cells[0] != "--"}
    assert list(ranked.values()) == sorted(ranked.values(), reverse=True)
    assert {cells[1] for cells in rows if cells[7] == "paper"} == {*published_table("glm")["model"]}
    assert {HOSTILE, "better"} < ranked.keys()
    assert ranked["better"] > ranked[HOSTILE]
    assert [cells[1] for cells in rows if cells[0] == "--"] == ["cell"]  # it covers one cell


def test_a_name_leads_to_the_place_of_its_report_that_is_about_it(site):
    page, text = site
    assert HOSTILE not in text
    links = {cells[1]: link for cells, link in rows_of(text) if cells[7] == "run"}
    assert {*links} == {HOSTILE, "better", "cell"}
    for name, link in links.items():
        file, _, place = link.partition("#")
        report = (page.parent / file).read_text("utf-8")
        heading = re.search(rf'<h2 id="{place}">(.*?) <a', report)
        assert html.unescape(heading[1]) == name
    assert all(link is None for cells, link in rows_of(text) if cells[7] == "paper")


def test_a_browser_filters_by_name_and_source(site, browser):
    browser.open(site[0], 390)
    shown = "[...document.querySelectorAll('tbody tr')].filter((row) => !row.hidden).length"
    change = "dispatchEvent(new Event('input'))"
    assert browser.evaluate(shown) == 25
    browser.evaluate(
        f"search = document.getElementById('name'); search.value = 'O3'; search.{change}"
    )
    assert browser.evaluate(shown) == 1
    box = "box = document.querySelector('.source[value=paper]'); box.checked = false"
    browser.evaluate(f"search.value = ''; {box}; box.{change}")
    assert browser.evaluate(shown) == 3
    assert browser.evaluate("document.documentElement.scrollWidth") == 390


def test_nothing_is_overwritten_unasked_and_no_run_is_refused(site, tmp_path, capsys):
    page, text = site
    folder = page.parent.parent
    again = ["leaderboard", str(folder / "a"), "--out", str(page.parent)]
    assert main(again) == 2
    assert "exists" in capsys.readouterr().err
    assert page.read_text("utf-8") == text
    assert main([*again[:-1], str(tmp_path / "other")]) == 0
    with pytest.raises(FileNotFoundError):
        write_leaderboard(tmp_path / "nothing", tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_ranks_count_the_models_before_and_those_without_come_last():
    """Who solves all stands first whatever its curve says; equal models share the better rank."""
    run = {"meaning": "", "least_N": 1, "most_N": 10**6, "source": "run", "link": "", "rank": 1}
    rows = [("all", 2.0, 1.0), ("twin A", 5.0, 0.5), ("twin B", 5.0, 0.5), ("last", 0.001, 0.1)]
    ranked = pd.DataFrame([{"model": m, "ECL50": e, "accuracy": a, **run} for m, e, a in rows])
    aside = ranked.head(2).assign(model=["low", "high"], accuracy=[0.2, 0.3], rank=float("nan"))
    table = leaderboard_table([ranked, aside]).set_index("model")
    known = table[table["rank"].notna()]
    worth = known["ECL50"].to_dict() | {"all": float("inf")}
    expected = {
        name: 1 + sum(other > own for other in worth.values()) for name, own in worth.items()
    }
    assert known["rank"].to_dict() == expected
    assert list(table.index[-2:]) == ["high", "low"]
    assert table.loc[table["source"] == "paper", "accuracy"].isna().all()
