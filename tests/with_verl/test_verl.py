"""The frontier in verl: by its own functions that load a data set and a sampler."""

import json

import pytest
import torch
from omegaconf import OmegaConf
from source_tree import ROOT
from torch.utils.data import DataLoader
from verl import DataProto
from verl.trainer.main_ppo import create_rl_dataset, create_rl_sampler
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.utils.dataset.rl_dataset import collate_fn

from cogniload_gen import Frontier
from cogniload_gen.cogniload.traces import clean_trace

PAGE = str(ROOT / "recipes/training/with_verl.py")
LOADS = {"d": [1], "N": [*range(4, 31)], "rho": [50], "seed": 7}


@pytest.fixture
def loaded(tmp_path):
    """The data set and the sampler as verl's trainer makes them of its settings."""
    file = tmp_path / "frontier.yaml"
    file.write_text(json.dumps(LOADS | {"puzzles": 96}), "utf-8")
    data = OmegaConf.create(
        {
            "custom_cls": {"path": PAGE, "name": "Puzzles"},
            "sampler": {"class_path": PAGE, "class_name": "Curriculum"},
            "dataloader_num_workers": 0,
        }
    )
    dataset = create_rl_dataset([str(file)], data, None, None)
    return dataset, create_rl_sampler(data, dataset)


def test_the_trainers_batches_move_the_frontier(loaded):
    dataset, sampler = loaded
    same, lengths = Frontier(**LOADS), []
    for batch in DataLoader(dataset, batch_size=8, sampler=sampler, collate_fn=collate_fn):
        rows = [told["row"] for told in batch["extra_info"]]
        assert rows == [next(same) for _ in rows]
        assert [prompt[0]["content"] for prompt in batch["raw_prompt"]] == [
            row["puzzle"] for row in rows
        ]
        answered = DataProto.from_single_dict(batch).repeat(4, interleave=True)
        rewards = torch.tensor([float(row["N"] < 12) for row in rows]).repeat_interleave(4)
        scores = torch.zeros(len(answered), 5)
        scores[:, 3] = rewards
        answered.batch["token_level_scores"] = scores
        sampler.update(batch=answered)
        same.observe([row["id"] for row in rows for _ in range(4)], rewards.tolist())
        lengths += [row["N"] for row in rows]
    assert len(lengths) == 96
    assert all(6 < length < 20 for length in lengths[-24:])
    assert dataset.frontier.state_dict() == same.state_dict()


def test_a_reward_is_the_mean_of_both(loaded):
    about = {"path": PAGE, "name": "compute_score"}
    score = get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": about}}))
    row = next(row for row in Frontier(**LOADS) if row["N"] > 8)
    extra = {"row": row}
    assert score("cogniload", clean_trace(row["puzzle"]), row["answer"], extra) == 1
    assert score("cogniload", "I don't know.", row["answer"], extra) == 0
