"""An adaptive run in the report: replayed from its samples, batch by batch.

The samples stand in the order of asking, and the sizes of the batches follow from the settings. So
what was known before each batch is computed again from the answers alone, even if another version
of the design chose the puzzles.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd

from cogniload_analysis.adaptive import Answer, Batch, batch_size
from cogniload_analysis.cogniload.adaptive import (
    MEAN_N,
    MEAN_RHO,
    CapacityPlan,
    CapacitySettings,
    Puzzle,
    count_told,
    find_flags,
)
from cogniload_analysis.cogniload.curve import Capacity, describe_capacity
from cogniload_analysis.cogniload.prior import find_prior
from cogniload_analysis.format import format_digits, format_interval, format_number, format_words
from cogniload_analysis.intervals import wilson_interval


@dataclass(frozen=True, eq=False)
class Replay:
    """An adaptive run, told again: its settings, batches, answers by puzzle, and what they say.

    The last of the `batches` has no puzzles: it says what was known at the end.
    """

    settings: CapacitySettings
    batches: tuple[Batch[Puzzle], ...]
    told: Mapping[Puzzle, Answer]
    capacity: Capacity


def find_replays(responses: Mapping[str, pd.DataFrame]) -> dict[str, Replay]:
    """Return the replay of each model whose responses are of an adaptive run, by model."""
    found = {}
    for model, rows in responses.items():
        settings, told = read_settings(rows["until"]), read_answers(rows)
        if settings and told:
            found[model] = replay(settings, told)
    return found


def read_settings(until: pd.Series) -> CapacitySettings | None:
    """Return the settings that a column of JSON names; None unless all rows are of one design."""
    try:
        (text,) = until.unique()
        told = json.loads(text or "null")
        names = {each.name for each in fields(CapacitySettings)} & told.keys()
        return CapacitySettings(**{name: told[name] for name in names})
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def read_answers(rows: pd.DataFrame) -> dict[Puzzle, Answer]:
    """Return the answers by puzzle, in the order of asking.

    There are none if a puzzle has no index, or was answered more than once.
    """
    if rows["index"].isna().any():
        return {}
    loads = (rows["d"], rows["N"], (100 * rows["rho"]).round(9), rows["index"].astype(int))
    puzzles = [Puzzle(*each) for each in zip(*(load.tolist() for load in loads), strict=True)]
    answers = map(Answer, rows["correct"].tolist(), rows["cut"].tolist())
    told = dict(zip(puzzles, answers, strict=True))
    return told if len(told) == len(puzzles) else {}


def replay(settings: CapacitySettings, told: Mapping[Puzzle, Answer]) -> Replay:
    """Return a run told again, from the answers in the order of asking."""
    plan = CapacityPlan(settings, prior=find_prior("published"))
    puzzles = tuple(told)
    batches: list[Batch[Puzzle]] = []
    start = 0
    while not batches or batches[-1].puzzles:
        known = {puzzle: told[puzzle] for puzzle in puzzles[:start]}
        found = plan.find_goal(plan.believe(known))
        asked = puzzles[start : start + batch_size(start, len(puzzles) - start)]
        stopped = "" if asked else settings.reason_to_stop(start, start, found)
        batches.append(Batch(asked, start, **vars(found), stopped=stopped))
        start += len(asked)
    capacity = describe_capacity(count_told(told), plan.prior, settings.N)
    flags = tuple(find_flags(capacity, batches, told, plan))
    capacity = replace(capacity, flags=flags, stopped=batches[-1].stopped)
    return Replay(settings, tuple(batches), told, capacity)


# --- Raw numbers -----------------------------------------------------------------------------


def run_table(replays: Mapping[str, Replay]) -> pd.DataFrame:
    """Return what the page says of each adaptive run, a row a model.

    Columns: model, goal and target as given, wanted (both in words), budget, smallest_N and
    largest_N, n (answers), cut (of them, by a limit), batches; width (half that of the goal's
    interval: a share of ECL50, or units of d) and first_width (after the pilot), slope, glm_ECL50,
    flags (joined by " | ") and stopped.
    """
    rows = []
    for model, run in replays.items():
        settings, capacity = run.settings, run.capacity
        after_pilot = run.batches[min(1, len(run.batches) - 1)]
        rows.append(
            {
                "model": model,
                "goal": settings.goal,
                "target": settings.target,
                "wanted": f"{settings.goal} {settings.wanted.describe_target(settings.target)}",
                "budget": settings.budget,
                "smallest_N": settings.N[0],
                "largest_N": settings.N[1],
                "n": capacity.n,
                "cut": sum(answer.cut for answer in run.told.values()),
                "batches": len(run.batches) - 1,
                "width": goal_width(run.batches[-1], settings),
                "first_width": goal_width(after_pilot, settings),
                "slope": capacity.slope,
                "glm_ECL50": capacity.glm_ECL50,
                "flags": " | ".join(capacity.flags),
                "stopped": capacity.stopped,
            }
        )
    return pd.DataFrame(rows)


def goal_width(batch: Batch[Puzzle], settings: CapacitySettings) -> float:
    """Return half the width of the goal's interval: a share of ECL50, or units of d."""
    return settings.wanted.half_width(batch.low, batch.high)


def batch_table(replays: Mapping[str, Replay]) -> pd.DataFrame:
    """Return what was known before each batch, and how many puzzles it had.

    Columns: model, goal, batch, n (answers), value, low, high (the goal's, 95 % of the draws),
    width (as in `run_table`) and puzzles. The last row of a model is what is known at the end.
    """
    rows = [
        {
            "model": model,
            "goal": run.settings.goal,
            "batch": number,
            "n": batch.n,
            "value": batch.value,
            "low": batch.low,
            "high": batch.high,
            "width": goal_width(batch, run.settings),
            "puzzles": len(batch.puzzles),
        }
        for model, run in replays.items()
        for number, batch in enumerate(run.batches, start=1)
    ]
    return pd.DataFrame(rows)


def asked_table(replays: Mapping[str, Replay]) -> pd.DataFrame:
    """Return how many puzzles of each cell were asked, and how many solved.

    Columns: model, axis ("N", "d" or "rho": the load that varies along it), d, N, rho (a fraction),
    puzzles and correct.
    """
    tables = []
    for model, run in replays.items():
        rows = [(*puzzle[:3], answer.correct) for puzzle, answer in run.told.items()]
        frame = pd.DataFrame(rows, columns=["d", "N", "percent", "correct"])
        counts = frame.groupby(["d", "N", "percent"])["correct"].agg(puzzles="size", correct="sum")
        cells = counts.reset_index()
        axis = np.select(
            [cells["percent"] != MEAN_RHO, cells["N"] == MEAN_N], ["rho", "d"], default="N"
        )
        cells = cells.assign(model=model, axis=axis, rho=cells["percent"] / 100)
        tables.append(cells[["model", "axis", "d", "N", "rho", "puzzles", "correct"]])
    return pd.concat(tables, ignore_index=True)


def axis_table(asked: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Return a model's rows of `asked_table` on one axis, by its load, with the accuracy there.

    Columns: the load, puzzles, correct, accuracy, low and high (Wilson's 90 % interval).
    """
    on_axis = asked[asked["axis"] == axis]
    sums = on_axis.groupby(axis)[["puzzles", "correct"]].sum().reset_index()
    low, high = wilson_interval(sums["correct"], sums["puzzles"])
    return sums.assign(accuracy=sums["correct"] / sums["puzzles"], low=low, high=high)


def curve_table(replays: Mapping[str, Replay]) -> pd.DataFrame:
    """Return the curve of each run along each load: median and ends of 95 % of the draws.

    Columns: model, load, level (rho as a fraction), accuracy, low and high. The curve over N goes
    beyond what can be asked, and that over d stops at what can be.
    """
    tables = []
    for model, run in replays.items():
        for load in ("N", "d", "rho"):
            band = getattr(run.capacity, f"over_{load}")
            columns = {"accuracy": band.accuracy, "low": band.low, "high": band.high}
            table = pd.DataFrame({"model": model, "load": load, "level": band.load} | columns)
            tables.append(table[(load != "d") | table["level"].between(1, 10)])
    return pd.concat(tables, ignore_index=True)


# --- In print --------------------------------------------------------------------------------


def format_width(width: float, goal: str) -> str:
    """Set half the width of a goal's interval in print."""
    if not np.isfinite(width):
        return "open"
    return f"±{100 * width:.0f} %" if goal == "ECL50" else f"±{width:.2f}"


def format_run(table: pd.DataFrame) -> pd.DataFrame:
    """Set `run_table` in print."""
    width, goal = table["width"], table["goal"]
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Asked for": table["wanted"],
            "Puzzles": table["n"].map("{:,}".format),
            "Budget": table["budget"].map("{:,}".format),
            "Batches": table["batches"],
            "Cut off": table["cut"],
            "Reached": [format_width(*each) for each in zip(width, goal, strict=True)],
            "Stopped": format_words(table["stopped"]),
            "Flags": format_words(table["flags"]),
        }
    ).astype(str)


def format_batches(table: pd.DataFrame) -> pd.DataFrame:
    """Set `batch_table` in print."""
    places = np.where(table["goal"] == "ECL50", 1, 2)
    width, goal = table["width"], table["goal"]
    ends = zip(table["value"], table["low"], table["high"], places, strict=True)
    shown = [[format_digits(each, decimals) for each in three] for *three, decimals in ends]
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Answers": table["n"].map("{:,}".format),
            "Goal": goal + " (crossing)",
            "Estimate": [value for value, _, _ in shown],
            "95 % interval": [f"{low} to {high}" for _, low, high in shown],
            "Half-width": [format_width(*each) for each in zip(width, goal, strict=True)],
            "Asked next": table["puzzles"],
        }
    ).astype(str)


def format_asked(table: pd.DataFrame) -> pd.DataFrame:
    """Set `asked_table` in print."""
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Axis": table["axis"].replace("rho", "ρ"),
            "d": table["d"],
            "N": table["N"],
            "ρ [%]": (100 * table["rho"]).map("{:g}".format),
            "Puzzles": table["puzzles"],
            "Right": table["correct"],
            "Acc [%]": format_number(100 * table["correct"] / table["puzzles"], 1),
        }
    ).astype(str)


def format_curve(table: pd.DataFrame) -> pd.DataFrame:
    """Set `curve_table` in print, in percent."""
    percent = table["load"] == "rho"
    return pd.DataFrame(
        {
            "Model": table["model"],
            "Load": table["load"].replace("rho", "ρ [%]"),
            "Level": table["level"].where(~percent, 100 * table["level"]).map("{:.3g}".format),
            "Acc [%]": format_number(100 * table["accuracy"], 1),
            "95 % interval": format_interval(100 * table["low"], 100 * table["high"], 1),
        }
    ).astype(str)
