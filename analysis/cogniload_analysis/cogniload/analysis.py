"""CogniLoad's analysis: its samples, its loads, and its outcomes in words."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from cogniload_analysis.adaptive import design
from cogniload_analysis.analysis import Analysis, Break, Pairs
from cogniload_analysis.cogniload import loads, step_columns
from cogniload_analysis.cogniload.threshold_differences import compare_thresholds
from cogniload_analysis.display.content import Findings
from cogniload_gen.benchmark import Row
from cogniload_gen.cogniload import BENCHMARK
from cogniload_gen.cogniload.score import Outcome

MEANINGS: Mapping[str, str] = {
    Outcome.WRONG_MAX_CONTEXT: "ran out of context, or answered nothing",
    Outcome.WRONG_LOGIC: "a wrong value in the sentence about the person and the property",
    Outcome.WRONG_LOGIC_POI: "a wrong value in the sentence about the person",
    Outcome.WRONG_LOGIC_LAST_SENTENCE: "a wrong value in the last sentence",
    Outcome.WRONG_OTHER: "no value of the property where the answer is looked for",
}
"""Each wrong outcome in words."""


class CogniLoadAnalysis(Analysis):
    """Capacity by d, N and rho, and the statements where reasoning breaks."""

    name = "CogniLoad"
    prefix = ""
    tasks = ("cogniload",)
    benchmarks = (BENCHMARK,)
    package = "cogniload_analysis.cogniload"
    meanings = MEANINGS
    loads = loads.LOADS
    growth = ("N", "d")
    facts = (step_columns.READING, *design.FACTS)

    def read_loads(self, puzzle: Row) -> tuple[int, int, float]:
        """Return d, N and rho (a fraction)."""
        return loads.read_loads(puzzle)

    def describe_load(self, row: Any) -> str:
        """Return a response's load in words."""
        return loads.describe_load(row)

    def report(self, frame: pd.DataFrame) -> Findings:
        """Return CogniLoad's part of the report."""
        # matplotlib takes long to load, and reading needs none
        from cogniload_analysis.cogniload.report import report_cogniload  # noqa: PLC0415

        return report_cogniload(frame)

    def compare(self, frame: pd.DataFrame, pairs: Pairs) -> pd.DataFrame:
        """Return the differences of the thresholds."""
        return compare_thresholds(frame, pairs)

    def find_break(self, response: str, puzzle: Row, row: Any) -> Break | None:
        """Return the statement at which a response breaks."""
        return step_columns.find_break(response, puzzle, row)


COGNILOAD = CogniLoadAnalysis()
