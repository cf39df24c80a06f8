"""A table's declaration: what the page, the CSV and the LaTeX have of it."""

import numpy as np
import pandas as pd
import pytest

from cogniload_analysis.display.cells import form, interval, number, percent, starred, within, words
from cogniload_analysis.display.print import to_latex
from cogniload_analysis.display.tables import MODEL, Across, Column, TableSpec, load_columns
from cogniload_analysis.load import Load

DATA = pd.DataFrame(
    {"model": ["b", "b", "a"], "N": [20, 5, 20], "share": [0.5, 0.25, 1], "p": [0.2, 0.002, np.nan]}
)
SPEC = TableSpec(
    "shares_{what}",
    "Shares of {what}.",
    (
        MODEL,
        *load_columns((Load("N", "N"), Load("d", "d"))),
        Column(("share", "p"), "Share", starred(percent), "$s$"),
        Column("note", "Note", words, optional=True),
    ),
    "results",
)


def test_columns_stand_in_order_and_those_without_data_are_left_out():
    shown = SPEC.show(DATA)
    assert shown.columns.tolist() == ["Model", "N", "Share"]
    assert shown["Share"].tolist() == ["50.0", "25.0**", "100.0"]
    assert SPEC.show(DATA.assign(note=["", np.nan, ""])).equals(shown)
    assert SPEC.show(DATA.assign(note=["", np.nan, "x"]))["Note"].tolist() == ["", "", "x"]
    assert TableSpec("", "").show(DATA).iloc[1].tolist() == ["b", "5", "0.25", "0.002"]


def test_a_table_has_its_parameters_and_the_latex_of_its_headings():
    table = SPEC.table(DATA, what="needles")
    assert (table.name, table.caption, table.spec.section) == (
        "shares_needles",
        "Shares of needles.",
        "results",
    )
    latex = to_latex(table, {})
    assert r"Model & $N$ & $s$ \\" in latex


def test_levels_stand_across_where_the_data_have_them():
    across = Across("N", "share", percent, "N = {:g}".format)
    shown = TableSpec("", "", (MODEL, across)).show(DATA)
    assert shown.to_dict("records") == [
        {"Model": "b", "N = 5": "25.0", "N = 20": "50.0"},
        {"Model": "a", "N = 5": "--", "N = 20": "100.0"},
    ]


@pytest.mark.parametrize(
    ("show", "values", "text"),
    [
        (number(2), (1.005,), "1.00"),
        (number(0, 100), (0.126,), "13"),
        (number(1), (np.nan,), "--"),
        (number(1), (-np.inf,), "unbounded"),
        (number(1), (2.5e7,), "2.5e+07"),
        (interval(1), (1, np.inf), "1.0 to unbounded"),
        (interval(1), (np.nan, np.nan), "--"),
        (form("{:g} of {:g}"), (3, 4), "3 of 4"),
        (form("{:g}"), (np.nan,), "--"),
        (within, (401, 1, 5, 400), "> 400"),
        (within, (4.9, 1, 5, 400), "< 5"),
        (within, (5, 1, 5, 400), "5.0"),
        (within, (np.nan, 1, 5, 400), "--"),
    ],
)
def test_a_cell_is_set(show, values, text):
    assert show(*values) == text
