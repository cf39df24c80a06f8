"""Which causes explain the results of CogniLoad's puzzles and their twins together (docs/twins.md).

An attempt is right if no slip does harm. The expected harmful slips grow with a text's needles
(work), its hay (distraction), its statements and their places (length), or are the same in every
text (luck). A step that is too hard is different: some needles fail in every text that has them.
How many there are in a puzzle is unknown, so the likelihood is a sum over it.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import NonlinearConstraint, minimize
from scipy.special import gammaln
from scipy.stats import chi2

from cogniload_analysis.stats import CONFIDENCE
from cogniload_gen.grid import split_twin

# The places in `_Trials.amounts` of what slips of each cause grow with.
_GROWS_WITH = {"distraction": [0], "work": [1], "length": [2, 3], "luck": [4], "step": []}

# By how much a cause must raise twice the log-likelihood to be named: studies/twin_causes.py.
_PENALTIES = {"distraction": 3.25, "work": 4.75, "length": 4.25, "luck": 6.0, "step": 6.75}

LEAST_SHARE = 0.1
"""Share of the slips below which a cause is not named beside others."""

# Nothing is named where quite other causes come within this of the best.
_RIVAL = 3.0

NEAR = chi2.ppf(CONFIDENCE, 1) / 2, 2.12, 2.72, 3.25
"""How far below the best log-likelihood the shares of an interval may be. The others are for ends
where 2 to 4 amounts bring no slips, which none can bring fewer of: mixtures of chi-squares."""

HARD = np.arange(6)
"""How many needles of a puzzle may be too hard."""


class _Trials(NamedTuple):
    """Attempts (A) at puzzles (P) and their twins, puzzle by puzzle, the puzzle itself first.

    Attributes:
        right: Whether each attempt is right (A).
        amounts: The hay, needles, statements, sum of the statements' places, and 1 (A, 5), over
            their means for puzzles.
        kept: The share of the puzzle's needles in the text; 1 for a single statement (A, 1).
        alone: Whether the text is a single statement (A, 1).
        first: The place of each puzzle's own attempt (P).
        selected: Whether puzzles were chosen by their own results, which are then conditions.
        changes: The changes that were tried.
    """

    right: np.ndarray
    amounts: np.ndarray
    kept: np.ndarray
    alone: np.ndarray
    first: np.ndarray
    selected: bool
    changes: frozenset[str]


def count_trials(frame: pd.DataFrame) -> _Trials | None:
    """Return the trials in a frame with id, correct, N and needles; None without these columns.

    The first attempt at each text counts. Without `again`, all puzzles' own results stand in.
    """
    if not {"N", "needles"} <= {*frame}:
        return None
    named = frame["id"].astype(str).str.partition("~")
    rows = frame.assign(base=named[0], twin=named[2]).dropna(subset=["needles"])
    rows = rows.drop_duplicates(["base", "twin"]).sort_values(["base", "twin"])
    puzzles = rows[rows["twin"] == ""].set_index("base")
    rows = rows[rows["base"].isin(puzzles.index)]
    N, needles = (rows["base"].map(puzzles[name]).to_numpy(float) for name in ("N", "needles"))
    split = [split_twin(twin) for twin in rows["twin"]]
    change, number = (np.array(part) for part in zip(*split, strict=True))
    lengths = {
        "": N, "again": N, "needles": needles, "tail": needles, "hay": needles + number,
        "from": N - number, "until": number, "only": np.ones_like(N),
    }  # fmt: skip
    length = np.select([change == name for name in lengths], [*lengths.values()], np.nan)
    held, tried = rows["needles"].to_numpy(float), ~np.isnan(length)
    amounts = np.stack([length - held, held, length, length * (length + 1) / 2, held**0], axis=1)
    alone, own = change == "only", change == ""
    kept = np.where(alone, 1, held / needles)
    selected = "again" in change
    if selected:
        tried &= rows.groupby("base")["twin"].transform("size").to_numpy() > 1
    first = np.flatnonzero(own[tried])
    return _Trials(
        rows["correct"].to_numpy(float)[tried],
        (amounts / np.maximum(amounts[own & tried].mean(axis=0), 1e-9))[tried],
        kept[tried, None], alone[tried, None], first, selected,
        frozenset(change[tried]),
    )  # fmt: skip


def explain_trials(trials: _Trials) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Return the causes whose fit has the best log-likelihood, less penalties, and `share_slips`.

    All single causes are compared, all pairs, and the best pair with each other cause. Slips on
    both needles and hay are those on all statements, and more on one of the two.
    """
    possible = show_causes(trials)
    fits = {some: fit(trials, some).fun for size in (1, 2) for some in choose(possible, size)}
    pair = {*min((some for some in fits if len(some) == 2), key=fits.__getitem__, default=())}
    fits |= {some: fit(trials, some).fun for some in choose(possible, 3) if pair < {*some}}
    costs = {some: 2 * fits[some] + sum(_PENALTIES[cause] for cause in some) for some in fits}
    best = min(costs, key=costs.__getitem__)
    rivals = [cost for some, cost in costs.items() if not {*some} & {*best}]
    sure = min(rivals, default=np.inf) > costs[best] + _RIVAL
    left_out = {"distraction" if "work" in best else "work"} | ({"step"} - {*best})
    shares = share_slips(trials, [cause for cause in possible if cause not in left_out])
    ordered = shares.sort_values("share", ascending=False, kind="stable")
    named = ordered["cause"][ordered["share"] >= LEAST_SHARE]
    return tuple(cause for cause in named if cause in best and sure), shares


def show_causes(trials: _Trials) -> list[str]:
    """Return the causes that the twins can show.

    Without second attempts, puzzles whose texts all fail look like those with a step that is too
    hard: it is shown only where failures fail with the step alone, too.
    """
    parts, clean = trials.changes & {"tail", "from", "until"}, trials.changes & {"needles", "hay"}
    both, step = bool(parts and clean), "only" in trials.changes
    if step and not trials.selected:
        own = np.repeat(trials.right[trials.first], np.diff([*trials.first, len(trials.right)]))
        alone = trials.right[trials.alone[:, 0] & (own == 0)]
        step = len(alone) > 0 and 1 - alone.mean() >= LEAST_SHARE
    needed = {"distraction": both, "work": both, "length": bool(parts or clean), "step": step}
    return [cause for cause in _PENALTIES if needed.get(cause, True)]


def choose(causes: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Return the sets of causes of a size, but those with both distraction and work."""
    return [some for some in combinations(causes, size) if not {"distraction", "work"} <= {*some}]


def fit(trials: _Trials, causes: Sequence[str], surely: float = 1.0) -> Any:
    """Return scipy's result of the fit of causes: the expected slips that grow with each amount.

    With `step`, which must be the last cause, the last three are the expected harmful slips at
    needles that are too hard, the share of slips there that do harm, and the chance, at least
    `surely`, that the single statement of a puzzle with such needles is one of them.
    """
    problem, bounds = settings(trials, causes, surely)
    start = [0.4 / max(1, len(problem[1]))] * len(problem[1]) + [0.3, 0.7, 1.0] * problem[2]
    return minimize(loss, start, problem, "L-BFGS-B", jac=True, bounds=bounds)


def settings(trials: _Trials, causes: Sequence[str], surely: float) -> tuple[Any, Any]:
    """Return the arguments of `loss` but the parameters, and the bounds of these."""
    places, step = [place for cause in causes for place in _GROWS_WITH[cause]], "step" in causes
    bounds = [(0, None)] * len(places) + [(1e-4, 5), (0.5, 0.999), (surely, 1)] * step
    return (trials, places, step), bounds


def loss(
    parameters: np.ndarray, trials: _Trials, places: list[int], step: bool
) -> tuple[float, np.ndarray]:
    """Return the negative log-likelihood, and its slope.

    A puzzle has a Poisson number of needles that are too hard; with it, attempts are independent.
    """
    expected, harm, hit = parameters[-3:] if step else (0.0, 0.5, 1.0)
    hard = HARD if step else HARD[:1]
    amounts, times = trials.amounts[:, places], np.where(trials.alone, hard > 0, hard)
    kept = np.where(trials.alone, hit, trials.kept)
    harmed = np.minimum(harm * kept, 1 - 1e-9)  # a search may look beyond its bounds
    log_chance = times * np.log1p(-harmed) - (amounts @ parameters[: len(places)])[:, None]
    chance = np.clip(np.exp(log_chance), 1e-9, 1 - 1e-9)
    right = trials.right[:, None] == 1
    scores = np.where(right, np.log(chance), np.log1p(-chance))
    mean = np.maximum(trials.amounts[trials.first, 1:2] * expected / harm, 1e-300)
    known = hard * np.log(mean) - mean - gammaln(hard + 1)
    both = known + np.add.reduceat(scores, trials.first)
    before = known + scores[trials.first] if trials.selected else np.full_like(known, -np.inf)
    total, fixed = (np.logaddexp.reduce(part, axis=1)[:, None] for part in (both, before))
    after = change = np.exp(both - total)
    if trials.selected:
        total, change = total - fixed, after - np.exp(before - fixed)
    slope = np.repeat(after, np.diff([*trials.first, len(right)]), axis=0)
    slope[trials.first] = change
    slope *= np.where(right, 1, -chance / (1 - chance))
    gradient = [*(slope.sum(axis=1) @ amounts)]
    if step:
        by_mean = (change * (hard - mean)).sum()  # by the logarithm of the mean
        failing = (slope * times / (1 - harmed)).sum(axis=1)
        by_harm, by_hit = failing @ kept[:, 0] + by_mean / harm, failing @ trials.alone[:, 0] * harm
        gradient += [-by_mean / expected, by_harm, by_hit]
    return -float(total.sum()), np.array(gradient)


def share_slips(trials: _Trials, causes: Sequence[str]) -> pd.DataFrame:
    """Return the share of the expected slips that each cause explains, in one fit of them all.

    Columns: cause, share, low and high, the 95 % interval: the least and the greatest share of
    slips that are nearly as likely as the best ones (NEAR).
    """
    (problem, bounds), best = settings(trials, causes, 0.0), fit(trials, causes, 0.0)
    owners = np.array([cause for cause in causes for _ in _GROWS_WITH[cause] or [0]])
    near = NonlinearConstraint(
        lambda x: loss(x, *problem)[0], -np.inf, best.fun + NEAR[0], lambda x: loss(x, *problem)[1]
    )

    def share(slips: np.ndarray, mine: np.ndarray, sign: int) -> tuple[float, np.ndarray]:
        total = max(slips[: len(mine)].sum(), 1e-9)
        part = slips[: len(mine)] @ mine / total
        return sign * part, sign * np.append((mine - part) / total, [0, 0] * problem[2])

    def end(cause: str, mine: np.ndarray, sign: int) -> float:
        edge = [cause] if sign < 0 else [other for other in causes if other != cause]
        further = NEAR[(~np.isin(owners, edge)).sum() - 1]
        if edge and fit(trials, edge, 0.0).fun <= best.fun + further:
            return float(sign < 0)  # a search only comes close
        starts = (factor * best.x + 0.01 for factor in (0.8, 1.0, 1.3))
        limits = {"jac": True, "bounds": bounds, "constraints": near}
        minima = [minimize(share, start, (mine, sign), **limits) for start in starts]
        return abs(min((one.fun for one in minima if one.success), default=min(sign, 0)))

    rows = []
    for cause in causes:
        mine = (owners == cause).astype(float)
        rows.append((cause, share(best.x, mine, 1)[0], end(cause, mine, 1), end(cause, mine, -1)))
    return pd.DataFrame(rows, columns=["cause", "share", "low", "high"])
