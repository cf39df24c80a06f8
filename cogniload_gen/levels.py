"""Levels of difficulty, for training that goes on as a model learns.

The levels of a knob stand with the knob. At level 0 each has its easiest; a knob with fewer levels
than others stays at its last.
"""

from cogniload_gen.benchmark import Benchmark
from cogniload_gen.checks import Given


def highest_level(benchmark: Benchmark) -> int:
    """Return the number of a benchmark's highest level; the lowest is 0."""
    return max(len(knob.levels) for knob in benchmark.knobs) - 1


def at_level(benchmark: Benchmark, level: int) -> dict[str, Given]:
    """Return the knobs that have levels, by name, at a level."""
    return {
        knob.name: knob.levels[min(level, len(knob.levels) - 1)]
        for knob in benchmark.knobs
        if knob.levels
    }
