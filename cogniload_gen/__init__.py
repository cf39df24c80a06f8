"""Puzzles that tell why a language model fails at long reasoning: generators, solvers, scorers."""

from cogniload_gen.cogniload.generate import generate_puzzles
from cogniload_gen.cogniload.score import Outcome, score_response
from cogniload_gen.factor.generate import generate_factor
from cogniload_gen.factor.score import FactorOutcome, FactorScore, score_factor
from cogniload_gen.solve import solve
from cogniload_gen.version import GENERATOR_VERSION, __version__

__all__ = [
    "GENERATOR_VERSION",
    "FactorOutcome",
    "FactorScore",
    "Outcome",
    "__version__",
    "generate_factor",
    "generate_puzzles",
    "score_factor",
    "score_response",
    "solve",
]
