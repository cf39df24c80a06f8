"""An adaptive run in the report, replayed from its samples, batch by batch.

The samples stand in the order of asking, and the sizes of the batches follow from the settings. So
what was known before each batch is computed again from the answers alone, even if another version
of the design chose the puzzles.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive.design import Batch, Design, batch_size
from cogniload_analysis.display.figures import COLOURS, Panel, Series

GOAL_TICKS = [digits * power for power in (1, 10, 100, 1000) for digits in (1, 1.5, 2, 3, 4, 5, 7)]
SETTINGS = ("goal", "target", "budget", "N")


@dataclass(frozen=True, eq=False)
class Replay:
    """A replayed adaptive run: a design that was told its answers, batches, and the estimate.

    `about` says whose run it is, by column of a table. `prior` names the design's prior; it is not
    that of the run unless `same_prior`. The last of the `batches` has no puzzles: it says what was
    known at the end.
    """

    about: Mapping[str, Any]
    design: Design
    prior: str
    same_prior: bool
    batches: tuple[Batch, ...]
    estimate: Any


def find_replay(
    rows: pd.DataFrame, about: Mapping[str, Any], kinds: Mapping[str, Callable[..., Design]]
) -> Replay | None:
    """Return the replay of responses; None unless all are of one adaptive run.

    `kinds` make a design of the settings that the results name, by the name of its prior. The
    results name the prior too, or hold its digest; older ones say nothing of it, and had the first.
    That one also stands in for a prior that is not at hand.
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
    batches = replay(design)
    return Replay(about, design, prior, bool(known), batches, design.describe(batches))


def replay(design: Design) -> tuple[Batch, ...]:
    """Return the batches of a run, from its answers in the order of asking."""
    puzzles = tuple(design.told)
    batches: list[Batch] = []
    start = 0
    while not batches or batches[-1].puzzles:
        goal = design.find_goal(design.believe({p: design.told[p] for p in puzzles[:start]}))
        batch = puzzles[start : start + batch_size(start, len(puzzles) - start)]
        stopped = "" if batch else design.reason_to_stop(start, start, goal)
        batches.append(Batch(batch, start, *goal, stopped))
        start += len(batch)
    return tuple(batches)


# --- Raw numbers -----------------------------------------------------------------------------


def run_row(run: Replay) -> dict[str, Any]:
    """Return what the page says of any adaptive run.

    Whose it is, goal and target as given, relative (whether a width is a share), wanted (goal and
    target in words), budget, smallest_N and largest_N, prior (the replay's) and same_prior
    (whether that was the run's), n (answers), cut (of them, by a limit), batches; width
    (half that of the goal's interval) and first_width (after the pilot), flags (joined by " | ")
    and stopped.
    """
    design, estimate = run.design, run.estimate
    after_pilot = run.batches[min(1, len(run.batches) - 1)]
    named = ("goal", "target", "relative", "wanted", "budget")
    return {
        **run.about,
        **{name: getattr(design, name) for name in named},
        **dict(zip(("smallest_N", "largest_N"), design.N, strict=True)),
        "prior": run.prior,
        "same_prior": run.same_prior,
        "n": estimate.n,
        "cut": sum(answer.cut for answer in design.told.values()),
        "batches": len(run.batches) - 1,
        "width": design.half_width(run.batches[-1]),
        "first_width": design.half_width(after_pilot),
        "flags": " | ".join(estimate.flags),
        "stopped": estimate.stopped,
    }


def batch_table(replays: Iterable[Replay]) -> pd.DataFrame:
    """Return what was known before each batch, and how many puzzles it had.

    Columns: whose run, goal, relative, batch, n (answers), value, low, high (the goal's, 95 % of
    the posterior), width (as in `run_row`) and puzzles. The last row of a run is what is known at
    the end.
    """
    return pd.DataFrame(
        {**run.about}
        | {"goal": run.design.goal, "relative": run.design.relative, "batch": number}
        | {name: getattr(batch, name) for name in ("n", "value", "low", "high")}
        | {"width": run.design.half_width(batch), "puzzles": len(batch.puzzles)}
        for run in replays
        for number, batch in enumerate(run.batches, start=1)
    )


def level_table(cells: pd.DataFrame, load: str) -> pd.DataFrame:
    """Return the number of puzzles at each level of a load, and the accuracy there.

    `cells` has puzzles and correct. Columns: level, puzzles, correct and accuracy.
    """
    sums = cells.groupby(load)[["puzzles", "correct"]].sum().rename_axis("level").reset_index()
    return sums.assign(accuracy=sums["correct"] / sums["puzzles"])


# --- In print --------------------------------------------------------------------------------


def set_width(width: float, relative: bool) -> str:
    """Set half the width of a goal's interval."""
    if not np.isfinite(width):
        return "open"
    return f"±{100 * width:.0f} %" if relative else f"±{width:.2f}"


def set_value(value: float) -> str:
    """Set a goal's value, with three digits that count."""
    if not np.isfinite(value):
        return "unbounded"
    return f"{value:,.{max(0, 2 - int(np.floor(np.log10(max(abs(value), 0.01)))))}f}"


def set_ends(low: float, high: float) -> str:
    """Set the interval of a goal."""
    return f"{set_value(low)} to {set_value(high)}"


def say_run(row: Mapping[Any, Any], own: Sequence[str]) -> list[str]:
    """Say a row of `run_row` in words, a sentence a finding; `own` are the benchmark's."""
    width, first = (set_width(row[name], row["relative"]) for name in ("width", "first_width"))
    flags = [f"Note: {flag}." for flag in row["flags"].split(" | ") if flag]
    return [
        f"An adaptive design chose these puzzles, towards {row['wanted']} with at most "
        f"{row['budget']:,}: {row['n']:,} puzzle{'s' * (row['n'] != 1)} in {row['batches']:,} "
        f"batch{'es' * (row['batches'] != 1)}.",
        *_say_stop(row["stopped"], row["prior"], row["same_prior"]),
        f"The 95 % interval of {row['goal']} had a half-width of {first} after the first batch, "
        f"and {width} at the end.",
        *own,
        *(flags or ["No check of the run found anything that speaks against these."]),
    ]


def _say_stop(reason: str, prior: str, same_prior: bool) -> list[str]:
    """Say why a run stopped, and whether the replay has the prior of the run."""
    if not same_prior:
        known = f"they were enough, since {reason}" if reason else "they give no reason to stop"
        return [
            "Its prior is not at hand, as the results keep no more than its digest; what stands "
            f"here is what the answers say under the {prior} prior. Under that, {known}."
        ]
    ended = "The samples end before it had a reason to stop."
    said = [f"It stopped there, since {reason}." if reason else ended]
    return said if prior == "published" else [*said, f"The prior was the {prior} one."]


# --- Drawn -----------------------------------------------------------------------------------


def curve_panel(
    points: pd.DataFrame, curve: pd.DataFrame, label: str, finish: Callable[[Any], None]
) -> Panel:
    """Return the panel of a curve over a load, with its band and what was measured there.

    `points` are `level_table`'s, `curve` has level, accuracy, low and high. The area of a point
    grows with its number of puzzles.
    """

    def finish_curve(axes: Any) -> None:
        band = curve["level"].to_numpy(float), curve["low"], curve["high"]
        axes.fill_between(*band, color=COLOURS[1], alpha=0.15, linewidth=0)
        areas = 80 * points["puzzles"] / points["puzzles"].max()
        place = points["level"].to_numpy(float), points["accuracy"]
        axes.scatter(*place, s=areas, color=COLOURS[0], alpha=0.6, linewidth=0, zorder=3)
        axes.set_ylim(-0.06, 1.06)
        finish(axes)

    series = [
        Series("measured, area by puzzles", [], [], joined=False),
        Series("curve, 95 % band", curve["level"], curve["accuracy"], marked=False),
    ]
    return Panel(series, label, "Accuracy", "", finish_curve)


def shrink_panel(batches: pd.DataFrame, label: str) -> Panel:
    """Return the panel of the goal's interval by the number of answers: rows of `batch_table`.

    The axis is logarithmic where the goal is relative and was found to be above 0.
    """
    ends = batches[["value", "low", "high"]].to_numpy(dtype=float)
    logarithmic = bool(batches["relative"].iloc[-1]) and ends[-1].min() > 0
    bounded = batches[np.isfinite(ends).all(axis=1) & ((ends > 0).all(axis=1) | (not logarithmic))]
    shown = (bounded[name] for name in ("n", "value", "low", "high"))
    series = Series("the goal, 95 % interval", *shown)

    def finish(axes: Any) -> None:
        axes.set_xlim(0)
        if logarithmic:
            axes.set_yscale("log")
            low, high = axes.get_ylim()
            ticks = [tick for tick in GOAL_TICKS if low <= tick <= high]
            axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
            axes.minorticks_off()

    return Panel([series], "Answers", label, "", finish)
