"""CogniLoad's analysis: its samples, its loads, and its outcomes in words."""

import pandas as pd

from cogniload_analysis.adaptive import design
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.cogniload import loads as load_columns
from cogniload_analysis.cogniload import repeats, step_columns
from cogniload_analysis.cogniload.threshold_differences import compare_thresholds
from cogniload_analysis.display.content import Findings
from cogniload_gen.cogniload import BENCHMARK


class CogniLoadAnalysis(Analysis):
    """Capacity by d, N and rho, and the statements where reasoning breaks."""

    name = "CogniLoad"
    prefix = ""
    tasks = ("cogniload",)
    benchmarks = (BENCHMARK,)
    read_loads = staticmethod(load_columns.read_loads)
    describe_load = staticmethod(load_columns.describe_load)
    compare = staticmethod(compare_thresholds)
    find_break = staticmethod(step_columns.find_break)
    package = "cogniload_analysis.cogniload"
    meanings = load_columns.MEANINGS
    loads = load_columns.LOADS
    growth = ("N", "d")
    facts = (step_columns.READING, repeats.ANSWER, *design.FACTS, load_columns.NEEDLES)

    def report(self, frame: pd.DataFrame) -> Findings:
        """Return CogniLoad's part of the report."""
        # matplotlib takes long to load, and reading needs none
        from cogniload_analysis.cogniload.report import report_cogniload

        return report_cogniload(frame)


COGNILOAD = CogniLoadAnalysis()
