"""The part that each benchmark has in a report."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.compare.differences import add_comparison
from cogniload_analysis.compare.why import drop_twins
from cogniload_analysis.display.content import Findings
from cogniload_analysis.display.print import cell_table, run_columns, run_table
from cogniload_analysis.display.tables import Table, TableSpec
from cogniload_analysis.report.examples import SUCCESSES, Example, pick_failures, pick_responses
from cogniload_analysis.samples.runs import say_runs
from cogniload_analysis.samples.stop_reasons import ENDING_TABLE, ending_table, warn_of_limits


@dataclass(frozen=True, eq=False)
class Part:
    """A benchmark's part of the report, which its template shows.

    `tables` are by name, with the runs first. `examples` are failures, `successes` are not, and
    `cells` the counts behind every number. `notes` say which runs count together, and `warnings`
    what may mislead.
    """

    analysis: Analysis
    tables: dict[str, Table]
    findings: Findings
    examples: list[Example]
    successes: list[Example]
    notes: list[str]
    warnings: list[str]
    mixed_versions: bool
    cells: pd.DataFrame

    def section(self, name: str) -> list[Table]:
        """Return the tables of a section of the page, in order."""
        return [table for table in self.tables.values() if table.spec.section == name]


def build_part(
    analysis: Analysis, frame: pd.DataFrame, price: tuple[float, float] | None = None
) -> Part:
    """Return a benchmark's part of the report on its frame of `read_benchmarks`.

    `price` as for `write_report`.
    """
    from cogniload_analysis.report.why import add_why

    spec = TableSpec(f"{analysis.prefix}runs", "What was run.", run_columns(analysis.loads))
    runs = spec.table(run_table(frame, analysis.loads, price))
    frame = frame.assign(model=analysis.label(frame)).astype({"model": "category"})
    everything, frame = frame, drop_twins(frame)
    findings = add_comparison(analysis.report(frame), frame, analysis)
    findings = add_why(findings, everything, analysis)
    endings = ENDING_TABLE.table(ending_table(frame), prefix=analysis.prefix)
    return Part(
        analysis=analysis,
        tables={table.name: table for table in (runs, endings, *findings.tables)},
        findings=findings,
        examples=pick_failures(frame, analysis),
        successes=pick_responses(frame[frame["correct"]], analysis, SUCCESSES),
        notes=say_runs(runs.data),
        warnings=warn_of_limits(endings.data),
        mixed_versions=mixes_versions(frame, analysis),
        cells=cell_table(frame, analysis.loads),
    )


def mixes_versions(frame: pd.DataFrame, analysis: Analysis) -> bool:
    """Tell whether runs that belong together, as those of a suite, are of several generators."""
    suites = [load.name for load in analysis.loads if load.in_task]
    groups = frame.groupby(suites, observed=True) if suites else frame
    return bool(np.max(groups["generator_version"].nunique()) > 1)
