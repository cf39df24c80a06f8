"""The fits of a whole run as metrics: those of lm-eval's tasks, each with its 95 % interval."""

from collections.abc import Mapping
from typing import Any

from inspect_ai.scorer import SampleScore

import cogniload_analysis
from cogniload_gen import benchmarks
from inspect_tasks.scoring import run_metric

NAN = float("nan")
ENDS = ("", "_low", "_high")
DECAY = {"cdf": "CDF", "cdo": "CDO", "n_eff": "N_eff"}
"""The metrics of FACTOR's fit, and what the analysis calls them."""

CONDITION = ("context", "noise")
"""What a run's puzzles must share for FACTOR's fit, as far as they have it."""


@run_metric
def thresholds(scores: list[SampleScore]) -> dict[str, float]:
    """Return the thresholds of the paper's GLM: ECL50 in statements, NT50 a share, ID50 in d."""
    return with_ends(vars(cogniload_analysis.fit_load_glm(load_frame(scores)).thresholds()))


@run_metric
def crossings(scores: list[SampleScore]) -> dict[str, float]:
    """Return where accuracy crosses one half at the paper's mean loads, without a shape assumed."""
    capacity = cogniload_analysis.estimate_capacity(load_frame(scores))
    names = ("ECL50", "NT50", "ID50")
    return with_ends({f"{name}_crossing": getattr(capacity, name) for name in names})


@run_metric
def decay(scores: list[SampleScore]) -> dict[str, float]:
    """Return FACTOR's fit of log accuracy on complexity: CDF, CDO and N_eff, of one context."""
    import pandas as pd

    rows = [sample.sample_metadata or {} for sample in scores]
    if len({tuple(row[name] for name in CONDITION if name in row) for row in rows}) != 1:
        return {f"{name}{end}": NAN for name in DECAY for end in ENDS}
    complexity, *_ = benchmarks.of(rows[0]).knobs
    loads = [row[complexity.name] for row in rows]
    frame = pd.DataFrame({"N": loads, "correct": read_correct(scores)})
    fit = cogniload_analysis.fit_complexity_decay(frame)
    ends, metrics = fit.conf_int(), {}
    for name, label in DECAY.items():
        metrics[name] = NAN if label in fit.problems else getattr(fit, name)
        metrics |= {f"{name}_{end}": float(ends[end][label]) for end in ("low", "high")}
    return metrics


def load_frame(scores: list[SampleScore]) -> Any:
    """Return responses to CogniLoad as a frame: d, N, rho (a fraction) and correct."""
    import pandas as pd

    rows = [sample.sample_metadata or {} for sample in scores]
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in ("d", "N")}
    rho = [row["rho"] / 100 for row in rows]
    return pd.DataFrame(columns | {"rho": rho, "correct": read_correct(scores)})


def with_ends(estimates: Mapping[str, Any]) -> dict[str, float]:
    """Return thresholds by name, with the ends of their intervals; NaN for what there is not."""
    return {
        f"{name}{end}": getattr(threshold, end.lstrip("_") or "value")
        for name, threshold in estimates.items()
        for end in ENDS
    }


def read_correct(scores: list[SampleScore]) -> list[int]:
    """Return 1 for each score of a right response, and 0 for the others."""
    return [(sample.score.metadata or {})["acc"] for sample in scores]
