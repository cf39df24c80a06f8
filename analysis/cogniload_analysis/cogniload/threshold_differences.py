"""Differences of the thresholds of two models, from one joint GLM of model by load.

With every load's effect apart by model, the joint GLM has the coefficients of the models' own GLMs.
What joins them is the covariance, clustered by puzzle: models that answer the same puzzles err
together, and their difference is then known better than either threshold. Puzzles along a line,
and those of an adaptive run, are no grid: their crossings are compared, as their report has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.linalg import block_diag
from scipy.stats import norm

from cogniload_analysis.analysis import Pairs
from cogniload_analysis.cogniload import glm_thresholds as th
from cogniload_analysis.cogniload.fitted import CROSSING, Fitted, hide_unknown
from cogniload_analysis.cogniload.glm import TERMS, LoadGLM, fit_logistic, load_design
from cogniload_analysis.cogniload.sections.adaptive import fit_models
from cogniload_analysis.stats import percentiles

NAMES = {"ECL50": "beta_N", "NT50": "beta_rho2", "ID50": "beta_d"}
"""Each threshold, and the coefficient that it can't do without."""

# Fits of the same answers have thresholds that differ by less; no others do in practice.
_ROUNDING = 1e-6


def compare_thresholds(
    frame: pd.DataFrame, pairs: Pairs, models: Mapping[str, Fitted] | None = None
) -> pd.DataFrame:
    """Return the differences of ECL50, NT50 and ID50 for pairs of models, with 95 % intervals.

    `frame` has the columns model, id, d, N, rho (a fraction) and correct; what has one id is one
    puzzle. `models` are what is known of its models, if they have been fitted. Columns: first,
    second, measure, condition (empty), scale, first_value, second_value, difference, low, high, p,
    method and note. The ECL50 differs by a factor (scale "ratio"), the
    others by a difference. Both models' loads are held at the means of their responses. Crossings
    are compared where a report has no projection: of puzzles along a line, of an adaptive
    run, and where the projection is not known. A threshold whose load does not matter to both
    models has no difference.
    """
    models = fit_models(frame)[0] if models is None else models
    answers = {str(model): rows for model, rows in frame.groupby("model", observed=True)}
    rows: list[dict[str, object]] = []
    for first, second in pairs:
        one, other = models[first], models[second]
        pair = {"first": first, "second": second, "condition": ""}
        projected = one.is_projected and other.is_projected
        if projected:
            found = [*_compare(one, other, [answers[model] for model in (first, second)])]
        else:
            found = [*_compare_crossings(one, other)]
        if projected and one.meaning == other.meaning == CROSSING:
            crossing = next(_compare_crossings(one, other))
            found[0] = crossing if crossing["method"] else found[0]
        rows += [pair | row for row in found]
    return pd.DataFrame(rows)


def _crossing(fitted: Fitted, name: str) -> th.Threshold:
    """Return a crossing, and why it is unknown if it is."""
    at: th.Threshold = getattr(fitted.capacity, name)
    problem = fitted.likeliest.problems.get(NAMES[name]) or fitted.unknown.get(name)
    return at if np.isfinite(at.value) else th.Threshold(note=problem or at.note or at.status)


def _compare_crossings(first: Fitted, second: Fitted) -> Iterator[dict[str, object]]:
    """Yield the differences of crossings, at the same loads, as if their errors were independent.

    Of models that answer the same puzzles, the intervals are too wide rather than too narrow.
    """
    at, other = first.capacity.at, second.capacity.at
    same = np.allclose((at.d, at.rho), (other.d, other.rho))
    for name in NAMES:
        pair = _crossing(first, name), _crossing(second, name)
        ends = np.array([[at.low, at.value, at.high] for at in pair])
        with np.errstate(divide="ignore", invalid="ignore"):
            (low, value, high) = (np.log10(ends) if name == "ECL50" else ends).T
            error = float(np.hypot(*(high - low))) / (2 * th.Z)
        if not (same and np.isfinite(error)):
            row = _row(name, pair)
            if np.isfinite(error):
                row["note"] = "their crossings are at other loads"
            yield row
            continue
        apart = float(value[0] - value[1])
        p = float(2 * norm.sf(abs(apart) / error))
        yield _row(name, pair, (apart - th.Z * error, apart + th.Z * error), p, "crossings")


def _compare(
    first: Fitted, second: Fitted, answers: Sequence[pd.DataFrame]
) -> Iterator[dict[str, object]]:
    """Yield the differences of projections, at the means of both models' loads.

    `answers` are the models' rows, with one id for what is one puzzle.
    """
    glms = [replace(fitted.likeliest, unknown=fitted.glm.unknown) for fitted in (first, second)]
    if any("beta_0" in glm.problems for glm in glms):  # nothing joins them
        one, other = (hide_unknown(vars(glm.thresholds()), glm.unknown) for glm in glms)
        yield from (_row(name, (one[name], other[name])) for name in NAMES)
        return
    loads = [list(vars(glm.means).values()) for glm in glms]
    weights = [glm.nobs for glm in glms]
    means = th.LoadMeans(*map(float, np.average(loads, axis=0, weights=weights)))
    betas = [glm.params[list(TERMS)].to_numpy(dtype=float) for glm in glms]
    covariance = _joint_covariance(glms, answers)
    found = [
        _find_thresholds(glm, th.estimate_thresholds(beta, covariance[own, own], means))
        for glm, beta, own in zip(glms, betas, (slice(5), slice(5, 10)), strict=True)
    ]
    draws: np.ndarray | None = None
    for place, name in enumerate(NAMES):
        pair = found[0][name], found[1][name]
        if any(at.status != "crossing" for at in pair):
            yield _row(name, pair)
        elif all(at.method == "delta method" for at in pair):
            sides = zip(betas, pair, (1, -1), strict=True)
            slopes = np.concatenate(
                [sign * _gradient(name, beta, means, at.value) for beta, at, sign in sides]
            )
            values = [np.log10(at.value) if name == "ECL50" else at.value for at in pair]
            difference = _difference(*values)
            # Of the same answers it is 0, which rounding may leave below.
            error = float(np.sqrt(max(slopes @ covariance @ slopes, 0)))
            p = 2 * norm.sf(abs(difference) / error) if difference else 1.0
            ends = difference - th.Z * error, difference + th.Z * error
            yield _row(name, pair, ends, float(p), "delta method")
        else:
            if draws is None:
                draws = _draw_differences(np.concatenate(betas), covariance, means)
            yield _row(name, pair, *_read_draws(draws[place]), "parametric bootstrap")


def _joint_covariance(glms: Sequence[LoadGLM], frames: Sequence[pd.DataFrame]) -> np.ndarray:
    """Return the covariance of the joint GLM's coefficients, clustered by puzzle.

    It is 0 of those that the data can't estimate.
    """
    known = [glm.params[list(TERMS)].notna().to_numpy() for glm in glms]
    designs = [
        load_design(rows["d"], rows["N"], rows["rho"])[list(TERMS)].loc[:, terms]
        for rows, terms in zip(frames, known, strict=True)
    ]
    rows = pd.concat(frames, ignore_index=True)
    design = pd.DataFrame(block_diag(*designs))
    fit = fit_logistic(design, rows["correct"].to_numpy(float), clusters=rows["id"])
    places = np.flatnonzero(np.concatenate(known))
    covariance = np.zeros((2 * len(TERMS),) * 2)
    covariance[np.ix_(places, places)] = fit.cov_params()
    return covariance


def _find_thresholds(glm: LoadGLM, found: th.Thresholds) -> dict[str, th.Threshold]:
    """Return the known thresholds by name; a note says why one is not estimated."""
    known = hide_unknown(vars(found), glm.unknown)
    notes = {name: glm.problems.get(term, "") for name, term in NAMES.items()}
    return {name: replace(at, note=notes[name] or at.note) for name, at in known.items()}


def _difference(first: np.ndarray | float, second: np.ndarray | float) -> np.ndarray:
    """Return differences on a threshold's scale, 0 where rounding alone may have made them."""
    with np.errstate(invalid="ignore"):
        apart = np.subtract(first, second)
    return np.where(np.abs(apart) < _ROUNDING, 0, apart)


def _gradient(name: str, beta: np.ndarray, means: th.LoadMeans, value: float) -> np.ndarray:
    """Return how a threshold, on its scale, moves with the coefficients: -x / slope at it."""
    at = np.array([1, means.d, means.log10_N, means.rho, means.rho**2])
    if name == "ECL50":
        at[th.BETA_N], slope = np.log10(value), beta[th.BETA_N]
    elif name == "ID50":
        at[th.BETA_D], slope = value, beta[th.BETA_D]
    else:
        at[3:], slope = (value, value**2), beta[3] + 2 * value * beta[4]
    return -at / slope


def _draw_differences(beta: np.ndarray, covariance: np.ndarray, means: th.LoadMeans) -> np.ndarray:
    """Return the thresholds' differences, a row each, for draws of the joint coefficients.

    NaN where a draw of either has no threshold, or has passed a slope of zero.
    """
    beta, draws = np.nan_to_num(beta), th.BOOTSTRAP_DRAWS
    drawn = np.random.default_rng(0).multivariate_normal(beta, covariance, draws).T
    sides = []
    for coefficients, centre in ((drawn[:5], beta[:5]), (drawn[5:], beta[5:])):
        ECL50, NT50, ID50 = th.capacity_thresholds(*coefficients, **vars(means))
        with np.errstate(divide="ignore", invalid="ignore"):
            log10_ECL50 = np.log10(ECL50)
        rising = coefficients[[th.BETA_N, th.BETA_D]] * centre[[th.BETA_N, th.BETA_D], None] <= 0
        sides.append(
            [np.where(rising[0], np.nan, log10_ECL50), NT50, np.where(rising[1], np.nan, ID50)]
        )
    return _difference(*map(np.array, sides))


def _read_draws(drawn: np.ndarray) -> tuple[tuple[float, float], float]:
    """Return the interval and the p of drawn differences; an unknown one may lie on either side."""
    unknown = np.isnan(drawn)
    low, high = (
        percentiles(np.where(unknown, end, drawn))[side]
        for side, end in enumerate((-np.inf, np.inf))
    )
    below, above = ((unknown | side).sum() + 1 for side in (drawn <= 0, drawn >= 0))
    p = min(1.0, 2 * min(below, above) / (len(drawn) + 1))
    return (float(low), float(high)), float(p)


def _row(
    name: str,
    pair: tuple[th.Threshold, th.Threshold],
    ends: tuple[float, float] = (np.nan, np.nan),
    p: float = np.nan,
    method: str = "",
) -> dict[str, object]:
    """Return a difference as a row of the table."""
    (first, second), ratio = pair, name == "ECL50"
    with np.errstate(all="ignore"):
        low, high = (float(np.power(10.0, end)) if ratio else end for end in ends)
        apart = np.divide if ratio else np.subtract  # below all N, an ECL50 is 0
        difference = float(apart(first.value, second.value))
    notes = dict.fromkeys(at.note or at.status for at in pair if at.status != "crossing")
    return {
        "measure": name,
        "scale": "ratio" if ratio else "difference",
        "first_value": first.value,
        "second_value": second.value,
        "difference": difference if method else np.nan,
        "low": low,
        "high": high,
        "p": p,
        "method": method,
        "note": "; ".join(notes),
    }
