"""From a sample to its response and score, and from the scores of a run to its shares."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from statistics import fmean
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import Model, ModelOutput, get_model, get_model_info
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from cogniload_gen import benchmarks
from cogniload_gen.grid import change_of
from cogniload_gen.responses.context_budget import Share
from cogniload_gen.sample import ending, sample_metrics
from inspect_tasks.samples import SHARE


def share_of(state: TaskState) -> Share:
    """Return how a sample shares its budget: --max-tokens can lower its limit, never raise it."""
    return replace(Share(**state.metadata[SHARE]), response_limit=limit_of(state))


def limit_of(state: TaskState, turns: int = 1) -> int:
    """Return the most tokens of the response to each of a sample's turns."""
    tokens = active_generate_config().max_tokens
    limit = max(1, Share(**state.metadata[SHARE]).response_limit // turns)
    return limit if tokens is None else min(limit, tokens)


def check_window(model: Model | None, samples: Iterable[Sample | TaskState]) -> None:
    """Raise ValueError if a model is known to take fewer tokens than a sample's budget.

    Inspect knows the windows of many models, and that of a vLLM server from its first answer on.
    """
    known = get_model_info(model) if model is not None else None
    window = known.context_length if known else None
    budgets = [(sample.metadata or {})["context_budget"] for sample in samples]
    if window is not None and budgets and window < max(budgets):
        raise ValueError(
            f"{model} takes {window} tokens and context_budget is {max(budgets)}: lower "
            "context_budget, or tell Inspect of a longer window by set_model_info"
        )


@solver
def generate_within_budget() -> Solver:
    """Let the model answer with the tokens that the prompt leaves of the budget."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        check_window(get_model(), [state])
        return await generate(state, max_tokens=share_of(state).response_limit)

    return solve


def run_metric(numbers: Callable[[list[SampleScore]], dict[str, float]]) -> Callable[[], Metric]:
    """Make a metric of a function from the scores of a run to its numbers; no scores, no numbers.

    The scores of all epochs count. A number that is not determined (NaN) is left out.
    """

    @metric(numbers.__name__, scores="unreduced")
    def make() -> Metric:
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
def accuracy_by_change(scores: list[SampleScore]) -> dict[str, float]:
    """Return the share of right responses to the puzzles, and to the twins of each change."""
    changes: dict[str, list[int]] = {}
    for sample in scores:
        right = (sample.score.metadata or {})["acc"]
        changes.setdefault(f"acc_{change_of(str(sample.sample_id))}", []).append(right)
    return {name: fmean(right) for name, right in changes.items()}


@scorer(metrics=[accuracy(), stderr(), outcome_shares()])
def score_puzzle() -> Scorer:
    """Score by the benchmark's own rules, with the evidence that lm-eval's samples have."""

    async def score(state: TaskState, target: Target) -> Score:
        share = share_of(state)
        row = state.metadata | {"puzzle": state.input_text}
        counts = share.scored(*said_tokens(state.output))
        metrics = sample_metrics(state.output.completion, row | counts)
        request = {"gen_args_0": {"arg_1": {"max_gen_toks": share.response_limit}}}
        read = metrics["answer_read"]
        return Score(
            value=CORRECT if metrics["acc"] else INCORRECT,
            answer=read["value"],
            explanation=read["explanation"],
            metadata=metrics
            | {"suite": benchmarks.of(row).suite, "arguments": request}
            | said_end(state.output),
        )

    return score


def said_tokens(output: ModelOutput) -> tuple[int | None, int | None]:
    """Return the tokens of prompt and response as a model's provider counts them."""
    if output.usage is None:
        return None, None
    usage = output.usage
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached, usage.output_tokens


def said_end(output: ModelOutput) -> dict[str, str]:
    """Return why a response ended, in lm-eval's words; nothing where the provider doesn't say."""
    reason = output.stop_reason
    if reason == "unknown":
        return {}
    return {"finish_reason": "length" if ending(reason) == "cut" else reason}
