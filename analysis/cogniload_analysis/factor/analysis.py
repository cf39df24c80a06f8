"""FACTOR's record: its samples, its loads, and its outcomes in words."""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from cogniload_analysis.adaptive import design as adaptive
from cogniload_analysis.analysis import Analysis
from cogniload_analysis.display.content import Findings
from cogniload_analysis.factor import hops, retrieval
from cogniload_analysis.factor.decay import CONDITION
from cogniload_analysis.factor.decay_differences import compare_decays
from cogniload_analysis.factor.loads import LOADS, describe_load, read_loads
from cogniload_analysis.model_labels import label_models
from cogniload_gen.factor import REALISTIC, SYMBOLIC
from cogniload_gen.factor.score import FactorOutcome


def label_series(frame: pd.DataFrame) -> list[str]:
    """Return a short name for each row's model, with the task where it ran several series."""
    return label_models(frame.assign(task=merge_tasks(frame)), "suite")


def merge_tasks(frame: pd.DataFrame) -> pd.Series:
    """Return the suite instead of the task, where a model's tasks are parts of one series.

    The tasks of a suite differ in their context, as factor_symbolic_4k. Where two of a model hold
    the same context and noise, as factor_symbolic_0 and factor_symbolic_mini, they are kept apart,
    by their names without the context.
    """
    suite, task = frame["suite"].astype(str), frame["task"].astype(str)
    family = task.str.replace(r"_\d+k?$", "", regex=True)
    families = family.groupby([frame[name] for name in CONDITION], observed=True)
    several = families.transform("nunique") > 1
    apart = several.groupby([frame["model"], suite], observed=True).transform("any")
    return family.where(apart, suite)


def set_factor(**options: Any) -> Analysis:
    """Return FACTOR's analysis with options of its report: `accuracy_range`, `n_clean`."""
    return replace(FACTOR, report=partial(_report, **options))


def _report(frame: pd.DataFrame, **options: Any) -> Findings:
    # Imported here, as matplotlib takes long to load and reading needs none.
    from cogniload_analysis.factor.report import report_factor  # noqa: PLC0415

    return report_factor(frame, **options)


FACTOR = Analysis(
    name="FACTOR",
    prefix="factor_",
    tasks=("factor_symbolic", "factor_realistic"),
    benchmarks=(SYMBOLIC, REALISTIC),
    meanings={
        FactorOutcome.WRONG_SET: "another set of variables, or another number",
        FactorOutcome.NO_ANSWER: "no answer that could be read",
        FactorOutcome.MAX_CONTEXT: "ran out of context, or answered nothing",
    },
    loads=LOADS,
    read_loads=read_loads,
    growth=("context", "N"),
    describe_load=describe_load,
    label=label_series,
    report=_report,
    compare=compare_decays,
    package="cogniload_analysis.factor",
    facts=(hops.HOP_COLUMN, *adaptive.FACTS, retrieval.RETRIEVED),
    views=("retrieval",),
)
