"""Levels of difficulty, for training that goes on as a model learns.

The levels of a knob stand with the knob. At level 0 each has its easiest; a knob with fewer levels
than others stays at its last.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from cogniload_gen.benchmark import Benchmark


def highest_level(benchmark: Benchmark) -> int:
    """Return the number of a benchmark's highest level; the lowest, which each has, is 0."""
    return max(1, *(len(knob.levels) for knob in benchmark.knobs)) - 1


def at_level(benchmark: Benchmark, level: int) -> dict[str, Any]:
    """Return the knobs that have levels, by name, at a level."""
    return {
        knob.name: knob.levels[min(level, len(knob.levels) - 1)]
        for knob in benchmark.knobs
        if knob.levels
    }


@dataclass
class Climb:
    """Which level comes next, by the rewards at the present one.

    Where the mean of the last `window` rewards is at least `rise`, the level goes up by one; where
    it is at most `fall`, down. A new level is judged by its own rewards alone. It is a pure
    function of its rewards, in order.
    """

    highest: int
    window: int = 32
    rise: float = 0.8
    fall: float = 0.2
    level: int = 0
    recent: deque[float] = field(default_factory=deque)

    def tell(self, level: int, reward: float) -> None:
        """Take a reward, 0 to 1; one of another level than the present, such as a late one, not."""
        if level != self.level:
            return
        self.recent.append(reward)
        if len(self.recent) < self.window:
            return
        mean = sum(self.recent) / self.window
        step = (mean >= self.rise) - (mean <= self.fall)
        level = min(max(self.level + step, 0), self.highest)
        if level == self.level:
            self.recent.popleft()
        else:
            self.level = level
            self.recent.clear()
