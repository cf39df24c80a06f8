"""Whether a frontier keeps the pass rate at its target, with simulated learners.

A learner solves half of the puzzles at some N, which moves while it is fed. Prints the pass rate of
the last 1,000 of 3,000 groups of eight responses, and the share of mixed groups. Takes ten minutes.
"""

import math
import random
from collections.abc import Iterator

from simulated import percent, print_table

from cogniload_gen import Frontier

LEARNERS, GROUPS, LAST, GROUP = 10, 3000, 1000, 8
KINDS = {
    "learns": {},
    "forgets for 700 groups": {"forgets": 0.003},
    "guesses among three": {"floor": 1 / 3},
    "jumps by 2.5 in N, and back": {"jump": math.log(2.5)},
}


class Learner:
    """A model whose chance of a right answer is logistic in log N, about a middle that moves."""

    def __init__(self, seed: str, forgets: float = 0.0, floor: float = 0.0, jump: float = 0.0):
        self.draw = random.Random(seed)  # noqa: S311
        self.half, self.slope = math.log(self.draw.uniform(6, 30)), self.draw.uniform(3, 10) / 2
        self.speed = (math.log(250) - self.half) * self.draw.random() / GROUPS
        self.by_d, self.luck = self.draw.uniform(0, 0.25), self.draw.random()
        self.forgets, self.floor, self.jump, self.fed = forgets, floor, jump, 0

    def answer(self, d: int, N: int) -> list[float]:
        """Return the rewards of a group, and learn of it."""
        ease = self.slope * (self.half - self.by_d * (d - 1) - math.log(N))
        ease += self.draw.gauss(0, self.luck)
        chance = self.floor + (1 - self.floor) / (1 + math.exp(-ease))
        rewards = [float(self.draw.random() < chance) for _ in range(GROUP)]
        self.fed += 1
        falls = self.forgets and 1500 < self.fed < 2200
        self.half += -self.forgets if falls else 1.5 * self.speed * (0 < sum(rewards) < GROUP)
        self.half += self.jump * ((self.fed == 1800) - (self.fed == 2400))
        return rewards


def follow(
    frontier: Frontier, learner: Learner, workers: int, seed: int, groups: int = GROUPS
) -> tuple[list[float], list[bool]]:
    """Return the pass rates of groups, and whether each was mixed.

    With several workers, the answers to a puzzle come late and in any order.
    """
    draw, waiting, rates = random.Random(seed), [], []  # noqa: S311
    while len(rates) < groups:
        waiting.append(next(frontier))
        if len(waiting) < 8 * workers - 7:
            continue
        row = waiting.pop(draw.randrange(len(waiting)))
        rewards = learner.answer(row["d"], row["N"])
        frontier.observe([row["id"]] * GROUP, rewards)
        rates.append(sum(rewards) / GROUP)
    return rates, [0 < rate < 1 for rate in rates]


def followed() -> Iterator[list[str]]:
    """Yield a row for each kind of learner, and for one and eight workers."""
    yield ["learner", "workers", "within 0.1 of the middle", "farthest", "mixed groups"]
    for kind, about in KINDS.items():
        for workers in (1, 8):
            off, shares = [], []
            for seed in range(LEARNERS):
                frontier = Frontier(d=[1, 3, 5], N=range(2, 1001), rho=[25, 50, 75], seed=seed)
                rates, mixed = follow(frontier, Learner(f"{kind} {seed}", **about), workers, seed)
                off.append(abs(sum(rates[-LAST:]) / LAST - 0.5))
                shares.append(sum(mixed) / GROUPS)
            near, share = sum(each <= 0.1 for each in off), percent(sum(shares) / LEARNERS)
            yield [kind, str(workers), f"{near} of {LEARNERS}", f"{max(off):.3f}", share]


if __name__ == "__main__":
    print_table(followed())
