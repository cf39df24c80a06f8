"""The adaptive design as an object: ask, tell, estimate.

    design = AdaptiveDesign(target=0.20, budget=1500)
    while not design.done:
        puzzles = design.ask()
        design.tell(puzzles, [solve(puzzle) for puzzle in puzzles])
    print(design.estimate().ECL50)

Its rules are in `capacity.next_puzzles`.
"""

from os import PathLike
from pathlib import Path
from typing import Literal

from cogniload_analysis.adaptive.design import Adaptive, Design
from cogniload_analysis.cogniload.analysis import read_samples
from cogniload_analysis.cogniload.capacity import prior as priors
from cogniload_analysis.cogniload.capacity.curve import Prior
from cogniload_analysis.cogniload.capacity.next_puzzles import CapacityPlan
from cogniload_gen.cogniload import BENCHMARK


class AdaptiveDesign(Design):
    """Asks for puzzles, takes the answers, and estimates a model's capacity.

    `target`, `budget`, `N`, `seed` and `goal` as in `CapacityPlan`; `prior` is "published",
    "vague", a folder of the user's earlier results, or a frame of such (model, d, N, rho as a
    fraction, correct). Raises ValueError for a setting that is out of range. What `Design` promises
    holds: the same answers, in any order, give the same puzzles. `estimate` returns a `Capacity`.
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
        super().__init__(CapacityPlan(goal, target, budget, N, seed, prior=read_prior(prior)))


def read_prior(choice: priors.PriorChoice | PathLike) -> Prior:
    """Return a prior as `find_prior`, or that of the results in a folder."""
    if not isinstance(choice, str | PathLike):
        return priors.find_prior(choice)
    named = choice in (priors.PUBLISHED, priors.VAGUE) or not Path(choice).exists()
    if named:
        return priors.find_prior(str(choice))
    return priors.earlier_prior(read_samples(Path(choice)))


CAPACITY = {BENCHMARK.name: Adaptive(("d", "N", "rho"), CapacityPlan.GOALS, AdaptiveDesign)}
"""CogniLoad's adaptive design, by the benchmark's name."""
