"""Which causes explain the results of CogniLoad's puzzles and their twins together (docs/twins.md).

An attempt is right if no slip does harm, or if a guess is right in spite of one. The expected
harmful slips grow with a text's needles (work), its hay (distraction), its statements and their
places (length), or are the same in every text (luck). A step that is too hard is different: some
needles fail in every text that has them. How many there are in a puzzle is unknown, so the
likelihood is a sum over it.

Whatever the causes, three things are fitted with them: how often a guess is right, and how much
more often without hay (where the value that is named last is the answer); how often a single
statement fails that is not too hard, so that `only` shows a step alone; and how much slips differ
from puzzle to puzzle, unless hard steps make these differ.
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

# A cause is not named where others alone come within this of the best.
_RIVAL = 3.0

_MISFIT, _MISS = 0.01, 0.2
"""A fit is refused if the p of its twins is lower, and a share of these is missed by as much."""

NEAR = chi2.ppf(CONFIDENCE, 1) / 2, 2.12, 2.72, 3.25
"""How far below the best log-likelihood the shares of an interval may be. The others are for ends
where 2 to 4 amounts bring no slips, which none can bring fewer of: mixtures of chi-squares."""

HARD = np.arange(6)
"""How many needles of a puzzle may be too hard."""

GUESSES = 0.35, 0.35
"""The most that guesses are right, and how much more they may be in texts without hay: a puzzle has
three values or more to choose from, and without hay the value that is named last is right."""

_SPREADS = 1.5
"""The most by which the logarithms of puzzles' slips differ (a standard deviation)."""

# Puzzles whose slips are fewer, as usual and more: nodes and weights of Gauss and Hermite.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(3)


class _Trials(NamedTuple):
    """Attempts (A) at puzzles (P) and their twins, puzzle by puzzle, the puzzle itself first.

    Attributes:
        right: Whether each attempt is right (A).
        amounts: The hay, needles, statements, sum of the statements' places, and 1 (A, 5), over
            their means for puzzles; none of a single statement.
        kept: The share of the puzzle's needles in the text; 1 for a single statement (A, 1).
        change: The change of each text, "" for the puzzle (A).
        clean: Whether the text has no hay (A); no single statement counts as such.
        first: The place of each puzzle's own attempt (P).
        selected: Whether puzzles were chosen by their own results, which are then conditions.
    """

    right: np.ndarray
    amounts: np.ndarray
    kept: np.ndarray
    change: np.ndarray
    clean: np.ndarray
    first: np.ndarray
    selected: bool

    @property
    def alone(self) -> np.ndarray:
        """Whether each text is a single statement (A, 1)."""
        return (self.change == "only")[:, None]

    def each(self, of_puzzles: np.ndarray) -> np.ndarray:
        """Return what holds for puzzles for each of their attempts."""
        return np.repeat(of_puzzles, np.diff([*self.first, len(self.right)]), axis=0)


class Misfit(NamedTuple):
    """The twin that the best explanation misses most, among puzzles that `failed` or did not.

    `seen` is the share that is solved, and `expected` that of the explanation.
    """

    change: str
    failed: bool
    seen: float
    expected: float


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
    change = np.where((change == "hay") & (number == 0), "needles", change)  # the same text
    lengths = {
        "": N, "again": N, "needles": needles, "tail": needles, "hay": needles + number,
        "from": N - number, "until": number, "only": np.ones_like(N),
    }  # fmt: skip
    length = np.select([change == name for name in lengths], [*lengths.values()], np.nan)
    held, tried = rows["needles"].to_numpy(float), ~np.isnan(length)
    amounts = np.stack([length - held, held, length, length * (length + 1) / 2, held**0], axis=1)
    alone, own = change == "only", change == ""
    amounts /= np.maximum(amounts[own & tried].mean(axis=0), 1e-9)
    selected = "again" in change
    if selected:
        tried &= rows.groupby("base")["twin"].transform("size").to_numpy() > 1
    return _Trials(
        rows["correct"].to_numpy(float)[tried],
        (amounts * ~alone[:, None])[tried],
        np.where(alone, 1, held / needles)[tried, None],
        change[tried],
        ((length == held) & ~alone)[tried],
        np.flatnonzero(own[tried]),
        selected,
    )


def explain_trials(trials: _Trials) -> tuple[tuple[str, ...], pd.DataFrame, Misfit | None]:
    """Return the causes without which the results are less likely, `share_slips`, and a misfit.

    All single causes and all pairs are compared by twice the log-likelihood of their fits, less
    penalties. Slips on both needles and hay are those on all statements, and more on one of the
    two. A cause of the best fit is named if every fit without it is clearly worse. None is named
    where the best fit misses the seen shares of twins.
    """
    possible = show_causes(trials)
    fits = {some: fit(trials, some) for size in (1, 2) for some in _choose(possible, size)}
    costs = {some: 2 * fits[some].fun + sum(map(_PENALTIES.__getitem__, some)) for some in fits}
    best = min(costs, key=costs.__getitem__)
    without = {
        cause: min((cost for some, cost in costs.items() if cause not in some), default=np.inf)
        for cause in best
    }
    misfit = find_misfit(trials, best, fits[best].x)
    left_out = {"distraction" if "work" in best else "work"} | ({"step"} - {*best})
    shares = share_slips(trials, [cause for cause in possible if cause not in left_out])
    ordered = shares.sort_values("share", ascending=False, kind="stable")
    sure = {c for c, cost in without.items() if cost > costs[best] + _RIVAL and not misfit}
    named = ordered["cause"][ordered["share"] >= LEAST_SHARE]
    return tuple(cause for cause in named if cause in sure), shares, misfit


def show_causes(trials: _Trials) -> list[str]:
    """Return the causes that the twins can show.

    A step that is too hard is shown only where failures fail with the step alone, too.
    """
    changes = {*trials.change}
    parts, clean = changes & {"tail", "from", "until"}, changes & {"needles", "hay"}
    both = bool(parts and clean)
    alone = trials.right[trials.alone[:, 0] & (trials.each(trials.right[trials.first]) == 0)]
    step = len(alone) > 0 and 1 - alone.mean() >= LEAST_SHARE
    needed = {"distraction": both, "work": both, "length": bool(parts or clean), "step": step}
    return [cause for cause in _PENALTIES if needed.get(cause, True)]


def _choose(causes: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Return the sets of causes of a size, but those with both distraction and work."""
    return [some for some in combinations(causes, size) if not {"distraction", "work"} <= {*some}]


def fit(trials: _Trials, causes: Sequence[str], surely: float = 1.0) -> Any:
    """Return scipy's result of the fit of causes: the expected slips that grow with each amount.

    With `step`, which must be the last cause, the expected harmful slips at needles that are too
    hard come next. Then come, whatever the causes, the slips at a single statement, how often
    guesses are right, and how much more often without hay. Last, puzzles differ: by their spread,
    or with `step` by their hard needles, with the share of slips there that do harm, and the
    chance, at least `surely`, that the single statement of a puzzle with such needles is one.
    """
    problem, bounds = _settings(trials, causes, surely)
    _, places, step = problem
    start = [0.4 / max(1, len(places))] * len(places) + [0.05, 0.1, 0.1]
    start = [*start[:-3], 0.3, *start[-3:], 0.7, 1.0] if step else [*start, 0.3]
    return minimize(loss, start, problem, "L-BFGS-B", jac=True, bounds=bounds)


def _settings(trials: _Trials, causes: Sequence[str], surely: float) -> tuple[Any, Any]:
    """Return the arguments of `loss` but the parameters, and the bounds of these."""
    places, step = [place for cause in causes for place in _GROWS_WITH[cause]], "step" in causes
    last = [(0.5, 0.999), (surely, 1)] if step else [(0, _SPREADS)]
    others = [(0, None), (0, GUESSES[0]), (0, GUESSES[1]), *last]
    return (trials, places, step), [(0, None)] * len(places) + [(1e-4, 5)] * step + others


class _Chances(NamedTuple):
    """What parameters say of attempts (A) at puzzles (P), each of some kind (K).

    Attributes:
        hard: The needles of a puzzle of the kind that are too hard (K).
        node, factor: The node of its slips, and how many times the usual ones they are (K).
        mean: The expected number of needles that are too hard (P, 1).
        log_share: The log of how frequent the kind is (P, K).
        slips: The usual harmful slips at what is not too hard (A).
        harmed: The chance that a needle that is too hard does harm (A, 1).
        tried: How often such needles are in the text (A, K).
        unharmed: The chance that no slip does harm (A, K).
        guess: The chance that a guess is right (A, 1).
        right: The chance that an attempt is right (A, K).
        score: The log-likelihood of the attempt (A, K).
    """

    hard: np.ndarray
    node: np.ndarray
    factor: np.ndarray
    mean: np.ndarray
    log_share: np.ndarray
    slips: np.ndarray
    harmed: np.ndarray
    tried: np.ndarray
    unharmed: np.ndarray
    guess: np.ndarray
    right: np.ndarray
    score: np.ndarray


def _predict(parameters: np.ndarray, trials: _Trials, places: list[int], step: bool) -> _Chances:
    alone, guess, more, *last = parameters[len(places) + step :]
    slips = trials.amounts[:, places] @ parameters[: len(places)] + trials.alone[:, 0] * alone
    if step:
        (harm, hit), spread, hard, node = last, 0.0, 1.0 * HARD, 0.0 * HARD
        needles = trials.amounts[trials.first, 1:2]
        mean = np.maximum(needles * parameters[len(places)] / harm, 1e-300)
        log_share = hard * np.log(mean) - mean - gammaln(hard + 1)
    else:
        (spread,), harm, hit, hard, node = last, 0.5, 1.0, 0.0 * _NODES, _NODES
        mean, log_share = np.zeros((len(trials.first), 1)), np.log(_WEIGHTS / _WEIGHTS.sum())
    factor = np.exp(spread * node - spread**2 / 2)
    tried = np.where(trials.alone, hard > 0, hard)
    # a search may look beyond its bounds
    harmed = np.minimum(harm * np.where(trials.alone, hit, trials.kept), 1 - 1e-9)
    unharmed = np.exp(tried * np.log1p(-harmed) - slips[:, None] * factor)
    lucky = (guess + more * trials.clean)[:, None] * ~trials.alone
    right = np.clip(unharmed + (1 - unharmed) * lucky, 1e-9, 1 - 1e-9)
    score = np.where(trials.right[:, None] == 1, np.log(right), np.log1p(-right))
    return _Chances(
        hard, node, factor, mean, log_share, slips, harmed, tried, unharmed, lucky, right, score
    )


def loss(
    parameters: np.ndarray, trials: _Trials, places: list[int], step: bool
) -> tuple[float, np.ndarray]:
    """Return the negative log-likelihood, and its slope.

    A puzzle has a Poisson number of needles that are too hard, or else its slips are log-normal;
    with these, attempts are independent.
    """
    chances = _predict(parameters, trials, places, step)
    both = chances.log_share + np.add.reduceat(chances.score, trials.first)
    total = np.logaddexp.reduce(both, axis=1)[:, None]
    after = change = np.exp(both - total)
    if trials.selected:
        before = chances.log_share + chances.score[trials.first]
        fixed = np.logaddexp.reduce(before, axis=1)[:, None]
        total, change = total - fixed, after - np.exp(before - fixed)
    weight = trials.each(after)
    weight[trials.first] = change
    right, unharmed, factor = chances.right, chances.unharmed, chances.factor
    by_right = weight * np.where(trials.right[:, None] == 1, 1 / right, 1 / (right - 1))
    by_unharmed = by_right * unharmed * (1 - chances.guess)  # by its logarithm
    by_slips, by_guess = by_unharmed @ factor, -(by_right * (1 - unharmed)).sum(axis=1)
    gradient = [
        *(by_slips @ trials.amounts[:, places]), by_slips @ trials.alone[:, 0],
        by_guess @ ~trials.alone[:, 0], by_guess @ trials.clean,
    ]  # fmt: skip
    if step:
        expected, harm = parameters[len(places)], parameters[-2]
        by_mean = (change * (chances.hard - chances.mean)).sum()  # by the logarithm of the mean
        failing = (by_unharmed * chances.tried / (1 - chances.harmed)).sum(axis=1)
        gradient.insert(len(places), -by_mean / expected)
        gradient += [(failing @ chances.harmed[:, 0] + by_mean) / harm]
        gradient += [failing @ trials.alone[:, 0] * harm]
    else:
        by_spread = by_unharmed @ (factor * (chances.node - parameters[-1]))
        gradient.append(by_spread @ chances.slips)
    return -float(total.sum()), np.array(gradient)


def find_misfit(trials: _Trials, causes: Sequence[str], parameters: np.ndarray) -> Misfit | None:
    """Return the twin that a fit misses most, if it misses the seen shares by more than chance.

    Each share is of the twins with one change of the puzzles that failed, or of those that did not,
    and is expected given these results.
    """
    (_, places, step), _ = _settings(trials, causes, 1.0)
    chances = _predict(parameters, trials, places, step)
    known = chances.log_share + chances.score[trials.first]
    kinds = np.exp(known - np.logaddexp.reduce(known, axis=1)[:, None])
    expected = (trials.each(kinds) * chances.right).sum(axis=1)
    failed = trials.each(trials.right[trials.first]) == 0
    rows = pd.DataFrame({"change": trials.change, "failed": failed, "seen": trials.right})
    rows = rows.assign(expected=expected, variance=expected * (1 - expected))
    cells = rows[rows["change"] != ""].groupby(["change", "failed"], as_index=False)
    means, counts = cells.mean(), cells.size()["size"].to_numpy()
    apart = (means["seen"] - means["expected"]).to_numpy()
    squares = counts * apart**2 / np.maximum(means["variance"].to_numpy(), 0.25 / counts)
    freedom = max(1, len(apart) - len(places))
    if chi2.sf(squares.sum(), freedom) >= _MISFIT or np.abs(apart).max() < _MISS:
        return None
    return Misfit(*means[[*Misfit._fields]].iloc[int(np.abs(apart).argmax())])


def share_slips(trials: _Trials, causes: Sequence[str]) -> pd.DataFrame:
    """Return the share of the expected slips that each cause explains, in one fit of them all.

    Columns: cause, share, low and high, the 95 % interval: the least and the greatest share of
    slips that are nearly as likely as the best ones (NEAR).
    """
    (problem, bounds), best = _settings(trials, causes, 0.0), fit(trials, causes, 0.0)
    owners = np.array([cause for cause in causes for _ in _GROWS_WITH[cause] or [0]])
    near = NonlinearConstraint(
        lambda x: loss(x, *problem)[0], -np.inf, best.fun + NEAR[0], lambda x: loss(x, *problem)[1]
    )

    def share(slips: np.ndarray, mine: np.ndarray, sign: int) -> tuple[float, np.ndarray]:
        total = max(slips[: len(mine)].sum(), 1e-9)
        part = slips[: len(mine)] @ mine / total
        return sign * part, sign * np.append(
            (mine - part) / total, [0.0] * (len(slips) - len(mine))
        )

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
