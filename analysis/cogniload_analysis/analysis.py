"""What an analysis is: the base class that the shared stages use. Each benchmark subclasses it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any, TypeAlias

import pandas as pd

from cogniload_analysis.adaptive.section import AdaptiveRun
from cogniload_analysis.display.page import Findings, Section
from cogniload_analysis.frame import Columns, Load, label_models
from cogniload_gen.answers import Sample
from cogniload_gen.benchmark import Benchmark, OutcomeName, Row


@dataclass(frozen=True)
class Break:
    """Where a response breaks.

    `where` says it in words. `states` are the true and the claimed state after it: a name, the true
    value and the claimed one of each part. `place` is where in the response it shows, if it does.
    """

    where: str
    states: tuple[tuple[str, str, str], ...]
    place: int | None


Pairs: TypeAlias = Sequence[tuple[str, str]]
"""Models to compare, two by two."""


class Analysis(ABC):
    """One benchmark's analysis: how its samples are recognised, read, described and reported.

    Attributes:
        name: Heads its part of the report.
        prefix: Begins the names of its tables and figures; no two analyses may share one.
        tasks: Prefixes of its tasks' names.
        others: Longer prefixes, of tasks that another analysis reads.
        compared: Whether its rows are responses that are right or wrong, so that runs are compared.
        benchmarks: The benchmarks that it is about: several where they are analysed together, with
            one StrEnum of outcomes.
        loads: The columns that `read_loads` fills, in the order of its values.
        paper: The paper that it is cited by, as names and a year.
        method: How its puzzles are scored and its numbers are defined, in sentences for a paper.
        package: The package whose `reading.html` says how its numbers are read, if it has one.
        meanings: Each wrong outcome in words; by default its name.
        growth: The loads that make a puzzle longer, the strongest first.
        facts: The columns of the frame that only its samples fill.
        views: The facts, in words, that say how puzzles were shown to the model: runs that differ
            in one are rows of their own.
    """

    name: str
    prefix: str
    tasks: tuple[str, ...]
    benchmarks: tuple[Benchmark, ...]
    loads: tuple[Load, ...]
    others: tuple[str, ...] = ()
    compared: bool = True
    meanings: Mapping[str, str] = MappingProxyType({})
    growth: tuple[str, ...] = ()
    facts: tuple[Columns, ...] = ()
    views: tuple[str, ...] = ()
    paper: str = ""
    method: str = ""
    package: str = ""

    @abstractmethod
    def read_loads(self, puzzle: Row) -> tuple[float | str, ...]:
        """Return the levels of a puzzle's loads.

        ValueError for one out of range, KeyError for a missing column.
        """

    def describe_load(self, row: Any) -> str:
        """Return the load of a row of the frame, as `itertuples` has it, in words."""
        return ", ".join(load.say(getattr(row, load.name)) for load in self.loads)

    @abstractmethod
    def report(self, frame: pd.DataFrame, causes: Mapping[str, str]) -> Findings:
        """Return what the report shows of a frame, whose models have the names of `label`.

        `causes` are those of the failures, of the models that have twins.
        """

    def beside(self, frame: pd.DataFrame, frames: Mapping[str, pd.DataFrame]) -> Sequence[Section]:
        """Return the sections that set its frame beside those of all analyses, by their names."""
        return []

    def find_runs(self, frame: pd.DataFrame) -> Sequence[AdaptiveRun]:
        """Return the adaptive runs in a frame."""
        return []

    def find_threshold(self, frame: pd.DataFrame) -> tuple[str, float, str] | None:
        """Return a known threshold of one model's run: its name, its value, and what it is."""
        return None

    def say_conversations(self, conversations: Sequence[Mapping[str, Any]]) -> list[Section]:
        """Return what the report shows of rows of `read_conversations`."""
        return []

    def label(self, frame: pd.DataFrame) -> list[str]:
        """Return each row's name of the model, as the report has it."""
        return label_models(frame)

    def compare(
        self, frame: pd.DataFrame, pairs: Pairs, models: Mapping[str, Any] | None = None
    ) -> pd.DataFrame:
        """Return the differences of its own measures between pairs of the frame's models.

        `models` are the `Findings.models` of the frame, unless these are still to be fitted.
        The columns are first, second, measure, condition (in words), scale ("difference" or
        "ratio"), first_value, second_value, difference, low, high, p, method and note.
        """
        return pd.DataFrame()

    def find_break(self, text: str, sample: Sample, row: Any) -> Break | None:
        """Return where the text of a sample with a row of the frame breaks; None where unknown."""
        return None

    def find_needles(self, puzzle: str) -> list[tuple[int, int]]:
        """Return the places in a puzzle's text that its answer depends on, as far as known."""
        return []

    @property
    def reading(self) -> str:
        """How the numbers of its part of the report are read, as items of an HTML list."""
        if not self.package:
            return ""
        return files(self.package).joinpath("reading.html").read_text("utf-8")

    @property
    def outcomes(self) -> tuple[OutcomeName, ...]:
        """The outcomes, in the order of their StrEnum."""
        members: Any = self.benchmarks[0].outcomes
        return tuple(members)

    def owns(self, puzzle: Row) -> bool:
        """Return whether a puzzle, the `doc` of a sample, is of one of the benchmarks."""
        return any(benchmark.owns_row(puzzle) for benchmark in self.benchmarks)
