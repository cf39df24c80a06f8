"""FACTOR's analysis: its samples in one frame, its loads, and its outcomes in words."""

import pandas as pd

from cogniload_analysis.adaptive import design
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.factor import loads as load_columns
from cogniload_analysis.factor.decay import CONDITION
from cogniload_analysis.factor.decay_differences import compare_decays
from cogniload_analysis.factor.report import report_factor
from cogniload_analysis.factor.sections.hops import HOP_COLUMN
from cogniload_analysis.factor.sections.retrieval import RETRIEVED
from cogniload_analysis.frame import label_models
from cogniload_analysis.samples.read import Paths, read_benchmarks
from cogniload_gen.factor import REALISTIC, SYMBOLIC


def merge_tasks(frame: pd.DataFrame) -> pd.Series:
    """Return the suite instead of the task, where a model's tasks are parts of one series.

    The tasks of a suite differ in their context, as factor_symbolic_4k. Where two of a model hold
    the same context and noise, as factor_symbolic_0 and factor_symbolic_mini, they are kept apart,
    by their names without the context.
    """
    suite, task = frame["suite"].astype(str), frame["task"].astype(str)
    family = task.str.replace(r"_\d+k?$", "", regex=True)
    families = family.groupby([frame[column] for column in CONDITION], observed=True)
    several = families.transform("nunique") > 1
    apart = several.groupby([frame["model"], suite], observed=True).transform("any")
    return family.where(apart, suite)


class _FactorAnalysis(Analysis):
    """The decay of accuracy with complexity, at each length of context."""

    name = "FACTOR"
    prefix = "factor_"
    tasks = ("factor_symbolic", "factor_realistic")
    benchmarks = (SYMBOLIC, REALISTIC)
    read_loads = staticmethod(load_columns.read_loads)
    describe_load = staticmethod(load_columns.describe_load)
    report = staticmethod(report_factor)
    compare = staticmethod(compare_decays)
    package = "cogniload_analysis.factor"
    meanings = load_columns.MEANINGS
    loads = load_columns.LOADS
    growth = ("context", "N")
    facts = (HOP_COLUMN, *design.FACTS, RETRIEVED)
    views = ("retrieval",)

    def label(self, frame: pd.DataFrame) -> list[str]:
        """Return each row's name of the model, with the task where it ran several series."""
        return label_models(frame.assign(task=merge_tasks(frame)), "suite")


FACTOR = _FactorAnalysis()


def read_factor_samples(paths: Paths, *, text: bool = False) -> pd.DataFrame:
    """Read lm-eval's responses to FACTOR into one frame, one row per response.

    As `read_samples`, with the columns suite ("symbolic" or "realistic"), N (the complexity: the
    number of variables, or in the realistic suite of operations, its `op`), context (tokens of
    filler, or in the realistic suite of the whole problem; 0 for none) and noise ("none", "close",
    "general", or the symbolic suite's "filler") instead of d, N and rho.
    """
    return read_benchmarks(paths, [FACTOR], text=text)[FACTOR.name]
