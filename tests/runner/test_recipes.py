"""The recipes: what `cogniload eval --config` makes of them; a worked example.

with_vllm/test_in_process.py runs one of them by the installed vLLM.
"""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from eval_command import PUZZLES, command, error_of, model_args, read, same, url_of
from source_tree import ROOT

RECIPES = {file.stem: file for file in sorted((ROOT / "recipes").glob("*.yaml"))}
BUDGET = 32768


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_the_paper_s_setting(name):
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
    assert model["tensor_parallel_size"] in (1, 2, 4)


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
    assert "'modell'" in error_of("eval", "--config", config)
    config.write_text(yaml.safe_dump(dict.fromkeys(("gen_kwargs", "seed", "limit")) | settings))
    assert command("eval", "--config", config, "--shard", "1/1")[0] == 0
    settings["tasks"] = None
    config.write_text(yaml.safe_dump(settings))
    assert error_of("eval", "--config", config).startswith("--tasks is missing")


# --- examples/real: a worked example is an earlier turn, and the response is begun ----------------

TASKS = ROOT / "examples/real/tasks"
CONFIG = yaml.safe_load((TASKS / "cogniload_worked.yaml").read_text("utf-8"))
(EXAMPLE,) = CONFIG["fewshot_config"]["samples"]


def test_the_example_is_an_earlier_turn_and_the_response_is_begun(server, tmp_path, few_tasks):
    server.window = 4096
    code, out, err = command(
        *("eval", "--include_path", TASKS, "--tasks", "cogniload_worked", "--limit", "3"),
        *("--model", "local-chat-completions", "--model_args", model_args(server)),
        *("--apply_chat_template", "--output_path", tmp_path, "--verbose"),
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


def test_a_design_asks_with_a_prompt_of_ones_own(tmp_path, few_tasks):
    """Of a folder's run, only this command's --include_path says where the task is."""
    task, folder = "cogniload_worked_until", ("--include_path", TASKS)
    code, out, err = command(
        *("eval", *folder, "--tasks", task, "--until", "ECL50±20%", "--N", "2..12"),
        *("--budget", 64, "--model", "dummy", "--output_path", tmp_path),
    )
    assert code == 0, err
    assert "note: 0 of 64 puzzles are solved, which is not above chance" in out
    for others in (["--merge", tmp_path], ["--status", tmp_path]):
        assert repr(task) in error_of("eval", *others)
        assert command("eval", *others, *folder)[0] == 0
    text = (tmp_path / "state/answers-1.jsonl").read_text("utf-8")
    assert text.count(json.dumps(EXAMPLE["answer"], ensure_ascii=False)[1:-1]) == 64


def test_the_page_on_changes_runs_as_it_stands(tmp_path, monkeypatch):
    """Its commands in order, in an empty folder; each run has the prompt or the puzzles it says."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/customise.md").read_text("utf-8")
    blocks = re.findall(r"^```bash\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    folder = command("tasks")[1].strip()
    for block in blocks:
        told = re.search(r"^cat > (\S+) <<END\n(.*?)^END\n", block, re.MULTILINE | re.DOTALL)
        if told:
            Path(told[1]).parent.mkdir(parents=True)
            Path(told[1]).write_text(told[2].replace("$(cogniload tasks)", folder))
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("cogniload "):
                code, _, err = command(*shlex.split(line)[1:])
                assert code == 0, err
    asked = {run: read(tmp_path / "runs" / run)[1] for run in ("terse", "system", "cell", "mine")}
    assert {len(samples) for samples in asked.values()} == {81, 20}
    prompts = {run: str(samples[0]["arguments"]) for run, samples in asked.items()}
    assert "Keep your reasoning short." in prompts["terse"]
    assert "a line each." in prompts["system"]
    assert {(s["doc"]["d"], s["doc"]["N"], s["doc"]["rho"]) for s in asked["cell"]} == {
        (5, 100, 25)
    }
    assert all("-validation-" in s["doc"]["id"] for s in asked["mine"])
