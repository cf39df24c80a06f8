"""What the shared stages ask of a benchmark's analysis: one record, made in its own folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pandas as pd

from cogniload_analysis.display.content import Findings
from cogniload_analysis.load import Load
from cogniload_analysis.model_labels import label_models
from cogniload_analysis.samples.columns import Columns
from cogniload_gen.benchmark import Benchmark, OutcomeName, Row


@dataclass(frozen=True)
class Break:
    """Where a response breaks.

    `where` says it in words. `states` are the true and the told state after it: a name, the true
    value and the told one of each part. `place` is where in the response it shows, if it does.
    """

    where: str
    states: tuple[tuple[str, str, str], ...]
    place: int | None


Pairs: TypeAlias = Sequence[tuple[str, str]]
"""Models to compare, two by two."""


def compare_nothing(frame: pd.DataFrame, pairs: Pairs) -> pd.DataFrame:
    """Return the differences between models of a benchmark without measures of its own: none."""
    return pd.DataFrame()


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """One benchmark's analysis: how its samples are recognised, read, described and reported.

    Attributes:
        name: Heads its part of the report.
        prefix: Begins the names of its tables and figures; no two analyses may share one.
        tasks: Prefixes of its tasks' names.
        benchmarks: The benchmarks that it is about: several where they are analysed together, with
            one StrEnum of outcomes.
        loads: The columns that `read_loads` fills, in the order of its values.
        read_loads: From a puzzle to the levels of its loads; ValueError for one out of range, and
            KeyError for a missing column.
        describe_load: From a row of the frame, as `itertuples` has it, to its load in words.
        report: From the frame, with those names, to what the report shows.
        package: The package whose `templates/part.html` and `part.css` set its part of the report.
        meanings: Each wrong outcome in words; by default its name.
        growth: The loads that make a puzzle longer, the strongest first.
        label: From the frame to each row's name of the model, as the report has it.
        facts: The columns of the frame that only its samples fill.
        views: The facts, in words, that say how puzzles were shown to the model: runs that differ
            in one are rows of their own.
        compare: From the frame and pairs of its models to the differences of its own measures, with
            the columns first, second, measure, condition (in words), scale ("difference" or
            "ratio"), first_value, second_value, difference, low, high, p, method and note.
        find_break: From a response, its puzzle and the response's row of the frame to where it
            breaks; None where nothing is known of that.
    """

    name: str
    prefix: str
    tasks: tuple[str, ...]
    benchmarks: tuple[Benchmark, ...]
    loads: tuple[Load, ...]
    read_loads: Callable[[Row], tuple[float | str, ...]]
    describe_load: Callable[[Any], str]
    report: Callable[[pd.DataFrame], Findings]
    package: str
    meanings: Mapping[str, str] = field(default_factory=dict)
    growth: tuple[str, ...] = ()
    label: Callable[[pd.DataFrame], list[str]] = label_models
    facts: tuple[Columns, ...] = ()
    views: tuple[str, ...] = ()
    compare: Callable[[pd.DataFrame, Pairs], pd.DataFrame] = compare_nothing
    find_break: Callable[[str, Row, Any], Break | None] = lambda response, puzzle, row: None

    @property
    def outcomes(self) -> tuple[OutcomeName, ...]:
        """The outcomes, in the order of their StrEnum."""
        members: Any = self.benchmarks[0].outcomes
        return tuple(members)

    def owns(self, puzzle: Row) -> bool:
        """Return whether a puzzle, the `doc` of a sample, is of one of the benchmarks."""
        return any(benchmark.owns_row(puzzle) for benchmark in self.benchmarks)
