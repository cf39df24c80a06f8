"""The likelihood of the GLMs with a guess rate and a lapse rate.

P(correct) = guess + (1 - guess - lapse) logistic(eta): who can't solve a puzzle still hits one of
its options, and who can still slips now and then. The guess rate is known; the lapse rate is
estimated with the coefficients of eta (Wichmann and Hill 2001).
"""

from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, logit
from statsmodels.stats.sandwich_covariance import S_crosssection

from cogniload_analysis.frame import check_values

Guess: TypeAlias = str | float | None
BY_OPTIONS = "options"
FLAT = 1e-3
"""The likelihood counts as maximal where the slopes of its logarithm are less than this."""
LEAST_INFORMATION = 1e-6
"""The share of a response's information on eta below which a coefficient counts as endless."""
FIRST_LAPSE = 0.02


class Maximum(NamedTuple):
    """Where the likelihood is maximal: coefficients, then the lapse rate if it is estimated.

    `free` says which of them are not at their bound; a lapse rate of 0 is, and its covariance is 0.
    """

    params: np.ndarray
    covariance: np.ndarray
    free: np.ndarray
    llf: float


def guess_rates(frame: pd.DataFrame, guess: Guess) -> np.ndarray:
    """Return the rate at which guesses solve each row's puzzle.

    `guess` may be None (never), a rate, or "options": one over the puzzle's number of options. The
    column `chance` holds that rate, or `options` the number or the options themselves; else d tells
    the number, max(d + 1, 3) (section 2.1.1). Raises ValueError for anything else.
    """
    if guess is None:
        return np.zeros(len(frame))
    if guess == BY_OPTIONS:
        if "chance" in frame and frame["chance"].between(0, 1, inclusive="neither").all():
            return frame["chance"].to_numpy(dtype=float)
        if "options" not in frame:
            return 1 / np.maximum(frame["d"].to_numpy(dtype=float) + 1, 3)
        options = frame["options"].map(lambda value: len(value) if np.ndim(value) else value)
        check_values(pd.DataFrame({"options": options}), "options", options >= 2, "2 or more")
        return 1 / options.to_numpy(dtype=float)
    if isinstance(guess, str) or not 0 <= guess < 1:
        raise ValueError(
            f'guess must be None, "options" or a rate from 0 to below 1, got {guess!r}'
        )
    return np.full(len(frame), float(guess))


def accuracy(eta: np.ndarray, guess: np.ndarray | float, lapse: float) -> np.ndarray:
    """Return the probability of a right answer."""
    return guess + (1 - guess - lapse) * expit(eta)


def eta_at(level: float, guess: float, lapse: float) -> tuple[float, float]:
    """Return the eta at which an accuracy is reached, and its derivative by the lapse rate.

    `level` lies between the guess rate and 1 - lapse.
    """
    reach = 1 - guess - lapse
    share = (level - guess) / reach
    return float(logit(share)), 1 / ((1 - share) * reach)


def maximise(
    design: np.ndarray,
    guess: np.ndarray,
    right: np.ndarray,
    total: np.ndarray,
    *,
    lapse: bool,
    groups: np.ndarray | None = None,
) -> Maximum:
    """Maximise the likelihood of counted answers with guesses, lapses or both.

    A row each of `design`, `guess`, `right` answers and answers in `total`. With `groups` of rows,
    the covariance is a sandwich that allows for answers alike, with statsmodels' correction for
    few groups. Raises LinAlgError where there is no finite maximum.
    """
    # In these coordinates the design has orthonormal columns, whatever the scales of the loads.
    _, triangle = np.linalg.qr(design * np.sqrt(total / total.sum())[:, None])
    scaled = design @ np.linalg.inv(triangle)
    share = np.clip((right / total - guess) / (1 - guess), 0.05, 0.95)
    root = np.sqrt(total)
    start = np.linalg.lstsq(scaled * root[:, None], logit(share) * root, rcond=None)[0]
    terms, ceiling = design.shape[1], 0.999 * (1 - guess.max())

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        height = log_likelihood(scaled, guess, right, total, theta)
        return -height, -_slopes(scaled, guess, right, total, theta)[0].sum(axis=0)

    theta = minimize(
        loss, [*start, *[FIRST_LAPSE] * lapse], jac=True, method="L-BFGS-B",
        bounds=[(None, None)] * terms + [(0, ceiling)] * lapse,
        options={"ftol": 0, "gtol": 1e-7, "maxls": 50, "maxcor": 20},
    ).x  # fmt: skip
    scores, information = _slopes(scaled, guess, right, total, theta)
    free = np.ones(len(theta), dtype=bool)
    free[terms:] = theta[terms:] > 0
    least = np.linalg.eigvalsh(information[:terms, :terms])[0] / total.sum()
    if np.abs(scores.sum(axis=0)[free]).max() > FLAT or least < LEAST_INFORMATION:
        raise np.linalg.LinAlgError(
            "the maximum of the likelihood was not found: the answers hardly differ from guesses, "
            "or one accuracy is reached everywhere"
        )
    covariance = np.zeros_like(information)
    covariance[np.ix_(free, free)] = np.linalg.inv(information[np.ix_(free, free)])
    if groups is not None:
        rows, count = len(design), groups.max() + 1
        correction = count / (count - 1) * (rows - 1) / (rows - len(theta))
        covariance = correction * covariance @ S_crosssection(scores, groups) @ covariance
    back = np.eye(len(theta))
    back[:terms, :terms] = np.linalg.inv(triangle)
    llf = log_likelihood(scaled, guess, right, total, theta)
    return Maximum(back @ theta, back @ covariance @ back.T, free, llf)


def log_likelihood(
    design: np.ndarray, guess: np.ndarray, right: np.ndarray, total: np.ndarray, theta: np.ndarray
) -> float:
    """Return the Bernoulli log-likelihood of counted answers."""
    p, _, _ = _predict(design, guess, theta)
    # Rounding may make p 0 or 1, with a count of 0 beside it.
    p = np.clip(p, 1e-300, 1 - 1e-16)
    return float(right @ np.log(p) + (total - right) @ np.log1p(-p))


def _predict(
    design: np.ndarray, guess: np.ndarray, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each row's accuracy, and its derivatives by eta and by the lapse rate."""
    terms = design.shape[1]
    lapse = float(theta[terms]) if len(theta) > terms else 0.0
    solved = expit(design @ theta[:terms])
    reach = 1 - guess - lapse
    return guess + reach * solved, reach * solved * (1 - solved), -solved


def _slopes(
    design: np.ndarray, guess: np.ndarray, right: np.ndarray, total: np.ndarray, theta: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's part of the log-likelihood's gradient, and Fisher's information."""
    p, slope, gone = _predict(design, guess, theta)
    by_row = np.column_stack([design * slope[:, None], gone])[:, : len(theta)]
    variance = np.maximum(p * (1 - p), 1e-300)
    scores = by_row * ((right - total * p) / variance)[:, None]
    return scores, by_row.T @ (by_row * (total / variance)[:, None])
