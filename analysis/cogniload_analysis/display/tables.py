"""A table of the report, declared once: raw columns, headings, cells, LaTeX and place.

A `TableSpec` is declared in `data/tables.toml`. With its raw numbers it makes a `Table`, the source
of the page, the CSV and the LaTeX.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pandas as pd

from cogniload_analysis.display import cells
from cogniload_analysis.display.cells import MISSING, is_missing
from cogniload_analysis.frame import Load
from cogniload_gen.files import read_words

Names = str | tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A printed column.

    Attributes:
        name: The raw column that it shows, or several.
        heading: Its heading; that of the raw column by default.
        show: From one row's values of the raw columns to the cell's text.
        latex: The heading in LaTeX; by default the heading, escaped.
        optional: Whether the column is left out where the data hold nothing in the raw columns.
    """

    name: Names
    heading: str = ""
    show: Callable[..., str] = str
    latex: str = ""
    optional: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The raw columns that it shows."""
        return (self.name,) if isinstance(self.name, str) else self.name

    def expand(self, data: pd.DataFrame) -> Iterator["Column"]:
        """Yield the column, unless it is optional and the data hold nothing of it."""
        if not self.optional or all(
            name in data and not all(value == "" or is_missing(value) for value in data[name])
            for name in self.names
        ):
            yield self

    def cells(self, data: pd.DataFrame) -> list[str]:
        """Return the text of each cell."""
        return [self.show(*row) for row in zip(*(data[name] for name in self.names), strict=True)]


MODEL = Column("model", "Model")


@dataclass(frozen=True)
class Across:
    """Printed columns of a table whose raw numbers stand one below the other: one for each level.

    Attributes:
        by: The raw column of the levels, which are sorted.
        name: The raw column that the cells show, or several.
        show: From one row's values of them to the cell's text.
        heading: From a level to the heading of its column.
    """

    by: str
    name: Names
    show: Callable[..., str]
    heading: Callable[[Any], str]

    def expand(self, data: pd.DataFrame) -> Iterator["_Level"]:
        """Yield a column for each level."""
        for level in sorted(data[self.by].unique()):
            yield _Level(self.name, self.heading(level), self.show, by=self.by, level=level)


@dataclass(frozen=True)
class _Level(Column):
    """The column of one level of `by`."""

    by: str = ""
    level: Any = None


@dataclass(frozen=True)
class TableSpec:
    """A table as it is declared.

    Attributes:
        name: Names its files and its anchor. As the caption, it may hold {parameters}, which
            `table` fills.
        caption: What it shows.
        columns: The printed columns in order; all raw columns as text where there are none.
        section: The section of the page in which it stands.
        heat: The number of columns before those whose cells are shaded by a percentage.
        folded: Whether the page shows it only on a click.
    """

    name: str
    caption: str
    columns: Sequence[Column | Across] = ()
    section: str = ""
    heat: int | None = None
    folded: bool = False

    def table(self, data: pd.DataFrame, **parameters: object) -> "Table":
        """Return the table of raw numbers; the parameters stand in its name and its caption."""
        name, caption = (text.format(**parameters) for text in (self.name, self.caption))
        return Table(name, caption, data, self)

    def expand(self, data: pd.DataFrame) -> list[Column]:
        """Return the printed columns that the data have."""
        columns = self.columns or [Column(str(name)) for name in data]
        return [column for declared in columns for column in declared.expand(data)]

    def show(self, data: pd.DataFrame) -> pd.DataFrame:
        """Return data in print, as text."""
        columns = self.expand(data)
        levels = [column for column in columns if isinstance(column, _Level)]
        rows = data
        if levels:
            keys = [name for column in columns if column not in levels for name in column.names]
            rows = data.drop_duplicates(keys)
        return pd.DataFrame(
            {
                column.heading or column.names[0]: _across(column, data, rows[keys])
                if isinstance(column, _Level)
                else column.cells(rows)
                for column in columns
            },
            dtype=object,
        )


def _across(column: _Level, data: pd.DataFrame, keys: pd.DataFrame) -> list[str]:
    """Return the cells of one level, a row for each of `keys`; a dash where there is none."""
    mine = data[data[column.by] == column.level]
    of_keys = zip(*(mine[name] for name in keys), strict=True)
    texts = dict(zip(of_keys, column.cells(mine), strict=True))
    return [texts.get(key, MISSING) for key in keys.itertuples(index=False, name=None)]


@dataclass(frozen=True, eq=False)
class Table:
    """A table of the report: its raw numbers, and its declaration."""

    name: str
    caption: str
    data: pd.DataFrame
    spec: TableSpec

    @cached_property
    def shown(self) -> pd.DataFrame:
        """The table in print, as text."""
        return self.spec.show(self.data)

    @property
    def headings(self) -> dict[str, str]:
        """The LaTeX of the headings that have one of their own."""
        columns = self.spec.expand(self.data)
        return {column.heading: column.latex for column in columns if column.latex}


def rows_of(data: Mapping[str, pd.DataFrame], table: str, **about: str) -> pd.DataFrame:
    """Return a table's rows that are about something, such as a model; none without the table."""
    rows = data.get(table, pd.DataFrame(columns=[*about]))
    return rows[(rows[[*about]] == [*about.values()]).all(axis=1)]


def load_columns(loads: Sequence[Load], *, optional: bool = True) -> list[Column]:
    """Return the columns of loads; by default, those that have a level in the data."""
    return [
        Column(load.name, load.heading, lambda level, load=load: load.show(load.scale(level)),
               optional=optional)
        for load in loads
    ]  # fmt: skip


Entries = Iterable[str | Mapping[str, Any] | Column | Across]
"""Columns, columns as `data/tables.toml` declares them, and names of groups of them."""


def read_tables(part: str, *shows: Callable[..., str], **groups: Entries) -> dict[str, TableSpec]:
    """Return the tables of a part of `data/tables.toml`, by name.

    It names functions of `shows` and `groups` of columns, besides those that it declares itself.
    """
    return {
        name: TableSpec(
            **{"name": f"{part}_{name}", **table}
            | {"columns": tuple(read_columns(part, table["columns"], *shows, **groups))}
        )
        for name, table in read_words("cogniload_analysis", "tables")[part].items()
        if isinstance(table, dict)
    }


def read_columns(
    part: str, entries: Entries, *shows: Callable[..., str], **groups: Entries
) -> list[Column | Across]:
    """Return the columns of entries in a part of `data/tables.toml`; see `read_tables`."""
    words = read_words("cogniload_analysis", "tables")
    known = {"model": [MODEL], **words[part], **words["shared"], **groups}
    functions = {"str": str, **vars(cells)} | {show.__name__: show for show in shows}
    return list(_expand(entries, known, functions))


def _expand(
    entries: Entries, groups: Mapping[str, Entries], shows: Mapping[str, Callable[..., Any]]
) -> Iterator[Column | Across]:
    for entry in entries:
        if isinstance(entry, str):
            yield from _expand(groups[entry], groups, shows)
        else:
            yield _read_column(entry, shows) if isinstance(entry, Mapping) else entry


def _read_column(
    entry: Mapping[str, Any], shows: Mapping[str, Callable[..., Any]]
) -> Column | Across:
    names = tuple(entry["of"].split(", "))
    name, *settings = entry.get("show", "str").split()
    values = [int(setting) if setting.isdigit() else setting for setting in settings]
    show: Callable[..., Any] = cells.form(entry["form"]) if "form" in entry else shows[name]
    if values:
        show = show(*values) if hasattr(cells, name) else partial(show, *values)
    if entry.get("starred"):
        show = cells.starred(show)
    if "across" in entry:
        return Across(entry["across"], names, show, shows[entry["levels"]])
    more = {key: entry[key] for key in ("latex", "optional") if key in entry}
    return Column(names, entry.get("heading", names[0]), show, **more)
