"""The fit behind FACTOR's decay, for its YAMLs."""

import logging
from collections.abc import Sequence
from math import isfinite
from typing import Any

from cogniload_gen import benchmarks
from cogniload_gen.extras import how_to_install
from lm_eval_tasks import metrics
from lm_eval_tasks.metrics import log_problems, numbers_of

log = logging.getLogger(__name__)

DECAY = {"cdf": "CDF", "cdo": "CDO", "n_eff": "N_eff"}
"""The metrics of a run's fit, and what the analysis calls them."""


def process_results(doc: dict, results: list[str]) -> dict[str, Any]:
    """Return the metrics of one response, and for each number of the fit what it is fitted to.

    `doc` is as for `metrics.process_results`.
    """
    scored = metrics.process_results(doc, results)
    complexity, *_ = benchmarks.of(doc).knobs
    result = (doc[complexity.name], scored["acc"], doc["context"], doc.get("noise"))
    return scored | dict.fromkeys(DECAY, result)


def mean_size(sets: Sequence[Sequence[str]]) -> float:
    """Return the mean size of sets, such as the variables that an answer missed."""
    return sum(map(len, sets)) / len(sets)


def decay(results: tuple[tuple, ...]) -> dict[str, float | None]:
    """Return the fit of log accuracy on complexity (section 3.4), by name.

    `results` holds complexity, correct (0 or 1), context and noise of each response. None stands
    for what has no meaning or can't be estimated, as a fit of several contexts or kinds of noise,
    and for all three without `cogniload_analysis`'s requirements; the log says why. It also warns
    of a line that chance has made too flat.
    """
    try:
        import pandas as pd  # noqa: PLC0415  (a run without them is still a run)

        from cogniload_analysis import fit_complexity_decay  # noqa: PLC0415
    except ImportError as error:
        log.warning("no CDF, CDO and N_eff: %s (%s)", how_to_install("analysis"), error)
        return dict.fromkeys(DECAY)
    contexts = len({tuple(context) for _, _, *context in results})
    if contexts > 1:
        several = f"a fit is of one context, and the run has {contexts}: `cogniload report` has all"
        log_problems(log, dict.fromkeys(DECAY.values(), several))
        return dict.fromkeys(DECAY)
    fit = fit_complexity_decay(
        pd.DataFrame([each[:2] for each in results], columns=["N", "correct"])
    )
    log_problems(log, fit.problems)
    if fit.note:
        log_problems(log, dict.fromkeys(DECAY.values(), fit.note))
    values = {name: getattr(fit, name) for name in DECAY}
    sound = {name: isfinite(values[name]) and DECAY[name] not in fit.problems for name in DECAY}
    return {name: value if sound[name] else None for name, value in values.items()}


cdf, cdo, n_eff = numbers_of(decay, tuple(DECAY))
