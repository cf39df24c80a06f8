"""From a sample to its response and score, and from the scores of a run to its metrics."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
from inspect_ai import scorer as scorers
from inspect_ai.model import ModelOutput
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.scorer import SampleScore, Score, Target
from inspect_ai.solver import Generate, Solver, TaskState, solver

import cogniload_analysis
from cogniload_analysis.adaptive.task import tell
from cogniload_analysis.analyses import Fitted
from cogniload_gen import benchmarks
from cogniload_gen.answers.reasoning import of_message
from cogniload_gen.answers.sample import ResponseFacts, Sample
from cogniload_gen.context_budget import Share
from inspect_tasks.samples import SHARE

# What a run's puzzles must share for FACTOR's fit, as far as they have it.
_CONDITION = ("context", "noise")


def limit_of(state: TaskState, turns: int = 1) -> int:
    """Return the most tokens of the response to each of a sample's turns.

    --max-tokens can lower it, never raise it.
    """
    limit = max(1, Share(**state.metadata[SHARE]).response_limit // turns)
    return min(limit, active_generate_config().max_tokens or limit)


@solver
def generate_within_budget() -> Solver:
    """Let the model answer with the tokens that the prompt leaves of the budget."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await generate(state, max_tokens=limit_of(state))

    return solve


# Metrics of a run


def run_metric(
    numbers: Callable[[list[SampleScore]], dict[str, float]],
) -> Callable[[], scorers.Metric]:
    """Make a metric of a function from the scores of a run to its numbers; no scores, no numbers.

    The scores of all epochs count. A number that is not determined (NaN) is left out.
    """

    @scorers.metric(numbers.__name__, scores="unreduced")
    def make() -> scorers.Metric:
        def measured(scores: list[SampleScore]) -> dict[str, float]:  # Inspect reads these types
            measures = numbers(scores) if scores else {}
            return {name: value for name, value in measures.items() if not math.isnan(value)}

        return measured

    return make


@run_metric
def outcome_shares(scores: list[SampleScore]) -> dict[str, float]:
    """Return the share of each outcome that a benchmark knows, by its name."""
    counts = Counter((sample.score.metadata or {})["outcome"] for sample in scores)
    kinds: Any = benchmarks.of(scores[0].sample_metadata or {}).outcomes
    return {kind.value: counts[kind.value] / len(scores) for kind in kinds}


@run_metric
def uncut(scores: list[SampleScore]) -> dict[str, float]:
    """Return the share of the responses that a limit cut, and the accuracy of the others."""
    metrics = pd.DataFrame([sample.score.metadata or {} for sample in scores])
    means = metrics[["overflow", "acc_uncut"]].astype(float).mean()
    return {str(name): float(mean) for name, mean in means.items()}


@run_metric
def thresholds(scores: list[SampleScore]) -> dict[str, float]:
    """Return the thresholds of a report's headline: ECL50 in statements, NT50 a share, ID50."""
    found = Fitted(frame_of(scores)).thresholds
    return _with_ends({name: at for name, at in found.items() if at.status == "crossing"})


@run_metric
def decay(scores: list[SampleScore]) -> dict[str, float]:
    """Return FACTOR's fit of log accuracy on complexity: CDF, CDO and N_eff, of one context."""
    frame = frame_of(scores)
    if len(frame.filter(_CONDITION).drop_duplicates()) > 1:
        return {}
    complexity, *_ = benchmarks.of(scores[0].sample_metadata or {}).knobs
    fit = cogniload_analysis.fit_complexity_decay(frame.assign(N=frame[complexity.name]))
    ends, metrics = fit.conf_int(), {}
    for label in ("CDF", "CDO", "N_eff"):
        name = label.lower()
        metrics[name] = math.nan if label in fit.problems else getattr(fit, name)
        metrics |= {f"{name}_{end}": float(ends[end][label]) for end in ("low", "high")}
    return metrics


@scorers.metric(scores="unreduced")
def estimate(**until: Any) -> scorers.Metric:
    """Return what the answers say of each goal of a design: the median and the ends of 95 %.

    `until` are the design's settings. What lies beyond the range of the puzzles is its end.
    """

    def estimated(scores: list[SampleScore]) -> dict[str, float]:
        rows = [sample.sample_metadata or {} for sample in scores]
        if not rows:
            return {}
        adaptive = cogniload_analysis.ADAPTIVE[benchmarks.of(rows[0]).name]
        design, found = adaptive.make(**until), dict[str, float]()
        answers = {
            tuple(row[name] for name in (*adaptive.knobs, "index")): sample.score.metadata or {}
            for row, sample in reversed([*zip(rows, scores, strict=True)])  # the first epoch stays
        }
        tell(design, answers)
        described = design.describe()
        for goal, (least, most) in design.extents.items():
            ends = _with_ends({goal: getattr(described, goal)})
            found |= {
                n: min(max(end, least), most) for n, end in ends.items() if not math.isnan(end)
            }
        return found

    return estimated


def _with_ends(estimates: Mapping[str, Any]) -> dict[str, float]:
    """Return estimates by name, with the ends of their intervals; NaN for what there is not."""
    return {
        name + end: float(getattr(estimate, field))
        for name, estimate in estimates.items()
        for end, field in (("", "value"), ("_low", "low"), ("_high", "high"))
    }


def frame_of(scores: list[SampleScore]) -> pd.DataFrame:
    """Return puzzles and whether each was solved, `correct`, as the fits take them."""
    frame = pd.DataFrame([sample.sample_metadata or {} for sample in scores])
    frame["id"] = [sample.sample_id for sample in scores]
    frame["correct"] = [(sample.score.metadata or {})["acc"] for sample in scores]
    return frame.assign(rho=frame["rho"] / 100) if "rho" in frame else frame


# The score of a sample


@scorers.scorer(metrics=[scorers.accuracy(), scorers.stderr(), uncut(), outcome_shares()])
def score_puzzle() -> scorers.Scorer:
    """Score by the benchmark's own rules, with the evidence that lm-eval's samples have."""

    async def score(state: TaskState, target: Target) -> Score:
        share = replace(Share(**state.metadata[SHARE]), response_limit=limit_of(state))
        row = state.metadata | {"puzzle": state.input_text} | facts_of(state.output).columns(share)
        sample = Sample.from_answer(state.output.completion, row)
        return Score(
            value=scorers.CORRECT if sample.score.correct else scorers.INCORRECT,
            answer=sample.score.value,
            explanation=sample.score.explanation,
            metadata=sample.to_inspect(),
        )

    return score


def facts_of(output: ModelOutput) -> ResponseFacts:
    """Return what a model's provider says of its response: how it ended, tokens, reasoning."""
    message = output.message.model_dump() if output.choices else {}
    reason = None if output.stop_reason == "unknown" else output.stop_reason
    if (usage := output.usage) is None:
        return ResponseFacts(reason, reasoning=of_message(message))
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    counts = usage.input_tokens + cached, usage.output_tokens
    return ResponseFacts(reason, *counts, of_message(message, usage.reasoning_tokens))
