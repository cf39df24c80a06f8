"""FACTOR's analysis: its samples in one frame, its loads, and its part of the report."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from cogniload_analysis.adaptive import design
from cogniload_analysis.analysis import Analysis, Pairs
from cogniload_analysis.display import sentences as said
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.figures import MOST_WITH_ENDS, Figure
from cogniload_analysis.display.page import Findings, Section, Verdict, name_file
from cogniload_analysis.factor import loads as levels
from cogniload_analysis.factor.decay import CONDITION, compare_decays
from cogniload_analysis.factor.sampling import attempts_sections
from cogniload_analysis.factor.sections import adaptive, contexts, decays, hops, retrieval
from cogniload_analysis.factor.sections.hops import HOP_COLUMN
from cogniload_analysis.factor.sections.retrieval import RETRIEVED
from cogniload_analysis.frame import label_models
from cogniload_analysis.matters import load_effects
from cogniload_analysis.samples.read import Paths, read_benchmarks
from cogniload_analysis.samples.stop_reasons import CUT, ending_table
from cogniload_analysis.stats import CONFIDENCE
from cogniload_analysis.words import say
from cogniload_gen.factor import REALISTIC, SYMBOLIC
from cogniload_gen.factor.score import FactorOutcome

_NONE_SOLVED = "Solves no puzzle at any complexity, so nothing is determined."


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


def describe_verdict(
    name: str, frame: pd.DataFrame, headline: str, figure: Figure | None
) -> Verdict:
    """Return what the first screen says of a model in a suite, by its responses in `frame`."""
    effects = load_effects(frame, [levels.COMPLEXITY_LOAD, levels.CONTEXT])
    cut = ending_table(frame)["cut_share"].iloc[0]
    breaks = said.say_breaks(effects) if frame["correct"].any() and effects else ""
    sentences = [said.say_solved(frame, cut), said.say_wrong(frame, levels.MEANINGS)]
    return Verdict(name, headline, sentences, figure, breaks)


def errors_section(frame: pd.DataFrame) -> Section:
    """Return the section on outcomes and tokens, and the accuracy by N."""
    outcomes: tb.Columns = {outcome.value: outcome.value for outcome in FactorOutcome}
    solved = tb.accuracy_table(frame, *CONDITION[1:], confidence=CONFIDENCE)
    uncut = frame.assign(overflow=frame["ending"] == CUT).groupby([*CONDITION], observed=True)
    parts = [
        solved.set_index([*CONDITION])[["responses", "accuracy", "low", "high"]],
        uncut[["acc_uncut", "overflow"]].mean(),
        tb.describe_tokens(frame, *CONDITION),
    ]
    data = tb.count_outcomes(frame, *CONDITION).join([*parts]).reset_index()
    table = tb.table("factor_responses", data, more=outcomes)
    accuracies = tb.accuracy_table(frame, *CONDITION[1:], "N", confidence=CONFIDENCE)
    by_N = tb.table("factor_accuracy_by_N", accuracies)
    behind = Section("Accuracy by N", [by_N], folded=True)
    return Section("Errors and tokens", [table, behind], "errors", folded=True)


class _FactorAnalysis(Analysis):
    """The decay of accuracy with complexity, at each length of context."""

    name = "FACTOR"
    prefix = "factor_"
    tasks = ("factor_symbolic", "factor_realistic")
    benchmarks = (SYMBOLIC, REALISTIC)
    read_loads = staticmethod(levels.read_loads)
    find_runs = staticmethod(adaptive.find_runs)
    paper = "Liu et al., 2024"
    method = say("method_factor")
    package = "cogniload_analysis.factor"
    meanings = levels.MEANINGS
    loads = levels.LOADS
    growth = ("context", "N")
    facts = (HOP_COLUMN, *design.FACTS, RETRIEVED)
    views = ("retrieval",)

    def describe_load(self, row: Any) -> str:
        """Return the load of a row of the frame, as `itertuples` has it, in words."""
        return f"{row.suite}, N = {row.N}, context {row.context:,} tokens, noise {row.noise}"

    def compare(
        self, frame: pd.DataFrame, pairs: Pairs, models: Mapping[str, Any] | None = None
    ) -> pd.DataFrame:
        """Return the differences of CDF and CDO between pairs of the frame's models."""
        return compare_decays(frame, pairs)

    def report(self, frame: pd.DataFrame, causes: Mapping[str, str]) -> Findings:
        """Return what the report shows; each condition is fitted once, and the sections show it."""
        curves, lines = decays.fit_decays(frame), decays.fit_decays(frame, "least squares")
        fits = decays.decay_table(curves, lines)
        retrieved, by_hops = retrieval.retrieval_table(frame), hops.hops_table(frame)
        models, verdicts = [], []
        pairs = sorted({(suite, model) for model, suite, *_ in curves})
        for number, (suite, model) in enumerate(pairs, start=1):
            about = {"suite": suite, "model": model}
            mine, own, found, beside = (
                table[(table[[*about]] == [suite, model]).all(axis=1)]
                for table in (frame, fits, retrieved, by_hops)
            )
            phrases = [retrieval.say_retrieval(row) for row in found.to_dict("records")]
            phrases += [hops.say_shortcuts(beside)] if len(beside) else []
            figure, sentences = None, [_NONE_SOLVED]
            if mine["correct"].any():
                sentences = [decays.say_decay(row) for row in own.to_dict("records")]
                middle = (mine["N"].min() + mine["N"].max()) / 2
                phrases = contexts.say_modes(own, middle) + phrases
                each = {at: fit for at, fit in curves.items() if at[:2] == (model, suite)}
                if len(pairs) <= MOST_WITH_ENDS:
                    figure = decays.draw_model(each, f"factor_{suite}_{name_file(number, model)}")
            title = f"{model}, {suite} suite"
            shown: list[Any] = [[*sentences, *phrases], figure]
            models.append(Section(title, [*filter(None, shown)]))
            verdicts.append(describe_verdict(title, mine, sentences[0], figure))
        front: list[Figure] = []
        drawn: list[Figure] = []
        for suite in sorted({*fits["suite"]}):
            rows = fits[fits["suite"] == suite]
            if rows["mean_accuracy"].any():
                of_suite = {at: fit for at, fit in curves.items() if at[1] == suite}
                front = [decays.draw_suite(suite, of_suite)]  # the symbolic one, if there are both
                drawn += [*front, *contexts.draw_by_context(rows)]
        heading = "Models by complexity and context"
        by_suite = [Section(heading, drawn, "curves", folded=True)] * bool(drawn)
        sections = [
            *retrieval.retrieval_sections(retrieved),
            *hops.hops_sections(by_hops),
            Section("The decay of each model", models, "models", folded=True),
            *adaptive.adaptive_sections(frame),
            *contexts.published_section(fits),
            *by_suite,
            Section("Fits", [tb.table("factor_decay", fits, decays.FORMATS)], "fits", folded=True),
            *attempts_sections(frame),
            errors_section(frame),
        ]
        return Findings(sections, verdicts, front)

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
