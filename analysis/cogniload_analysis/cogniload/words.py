"""What the numbers of CogniLoad's tables say in plain words; a sentence is made from one row."""

import math

from cogniload_analysis.adaptive import replay as adaptive_run
from cogniload_analysis.adaptive.design import describe_interval
from cogniload_analysis.cogniload.step_columns import say_kind
from cogniload_analysis.cogniload.tables import DECIMALS
from cogniload_analysis.cogniload.thresholds import UNKNOWN, Threshold
from cogniload_analysis.display.cells import set_number
from cogniload_analysis.sentences import Sentences

say = Sentences("cogniload")
ERRORS = Sentences("cogniload_errors").texts

MISFIT = 0.01
"""Below this p, a fit counts as a misfit."""


def say_chance(row: dict) -> str:
    """Say whether a row of `accuracy_table` is above chance; nothing where it is, or unknown."""
    return say("chance", row) if row.get("chance", math.nan) >= row["low"] else ""


WIDE = 0.5
"""An interval of NT50 that is wider says next to nothing: the shares lie between 0 and 1."""


def say_threshold(row: dict) -> str:
    """Say a row of `threshold_table` in words."""
    name, status, note = row["threshold"], row["status"], row["note"]
    if row["meaning"] == "crossing":
        return _say_crossing(row)
    if status in ("not estimated", UNKNOWN):
        return say("no_projection", row)
    if status != "crossing":
        side = "More" if "above" in status else "Fewer"
        return say("one_side", row, side=side, why=note and f"; {note}")
    if name == "NT50" and row["high"] - row["low"] > WIDE:
        return say("needles_wide", row)
    shown = {end: set_number(row[end], DECIMALS[name]) for end in ("value", "low", "high")}
    inside = row["min_tested"] <= row["value"] <= row["max_tested"]
    outside = "" if inside else say("outside", row)
    side = "more" if row["rising"] else "fewer"
    return say("projection", row | shown, side=side, outside=outside)


def _say_crossing(row: dict) -> str:
    if math.isnan(row["value"]):
        return say("unknown_crossing" if row["status"] == UNKNOWN else "no_crossing", row)
    crossing = Threshold(row["value"], row["low"], row["high"])
    unit = " statements" if row["threshold"] == "ECL50" else ""
    interval = describe_interval(crossing, (row["min_tested"], row["max_tested"]), unit)
    moves = "rises" if row["rising"] else "falls"
    template = "crossing_NT50" if row["threshold"] == "NT50" else "crossing"
    return say(template, row, interval=interval, moves=moves)


def say_fit(row: dict) -> str:
    """Say in words how well a GLM fits, by its row of `fit_table`."""
    if math.isnan(row["plain"]):
        return say("fit_unknown")
    verdict = "fits" if row["p"] >= MISFIT else "misses" if row["p"] < MISFIT else "untested"
    return say(f"fit_{verdict}", row)


def say_run(row: dict) -> list[str]:
    """Say a row of `adaptive_run.run_table` in words, a sentence for each finding."""
    own, slope = [say("run")], row["slope"]
    if math.isfinite(slope):
        moves = "falls" if slope < 0 else "rises"
        own.append(say("run_slope", moves=moves, steepness=abs(slope)))
    return adaptive_run.say_run(row, own)


def say_breaks(row: dict) -> list[str]:
    """Say a row of `break_table` in words, a sentence for each finding."""
    if not row["held"]:
        return [say("breaks_not_held")]
    read = say("breaks_read", row, share=100 * row["read"] / row["responses"])
    if not row["enough"]:
        return [say("breaks_too_few", sentence=read)]
    kind = say_kind(row["commonest"]) if row["errors"] else ""
    lucky = row["right_after_error"] - row["right_recovered"]
    return [
        read,
        say("breaks_errors" if row["errors"] else "breaks_no_error", row, kind=kind),
        say("breaks_luck", row, lucky=lucky),
        *[say("breaks_healed", row)] * (row["errors"] > 0 and not math.isnan(row["healed"])),
        say("breaks_whole" if math.isnan(row["half"]) else "breaks_half", row),
        say("breaks_slips", row),
        _say_hazard(row),
    ]


def say_first_error(row: dict) -> str:
    """Say the commonest first error, by a row of `break_table` with errors."""
    kind = row["commonest"]
    return say("first_error", row, kind=say_kind(kind), meaning=ERRORS[kind])


def _say_hazard(row: dict) -> str:
    trend_p = row["trend_p"]
    if math.isnan(trend_p):
        return say("hazard_unknown", problem=row["hazard_problem"] or "nothing to compare")
    p = "p < 0.001" if trend_p < 0.001 else f"p = {trend_p:.3f}"
    trend = "grows" if row["trend"] > 0 else "falls"
    return say("hazard_flat" if trend_p >= 0.05 else f"hazard_{trend}", row, p=p)
