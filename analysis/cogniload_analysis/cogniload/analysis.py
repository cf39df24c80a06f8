"""CogniLoad's analysis: its samples, its loads, and its outcomes in words."""

import pandas as pd

from cogniload_analysis.adaptive import design
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.cogniload.loads import LOADS, MEANINGS, NEEDLES, describe_load, read_loads
from cogniload_analysis.cogniload.report import report_cogniload
from cogniload_analysis.cogniload.step_columns import ANSWER, READING, find_break, find_needles
from cogniload_analysis.cogniload.threshold_differences import compare_thresholds
from cogniload_analysis.samples.read import Paths, read_benchmarks
from cogniload_gen.cogniload import BENCHMARK


class _CogniLoadAnalysis(Analysis):
    """Capacity by d, N and rho, and the statements where reasoning breaks."""

    name = "CogniLoad"
    prefix = ""
    tasks = ("cogniload",)
    benchmarks = (BENCHMARK,)
    read_loads = staticmethod(read_loads)
    describe_load = staticmethod(describe_load)
    report = staticmethod(report_cogniload)
    compare = staticmethod(compare_thresholds)
    find_break = staticmethod(find_break)
    find_needles = staticmethod(find_needles)
    package = "cogniload_analysis.cogniload"
    meanings = MEANINGS
    loads = LOADS
    growth = ("N", "d")
    facts = (READING, ANSWER, *design.FACTS, NEEDLES)


COGNILOAD = _CogniLoadAnalysis()


def read_samples(paths: Paths, *, text: bool = False) -> pd.DataFrame:
    """Read lm-eval's responses to CogniLoad into one frame, one row per response.

    Paths, labels, the names of runs, errors and `text` are as in `read_benchmarks` of
    `cogniload_analysis.samples.read`, and so are the columns that all benchmarks share. CogniLoad's
    own are d, N, rho (a fraction in (0, 1]), steps_read (whether the reasoning could be read; False
    where the sample doesn't say), first_error (the statement; NaN for none), error (its kind; ""
    for none), recovered (False without an error), coverage (NaN where the sample holds no reading),
    answer (the one that was read; "" for none, None where the sample holds no reading),
    index (the puzzle's) and needles (in its text), both NaN where unknown, and cut (whether a limit
    cut the response off).
    """
    return read_benchmarks(paths, [COGNILOAD], text=text)[COGNILOAD.name]
