"""May a model take the place of another? A verdict on pairs that holds however often one looks.

For each bound of the difference, bets are made against it, puzzle by puzzle, and their mean capital
is a fair game if the bound is true: by Ville's inequality it then ever reaches 20 with a chance of
at most 5 % (Waudby-Smith and Ramdas 2024, section 4). The bounds that have not lost so much are the
interval. The capital depends on the counts alone, so a run that goes on finds the same verdict.

A missing answer may be any: the low end counts it against the new model, and the high end for it.
Two finished runs have one look, for which a fixed-size interval is narrower. And puzzles that are
asked in batches tell whether the difference is one number at all: an outage leaves no verdict, and
a verdict must hold by the batches too.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import f as fisher
from scipy.stats import t as student

from cogniload_analysis.compare.paired import compare_means, compare_solved

NO_WORSE, _WORSE, _UNDECIDED = "no worse", "worse", "undecided"
LOWER = "lower, perhaps within the margin"

# What the command ends with; 2 is for wrong use and what breaks.
_EXIT_CODES = {NO_WORSE: 0, _WORSE: 1, _UNDECIDED: 3}
CAPPED = 4
"""The exit code of any command that a cap has stopped."""

# How often "worse" and "no worse" come at most where the loss is the margin, and "lower" where
# nothing was lost.
ERROR = 0.05

FLIP = 0.5
"""Shares of several attempts at a puzzle that differ by no more are luck."""

# The bets suit shares of flips from the first one down; each is at most so much of the capital.
_MOST_FLIPS, _LARGEST_BET = 0.5, 0.9

# What chance does less often from batch to batch, at one look, leaves no verdict; and how rarely a
# verdict may come of batches that differ too little to be noticed (studies/gate.py).
_CHANCE, _BY_BATCHES, _LEAST_BATCHES = 0.001, 0.005, 3

# No run goes on for that many times its puzzles.
_FAR = 1e6


@dataclass(frozen=True)
class Gate:
    """A verdict on a new model beside a base, over puzzles that both answered.

    Attributes:
        verdict: "no worse", "worse" (by more than the margin), "undecided" or LOWER.
        margin: The loss that is accepted, in percentage points.
        puzzles: How many both answered.
        base, new: The shares that they solve, from 0 to 1.
        low, high: The ends of an interval of the true difference, `new` less `base`, whatever the
            missing answers are. It has a confidence of 90 %, 95 % on each side, at all looks
            together or at the only one.
        only_base, only_new: How many flips there are: puzzles that one solves and the other not, or
            whose shares differ by more than FLIP.
        needed: About how many further puzzles would decide, if they come out as these did; 0 after
            a verdict, and where no number does.
        notes: What makes the verdict doubtful, a sentence each.
        cap: Which cap ended the asking, "" for none.
        unstable: Why no verdict is given, "" where nothing is against one.
        once: Whether this is the only look.
        among: How many verdicts are given together, with one chance of an error for all.
        lower_is: What LOWER ends with: 5, or 0 or 1 for who takes it for a pass or a failure.
    """

    verdict: str
    margin: float
    puzzles: int
    base: float
    new: float
    low: float
    high: float
    only_base: int
    only_new: int
    needed: int
    notes: tuple[str, ...]
    cap: str = ""
    unstable: str = ""
    once: bool = False
    among: int = 1
    lower_is: int = 5

    @property
    def is_decided(self) -> bool:
        """Whether the verdict is "no worse" or "worse"."""
        return self.verdict in (NO_WORSE, _WORSE)

    @property
    def is_over(self) -> bool:
        """Whether more puzzles would change nothing."""
        return self.is_decided or bool(self.unstable)

    @property
    def exit_code(self) -> int:
        """0 for "no worse", 1 "worse", 3 "undecided", `lower_is` LOWER; 4 if a cap ended it."""
        codes = _EXIT_CODES | {LOWER: self.lower_is}
        return CAPPED if self.cap and not self.is_decided else codes[self.verdict]

    def _set_end(self, end: float) -> str:
        """Return an end of the interval in points, which is told apart from the margin."""
        is_near = abs(100 * abs(end) - self.margin) < 0.05
        return f"{100 * end:+.{2 if is_near else 1}f}"

    @property
    def lines(self) -> list[str]:
        """The verdict in five lines."""
        margin, apart = f"{self.margin:g} points", 100 * (self.new - self.base)
        said = f"{self.verdict} by more than {margin}"
        if not self.is_decided:
            more = f"about {self.needed:,} more puzzles would decide"
            if self.once:  # a second look at these would have another error rate
                more = f"two new runs of about {self.puzzles + self.needed:,} puzzles would decide"
            near = "more puzzles such as these would not decide"
            near += ", as it is too near the margin, or answers are missing"
            more = more if self.needed else near
            more = f"stopped, as {self.cap}: a higher cap continues" if self.cap else more
            more = f"{self.unstable}: ask again, by another --seed" if self.unstable else more
            said = f"{self.verdict}{f' at {margin}' * (self.verdict == _UNDECIDED)}: {more}"
        ends = " to ".join(self._set_end(end) for end in (self.low, self.high))
        looks = "at this one look" if self.once else "however often one looks"
        sure = f"{100 * (1 - 2 * ERROR / self.among):.3g}"
        return [
            f"verdict     {said}",
            f"difference  {apart:+.1f} points, {ends} ({sure} % interval, {looks})",
            f"solved      base {self.base:.1%}, new {self.new:.1%} of {self.puzzles:,} puzzles",
            f"flips       {self.only_base:,} solved by base alone, {self.only_new:,} by new alone",
            f"doubts      {'; '.join(self.notes) or 'none'}",
        ]


def gate(
    pairs: ArrayLike, margin: float, *, batch: int = 0, once: bool = False, among: int = 1
) -> Gate:
    """Return whether a new model is no worse than a base by more than a margin.

    `pairs` has a row for each puzzle, in the order of asking: the share of its attempts, from 0 to
    1, that the base solves, and that of the new one; NaN where there is no answer. `margin` is in
    percentage points, from 0.1 to 20. If the loss is the margin, "worse" comes with a chance of at
    most 5 %, and so does "no worse", and LOWER if nothing was lost: however often, and whenever,
    one looks. With `once`, this is the only look: that takes fewer puzzles, and the chance is about
    5 %. All verdicts hold whatever the missing answers are. `batch` is the number of puzzles that
    were asked at a time, in a random order: there is no verdict if the difference changed from
    batch to batch by more than chance explains, and none that the means of the batches don't bear
    out. Of several verdicts that are given together, such as on candidates of which one is chosen,
    `among` is the number: the chance is then that of any wrong one.
    Raises ValueError for another margin, for shares out of range, and where no puzzle has both.
    """
    if not 0.1 <= margin <= 20:  # the bets suit these
        raise ValueError(f"margin must be from 0.1 to 20 points, got {margin!r}")
    asked = np.asarray(pairs, dtype=float).reshape(-1, 2)
    both = asked[~np.isnan(asked).any(axis=1)]
    if not len(both) or both.min() < 0 or both.max() > 1:
        got = f"{both.min():g} to {both.max():g}" if len(both) else "no puzzle"
        raise ValueError(f"both models must have shares from 0 to 1 of puzzles, got {got}")
    apart, allowed, error = both[:, 1] - both[:, 0], margin / 100, ERROR / among
    missing = np.isnan(asked)
    least, most = (
        np.diff(np.where(missing, filled, asked)).ravel() for filled in ((1.0, 0.0), (0.0, 1.0))
    )
    against, in_favour = (np.unique(it.round(9), return_counts=True) for it in (least, most))
    for_new = -in_favour[0], in_favour[1]
    if once:
        low, high = at_one_look(*against, error), -at_one_look(*for_new, error)
        needed = _needed_at_once(against, in_favour, low, high, allowed)
    else:
        low, high = lowest(*against, allowed, error), -lowest(*for_new, allowed, error)
        needed = _needed(against, for_new, allowed, error)
    claims = [
        (_WORSE, high < -allowed, -most, allowed),
        (NO_WORSE, low > -allowed, least, -allowed),
        (LOWER, high < 0, -most, 0.0),
    ]
    verdict = next(
        (
            name
            for name, is_shown, differences, bound in claims
            if is_shown and (not batch or hold(differences, bound, batch))
        ),
        _UNDECIDED,
    )
    needed = max(needed, batch) if needed else 0
    base, new = (float(share) for share in both.mean(axis=0))
    lost, won = int((apart < -FLIP).sum()), int((apart > FLIP).sum())
    needed = needed if verdict in (_UNDECIDED, LOWER) else 0
    unknown, notes = missing.sum(axis=0), []
    if unknown.any():
        each = "{} by base, {} by new".format(*unknown)
        notes.append(f"not answered, perhaps the hard ones: {each}")
    found = Gate(verdict, margin, len(both), base, new, low, high, lost, won, needed, (*notes,))
    unstable = changes(np.diff(asked).ravel(), batch) if batch else ""
    verdict = _UNDECIDED if unstable else verdict
    return replace(found, verdict=verdict, once=once, among=among, unstable=unstable)


def log_capital(values: np.ndarray, counts: np.ndarray, bound: float, margin: float) -> np.ndarray:
    """Return the log of the mean capital of bets that the true difference is above a bound.

    `counts` says how often each of the `values` came, whose place is its first axis.
    """
    return log_mean(log_capitals(values, counts, bound, margin))


def log_capitals(values: np.ndarray, counts: np.ndarray, bound: float, margin: float) -> np.ndarray:
    """Return the log of the capital of each bet, which is the first axis.

    A bet is a share of the capital; the best one is about the distance to the bound over the share
    of flips.
    """
    bets = margin / _MOST_FLIPS * 2.0 ** np.arange(np.log2(_LARGEST_BET * _MOST_FLIPS / margin))
    bets = bets[bets * (1 + bound) < 1, None]  # none loses more than there is
    capitals: np.ndarray = np.log1p(bets * (values - bound)) @ counts
    return capitals


def log_mean(logs: np.ndarray) -> np.ndarray:
    """Return the log of the mean over the first axis of what has these logs."""
    mean: np.ndarray = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
    return mean


def lowest(values: np.ndarray, counts: np.ndarray, margin: float, error: float = ERROR) -> float:
    """Return the least true difference whose bets have not won; `-lowest(-values)` the greatest."""

    def beyond(bound: float) -> float:
        return float(log_capital(values, counts, bound, margin) + np.log(error))

    if beyond(-1.0) <= 0:
        return -1.0
    mean = np.average(values, weights=counts)  # where no bet wins
    return float(brentq(beyond, -1.0, mean, xtol=1e-6))


def at_one_look(values: np.ndarray, counts: np.ndarray, error: float = ERROR) -> float:
    """Return the lower end of the mean at one look; the chance of one below it is `error`."""
    confidence = 1 - 2 * error
    if set(values) <= {-1, 0, 1}:
        won, lost = (int(counts[values == value].sum()) for value in (1, -1))
        return float(compare_solved(won, lost, int(counts.sum()), confidence).low)
    return float(compare_means(np.repeat(values, counts), confidence).low)


def hold(apart: np.ndarray, bound: float, batch: int) -> bool:
    """Return whether the batches' means say that the difference is above a bound, by Student's t.

    Batches may differ by more than their puzzles do: one may meet a busy server, and so may the
    next one.
    """
    means = np.array([part.mean() for part in np.split(apart, range(batch, len(apart), batch))])
    free = len(means) - 1
    if free + 1 < _LEAST_BATCHES:
        return False
    off = means - means.mean()
    spread = (off @ off + 2 * max(0.0, off[1:] @ off[:-1])) / free
    reach = student.isf(_BY_BATCHES, free) * np.sqrt(spread / (free + 1))
    return bool(means.mean() - reach > bound)


def changes(apart: np.ndarray, batch: int) -> str:
    """Say that the differences of puzzles, NaN without one, changed between batches; "" if not.

    By an analysis of variance between the batches, and by a trend over them.
    """
    known = np.flatnonzero(~np.isnan(apart))
    of = np.unique(known // batch, return_inverse=True)[1]
    values, sizes = apart[known], np.bincount(of)
    batches, n = len(sizes), len(values)
    if batches < _LEAST_BATCHES or n <= batches:
        return ""
    means, whole = np.bincount(of, values) / sizes, values.mean()
    within = ((values - means[of]) ** 2).sum() / (n - batches)
    between = sizes @ (means - whole) ** 2 / (batches - 1)
    place = of - of.mean()
    trend = (place @ values) ** 2 / (place @ place)
    within = max(within, 1e-9)  # where all of a batch differ alike
    chances = fisher.sf(between / within, batches - 1, n - batches), fisher.sf(trend / within, 1, n)
    names = "from batch to batch (an outage?)", "during the run (a drift?)"
    found = [name for name, chance in zip(names, chances, strict=True) if chance < _CHANCE]
    return f"the difference changed {found[0]} by more than chance explains" if found else ""


def _needed(
    against: tuple[np.ndarray, np.ndarray],
    for_new: tuple[np.ndarray, np.ndarray],
    margin: float,
    error: float,
) -> int:
    """Return how many more puzzles decide, if they come out as these did; 0 if none do."""
    times = np.geomspace(1, _FAR, 5000)
    sides = (*against, -margin), (*for_new, margin)
    capitals = [log_capital(v, np.outer(n, times), bound, margin) for v, n, bound in sides]
    won = np.max(capitals, axis=0) >= -np.log(error)
    return int(against[1].sum() * (times[won.argmax()] - 1)) + 1 if won.any() else 0


def _needed_at_once(
    against: tuple[np.ndarray, np.ndarray],
    in_favour: tuple[np.ndarray, np.ndarray],
    low: float,
    high: float,
    margin: float,
) -> int:
    """Return as `_needed`, for one look: an interval's width falls with the root of the puzzles."""
    least, most = (counts @ values / counts.sum() for values, counts in (against, in_favour))
    times = [
        (reach / beyond) ** 2
        for reach, beyond in ((least - low, least + margin), (high - most, -margin - most))
        if beyond > 0
    ]
    needed = against[1].sum() * (min(times, default=np.inf) - 1)
    return int(needed) + 1 if needed < _FAR * against[1].sum() else 0
