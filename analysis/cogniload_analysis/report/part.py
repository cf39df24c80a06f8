"""The part that each benchmark has in a report, from its frame to its sections."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_analysis.analysis import Analysis
from cogniload_analysis.compare.differences import comparison_sections
from cogniload_analysis.compare.repair_effects import is_repair
from cogniload_analysis.compare.why import TWINS_ALONE, drop_twins, is_twin
from cogniload_analysis.display import tables as tb
from cogniload_analysis.display.figures import Figure
from cogniload_analysis.display.page import Content, Section, Verdict, walk
from cogniload_analysis.frame import Load
from cogniload_analysis.report.cite import Citation, cite
from cogniload_analysis.report.examples import FAILURES, SUCCESSES, list_responses, pick_responses
from cogniload_analysis.report.why import (
    add_causes,
    add_next,
    explain_models,
    repair_sections,
    why_sections,
)
from cogniload_analysis.samples.runs import join_levels, say_runs
from cogniload_analysis.samples.stop_reasons import ending_table, warn_of_limits
from cogniload_analysis.words import say
from cogniload_gen import __version__

# How `cogniload why` names its folder in that of a run.
_OF_WHY = ("why", "repair")

_FORMATS: tb.Formats = {
    "limit": lambda limit: limit or "none",
    "range": lambda low, high: str(low) if low == high else f"{low}–{high}",
}

SETTINGS = (
    "decoding",
    "prompting",
    "output_limit",
    "chat_template",
    "backend",
    "precision",
    "device",
)


@dataclass(frozen=True, eq=False)
class Part:
    """A benchmark's part of the report, which `part.html` shows.

    `header` says what was run, when and of which version, `overview` is what the first screen shows
    of several models, `better` which of two solves more, `citation` what a paper says of them,
    `cells` the counts behind every number, `warnings` what may mislead, and `responses` those of
    `list_responses`.
    """

    analysis: Analysis
    header: str
    verdicts: Sequence[Verdict]
    sections: Sequence[Section]
    overview: Sequence[tb.Table | Figure] = ()
    better: Sequence[str] = ()
    citation: Citation | None = None
    warnings: Sequence[str] = ()
    cells: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"model": []}))
    responses: Sequence[Sequence[str]] = ()

    @property
    def tables(self) -> dict[str, tb.Table]:
        """The tables of the part, by name."""
        return {each.name: each for each in self._walk() if isinstance(each, tb.Table)}

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures of the part, by name."""
        return {each.name: each for each in self._walk() if isinstance(each, Figure)}

    def _walk(self) -> Iterator[object]:
        yield from self.overview
        yield from (verdict.figure for verdict in self.verdicts)
        yield from walk(self.sections)


def build_part(
    analysis: Analysis,
    frame: pd.DataFrame,
    price: tuple[float, float] | None = None,
    frames: Mapping[str, pd.DataFrame] | None = None,
) -> Part:
    """Return a benchmark's part of the report on its frame of `read_benchmarks`.

    `price` as for `write_report`; `frames` are those of all benchmarks.
    """
    if price:
        spent = frame[["spent_prompt_tokens", "spent_response_tokens"]].to_numpy(float)
        frame = frame.assign(cost=spent @ price / 1e6)
    runs = run_table(frame, analysis.loads)
    once = run_table(drop_twins(frame), analysis.loads)  # twins are no further attempts
    frame = frame.assign(model=analysis.label(frame)).astype({"model": "category"})
    everything, frame = frame, drop_twins(frame)
    alone = [*everything["model"].cat.categories.difference(frame["model"].cat.categories)]
    # the task's name says the others
    loads = {load.printed_name: load.heading for load in analysis.loads if not load.in_task}
    shown = tb.table("runs", runs, _FORMATS, prefix=analysis.prefix, more=loads)
    if frame.empty:
        verdicts = [_say_twins(model, everything) for model in alone]
        run = Section("What was run", [shown], "what-was-run", folded=True)
        sections = [*repair_sections(everything, analysis), run]
        return Part(analysis, _describe_runs(runs, runs, 0), verdicts, sections)
    explained, ids = explain_models(everything), everything["id"]
    causes = {name: ", ".join(why.causes) or "open" for name, (_, why) in explained.items()}
    findings = analysis.report(frame, causes)
    endings = tb.table("endings", ending_table(frame), prefix=analysis.prefix)
    repeats = frame.groupby("model", observed=True)["repeats"].unique().explode()
    said = [*say_runs(once), *(f"{model}: {it}." for model, it in repeats.items() if it)]
    named = findings.models or None
    beside = comparison_sections(frame, analysis, named) if analysis.compared else []
    two = beside and len(findings.verdicts) == 2  # of whom it speaks in words
    sections = [
        *why_sections(explained, analysis),
        *repair_sections(everything, analysis),
        *beside,
        *(section for section in findings.sections if not section.folded),
        *analysis.beside(frame, frames or {}),
        *_example_sections(frame, analysis),
        Section("What was run", [shown, *said, endings], "what-was-run", folded=True),
        *(section for section in findings.sections if section.folded),
    ]
    names = [load.name for load in analysis.loads]
    suites = [load.name for load in analysis.loads if load.in_task]  # whose runs belong together
    versions = (frame.groupby(suites, observed=True) if suites else frame)["generator_version"]
    left_out = [f"{model}, left out: {TWINS_ALONE}." for model in alone]
    mixed = [say("mixed")] * bool(np.max(versions.nunique()) > 1)
    by_cell = any(getattr(each, "heat", False) for each in walk(findings.sections))
    verdicts = add_causes(findings.verdicts, explained)
    return Part(
        analysis=analysis,
        header=_describe_runs(runs, once, int(is_repair(ids).sum())),
        verdicts=add_next(verdicts, explained, frame, price),
        citation=cite(analysis, frame, once, verdicts, (is_twin(ids) & ~is_repair(ids)).sum()),
        overview=findings.overview,
        better=beside[0].content[0][:1] if two else [],
        sections=sections,
        warnings=[*warn_of_limits(endings.data), *mixed, *left_out],
        cells=tb.count_outcomes(frame, "model", *names).reset_index(),
        responses=list_responses(frame, analysis) if by_cell else [],
    )


def _say_twins(model: str, frame: pd.DataFrame) -> Verdict:
    """Return what a report says of a model with twins whose puzzles are elsewhere."""
    folders = [Path(file).parents for file in frame["file"].unique()]
    run = next((at.parent for above in folders for at in above if at.name in _OF_WHY), "RUN")
    command = f"cogniload report {shlex.quote(str(run))} --out {shlex.quote(f'{run}/report')}"
    shows = f"The report of their run shows the cause: {command}"
    return Verdict(model, f"{TWINS_ALONE[0].upper()}{TWINS_ALONE[1:]}.", [shows])


def _example_sections(frame: pd.DataFrame, analysis: Analysis) -> list[Section]:
    """Return the sections with responses: failures, the first of them open, and successes."""
    failures = pick_responses(frame[~frame["correct"]], analysis, FAILURES)
    successes = pick_responses(frame[frame["correct"]], analysis, SUCCESSES)
    first: list[Content] = [*failures[:1]] or ["No response was wrong."]
    sections = [Section("Examples of failures", first, "examples", link="Responses")]
    for heading, id, examples in (
        ("More failures", "failures", failures[1:]),
        ("Examples of successes", "successes", successes),
    ):
        sections += [Section(heading, examples, id, folded=True)] * bool(examples)
    return sections


# --- What was run --------------------------------------------------------------------------------


def run_table(frame: pd.DataFrame, loads: Sequence[Load]) -> pd.DataFrame:
    """Return what was run: a row for each file of samples, with its grid, seeds, tokens and cost.

    There is a cost if the frame has that of each response.
    """
    about = ["model", "task", "date", "interim", "generator_version", "lm_eval_version", *SETTINGS]
    about.append("lost")
    runs = frame.groupby([*about, "run"], observed=True)
    rows = []
    for run, responses in runs:
        counted = ["spent_prompt_tokens", "spent_response_tokens", *["cost"] * ("cost" in frame)]
        spent = responses[counted].sum(skipna=False)
        cell = responses.groupby([load.name for load in loads], observed=True).size()
        rows.append(
            dict(zip(about, run[:-1], strict=True))
            | {name: join_levels(responses[name]) for name in ("context_budget", "seed")}
            | {load.printed_name: join_levels(load.scale(responses[load.name])) for load in loads}
            | {"responses": len(responses), "cells": len(cell)}
            | {"fewest_in_a_cell": cell.min(), "most_in_a_cell": cell.max()}
            | spent.to_dict()
        )
    return pd.DataFrame(rows)


def _describe_runs(runs: pd.DataFrame, once: pd.DataFrame, repairs: int) -> str:
    """Return what was run, how and when, in a line, by rows of `run_table`, also without twins.

    `repairs` are the responses that go on from a model's own text.
    """
    tasks, dates = once["task"].unique(), sorted({*once["date"].astype(str).str[:10]} - {""})
    what = tasks[0] if len(tasks) == 1 else f"{len(tasks)} tasks"
    counts = f"{len(once)} run{'s' * (len(once) > 1)}, {once['responses'].sum():,} responses"
    others = {"twins": runs["responses"].sum() - once["responses"].sum() - repairs}
    for name, count in (others | {"repairs": repairs}).items():
        counts += f", {count:,} to {name}" * bool(count)
    when = " to ".join(dict.fromkeys(dates[:1] + dates[-1:])) or "no date"
    alike = (once[name].unique() for name in ("decoding", "generator_version"))
    how, version = (each[0] if len(each) == 1 else "" for each in alike)
    parts = [f"{what}: {counts}", when, how, f"puzzles of version {version}" * bool(version)]
    return f"{'; '.join(filter(None, parts))}. Made by cogniload {__version__}."
