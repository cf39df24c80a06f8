"""The fits of a whole run as metrics: those of lm-eval's tasks, each with its 95 % interval."""

from collections.abc import Mapping
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, metric

import cogniload_analysis
from cogniload_gen import benchmarks

NAN = float("nan")
ENDS = ("", "_low", "_high")
DECAY = {"cdf": "CDF", "cdo": "CDO", "n_eff": "N_eff"}
"""The metrics of FACTOR's fit, and what the analysis calls them."""

CONDITION = ("context", "noise")
"""What a run's puzzles must share for FACTOR's fit, as far as they have it."""


@metric(scores="unreduced")
def thresholds() -> Metric:
    """Return the thresholds of the paper's GLM: ECL50 in statements, NT50 a share, ID50 in d."""

    def fitted(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {}
        frame = load_frame(scores)
        return with_ends(vars(cogniload_analysis.fit_load_glm(frame).thresholds()))

    return fitted


@metric(scores="unreduced")
def crossings() -> Metric:
    """Return where accuracy crosses one half at the paper's mean loads, without a shape assumed."""

    def fitted(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {}
        capacity = cogniload_analysis.estimate_capacity(load_frame(scores))
        names = ("ECL50", "NT50", "ID50")
        return with_ends({f"{name}_crossing": getattr(capacity, name) for name in names})

    return fitted


@metric(scores="unreduced")
def decay() -> Metric:
    """Return FACTOR's fit of log accuracy on complexity: CDF, CDO and N_eff, of one context."""

    def fitted(scores: list[SampleScore]) -> dict[str, float]:
        import pandas as pd  # noqa: PLC0415

        if not scores:
            return {}
        rows = [sample.sample_metadata or {} for sample in scores]
        metrics = {f"{name}{end}": NAN for name in DECAY for end in ENDS}
        if len({tuple(row[name] for name in CONDITION if name in row) for row in rows}) != 1:
            return metrics
        complexity, *_ = benchmarks.of(rows[0]).knobs
        frame = pd.DataFrame(
            {"N": [row[complexity.name] for row in rows], "correct": read_correct(scores)}
        )
        fit = cogniload_analysis.fit_complexity_decay(frame)
        ends = fit.conf_int()
        for name, label in DECAY.items():
            value = NAN if label in fit.problems else getattr(fit, name)
            low, high = (float(ends[end][label]) for end in ("low", "high"))
            metrics |= {name: value, f"{name}_low": low, f"{name}_high": high}
        return metrics

    return fitted


def load_frame(scores: list[SampleScore]) -> Any:
    """Return responses to CogniLoad as a frame: d, N, rho (a fraction) and correct."""
    import pandas as pd  # noqa: PLC0415

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
