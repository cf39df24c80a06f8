"""Puzzles that tell why a language model fails at long reasoning: generators, solvers, scorers."""

from cogniload_gen.cogniload.generate import generate_puzzles
from cogniload_gen.cogniload.score import Outcome, score_response
from cogniload_gen.cogniload.solve import solve
from cogniload_gen.version import GENERATOR_VERSION, __version__

__all__ = [
    "GENERATOR_VERSION",
    "Outcome",
    "__version__",
    "generate_puzzles",
    "score_response",
    "solve",
]
