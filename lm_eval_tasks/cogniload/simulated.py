"""A simulated model whose limit and cause are planted, to hold against what is found of it."""

from typing import Any

import numpy as np
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from tqdm import tqdm

from cogniload_gen.cogniload.solve import solve_steps
from cogniload_gen.cogniload.steps.planted import write_trace
from cogniload_gen.draws import address_key

SIMULATED = "cogniload-simulated"


@register_model(SIMULATED)
class SimulatedModel(LM):
    """A model that hay distracts: of puzzles with `half_at` hay, it tracks half without an error.

    It writes a trace of each CogniLoad puzzle, right with a probability of
    1 / (1 + (hay / half_at) ** 2), as the paper's GLM has it. A wrong trace takes one hay for a
    needle; where d = 1, it ends in a wrong value. What is drawn depends on the puzzle's text alone.
    """

    def __init__(
        self,
        half_at: float,
        batch_size: object = None,
        max_batch_size: object = None,
        device: object = None,
    ) -> None:
        super().__init__()
        self.half_at = half_at

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Return the trace of each request's puzzle."""
        asked = (str(request.args[0]) for request in requests)
        return [*map(self._trace, tqdm(asked, total=len(requests), disable=disable_tqdm))]

    def _trace(self, puzzle: str) -> str:
        solution, key = solve_steps(puzzle), address_key("simulated", puzzle)
        hay = solution.needles.count(False)
        solved = 1 / (1 + (hay / self.half_at) ** 2)
        distracted = np.random.default_rng(key).random() > solved
        return write_trace(puzzle, key, "intruded" if distracted else "none").response

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> Any:
        """Raise NotImplementedError: the model has no probabilities."""
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood
