"""Adaptive designs, and deterministic models that answer them.

The same puzzle gets the same answer, whoever asks and when.
"""

from functools import cache
from hashlib import sha256

import numpy as np
from scipy.special import expit

from cogniload_analysis import AdaptiveDesign, DecayDesign

MEAN_D, MEAN_LOG10_N = 5.2, 1.8495
CDF, N_EFF = -0.1, 12.0


def accuracy_at(d, N, rho=50, level=-0.7, slope=-4.4, of_d=-0.33, lapse=0.0):
    """Return the accuracy of a model of a known capacity."""
    u = (rho / 100 - 0.5) / 0.45
    eta = level + of_d * (d - MEAN_D) + slope * (np.log10(N) - MEAN_LOG10_N) + 1.1 * u**2
    floor = 0.9 / max(d + 1, 3)
    return (1 - lapse) * (floor + (0.99 - floor) * expit(eta))


def solves_by_capacity(puzzle, **model):
    """Return whether that model solves a puzzle of CogniLoad."""
    d, N, rho, index = puzzle
    draw = np.random.default_rng([d, N, int(10 * rho), index]).random()
    return bool(draw < accuracy_at(d, N, rho, **model))


def solve_all(puzzles, **model):
    """Return which puzzles of CogniLoad it solves."""
    return [solves_by_capacity(puzzle, **model) for puzzle in puzzles]


def solves_by_decay(puzzle, decay=CDF, place=N_EFF, lapse=0.0):
    """Return whether a model of a known decay solves a puzzle of FACTOR."""
    N, index = puzzle
    accuracy = (1 - lapse) * min(1, np.exp(decay * (N - place)))
    draw = int.from_bytes(sha256(f"{N} {index}".encode()).digest()[:6], "big") / 2**48
    return draw < accuracy


def run(design, solves, **model):
    """Ask to the end; return the batches as they were asked."""
    asked = []
    while not design.done:
        asked.append(design.ask())
        design.tell(asked[-1], [solves(puzzle, **model) for puzzle in asked[-1]])
    return asked


MODELS = {
    "capacity": (lambda: AdaptiveDesign(target=0.15, budget=400), solves_by_capacity),
    "decay": (lambda: DecayDesign(target=0.1, budget=256), solves_by_decay),
}
"""What makes a design of each kind, and what answers it."""


@cache
def undisturbed_run(kind):
    """Return the batches of a run without a break, and its design; nothing may change them."""
    make, solves = MODELS[kind]
    design = make()
    return run(design, solves), design
