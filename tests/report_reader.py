"""A report as its readers have it: the page, and the CSV files beside it."""

import pandas as pd


def read_table(folder, name):
    """Return a table of the report from its CSV file."""
    return pd.read_csv(
        folder / "tables" / f"{name}.csv", dtype=str if name.endswith("runs") else None
    )


def page_text(element):
    """Return an element's text, with its white space in one."""
    return " ".join(element.text_content().split())


def assert_tables_are_printed_from_csv(page, folder, printer_of):
    """Assert that each table of the page is what its printer makes of its CSV file."""
    sections = page.cssselect("section.table")
    assert sections
    for section in sections:
        name = section.get("id")
        shown = printer_of(name)(read_table(folder, name))
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
        "section.table, .said, article, figcaption, #reading ~ *, #factor-reading ~ *, "
        "style, title, h3, .warning"
    ):
        element.drop_tree()
    assert not any(character.isdigit() for character in page.body.text_content())
