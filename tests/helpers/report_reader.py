"""A report as its readers have it: the page, and the CSV files beside it."""

import re

import pandas as pd

from cogniload_analysis.compare.differences import (
    DETECT,
    MEASURE_COLUMNS,
    say_differences,
    share_columns,
)
from cogniload_analysis.display.tables import TableSpec


def read_table(folder, name):
    """Return a table of the report from its CSV file."""
    return pd.read_csv(
        folder / "tables" / f"{name}.csv", dtype=str if name.endswith("runs") else None
    )


def comparison_formats(loads, prefix=""):
    """Return how the tables of models side by side are set in print, by name."""
    columns = dict.fromkeys(("", "_by_load", "_outcomes"), share_columns(loads))
    columns["_fits"] = MEASURE_COLUMNS
    return {
        f"{prefix}comparison{name}": TableSpec("", "", shown).show
        for name, shown in columns.items()
    }


def assert_comparison_is_said_from_csv(page, folder, prefix=""):
    """Assert that the sentences on models side by side follow from their CSV files."""
    said = [page_text(element) for element in page.cssselect(".compared")]
    if not (folder / "tables" / f"{prefix}comparison.csv").exists():
        assert not said
        return
    accuracy, measures = (read_table(folder, f"{prefix}comparison{name}") for name in ("", "_fits"))
    expected = say_differences(accuracy, measures, DETECT)
    assert said == [" ".join(sentence.split()) for sentence in expected]


def page_text(element):
    """Return an element's text, with its white space in one."""
    return " ".join(element.text_content().split())


def assert_latex_is_whole(latex):
    """Assert that nothing in a LaTeX table's text is a command by accident, or beyond ASCII."""
    (caption,) = re.findall(r"^\\caption\{(.*?)\}(?: \\label.*)?$", latex, re.MULTILINE)
    (layout,) = re.findall(r"^\\begin\{(?:tabular|longtable)\}\{(.*)\}", latex, re.MULTILINE)
    heading, _, body = latex.partition(r"\midrule")
    rows = [heading.partition(r"\toprule")[2].strip(), *body.strip().splitlines()]
    rows = [row for row in rows if "&" in row and not row.startswith("\\")]
    assert rows
    for text in (caption, *rows):
        plain = re.sub(r"(?<!\\)\$.*?(?<!\\)\$|\\[a-z]+\{\}|\\.|\\\\$", "", text)
        assert plain.isascii(), text
        assert not re.search(r"[\\%#_$^~]", plain), text
        assert plain.count("&") == (0 if text is caption else len(layout) - 1), text


def said_of_runs(page, prefix=""):
    """Return what the page says of its first adaptive run."""
    heading = page.get_element_by_id(f"{prefix}adaptive-runs")
    said = next(each for each in heading.itersiblings() if each.tag == "ul")
    return [page_text(each) for each in said.cssselect(".said")]


def assert_tables_are_formatted_from_csv(page, folder, format_of):
    """Assert that each table of the page is its CSV file as it is formatted for print."""
    sections = page.cssselect("section.table")
    assert sections
    for section in sections:
        name = section.get("id")
        shown = format_of(name)(read_table(folder, name))
        cells = [
            [page_text(cell) for cell in row.cssselect("td")]
            for row in section.cssselect("tbody tr")
        ]
        assert cells == [
            [" ".join(cell.split()) for cell in row] for row in shown.to_numpy().tolist()
        ]


def assert_no_number_is_left(page):
    """Assert that what is left is names, examples and explanations: no result may hide there."""
    for element in page.cssselect(
        "section.table, section.heatmap, .said, .compared, .note, .warning, article, figcaption, "
        "h3, .reading ~ *, style, script, title"
    ):
        element.drop_tree()
    assert not any(character.isdigit() for character in page.body.text_content())
