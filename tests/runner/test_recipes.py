"""The recipes: the paper's models, what `cogniload eval --config` makes of them, what fits a card.

Their argument names are checked against the installed vLLM in with_vllm/test_recipe_names.py.
"""

import subprocess
from argparse import Namespace
from pathlib import Path

import pandas as pd
import pytest
import yaml

from lm_eval_tasks.runner.arguments import OURS, read_configuration
from lm_eval_tasks.runner.run import BLOCK_SIZE

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "recipes").glob("*.yaml"))
NAMES = [recipe.stem for recipe in RECIPES]
BUDGET = 32768

# As each model's config.json and the size of its files on the Hub say: billions of parameters,
# layers, attention heads, key-value heads, and numbers in a head.
SHAPES = {
    "DeepSeek-R1-Distill-Llama-70B": (70.6, 80, 64, 8, 128),
    "DeepSeek-R1-Distill-Qwen-32B": (32.8, 64, 40, 8, 128),
    "DeepSeek-R1-Distill-Qwen-7B": (7.6, 28, 28, 4, 128),
    "DeepSeek-R1-Distill-Qwen-1.5B": (1.8, 28, 12, 2, 128),
    "EXAONE-Deep-32B": (32.0, 64, 40, 8, 128),
    "Phi-4-mini-reasoning": (3.8, 32, 24, 8, 128),
    "Phi-4-reasoning": (14.7, 40, 40, 10, 128),
    "Phi-4-reasoning-plus": (14.7, 40, 40, 10, 128),
    "QwQ-32B": (32.8, 64, 40, 8, 128),
    "Qwen3-1.7B": (2.0, 28, 16, 8, 128),
    "Qwen3-30B-A3B": (30.5, 48, 32, 4, 128),
    "Qwen3-32B": (32.8, 64, 64, 8, 128),
    "Qwen3-8B": (8.2, 36, 32, 8, 128),
}

GIB = 2**30
CARDS = {"MI250X half": 64, "A100 or H100": 80}
UTILISATION = 0.9  # of a card, for weights, cache and what else vLLM needs; its default is 0.92
OVERHEAD = 2 * GIB  # of a card, for what a forward pass holds
FEWEST_WINDOWS = 4  # whole budgets that must fit the cache at once, so that batches have a size


def read(name):
    return yaml.safe_load((ROOT / "recipes" / f"{name}.yaml").read_text(encoding="utf-8"))


def windows(name, gib, tensor_parallel_size):
    """Budgets whose keys and values fit beside the weights, two bytes a number, on cards of GiB."""
    billions, layers, _, key_value_heads, size = SHAPES[name]
    room = tensor_parallel_size * (UTILISATION * gib * GIB - OVERHEAD) - 2 * billions * 1e9
    return room / (BUDGET * layers * key_value_heads * size * 2 * 2)


def test_the_recipes_are_those_of_the_paper_s_open_models():
    """They alone ran on the whole grid: 2,800 puzzles at each of five d (Table 4)."""
    data = ROOT / "analysis" / "cogniload_analysis" / "data"
    table = pd.read_csv(data / "cogniload_table4_errors_by_d.csv")
    assert set(NAMES) == set(table.loc[table["samples"] == 2800, "model"])
    assert set(NAMES) == set(SHAPES)
    assert len(NAMES) == 13


@pytest.mark.parametrize("name", NAMES)
def test_what_cogniload_eval_makes_of_a_recipe(name):
    recipe = read(name)
    options = dict.fromkeys(("merge", *OURS))
    options |= {"config": str(ROOT / "recipes" / f"{name}.yaml"), "output_path": "runs"}
    config, ours = read_configuration(Namespace(**options | {"shard": "2/4"}), [])
    assert config.model == "vllm"
    assert config.tasks == recipe["tasks"] == "cogniload"
    assert config.model_args == recipe["model_args"]
    assert config.gen_kwargs == recipe["gen_kwargs"]
    assert config.apply_chat_template is True
    assert config.batch_size == "auto"  # lm-eval's default for its command is one prompt at a time
    assert ours["shard"] == (2, 4)
    assert ours["block_size"] == recipe.get("block_size")
    model, decoding = recipe["model_args"], recipe["gen_kwargs"]
    assert model.pop("pretrained").partition("/")[2] == name
    assert (model.pop("max_model_len"), model.pop("dtype")) == (BUDGET, "bfloat16")
    assert set(model) == {"tensor_parallel_size"}
    assert {"temperature", "top_p"} <= set(decoding) <= {"temperature", "top_p", "top_k"}
    assert 0.5 <= decoding["temperature"] <= 1  # greedy, these models repeat themselves
    assert recipe.get("block_size", BLOCK_SIZE) in (350, 1750)  # of 14,000: 40 blocks, or 8
    size = model["tensor_parallel_size"]  # the smallest that fits both cards
    assert SHAPES[name][2] % size == 0
    rooms = {n: min(windows(name, gib, n) for gib in CARDS.values()) for n in (1, 2, 4, 8)}
    assert size == next(n for n, room in rooms.items() if room >= FEWEST_WINDOWS)


def test_the_page_says_the_same():
    """The table of recipes/README.md: model, Hub name, decoding, cards for a process."""
    page = (ROOT / "recipes" / "README.md").read_text(encoding="utf-8")
    lines = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| `")]
    rows = [[cell.strip(" `") for cell in line] for line in lines]
    told = {row[0].partition("/")[2]: row for row in rows}
    assert set(told) == set(NAMES)
    for name, (hub_name, decoding, size, *_) in told.items():
        recipe = read(name)
        assert hub_name == recipe["model_args"]["pretrained"]
        assert decoding == ", ".join(str(value) for value in recipe["gen_kwargs"].values())
        assert int(size) == recipe["model_args"]["tensor_parallel_size"]


@pytest.mark.parametrize("script", sorted((ROOT / "recipes").glob("*.sh")), ids=lambda x: x.name)
def test_the_scripts_are_of_a_shell(script):
    subprocess.run(["bash", "-n", script], check=True)
