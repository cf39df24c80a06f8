"""The fits behind CogniLoad's thresholds, for its YAMLs."""

import logging
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import pandas as pd

from cogniload_analysis.cogniload.fitted import Fitted
from cogniload_gen.grid import change_of
from lm_eval_tasks import metrics
from lm_eval_tasks.metrics import log_problems, numbers_of

log = logging.getLogger(__name__)

THRESHOLDS = ("ECL50", "NT50", "ID50")
CROSSINGS = tuple(f"{name}_crossing" for name in THRESHOLDS)

Loads = tuple[tuple[int, int, float, int], ...]
"""The d, N, rho (a fraction) and correct (0 or 1) of each response."""


def process_results(doc: dict, results: list[str]) -> dict[str, Any]:
    """Return the metrics of one response, and for each threshold its loads and whether it is right.

    `doc` is as for `metrics.process_results`.
    """
    return with_load(doc, results, THRESHOLDS)


def process_crossings(doc: dict, results: list[str]) -> dict[str, Any]:
    """Return what `process_results` does, for the crossings instead of the thresholds."""
    return with_load(doc, results, CROSSINGS)


def process_twins(doc: dict, results: list[str]) -> dict[str, Any]:
    """Return the metrics of one response, and its score under the name of the puzzle's change."""
    scored = metrics.process_results(doc, results)
    return scored | {f"acc_{change_of(doc['id'])}": scored["acc"]}


def with_load(doc: dict, results: list[str], fitted: Sequence[str]) -> dict[str, Any]:
    """Return the metrics of one response, and under each name in `fitted` its load and score."""
    scored = metrics.process_results(doc, results)
    load = (doc["d"], doc["N"], doc["rho"] / 100, scored["acc"])
    return scored | dict.fromkeys(fitted, load)


def capacity(loads: Loads) -> dict[str, float | None]:
    """Return the capacity thresholds (section 3.1.3) of a report's headline, by name.

    ECL50 is in statements, NT50 a share of needles, ID50 in units of d. None stands for a threshold
    that a report doesn't print either, as its load is not known to matter; the log says why.
    """
    return numbers(Fitted(frame_of(loads)).thresholds)


def crossings(loads: Loads) -> dict[str, float | None]:
    """Return where accuracy crosses one half at the paper's mean loads, by name.

    Units, and None, are as for `capacity`. No shape is assumed but that of `estimate_capacity`.
    """
    found = Fitted(frame_of(loads)).capacity
    return numbers({f"{name}_crossing": getattr(found, name) for name in THRESHOLDS})


def frame_of(loads: Loads) -> pd.DataFrame:
    """Return responses as a frame."""
    return pd.DataFrame(loads, columns=["d", "N", "rho", "correct"])


def numbers(thresholds: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the values of thresholds, None for one that is not known; the log says why.

    A number has no sign that it lies beyond the puzzles: then it is None, too.
    """
    values = {
        name: at.value if at.status == "crossing" and isfinite(at.value) else None
        for name, at in thresholds.items()
    }
    problems = {
        name: at.note or at.status
        for name, at in thresholds.items()
        if at.note or values[name] is None
    }
    log_problems(log, problems)
    return values


ecl50, nt50, id50 = numbers_of(capacity, THRESHOLDS)
ecl50_crossing, nt50_crossing, id50_crossing = numbers_of(crossings, CROSSINGS)
