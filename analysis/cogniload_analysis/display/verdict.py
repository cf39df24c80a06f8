"""The first screen of a report: what each model carries, which load breaks it, and how it errs."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from cogniload_analysis.compare.why import Why
from cogniload_analysis.display.page import Verdict
from cogniload_analysis.frame import Load, adaptive_models
from cogniload_analysis.matters import LoadEffect, breaking
from cogniload_analysis.stats import CONFIDENCE, wilson_interval

MOST_SAID = 2
"""Up to this number of models, a terminal shows each verdict whole."""


def show_level(load: Load, level: float) -> str:
    """Set a load's level in print, such as ρ = 25 %."""
    return f"{_symbol(load)} = {load.show(load.scale(level))}{' %' * load.percent}"


def say_solved(frame: pd.DataFrame, cut: float) -> str:
    """Say how many puzzles a model solves, and the share of its responses that limits `cut`.

    The accuracy of an adaptive run is left out: its own answers chose the puzzles.
    """
    if adaptive_models(frame):
        limited = f" A limit cut {100 * cut:.1f} % of its responses (Overflow)." * bool(cut > 0)
        return f"An adaptive run of {len(frame):,} puzzles, whose accuracy is no result.{limited}"
    correct, responses = int(frame["correct"].sum()), len(frame)
    low, high = wilson_interval(correct, responses, CONFIDENCE)
    chance = frame["chance"].mean() if "chance" in frame else math.nan
    accuracy, low, high = (100 * share for share in (correct / responses, low, high))
    guesses = "" if math.isnan(chance) else f"; guesses would solve {100 * chance:.1f} %"
    ends = f"95 % interval {low:.1f} to {high:.1f}"
    solved = f"Solves {accuracy:.1f} % of {responses:,} puzzles ({ends}){guesses}."
    return " ".join(filter(None, (solved, _say_lost(frame), say_cut(frame, cut))))


def _say_lost(frame: pd.DataFrame) -> str:
    """Say between which bounds accuracy lies, as some puzzles have no answer; "" for none."""
    lost = int(frame.groupby("run")["lost"].first().sum()) if "lost" in frame else 0
    if not lost:
        return ""
    correct, asked = int(frame["correct"].sum()), len(frame) + lost
    least, most = (f"{100 * right / asked:.1f} %" for right in (correct, correct + lost))
    return f"{lost:,} more have no answer: all wrong, it would solve {least}, all right {most}."


MUCH_CUT = 0.02
"""Above this share of responses cut, a report says between which bounds the scores lie."""


def say_cut(frame: pd.DataFrame, cut: float) -> str:
    """Say which share of the responses limits `cut`, and what that may hide; "" for none."""
    if not cut > 0:
        return ""
    said = f"A limit cut {100 * cut:.1f} % of its responses (Overflow)."
    right, most = frame["acc_uncut"].mean(), frame["acc_uncut"].fillna(1).mean()
    if cut <= MUCH_CUT or math.isnan(right):
        return said
    others = f"Of the others it solves {100 * right:.1f} %."
    return f"{said} {others} Were all cut ones right, it would solve {100 * most:.1f} %."


UNBROKEN = "No load is known to break it: accuracy falls with none by more than chance explains."


def say_breaks(effects: Sequence[LoadEffect]) -> str:
    """Say with which load a model's accuracy falls most, and what the others cost."""
    if not effects:
        return "All puzzles have the same load, so none can break it."
    falls = [f"{_symbol(one.load)}: from {_say_fall(one)}" for one in breaking(effects)]
    if not falls:
        return UNBROKEN
    others = f" (others: {'; '.join(falls[1:])})" if falls[1:] else ""
    return f"Accuracy falls most with {falls[0]}{others}."


def add_cause(breaks: str, why: Why) -> str:
    """Return the paragraph of `say_breaks` with what twins say of the cause, which comes first."""
    kept = "" if why.causes and breaks == UNBROKEN else breaks
    return " ".join(filter(None, (why.verdict[0], kept) if why.causes else (kept, why.verdict[0])))


def _say_fall(effect: LoadEffect) -> str:
    """Set the accuracy at the easy and the hard end of a load."""
    return " to ".join(
        f"{100 * band['accuracy']:.0f} % at {_show_band(effect.load, band)}" for band in effect.ends
    )


def _show_band(load: Load, band: pd.Series) -> str:
    least, most = show_level(load, band["least"]), show_level(load, band["most"])
    return least if least == most else f"{least}–{most.partition(' = ')[2]}"


def _symbol(load: Load) -> str:
    return load.heading.split()[0]


def say_wrong(frame: pd.DataFrame, meanings: Mapping[str, str]) -> str:
    """Say the commonest wrong outcome."""
    wrong = frame.loc[~frame["correct"].astype(bool), "outcome"].astype(str).value_counts()
    if wrong.empty:
        return "No response is wrong."
    name, counts = wrong.index[0], f"{wrong.iloc[0]:,} of {wrong.sum():,}"
    return f"The commonest wrong outcome, {counts}: {meanings.get(name, name)} ({name})."


def summarise(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the lines that a terminal shows: all of two verdicts, and the headlines of more."""
    lines = []
    for verdict in verdicts:
        lines.append(f"{verdict.name}: {verdict.headline}")
        lines += [f"  {sentence}" for sentence in verdict.paragraphs if len(verdicts) <= MOST_SAID]
    return lines
