"""Puzzles for OpenEnv, whose importer makes a server and a Space of this folder:

openenv import . --name cogniload_env --output-dir OUT
"""

from typing import Any

import verifiers as vf
from datasets import Dataset

from cogniload_gen.benchmarks import datasets
from cogniload_gen.rewards import answer_score


def load_environment(
    num_puzzles: int = 1, eval_puzzles: int = 1, **parameters: Any
) -> vf.SingleTurnEnv:
    """Return the puzzles of a grid, by default the paper's, with so many in each of its cells.

    The reward is 1.0 for a right answer that is not hedged, by the benchmark's own rules.
    """

    def rows(split: str, count: int) -> Dataset:
        asked = parameters | {"num_puzzles": count, "split": split}
        puzzles = datasets()["cogniload"].puzzles(**asked).table().to_pylist()
        return Dataset.from_list(
            [
                {
                    "prompt": [{"role": "user", "content": row["puzzle"]}],
                    "answer": row["answer"],
                    "info": row,
                }
                for row in puzzles
            ]
        )

    async def right(completion: list[dict[str, Any]], info: dict[str, Any]) -> float:
        return float(answer_score(completion[-1]["content"], info))

    return vf.SingleTurnEnv(
        dataset=rows("train", num_puzzles),
        eval_dataset=rows("validation", eval_puzzles),
        rubric=vf.Rubric(funcs=[right]),
    )
