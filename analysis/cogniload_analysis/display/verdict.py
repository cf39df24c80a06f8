"""The first screen of a report: what each model carries, which load breaks it, and how it errs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from scipy.stats import binom, chi2_contingency

from cogniload_analysis.display.page import Verdict
from cogniload_analysis.frame import Load
from cogniload_analysis.sentences import Sentences
from cogniload_analysis.stats import CONFIDENCE, wilson_interval

say = Sentences("verdict")

LEVEL = 1 - CONFIDENCE
"""The probability with which chance alone is taken for a finding."""

MOST_SAID = 2
"""Up to this number of models, a terminal shows each verdict whole."""


@dataclass(frozen=True)
class Span:
    """A load's best and worst level, with the accuracy at each (0 to 1).

    `p` is that of the load's levels all having one accuracy; 0 where a curve was fitted.
    """

    load: Load
    best: float
    best_accuracy: float
    worst: float
    worst_accuracy: float
    p: float = 0.0

    @property
    def fall(self) -> float:
        """The accuracy that is lost from the best level to the worst one."""
        return self.best_accuracy - self.worst_accuracy

    def __str__(self) -> str:
        ends = (self.best_accuracy, self.best), (self.worst_accuracy, self.worst)
        return " to ".join(
            f"{100 * accuracy:.0f} % at {show_level(self.load, level)}" for accuracy, level in ends
        )


def show_level(load: Load, level: float) -> str:
    """Set a load's level in print, such as ρ = 25 %."""
    symbol = load.heading.split()[0]
    return f"{symbol} = {load.show(load.scale(level))}{' %' * load.percent}"


def find_span(
    load: Load, levels: Iterable[float], accuracies: Iterable[float], p: float = 0.0
) -> Span:
    """Return a load's best and worst level of several."""
    pairs = sorted(zip(accuracies, levels, strict=True))
    (worst_accuracy, worst), (best_accuracy, best) = pairs[0], pairs[-1]
    return Span(load, best, best_accuracy, worst, worst_accuracy, p)


def measured_spans(frame: pd.DataFrame, loads: Sequence[Load]) -> list[Span]:
    """Return the span of each load that varies, over the levels of the others."""
    spans = []
    for load in loads:
        counts = pd.crosstab(frame[load.name], frame["correct"].astype(bool))
        if len(counts) > 1:
            accuracy = counts.get(True, 0) / counts.sum(axis=1)
            p = chi2_contingency(counts).pvalue if counts.shape[1] > 1 else 1.0
            spans.append(find_span(load, counts.index, accuracy, p))
    return spans


def is_at_chance(frame: pd.DataFrame, loads: Sequence[Load]) -> bool:
    """Tell whether no level of any load is solved more often than guesses would.

    One-sided binomial tests of the whole and of each level, by Bonferroni's correction, at 5 %.
    False where the chance is unknown.
    """
    if "chance" not in frame or frame["chance"].isna().any():
        return False
    levels = [rows for load in loads for _, rows in frame.groupby(load.name, observed=True)]
    tests = [
        binom.sf(rows["correct"].sum() - 1, len(rows), rows["chance"].mean())
        for rows in (frame, *levels)
    ]
    return min(tests) * len(tests) > LEVEL


def say_solved(frame: pd.DataFrame, cut: float) -> str:
    """Say how many puzzles a model solves, and the share of its responses that limits `cut`."""
    correct, responses = int(frame["correct"].sum()), len(frame)
    low, high = wilson_interval(correct, responses, CONFIDENCE)
    chance = frame["chance"].mean() if "chance" in frame else math.nan
    return say(
        "solved",
        accuracy=correct / responses,
        responses=responses,
        low=low,
        high=high,
        guesses="" if math.isnan(chance) else say("guesses", chance=chance),
        limit=say("limit", cut=cut) if cut > 0 else "",
    )


def say_spans(spans: Sequence[Span]) -> str:
    """Say which load breaks a model, and what the others cost.

    A load whose levels may all have one accuracy breaks none, by Bonferroni's correction at 5 %,
    and is left out.
    """
    if not spans:
        return say("one_load")
    clear = [span for span in spans if span.p * len(spans) < LEVEL]
    if not clear:
        return say("level")
    first = max(clear, key=lambda span: span.fall)
    others = [span for span in clear if span is not first]
    rest = say("others", spans="; ".join(map(str, others))) if others else ""
    return say("breaks", symbol=first.load.heading.split()[0], span=first, rest=rest)


def say_wrong(frame: pd.DataFrame, meanings: Mapping[str, str]) -> str:
    """Say the commonest wrong outcome."""
    wrong = frame.loc[~frame["correct"].astype(bool), "outcome"].astype(str).value_counts()
    if wrong.empty:
        return say("right")
    name = wrong.index[0]
    counts = {"count": wrong.iloc[0], "total": wrong.sum()}
    return say("wrong", counts, outcome=name, meaning=meanings.get(name, name))


def summarise(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the lines that a terminal shows: all of two verdicts, and the headlines of more."""
    lines = []
    for verdict in verdicts:
        lines.append(f"{verdict.name}: {verdict.headline}")
        lines += [f"  {sentence}" for sentence in verdict.sentences if len(verdicts) <= MOST_SAID]
    return lines
