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

PLACES = {
    "GENERATOR_VERSION": "cogniload_gen.version",
    "Benchmark": "cogniload_gen.benchmark",
    "FactorOutcome": "cogniload_gen.factor.score",
    "FactorScore": "cogniload_gen.factor.score",
    "Outcome": "cogniload_gen.cogniload.score",
    "Score": "cogniload_gen.benchmark",
    "__version__": "cogniload_gen.version",
    "generate_factor": "cogniload_gen.factor",
    "generate_puzzles": "cogniload_gen.cogniload",
    "read_steps": "cogniload_gen.benchmarks",
    "score": "cogniload_gen.benchmarks",
    "score_factor": "cogniload_gen.factor.score",
    "score_response": "cogniload_gen.cogniload.score",
    "solve": "cogniload_gen.benchmarks",
}
"""Where the public names are. Each is imported at its first use, so that a command starts, and can
be stopped, at once."""

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
    """Return a public name or a module, imported now."""
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    if name in PLACES:
        globals()[name] = getattr(import_module(PLACES[name]), name)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *MODULES]
