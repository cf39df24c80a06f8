"""What a report says of any benchmark's run: how much it solves, what breaks it, how it errs."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from cogniload_analysis.frame import adaptive_models
from cogniload_analysis.matters import LoadEffect, breaking
from cogniload_analysis.samples.stop_reasons import MUCH_CUT
from cogniload_analysis.stats import CONFIDENCE, wilson_interval


def say_solved(frame: pd.DataFrame, cut: float) -> str:
    """Say how many puzzles a model solves, and the share of its responses that limits `cut`.

    The accuracy of an adaptive run is left out: its own answers chose the puzzles.
    """
    if adaptive_models(frame):
        limited = f" A limit cut {100 * cut:.1f} % of its responses (Overflow)." * bool(cut > 0)
        chosen = f"The {len(frame):,} puzzles were chosen near the threshold"
        return f"{chosen}, so the share solved is no accuracy.{limited}"
    correct, responses = int(frame["correct"].sum()), len(frame)
    low, high = wilson_interval(correct, responses, CONFIDENCE)
    chance = frame["chance"].mean() if "chance" in frame else math.nan
    accuracy, low, high = (100 * share for share in (correct / responses, low, high))
    guesses = "" if math.isnan(chance) else f"; guesses would solve {100 * chance:.1f} %"
    ends = f"95 % interval {low:.1f} to {high:.1f}"
    solved = f"Solves {accuracy:.1f} % of {responses:,} puzzles ({ends}){guesses}."
    return " ".join(filter(None, (solved, _say_lost(frame), _say_cut(frame, cut))))


def _say_lost(frame: pd.DataFrame) -> str:
    """Say between which bounds accuracy lies, as some puzzles have no answer; "" for none."""
    lost = int(frame.groupby("run")["lost"].first().sum()) if "lost" in frame else 0
    if not lost:
        return ""
    correct, asked = int(frame["correct"].sum()), len(frame) + lost
    least, most = (f"{100 * right / asked:.1f} %" for right in (correct, correct + lost))
    bounds = f"if all were wrong, it would solve {least}; if all were right, {most}"
    return f"{lost:,} more have no answer: {bounds}."


def _say_cut(frame: pd.DataFrame, cut: float) -> str:
    """Say which share of the responses limits `cut`, and what that may hide; "" for none."""
    if not cut > 0:
        return ""
    said = f"A limit cut {100 * cut:.1f} % of its responses (Overflow)."
    right, most = frame["acc_uncut"].mean(), frame["acc_uncut"].fillna(1).mean()
    if cut <= MUCH_CUT or math.isnan(right):
        return said
    others = f"It solves {100 * right:.1f} % of the others."
    return f"{said} {others} If all that were cut were right, it would solve {100 * most:.1f} %."


UNBROKEN = "No load is known to break it: accuracy falls with none by more than chance explains."


def say_breaks(effects: Sequence[LoadEffect]) -> str:
    """Say with which loads a model's accuracy falls, and how far, the largest fall first."""
    if not effects:
        return "All puzzles have the same load, so none can break it."
    falls = [f"{one.load.symbol}: from {_say_fall(one)}" for one in breaking(effects)]
    if not falls:
        return UNBROKEN
    return f"Accuracy falls with {'; with '.join(falls)}."


def _say_fall(effect: LoadEffect) -> str:
    """Set the accuracy at the easy and the hard end of a load."""
    ends = []
    for band in effect.ends:
        least, most = (effect.load.say(band[end]) for end in ("least", "most"))
        level = least if least == most else f"{least}–{most.partition(' = ')[2]}"
        ends.append(f"{100 * band['accuracy']:.0f} % at {level}")
    return " to ".join(ends)


def say_wrong(frame: pd.DataFrame, meanings: Mapping[str, str]) -> str:
    """Say the commonest wrong outcome."""
    wrong = frame.loc[~frame["correct"].astype(bool), "outcome"].astype(str).value_counts()
    if wrong.empty:
        return "No response is wrong."
    name, counts = wrong.index[0], f"{wrong.iloc[0]:,} of {wrong.sum():,}"
    return f"The commonest wrong outcome is {name} ({meanings.get(name, name)}): {counts}."
