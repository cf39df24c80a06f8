"""The recipes: what `cogniload eval --config` makes of them, what fits a card; a worked example.

Their argument names are checked against the installed vLLM in with_vllm/test_recipe_names.py.
"""

import json
import subprocess

import pandas as pd
import pytest
import yaml
from eval_command import PUZZLES, command, error_of, model_args, read, same, url_of
from harness import manager
from source_tree import ROOT

from cogniload_gen import generate_puzzles, read_steps, solve

RECIPES = {file.stem: file for file in sorted((ROOT / "recipes").glob("*.yaml"))}
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


def windows(name, gib, tensor_parallel_size):
    """Budgets whose keys and values fit beside the weights, two bytes a number, on cards of GiB."""
    billions, layers, _, key_value_heads, size = SHAPES[name]
    room = tensor_parallel_size * (UTILISATION * gib * GIB - OVERHEAD) - 2 * billions * 1e9
    return room / (BUDGET * layers * key_value_heads * size * 2 * 2)


def test_the_recipes_are_those_of_the_paper_s_open_models():
    """They alone ran on the whole grid: 2,800 puzzles at each of five d (Table 4)."""
    table = pd.read_csv(ROOT / "analysis/cogniload_analysis/data/cogniload_table4_errors_by_d.csv")
    models = set(table.loc[table["samples"] == 2800, "model"])
    assert set(RECIPES) == models == set(SHAPES)
    assert len(models) == 13


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_the_paper_s_setting_on_the_fewest_cards(name):
    recipe = yaml.safe_load(RECIPES[name].read_text("utf-8"))
    model, decoding = recipe.pop("model_args"), recipe.pop("gen_kwargs")
    assert recipe == {
        "model": "vllm", "tasks": "cogniload", "apply_chat_template": True,
        "batch_size": "auto",  # lm-eval's default for its command is one prompt at a time
    }  # fmt: skip
    assert model.pop("pretrained").partition("/")[2] == name
    assert (model.pop("max_model_len"), model.pop("dtype")) == (BUDGET, "bfloat16")
    assert set(model) == {"tensor_parallel_size"}
    assert {"temperature", "top_p"} <= set(decoding) <= {"temperature", "top_p", "top_k"}
    assert 0.5 <= decoding["temperature"] <= 1  # greedy, these models repeat themselves
    size = model["tensor_parallel_size"]  # the smallest that fits both cards
    assert SHAPES[name][2] % size == 0
    rooms = {n: min(windows(name, gib, n) for gib in CARDS.values()) for n in (1, 2, 4, 8)}
    assert size == next(n for n, room in rooms.items() if room >= FEWEST_WINDOWS)


def test_the_page_says_the_same():
    """The table of recipes/README.md: model, Hub name, decoding, cards for a process."""
    page = (ROOT / "recipes" / "README.md").read_text(encoding="utf-8")
    lines = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| `")]
    told = [[cell.strip(" `") for cell in line[:3]] for line in lines]
    recipes = [yaml.safe_load(file.read_text("utf-8")) for file in RECIPES.values()]
    wanted = [
        [
            recipe["model_args"]["pretrained"],
            ", ".join(map(str, recipe["gen_kwargs"].values())),
            str(recipe["model_args"]["tensor_parallel_size"]),
        ]
        for recipe in recipes
    ]
    assert sorted(told) == sorted(wanted)


@pytest.mark.parametrize("script", sorted((ROOT / "recipes").glob("*.sh")), ids=lambda x: x.name)
def test_the_scripts_are_of_a_shell(script):
    subprocess.run(["bash", "-n", script], check=True)


def test_a_configuration_file(server, tmp_path, undisturbed):
    """It holds lm-eval's arguments and ours; the command line goes first."""
    config, out = tmp_path / "config.yaml", tmp_path / "out"
    settings = {
        "model": "local-chat-completions", "apply_chat_template": True, "tasks": ["cogniload_mini"],
        "model_args": {"model": "solver", "base_url": url_of(server)}, "shard": "2/2",
        "metadata": {"cogniload": PUZZLES}, "output_path": str(out),
    }  # fmt: skip
    config.write_text("\ufeff" + yaml.safe_dump(settings), "utf-8")
    for others in ([], ["--shard", "1/1"], ["--tasks", "cogniload_mini", "--log_samples"]):
        assert command("eval", "--config", config, *others)[0] == 0
    assert same(read(out), undisturbed)
    config.write_text(yaml.safe_dump({"modell": "x"} | settings))
    assert error_of("eval", "--config", config).count("'modell'")
    for text, words in (("- a list", "must be a mapping"), ("model: [", "YAML"),
                        ("tasks: cogniload_mini", "--output_path is missing")):  # fmt: skip
        config.write_text(text)
        assert words in error_of("eval", "--config", config)
    for missing in ("tasks", "model_args"):
        config.write_text(yaml.safe_dump({n: v for n, v in settings.items() if n != missing}))
        assert error_of("eval", "--config", config).startswith(f"--{missing} is missing")


# --- examples/real: a worked example is an earlier turn, and the response is begun ----------------

TASKS = ROOT / "examples/real/tasks"
CONFIG = yaml.safe_load((TASKS / "cogniload_worked.yaml").read_text("utf-8"))
(EXAMPLE,) = CONFIG["fewshot_config"]["samples"]


def test_the_worked_example_is_a_puzzle_and_right_at_every_statement():
    rows = generate_puzzles(d=2, N=5, rho=50, num_puzzles=3, seed=7).to_pylist()
    (row,) = [row for row in rows if row["puzzle"] == EXAMPLE["puzzle"]]
    steps = read_steps(EXAMPLE["answer"], row)
    assert (steps.read, steps.first_error) == (True, None)
    assert EXAMPLE["answer"].endswith(f" {solve(row['puzzle'])} shirt.")


def test_the_example_is_an_earlier_turn_and_the_response_is_begun(server, tmp_path, few_tasks):
    server.window = 4096
    code, out, err = command(
        *("eval", "--include_path", TASKS, "--tasks", "cogniload_worked", "--limit", "3"),
        *("--model", "local-chat-completions", "--model_args", model_args(server)),
        *("--apply_chat_template", "--output_path", tmp_path),
    )
    assert code == 0, err
    assert len(server.requests) == 3
    for request in server.requests:
        example, worked, puzzle, begun = (turn["content"] for turn in request["messages"])
        assert (example, worked) == (EXAMPLE["puzzle"], EXAMPLE["answer"])
        assert begun.removeprefix("I track ").removesuffix(" only. Start:") in puzzle.split()
    table = [line.split("|") for line in out.splitlines() if line.startswith("|")]
    shown = {row[5].strip(): row[7].strip() for row in table[2:]}
    assert {"acc", "wrong_logic", "answer_read"} <= shown.keys()
    assert all(float(value) >= 0 for value in shown.values())  # a row without a number is left out


def test_examples_without_any_are_refused():
    (task,) = manager(cogniload=PUZZLES).load(["cogniload_mini"])["tasks"].values()
    task.set_config("num_fewshot", 1)
    with pytest.raises(ValueError, match="cogniload_mini: --num_fewshot 1 is refused"):
        task.build_all_requests(rank=0, world_size=1)


def test_a_design_asks_with_a_prompt_of_ones_own(tmp_path, few_tasks):
    """Of a folder's run, only this command's --include_path says where the task is."""
    task, folder = "cogniload_worked_until", ("--include_path", TASKS)
    code, out, err = command(
        *("eval", *folder, "--tasks", task, "--until", "ECL50±20%", "--range", 2, 12),
        *("--budget", 64, "--model", "dummy", "--output_path", tmp_path),
    )
    assert code == 0, err
    assert "note: 0 of 64 puzzles are solved, which is not above chance" in out
    for others in (["--merge", tmp_path], ["--status", tmp_path]):
        assert repr(task) in error_of("eval", *others)
        assert command("eval", *others, *folder)[0] == 0
    text = (tmp_path / "state/answers-1.jsonl").read_text("utf-8")
    assert text.count(json.dumps(EXAMPLE["answer"], ensure_ascii=False)[1:-1]) == 64
