"""Tables that are still declared in `data/tables.toml`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from cogniload_analysis.display import tables
from cogniload_analysis.display.tables import Table
from cogniload_gen.files import read_words


@dataclass(frozen=True)
class TableSpec:
    """A table as it is declared."""

    name: str
    caption: str
    columns: Any = None
    wide: bool = False

    def table(self, data: pd.DataFrame, **parameters: object) -> Table:
        """Return the table of raw numbers; the parameters stand in its name and its caption."""
        name, caption = (text.format(**parameters) for text in (self.name, self.caption))
        return Table(name, data, caption, self.columns, self.wide)


def read_tables(part: str, *shows: Callable[..., str], **groups: Any) -> dict[str, TableSpec]:
    """Return the tables of a part of `data/tables.toml`, by name."""
    words = read_words("cogniload_analysis", "tables")
    known = {"model": tables.MODEL, **words[part], **words["shared"], **groups}
    functions = {"str": tables.text, "words": tables.text, **vars(tables)}
    functions |= {show.__name__: show for show in shows}
    return {
        name: TableSpec(
            table.get("name", f"{part}_{name}"),
            table["caption"],
            dict(_expand(table["columns"], known, functions)) or None,
            any("across" in entry for entry in table["columns"]),
        )
        for name, table in words[part].items()
        if isinstance(table, dict)
    }


def _expand(entries: Any, groups: Any, shows: Any) -> Iterator[tuple[str, Any]]:
    wide = None
    for entry in entries:
        if isinstance(entry, str):
            group = groups[entry]
            yield from group.items() if isinstance(group, dict) else _expand(group, groups, shows)
            continue
        names = entry["of"]
        name, *settings = entry.get("show", "str").split()
        values = [int(setting) if setting.isdigit() else setting for setting in settings]
        show: Any = tables.form(entry["form"]) if "form" in entry else shows[name]
        if values:
            show = show(*values) if hasattr(tables, name) else partial(show, *values)
        if "across" in entry:
            wide = [
                (entry["across"], (entry["across"], shows[entry["levels"]])),
                (names, ("", show)),
            ]
        else:
            yield names, (entry.get("heading", names), show)
    yield from wide or ()
