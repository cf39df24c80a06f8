"""Puzzles that tell why a language model fails at long reasoning: generators, solvers, scorers."""

from cogniload_gen import rewards as rewards
from cogniload_gen.benchmark import Benchmark, Score
from cogniload_gen.benchmarks import read_steps, score, solve
from cogniload_gen.cogniload import generate_puzzles
from cogniload_gen.cogniload.knobs import GENERATOR_VERSION
from cogniload_gen.cogniload.score import Outcome, score_response
from cogniload_gen.factor import generate_factor
from cogniload_gen.factor.score import FactorOutcome, FactorScore, score_factor

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

__version__ = "0.2.0"
