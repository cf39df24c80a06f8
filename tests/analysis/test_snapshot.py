"""The words and numbers of a page as a person read them, and what its figures draw."""

import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from report_reader import assert_links_lead_everywhere, page_text, read_page
from source_tree import ROOT

from cogniload_analysis.display import drawing
from cogniload_analysis.report.write import write_report


def lines_of(page):
    """Return a page's text: a line for each heading, sentence, caption and row of a table."""
    for quiet in page.cssselect(".anchor, .files, pre, script, style"):
        quiet.drop_tree()
    lines = []
    for element in page.cssselect("h1, h2, h3, p, li, caption, figcaption, tr"):
        mark = {"h1": "# ", "h2": "## ", "h3": "### "}.get(element.tag, "")
        cells = [page_text(cell) for cell in element] if element.tag == "tr" else []
        lines.append(mark + (" | ".join(cells) or page_text(element)))
    return "\n".join(lines) + "\n"


def short(number):
    """Return a number in three digits, without the dust of a sum that is 0."""
    return f"{round(number, 6) + 0.0:.3g}"


def drawn_lines(figure):
    """Return what a figure draws: each axes' labels, ends and ticks, and its lines in short."""
    lines = []
    for axes in figure.axes:
        ends = map(short, (*axes.get_xlim(), *axes.get_ylim()))
        ticks = [each.get_text() for each in (*axes.get_xticklabels(), *axes.get_yticklabels())]
        texts = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), *ends, *ticks]
        lines.append(" | ".join(text.replace("\n", " ") for text in texts))
        for line in axes.get_lines():
            data = np.ma.filled(np.ma.asarray(line.get_xydata(), float), np.nan)
            sums = " ".join(map(short, np.nansum(data, axis=0)))
            style = f"{line.get_marker()} {line.get_linestyle()} {line.get_color()}"
            lines.append(f"  {line.get_label()}: {len(data)} points, {sums}, {style}")
        for marks in axes.collections:
            segments = marks.get_segments() if hasattr(marks, "get_segments") else marks.get_paths()
            ends = [np.nansum(getattr(each, "vertices", each)) for each in segments]
            lines.append(f"  {len(ends)} marks, {short(np.nansum(ends))}")
    return lines


STORED = [
    *("examples/small", "examples/checks/again", "examples/checks/limit_128"),
    *("examples/checks/until_factor", "examples/checks/retrieved"),
]


@pytest.mark.parametrize("name", ["simulated", "stored"])
def test_a_page_reads_as_it_did(name, request, monkeypatch, tmp_path):
    """Renew the snapshots with RENEW=1 pytest tests/analysis/test_snapshot.py; read the diff."""
    figures = []

    def save_figure(figure, kind):
        figures.extend(drawn_lines(figure) if kind == "pdf" else ())
        return b"<svg />"

    monkeypatch.setattr(drawing, "save_figure", save_figure)
    stored = [ROOT / path for path in STORED]
    paths = stored if name == "stored" else request.getfixturevalue("simulated")
    page = write_report(paths, tmp_path, pdf=True)
    assert_links_lead_everywhere(page)
    text = lines_of(read_page(page)) + "\n".join(figures) + "\n"
    text = re.sub(r"(?<=cogniload why )\S+/", "", text)  # a folder of this machine
    snapshot = Path(__file__).with_name("data") / f"{name}.txt"
    if "RENEW" in os.environ:
        snapshot.write_text(text, "utf-8")
    assert text == snapshot.read_text("utf-8")


def test_no_two_columns_of_a_table_have_one_heading():
    """A table of one row is set upright, by its headings."""
    words = tomllib.loads((ROOT / "analysis/cogniload_analysis/data/tables.toml").read_text())
    usual = words.pop("usual")
    for name, about in words.items():
        columns = [usual.get(one, one) if isinstance(one, str) else one for one in about["columns"]]
        headings = [column[1] for column in columns if column != "*"]
        assert len(headings) == len({*headings}), name
