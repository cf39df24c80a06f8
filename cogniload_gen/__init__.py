"""Puzzles that tell why a language model fails at long reasoning: generators, solvers, scorers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cogniload_gen import rewards as rewards
from cogniload_gen.benchmark import Benchmark, Score
from cogniload_gen.benchmarks import read_steps, score, solve
from cogniload_gen.cogniload import generate_puzzles
from cogniload_gen.cogniload.knobs import GENERATOR_VERSION
from cogniload_gen.cogniload.score import Outcome, score_response
from cogniload_gen.factor import generate_factor
from cogniload_gen.factor.score import FactorOutcome, FactorScore, score_factor

if TYPE_CHECKING:
    from cogniload_gen.cogniload.frontier import Frontier
    from cogniload_gen.cogniload.steps.credit import credit_spans, credit_tokens

__all__ = [
    "GENERATOR_VERSION",
    "Benchmark",
    "FactorOutcome",
    "FactorScore",
    "Frontier",
    "Outcome",
    "Score",
    "__version__",
    "credit_spans",
    "credit_tokens",
    "generate_factor",
    "generate_puzzles",
    "read_steps",
    "score",
    "score_factor",
    "score_response",
    "solve",
]

__version__ = "0.2.0"


_LATER = {
    "Frontier": "cogniload_gen.cogniload.frontier",
    "credit_spans": "cogniload_gen.cogniload.steps.credit",
    "credit_tokens": "cogniload_gen.cogniload.steps.credit",
}
"""What is imported when it is asked for, so that the rest begins at once."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
