"""A static site that ranks runs beside the published models: one page, and each run's report."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.display.content import name_file
from cogniload_analysis.display.tables import TableSpec, read_tables
from cogniload_analysis.published import published_table
from cogniload_analysis.report.part import Part
from cogniload_analysis.report.write import (
    PAGE,
    build_parts,
    build_report,
    refuse_overwriting,
    render,
    write_files,
)  # fmt: skip
from cogniload_analysis.samples.read import Paths, label_paths, read_benchmarks

INDEX, REPORTS = "index.html", "reports"
OVERVIEW = "overview"
"""The table of a part whose models have an ECL50."""

SHOWN = {"ECL50", "ECL50, 95 %", "Acc [%]", "Acc, 95 %"}
"""The columns of a report's overview that a leaderboard has too."""


def write_leaderboard(results: Paths, out: str | Path, *, force: bool = False) -> Path:
    """Write `index.html` and a report of each of the `results` into `out`; return the page's path.

    `results` are paths as for `read_benchmarks`: each, or all of a label, has a report of its own.
    A run is ranked as in a report: where its puzzles cover the paper's d and N, or where an
    adaptive run has found its ECL50. With `force`, files are overwritten. Raises FileExistsError
    where one would be otherwise, ValueError where no run is of CogniLoad, and what
    `read_benchmarks` raises.
    """
    out = Path(out)
    if not force:
        refuse_overwriting([out / INDEX])
    labelled = label_paths(results)
    names = list(dict.fromkeys(label or str(path) for label, path in labelled))
    made: dict[str, bytes] = {}
    ranked: list[tuple[Part, str]] = []
    for place, name in enumerate(names, start=1):
        mine = [(label, path) for label, path in labelled if (label or str(path)) == name]
        parts = build_parts(read_benchmarks({mine[0][0]: [path for _, path in mine]}, ANALYSES))
        folder = f"{REPORTS}/{name_file(place, Path(name).name)}"
        made |= {f"{folder}/{file}": content for file, content in build_report(parts).items()}
        ranked += [(part, f"{folder}/{PAGE}") for part in parts if OVERVIEW in part.tables]
    if not ranked:
        raise ValueError(f"a leaderboard ranks runs of CogniLoad, got none in {', '.join(names)}")
    spec = leaderboard_spec(ranked[0][0].tables[OVERVIEW].spec)
    table = leaderboard_table([name_places(part, page) for part, page in ranked])
    made[INDEX] = render("leaderboard.html", table=spec.table(table)).encode()
    if not force:
        refuse_overwriting([out / name for name in made])
    write_files(out, made, force=force)
    return out / INDEX


def leaderboard_spec(overview: TableSpec) -> TableSpec:
    """Return the columns of a leaderboard, some of them those of a report's overview."""
    shared = [column for column in overview.columns if column.heading in SHOWN]
    return read_tables("site", shared=shared)["leaderboard"]


def name_places(part: Part, page: str) -> pd.DataFrame:
    """Return a part's overview, with the place in the report's `page` that is about each model."""
    table = part.tables[OVERVIEW].data
    places = {verdict.name: place for place, verdict in enumerate(part.findings.verdicts, start=1)}
    links = table["model"].astype(str).map(places)
    return table.assign(source="run", link=[f"{page}#model-{place}" for place in links])


def leaderboard_table(runs: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return runs and the published models, the largest ECL50 first, those without a rank last.

    Columns: those of `overview_table`, source ("run" or "paper") and link ("" without a report).
    """
    published = published_table("glm")[["model", "ECL50"]].assign(
        source="paper", link="", meaning="projection", least_N=1, most_N=10**6, rank=1, accuracy=0.0
    )
    table = pd.concat([*runs, published], ignore_index=True)
    solved = table["ECL50"].where(table["accuracy"] < 1, np.inf)
    table["rank"] = solved.where(table["rank"].notna()).rank(ascending=False, method="min")
    table.loc[table["source"] == "paper", "accuracy"] = math.nan
    return table.sort_values(["rank", "accuracy"], ascending=[True, False], ignore_index=True)
