"""A frontier as the data of verl 0.7, whose trainer tells a curriculum sampler each batch.

Later versions of verl have no such sampler. In a clone:

    python -m verl.trainer.main_ppo data.train_files=frontier.yaml data.dataloader_num_workers=0 \\
      data.custom_cls.path=recipes/training/with_verl.py data.custom_cls.name=Puzzles \\
      data.sampler.class_path=recipes/training/with_verl.py data.sampler.class_name=Curriculum \\
      reward.custom_reward_function.path=recipes/training/with_verl.py ...

`frontier.yaml` has the arguments of `Frontier`, and `puzzles`, how many there are in an epoch.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import yaml
from torch.utils.data import Dataset
from verl import DataProto
from verl.experimental.dataset.sampler import AbstractCurriculumSampler

from cogniload_gen import Frontier
from cogniload_gen.rewards import answer_score, step_score


class Puzzles(Dataset[dict[str, Any]]):
    """The puzzles that the sampler has drawn from the frontier, by number."""

    def __init__(self, data_files: Any, *args: Any, **more: Any) -> None:
        file = data_files if isinstance(data_files, str) else data_files[0]
        arguments = yaml.safe_load(Path(file).read_text("utf-8"))
        self.count = int(arguments.pop("puzzles"))
        self.frontier = Frontier(**arguments)
        self.drawn: dict[int, dict[str, Any]] = {}

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return a puzzle as verl's own data set does; each is asked for once."""
        row = self.drawn.pop(number)
        return {
            "raw_prompt": [{"role": "user", "content": row["puzzle"]}],
            "data_source": "cogniload",
            "reward_model": {"style": "rule", "ground_truth": row["answer"]},
            "extra_info": {"index": number, "row": row},
            "index": number,
            "tools_kwargs": {},
            "interaction_kwargs": {},
            "dummy_tensor": torch.zeros(1, dtype=torch.uint8),
        }


class Curriculum(AbstractCurriculumSampler):
    """Draws the next puzzle when it is needed, and tells the frontier the rewards of a batch."""

    def __init__(self, data_source: Any, data_config: Any) -> None:
        self.puzzles = data_source  # verl loads this file once for each class

    def __len__(self) -> int:
        return len(self.puzzles)

    def __iter__(self) -> Iterator[int]:
        for number in range(len(self.puzzles)):
            self.puzzles.drawn[number] = next(self.puzzles.frontier)
            yield number

    def update(self, batch: DataProto) -> None:
        """Tell the frontier what the responses of a batch earned."""
        ids = [told["row"]["id"] for told in batch.non_tensor_batch["extra_info"]]
        rewards = batch.batch["token_level_scores"].sum(-1).tolist()
        self.puzzles.frontier.observe(ids, rewards)


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: dict[str, Any]
) -> float:
    """Return the mean of both rewards, as verl asks for it."""
    row = extra_info["row"]
    return (answer_score(solution_str, row) + step_score(solution_str, row)) / 2
