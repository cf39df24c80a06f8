"""Puzzles that tell why a language model fails at long reasoning: generators, solvers, scorers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cogniload_gen.benchmark import Benchmark, Score
    from cogniload_gen.benchmarks import read_steps, score, solve
    from cogniload_gen.cogniload import generate_puzzles
    from cogniload_gen.cogniload.score import Outcome, score_response
    from cogniload_gen.factor import generate_factor
    from cogniload_gen.factor.score import FactorOutcome, FactorScore, score_factor
    from cogniload_gen.version import GENERATOR_VERSION, __version__

MODULES = ("benchmarks", "hub", "overlap", "push", "rewards")
"""Modules that are known by `import cogniload_gen`, too."""

__all__ = [
    "GENERATOR_VERSION",
    "Benchmark",
    "FactorOutcome",
    "FactorScore",
    "Outcome",
    "Score",
    "__version__",
    "generate_factor",
    "generate_puzzles",
    "read_steps",
    "score",
    "score_factor",
    "score_response",
    "solve",
]


def __getattr__(name: str) -> Any:
    """Return a public name or a module, imported now: a command starts, and can stop, at once."""
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    from cogniload_gen.lazy import public_name  # noqa: PLC0415

    return public_name(__name__, name)


def __dir__() -> list[str]:
    return [*__all__, *MODULES]
