"""The words and numbers of the page that the example gives, as a person read them."""

import os
from pathlib import Path

from lxml import html
from report_reader import page_text

from cogniload_analysis.report.write import write_report

RESULTS = Path(__file__).parents[2] / "examples" / "results"
SNAPSHOT = Path(__file__).with_name("data") / "report.txt"


def read_page(file):
    """Return a page's text: a line for each heading, sentence, caption and row of a table."""
    page = html.fromstring(file.read_text("utf-8"))
    for quiet in page.cssselect(".anchor, .files, pre, script, style"):
        quiet.drop_tree()
    lines = []
    for element in page.cssselect("h1, h2, h3, p, li, caption, figcaption, tr"):
        mark = {"h1": "# ", "h2": "## ", "h3": "### "}.get(element.tag, "")
        cells = [page_text(cell) for cell in element] if element.tag == "tr" else []
        lines.append(mark + (" | ".join(cells) or page_text(element)))
    return "\n".join(lines) + "\n"


def test_the_page_of_the_example_reads_as_it_did(undrawn, tmp_path):
    """Renew the snapshot with RENEW=1 pytest tests/analysis/test_snapshot.py, and read its diff."""
    text = read_page(write_report(RESULTS, tmp_path))
    if "RENEW" in os.environ:
        SNAPSHOT.write_text(text, "utf-8")
    assert text == SNAPSHOT.read_text("utf-8")
