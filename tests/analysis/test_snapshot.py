"""The words and numbers of a page as a person read them."""

import os
from pathlib import Path

from report_reader import assert_links_lead_everywhere, page_text, read_page

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


def test_a_page_reads_as_it_did(undrawn, simulated, tmp_path):
    """Renew the snapshot with RENEW=1 pytest tests/analysis/test_snapshot.py; read the diff."""
    page = write_report(simulated, tmp_path)
    assert_links_lead_everywhere(page)
    text = lines_of(read_page(page))
    snapshot = Path(__file__).with_name("data") / "simulated.txt"
    if "RENEW" in os.environ:
        snapshot.write_text(text, "utf-8")
    assert text == snapshot.read_text("utf-8")
