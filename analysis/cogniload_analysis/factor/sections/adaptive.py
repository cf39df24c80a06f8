"""FACTOR's adaptive runs, one for each model and context: found, drawn by N, and said."""

from functools import partial
from typing import Any

import pandas as pd

from cogniload_analysis.adaptive import section
from cogniload_analysis.adaptive.design import answer_frame
from cogniload_analysis.display.figures import Figure, set_whole
from cogniload_analysis.display.page import Section, name_file
from cogniload_analysis.display.tables import show_context
from cogniload_analysis.factor.decay import CONDITION, by_condition
from cogniload_analysis.factor.decay_design import PARAMETERS, DecayDesign
from cogniload_analysis.factor.loads import COMPLEXITY


def adaptive_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section on adaptive runs, if there are any."""
    rows, figures = [], []
    for number, run in enumerate(find_runs(frame), start=1):
        rows.append(row := _row(run))
        context = show_context(row["context"])
        title = f"{row['model']}, {row['suite']} suite, context {context}"
        figures.append((title, draw_run(number, run)))
    return section.runs_sections(rows, "factor_adaptive", figures)


def find_runs(frame: pd.DataFrame) -> list[section.AdaptiveRun]:
    """Return the adaptive run of each condition whose responses are of one."""
    runs = []
    for condition, rows in by_condition(frame):
        about = dict(zip(CONDITION, condition, strict=True))
        kinds = {"published": partial(DecayDesign, suite=condition[1])}
        if run := section.find_run(rows, about, kinds):
            runs.append(run)
    return runs


def _row(run: section.AdaptiveRun) -> dict[str, Any]:
    """Return `run_row`, and N_eff, CDF, CDO, cap and floor, each with _low and _high."""
    row = section.run_row(run) | {"no_phase_1": run.estimate.no_phase_1}
    for name in PARAMETERS:
        at = getattr(run.estimate, name)
        row |= {name: at.value, f"{name}_low": at.low, f"{name}_high": at.high}
    return row


def draw_run(number: int, run: section.AdaptiveRun) -> Figure:
    """Draw the curve of a run over the measured accuracy."""
    told = answer_frame(run.design.told, run.design.PUZZLE)
    curve = run.estimate.over_N.rename(columns={"N": "level"})
    label, model = COMPLEXITY[run.about["suite"]], run.about["model"]
    panel = section.curve_panel(told.assign(level=told["N"]), curve, label, set_whole)
    caption = f"Accuracy of {model} by N, at the puzzles of its adaptive run."
    return Figure(f"factor_adaptive_{name_file(number, model)}", caption, [panel])
