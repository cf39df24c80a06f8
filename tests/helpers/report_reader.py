"""A report as its readers have it: the page, and the CSV files beside it."""

import re

import numpy as np
import pandas as pd
from lxml import html

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?(?![\w.]*[a-z])")
SCALES = (1, 100, 1e-3)
"""Of a number as it is, in percent, and in thousands."""


def read_table(folder, name):
    """Return a table of the report from its CSV file."""
    return pd.read_csv(
        folder / "tables" / f"{name}.csv",
        dtype=str if name.endswith("runs") else None,
        engine="python",  # that of C may miss a number's last digit
    )


def read_page(file):
    """Return the page as a tree of elements."""
    return html.fromstring(file.read_text("utf-8"))


def page_text(element):
    """Return an element's text, with its white space in one."""
    return " ".join(element.text_content().split())


def links_of(page):
    """Return the addresses to which a page links."""
    return [link.get("href") for link in page.cssselect("a")]


def written_files(folder):
    """Return the names of the files of a report, as its page links to them."""
    return {str(file.relative_to(folder)) for file in folder.rglob("*.*")}


def assert_latex_is_whole(latex):
    """Assert that nothing in a LaTeX table's text is a command by accident, or beyond ASCII."""
    (caption,) = re.findall(r"^\\caption\{(.*?)\}(?: \\label.*)?$", latex, re.MULTILINE)
    (layout,) = re.findall(r"^\\begin\{(?:tabular|longtable)\}\{(.*)\}", latex, re.MULTILINE)
    heading, _, body = latex.partition(r"\midrule")
    rows = [heading.partition(r"\toprule")[2].strip(), *body.strip().splitlines()]
    rows = [row for row in rows if "&" in row and not row.startswith("\\")]
    assert rows
    for text in (caption, *rows):
        assert_latex_is_text(text, 0 if text is caption else len(layout) - 1)


def assert_latex_is_text(text, cells=0):
    """Assert that nothing in some LaTeX is a command, or beyond ASCII; `cells` are its &."""
    plain = re.sub(r"(?<!\\)\$.*?(?<!\\)\$|\\[a-z]+\{\}|\\.|\\\\$", "", text)
    assert plain.isascii(), text
    assert not re.search(r"[\\%#_$^~]", plain), text
    assert plain.count("&") == cells, text


def assert_links_lead_everywhere(file):
    """Assert that a page links to every file beside it and to its own parts, each once named."""
    page = read_page(file)
    ids = page.xpath("//@id")
    assert len(set(ids)) == len(ids)
    links = links_of(page)
    anchors = {link[1:] for link in links if link.startswith("#")}
    assert anchors <= set(ids)
    for element in page.cssselect("section.table, figure, article, h2"):
        assert element.get("id") in anchors
    assert {link for link in links if "/" in link} | {file.name} == written_files(file.parent)
    for table in file.parent.rglob("*.tex"):
        if table.stem.endswith("cite"):
            assert_latex_is_text(table.read_text())
        else:
            assert_latex_is_whole(table.read_text())


def said_of_runs(page, prefix=""):
    """Return what the page says of its first adaptive run."""
    section = next(page.get_element_by_id(f"{prefix}adaptive-runs").iterancestors("details"))
    return [page_text(sentence) for sentence in section.cssselect("ul")[0].cssselect(".said")]


def assert_numbers_are_of_the_tables(page_file):
    """Assert that each number in a table of the page is one of its CSV file, rounded.

    What is left beside the sentences made of rows is names, examples and explanations.
    """
    page, folder = read_page(page_file), page_file.parent
    shown = page.cssselect("section.table")
    assert shown
    for section in [*shown, *page.cssselect("[data-table]")]:
        table = read_table(folder, section.get("data-table") or section.get("id"))
        if {"read", "responses"} <= set(table):  # the page shows the share that could be read
            table["read_share"] = table["read"] / table["responses"]
        cells = pd.Series([str(cell) for cell in table.to_numpy().ravel()])
        numbers = pd.to_numeric(cells, errors="coerce")
        words, held = {*cells[numbers.isna()]}, numbers.dropna().to_numpy()
        known = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))) or "(?!)")
        for cell in map(page_text, section.cssselect("tbody td")):
            own = "" if any(cell in text for text in words) else known.sub("", cell)
            for text in NUMBER.findall(own):
                digits, _, power = text.replace(",", "").partition("e")
                half = 0.5000001 * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
                distance = np.abs(np.outer(SCALES, held) - float(text.replace(",", "")))
                assert (distance <= half).any(), (section.get("id"), cell)
    for element in page.cssselect(
        "section.table, section.heatmap, .said, .compared, .note, .warning, article, figcaption, "
        "h3, .verdict h2, .reading, .made, .citation, style, script, title"
    ):
        element.drop_tree()
    assert not any(character.isdigit() for character in page.body.text_content())
