"""Is a served model still the one that was recorded? A verdict night after night, with few alarms.

Each night asks puzzles of a pool whose base's answers are recorded, and makes the bets of `gate`
that something was lost. They begin anew every night, and their capitals are summed: where nothing
was lost, it takes 1,000 nights or more in the mean until the sum reaches 1,000 (Shin, Ramdas and
Rinaldo 2023, the Shiryaev-Roberts e-detector).

The recorded answers are a sample of the base. So a loss counts from the pool's own error on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from cogniload_analysis.compare.gate import log_capitals, log_mean

NO_ALARM, _WORSE, _UNDECIDED = "no alarm", "worse", "undecided"
_EXIT_CODES = {NO_ALARM: 0, _WORSE: 1, _UNDECIDED: 3}

ALARM = 1000
"""The least number of nights between two false alarms, in the mean."""

# How rarely the base is better than its pool by more than the dead zone, which has this least size.
_BEYOND, _LEAST = 0.025, 0.003

GREAT = 10**6
"""Evidence that nobody tells from more."""


@dataclass(frozen=True)
class Watch:
    """What the nights of a watch say.

    Attributes:
        verdict: "no alarm"; "worse"; "undecided" where it rests on what is missing, or where the
            last night tells nothing.
        nights: How many there were, up to the alarm.
        evidence: The sum of the capitals after the last one, at most GREAT; ALARM is an alarm.
        began: Of an alarm, the night since which the evidence is the greatest; else the first one.
        base, new: The shares that both solve since then, from 0 to 1, of answered puzzles.
        dead_zone: The loss from which on one counts, in percentage points.
        notes: What makes the verdict doubtful, a sentence each.
        first: The number of the first night, with which `began` counts.
        by_night: The evidence after each night, up to the alarm.
    """

    verdict: str
    nights: int
    evidence: float
    began: int
    base: float
    new: float
    dead_zone: float
    notes: tuple[str, ...]
    first: int
    by_night: list[float]

    @property
    def is_over(self) -> bool:
        """Whether there is an alarm, which ends a watch."""
        return self.verdict == _WORSE

    @property
    def exit_code(self) -> int:
        """0 for "no alarm", 1 "worse", 3 "undecided"."""
        return _EXIT_CODES[self.verdict]

    @property
    def lines(self) -> list[str]:
        """The verdict in four lines."""
        nights = f"{self.nights} night{'s' * (self.nights > 1)}"
        evidence = f"{self.evidence:,.0f}" if self.evidence < GREAT else f"{GREAT:,} or more"
        since, last = f"since night {self.began}", self.first + self.nights - 1
        ended = f"worse, about {since} of {last}: it is over, and --anew begins another watch"
        said = {NO_ALARM: f"no alarm in {nights}", _WORSE: ended}
        apart = 100 * (self.new - self.base)
        return [
            f"verdict     {said.get(self.verdict, f'{self.verdict} after {nights}')}",
            f"evidence    {evidence} for a loss above {self.dead_zone:.1f} points; {ALARM:,} is an "
            "alarm",
            f"solved      base {self.base:.1%}, new {self.new:.1%} {since}, {apart:+.1f} points",
            f"doubts      {'; '.join(self.notes) or 'none'}",
        ]


def dead_zone(solved: ArrayLike, attempts: int) -> float:
    """Return the loss, from 0 to 1, that a pool's own error is above in 1 of 40 pools.

    `solved` are the shares of `attempts` that its base solved, a puzzle each. Of one attempt, they
    say nothing of the luck of an answer, which may then be all that differs.
    """
    shares = np.asarray(solved, dtype=float)
    if attempts == 1:
        luck = shares.mean() * (1 - shares.mean())
    else:
        luck = (shares * (1 - shares)).mean() * attempts / (attempts - 1)
    error = np.sqrt(luck / attempts / len(shares))
    return max(_LEAST, float(norm.isf(_BEYOND) * error))


def watch(
    nights: Sequence[ArrayLike], least: float, unstable: Sequence[str] = (), first: int = 1
) -> Watch:
    """Return whether nights say that a model is worse than the base of a pool.

    Each night has a row for a puzzle: the share that the base solves, and that of the new model,
    NaN where there is no answer. `least` is the `dead_zone` of the pool. `unstable` says of each
    night why it tells nothing, "" of others, and `first` is the number of the first one. An alarm
    holds whatever the missing answers are; where they would make one if they were wrong, the
    verdict is "undecided". A false alarm comes at most once in 1,000 nights in the mean, if the
    base is no better than its pool by more than `least`. Raises ValueError without a night, and for
    shares out of range.
    """
    asked = [np.asarray(night, dtype=float).reshape(-1, 2) for night in nights]
    given = np.concatenate(asked)[:, 0] if asked else np.array([])
    if not (len(given) and given.min() >= 0 and given.max() <= 1):
        raise ValueError("a watch takes nights of puzzles, with shares from 0 to 1 of the base")
    why = [*unstable, *[""] * (len(asked) - len(unstable))]
    at_best, at_worst = (_bet(asked, filled, least, why) for filled in (1.0, 0.0))
    sums = _sums(at_best)
    alarms = np.flatnonzero(sums >= np.log(ALARM))
    last = int(alarms[0]) if len(alarms) else len(asked) - 1
    since = at_best[: last + 1][::-1].cumsum(axis=0)[::-1]  # the capitals that begin each night
    began = int(log_mean(since.T).argmax()) if len(alarms) else 0
    since_then = np.concatenate(asked[began : last + 1])
    missing = np.isnan(since_then).any(axis=1)
    answered = since_then[~missing] if not missing.all() else np.full((1, 2), np.nan)
    base, new = answered.mean(axis=0)
    notes = [f"not answered: {missing.sum():,} of {len(missing):,}"] if missing.any() else []
    verdict = _WORSE if len(alarms) else NO_ALARM
    # a server that loses no more answers is soon forgiven
    if verdict == NO_ALARM and _sums(at_worst, most=np.log(ALARM))[-1] >= np.log(ALARM):
        verdict = _UNDECIDED
        notes.append("if what is missing is wrong, it is worse")
    if verdict == NO_ALARM and why[-1]:
        verdict = _UNDECIDED
        notes.append(f"the last night doesn't count, as {why[-1]}")
    by_night = np.exp(np.minimum(sums[: last + 1], np.log(GREAT))).tolist()
    about = by_night[-1], first + began, float(base), float(new), 100 * least
    return Watch(verdict, last + 1, *about, (*notes,), first, by_night)


def _bet(
    nights: Sequence[np.ndarray], filled: float, least: float, unstable: Sequence[str]
) -> np.ndarray:
    """Return the log capitals of each night's bets that more than `least` was lost."""
    capitals = []
    for night, why in zip(nights, unstable, strict=True):
        losses = night[:, 0] - np.where(np.isnan(night[:, 1]), filled, night[:, 1])
        values, counts = np.unique(losses.round(9), return_counts=True)
        capitals.append(log_capitals(values, counts * (not why), least, least))
    return np.array(capitals)


def _sums(capitals: np.ndarray, most: float = np.inf) -> np.ndarray:
    """Return, after each night, the log of the sum of the capitals that began on each one.

    With `most`, no night hands on more than that.
    """
    sums, held = [], np.full(capitals.shape[1], -np.inf)
    for each in capitals:
        held = np.logaddexp(0, np.minimum(held, most)) + each
        sums.append(log_mean(held))
    return np.array(sums)
