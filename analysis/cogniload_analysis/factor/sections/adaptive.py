"""FACTOR's adaptive runs, one for each model and context: found, drawn by N, and said."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive.design import Interval, describe_interval
from cogniload_analysis.adaptive.section import (
    AdaptiveRun,
    curve_panel,
    find_run,
    run_row,
    runs_section,
    told_frame,
)
from cogniload_analysis.adaptive.section import say_run as say_any
from cogniload_analysis.display.figures import Figure, set_whole
from cogniload_analysis.display.page import Section, name_file
from cogniload_analysis.factor.decay import CONDITION, by_condition
from cogniload_analysis.factor.decay_design import PARAMETERS, DecayDesign
from cogniload_analysis.factor.loads import COMPLEXITY, CONDITIONS, show_context


def adaptive_sections(frame: pd.DataFrame) -> list[Section]:
    """Return the section on adaptive runs, if there are any."""
    runs = find_runs(frame)
    if not runs:
        return []
    figures = [draw_run(number, run) for number, run in enumerate(runs, start=1)]
    table = pd.DataFrame([_row(run) for run in runs])
    return [runs_section(table, CONDITIONS, "factor_adaptive", figures, say_run, _title)]


def find_runs(frame: pd.DataFrame) -> list[AdaptiveRun]:
    """Return the adaptive run of each condition whose responses are of one."""
    runs = []
    for condition, rows in by_condition(frame):
        about = dict(zip(CONDITION, condition, strict=True))
        kinds = {"published": partial(DecayDesign, suite=condition[1])}
        if run := find_run(rows, about, kinds):
            runs.append(run)
    return runs


def _row(run: AdaptiveRun) -> dict[str, Any]:
    """Return `run_row`, and N_eff, CDF, CDO, cap and floor, each with _low and _high."""
    row = run_row(run) | {"no_phase_1": run.estimate.no_phase_1}
    for name in PARAMETERS:
        at = getattr(run.estimate, name)
        row |= {name: at.value, f"{name}_low": at.low, f"{name}_high": at.high}
    return row


def _title(row: Mapping[Any, Any]) -> str:
    return f"{row['model']}, {row['suite']} suite, context {show_context(row['context'])}"


def say_run(row: Mapping[Any, Any]) -> list[str]:
    """Say a row of the table in words, a sentence a finding."""
    extents = {"N_eff": (row["smallest_N"], row["largest_N"])}
    at = {
        name: describe_interval(
            Interval(row[name], row[f"{name}_low"], row[f"{name}_high"]),
            extents.get(name, (-np.inf, np.inf)),
        )
        for name in PARAMETERS
    }
    own = [
        f"N_eff is {at['N_eff']}, CDF {at['CDF']}, CDO {at['CDO']}; in "
        f"{100 * row['no_phase_1']:.0f} % of the posterior there is no phase without errors.",
        "The cap, the accuracy that complexity leaves to easy puzzles, is "
        f"{at['cap']}; the floor, what is guessed, is {at['floor']}.",
        "The fits below read the same answers over a window of N and without a prior, so their "
        "numbers differ a little.",
    ]
    return say_any(row, own)


def draw_run(number: int, run: AdaptiveRun) -> Figure:
    """Draw the curve of a run over the measured accuracy."""
    told = told_frame(run.design)
    curve = run.estimate.over_N.rename(columns={"N": "level"})
    label, model = COMPLEXITY[run.about["suite"]], run.about["model"]
    panel = curve_panel(told.assign(level=told["N"]), curve, label, set_whole)
    caption = f"Accuracy of {model} by N, at the puzzles of its adaptive run."
    return Figure(f"factor_adaptive_{name_file(number, model)}", caption, [panel])
