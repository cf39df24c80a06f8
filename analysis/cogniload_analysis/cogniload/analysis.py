"""CogniLoad's record: its samples, its loads, and its outcomes in words."""

import pandas as pd

from cogniload_analysis.adaptive import design as adaptive
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.cogniload.loads import LOADS, describe_load, read_loads
from cogniload_analysis.cogniload.step_columns import READING, find_break
from cogniload_analysis.cogniload.threshold_differences import compare_thresholds
from cogniload_analysis.display.content import Findings
from cogniload_gen.cogniload import BENCHMARK
from cogniload_gen.cogniload.score import Outcome


def _report(frame: pd.DataFrame) -> Findings:
    # Imported here, as matplotlib takes long to load and reading needs none.
    from cogniload_analysis.cogniload.report import report_cogniload  # noqa: PLC0415

    return report_cogniload(frame)


COGNILOAD = Analysis(
    name="CogniLoad",
    prefix="",
    tasks=("cogniload",),
    benchmarks=(BENCHMARK,),
    meanings={
        Outcome.WRONG_MAX_CONTEXT: "ran out of context, or answered nothing",
        Outcome.WRONG_LOGIC: "a wrong value in the sentence about the person and the property",
        Outcome.WRONG_LOGIC_POI: "a wrong value in the sentence about the person",
        Outcome.WRONG_LOGIC_LAST_SENTENCE: "a wrong value in the last sentence",
        Outcome.WRONG_OTHER: "no value of the property where the answer is looked for",
    },
    loads=LOADS,
    read_loads=read_loads,
    growth=("N", "d"),
    describe_load=describe_load,
    report=_report,
    package="cogniload_analysis.cogniload",
    facts=(READING, *adaptive.FACTS),
    compare=compare_thresholds,
    find_break=find_break,
)
