"""Adaptive runs in the report: found in the samples, estimated again, and shown."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from cogniload_analysis.adaptive.design import Design, describe_interval
from cogniload_analysis.display import tables
from cogniload_analysis.display.figures import COLOURS, CURVE, POINTS, Figure, Panel, Series
from cogniload_analysis.display.page import Section
from cogniload_analysis.stats import Interval
from cogniload_analysis.words import say

SETTINGS = ("goal", "target", "budget", "N", "at", "d")


@dataclass(frozen=True, eq=False)
class AdaptiveRun:
    """An adaptive run: its design, which was told the answers, and the estimate.

    `about` says whose run it is, by column of a table. `prior` names the design's prior; it is not
    that of the run unless `same_prior`.
    """

    about: Mapping[str, Any]
    design: Design
    prior: str
    same_prior: bool
    goal: Interval
    estimate: Any


def find_run(
    rows: pd.DataFrame, about: Mapping[str, Any], kinds: Mapping[str, Callable[..., Design]]
) -> AdaptiveRun | None:
    """Return the adaptive run of responses; None unless all are of one.

    `kinds` make a design of the settings that the results name, by the name of its prior. The
    results name the prior, or hold its digest. The first of `kinds` stands in for a prior that is
    not at hand. The design is told the answers, and asks nothing: so a run of another version of
    the design is estimated as any other.
    """
    texts = rows["until"].unique()
    until = json.loads(texts[0] or "{}") if len(texts) == 1 else {}
    if not until or rows["index"].isna().any():
        return None
    try:
        settings = {name: until[name] for name in SETTINGS if name in until}
        designs = {prior: make(**settings) for prior, make in kinds.items()}
    except (ValueError, TypeError):  # settings of no design
        return None
    known = [
        prior
        for prior, design in designs.items()
        if until.get("prior") in (None, prior, design.fingerprint["prior"])
    ]
    prior = next(iter(known or designs))
    design = designs[prior]
    puzzles = rows.astype({"index": int})[list(design.PUZZLE._fields)]
    if puzzles.duplicated().any():
        return None
    design.tell(puzzles.itertuples(index=False), rows["correct"], rows["cut"])
    goal, n = design.find_goal(design.posterior(design.told)), len(design.told)
    estimate = design.describe(design.reason_to_stop(n, n, goal))
    return AdaptiveRun(about, design, prior, bool(known), goal, estimate)


def run_row(run: AdaptiveRun) -> dict[str, Any]:
    """Return what the page says of a run, as a row of a table.

    Whose it is, wanted (goal and target in words), budget, smallest_N and largest_N, prior and
    same_prior, n (answers), known (the goal's estimate in words), value, low and high (the goal's
    median and 95 % of the posterior), width (half the interval's), flags (joined by " | ") and
    stopped (why; "" where the samples end before).
    """
    design = run.design
    return {
        **run.about,
        "wanted": design.wanted,
        "budget": design.budget,
        **dict(zip(("smallest_N", "largest_N"), design.N, strict=True)),
        "prior": run.prior,
        "same_prior": run.same_prior,
        "n": run.estimate.n,
        "known": describe_interval(run.goal, design.extents[design.goal]),
        **run.goal._asdict(),
        "width": design.half_width(run.goal),
        "flags": " | ".join(run.estimate.flags),
        "stopped": run.estimate.stopped,
    }


def say_run(row: Mapping[str, Any]) -> list[str]:
    """Say a row of `run_row` in words, a sentence a finding."""
    stop = "The samples end before it had a reason to stop."
    if row["stopped"]:
        stop = f"It stopped there, since {row['stopped']}."
    if not row["same_prior"]:
        stop = say("no_prior", prior=row["prior"])
    elif row["prior"] != "published":
        stop += f" The prior was the {row['prior']} one."
    flags = [f"Note: {flag}." for flag in row["flags"].split(" | ") if flag]
    return [say("chosen", **row), stop, *flags]


def runs_sections(
    rows: Sequence[Mapping[str, Any]], table: str, figures: Iterable[tuple[str, Figure]]
) -> list[Section]:
    """Return the section on adaptive runs, by rows of `run_row`; none without runs.

    `table` is their kind of table; `figures` are a title and a figure of each.
    """
    if not rows:
        return []
    parts = [
        Section(title, [say_run(row), figure])
        for row, (title, figure) in zip(rows, figures, strict=True)
    ]
    runs = tables.table(table, pd.DataFrame(rows))
    return [Section("Adaptive runs", [*parts, runs], "adaptive-runs", folded=True)]


def curve_panel(
    points: pd.DataFrame, curve: pd.DataFrame, label: str, finish: Callable[[Any], None]
) -> Panel:
    """Return the panel of a curve over a load, with its band and what was measured there.

    `points` have level and correct, one row per response; `curve` has level, accuracy, low and
    high. The area of a point grows with its number of puzzles.
    """
    measured = points.groupby("level")["correct"].agg(["mean", "size"])

    def finish_curve(axes: Any) -> None:
        band = curve["level"].to_numpy(float), curve["low"], curve["high"]
        axes.fill_between(*band, color=COLOURS[1], alpha=0.15, linewidth=0)
        areas = 80 * measured["size"] / measured["size"].max()
        place = measured.index.to_numpy(float), measured["mean"]
        axes.scatter(*place, s=areas, color=COLOURS[0], alpha=0.6, linewidth=0, zorder=3)
        axes.set_ylim(-0.06, 1.06)
        finish(axes)

    series = [
        Series("measured, area by puzzles", [], [], style=POINTS),
        Series("curve, 95 % band", curve["level"], curve["accuracy"], style=CURVE),
    ]
    return Panel(series, label, "Accuracy", "", finish_curve)
