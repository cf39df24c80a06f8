"""The words and numbers of pages as a person read them: of the example, and of simulated runs."""

import os
from pathlib import Path

import pytest
from report_reader import page_text, read_page

from cogniload_analysis.report.write import write_report

DATA = Path(__file__).with_name("data")
EXAMPLE = Path(__file__).parents[2] / "examples" / "results"


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


@pytest.mark.parametrize("name", ["report", "simulated"])
def test_a_page_reads_as_it_did(undrawn, simulated, tmp_path, name):
    """Renew the snapshots with RENEW=1 pytest tests/analysis/test_snapshot.py; read the diff."""
    text = lines_of(read_page(write_report(EXAMPLE if name == "report" else simulated, tmp_path)))
    snapshot = DATA / f"{name}.txt"
    if "RENEW" in os.environ:
        snapshot.write_text(text, "utf-8")
    assert text == snapshot.read_text("utf-8")
