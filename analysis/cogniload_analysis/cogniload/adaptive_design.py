"""The adaptive design as an object: ask, tell, estimate.

    design = AdaptiveDesign(target=0.20, budget=1500)
    while not design.done:
        puzzles = design.ask()
        design.tell(puzzles, [solve(puzzle) for puzzle in puzzles])
    print(design.estimate().ECL50)

Its rules are in `capacity.next_puzzles`.
"""

from math import isnan
from os import PathLike
from pathlib import Path
from typing import Literal

from cogniload_analysis.adaptive.design import Adaptive, Design, describe_interval
from cogniload_analysis.cogniload.capacity import next_puzzles
from cogniload_analysis.cogniload.capacity import prior as priors
from cogniload_analysis.cogniload.capacity.curve import Capacity, Prior
from cogniload_analysis.cogniload.frame import read_samples
from cogniload_gen.cogniload import BENCHMARK


class AdaptiveDesign(Design[next_puzzles.Puzzle]):
    """Asks for puzzles, takes the answers, and estimates a model's capacity.

    `target`, `budget`, `N`, `seed` and `goal` as in `CapacitySettings`; `prior` is "published",
    "vague", a folder of the user's earlier results, or a frame of such (model, d, N, rho as a
    fraction, correct). Raises ValueError for a setting that is out of range. What `Design` promises
    holds: the same answers, in any order, give the same puzzles.
    """

    def __init__(
        self,
        target: float = 0.20,
        budget: int = 1500,
        N: tuple[int, int] = (10, 400),
        seed: int = 42,
        *,
        goal: Literal["ECL50", "ID50"] = "ECL50",
        prior: priors.PriorChoice | PathLike = "published",
    ) -> None:
        super().__init__()
        settings = next_puzzles.CapacitySettings(goal, target, budget, N, seed)
        self.plan: next_puzzles.CapacityPlan
        self.plan = next_puzzles.CapacityPlan(settings, read_prior(prior))

    def estimate(self) -> Capacity:
        """Return the `Capacity` by all answers so far, with flags and the reason to stop."""
        return self.plan.describe(self._told, self.batches)

    def summary(self) -> list[str]:
        """Return the reason to stop, the estimate and its flags in words, each a line."""
        estimate = self.estimate()
        return [
            f"stopped after {estimate.n:,} puzzles: {estimate.stopped}",
            f"ECL50 {describe_interval(estimate.ECL50, estimate.asked_N, ' statements')}",
            f"ID50  {describe_interval(estimate.ID50, estimate.asked_d)}",
            f"NT50  {describe_NT50(estimate)}",
            *(f"note: {flag}" for flag in estimate.flags),
        ]


def describe_NT50(estimate: Capacity) -> str:
    """Return NT50 in words, and with which probability there is one."""
    if isnan(estimate.NT50.value):
        none = 1 - estimate.NT50_share
        return f"none: accuracy is {estimate.NT50.status}, whatever rho (probability {none:.0%})"
    interval = describe_interval(estimate.NT50, (0, 1))
    return f"{interval}, if there is one (probability {estimate.NT50_share:.0%})"


def read_prior(choice: priors.PriorChoice | PathLike) -> Prior:
    """Return a prior as `find_prior`, or that of the results in a folder."""
    if not isinstance(choice, str | PathLike):
        return priors.find_prior(choice)
    named = choice in (priors.PUBLISHED, priors.VAGUE) or not Path(choice).exists()
    if named:
        return priors.find_prior(str(choice))
    return priors.earlier_prior(read_samples(Path(choice)))


GOALS = next_puzzles.CapacitySettings.GOALS
CAPACITY = {BENCHMARK.name: Adaptive(("d", "N", "rho"), GOALS, AdaptiveDesign)}
"""CogniLoad's adaptive design, by the benchmark's name."""
