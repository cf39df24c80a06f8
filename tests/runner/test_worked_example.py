"""The task of examples/real: a worked example is an earlier turn, and the response is begun."""

import json

import pytest
import yaml
from eval_command import command, error_of, model_args
from harness import manager
from source_tree import ROOT

from cogniload_gen import generate_puzzles, read_steps, solve

TASKS = ROOT / "examples/real/tasks"
CONFIG = yaml.safe_load((TASKS / "cogniload_worked.yaml").read_text("utf-8"))
(EXAMPLE,) = CONFIG["fewshot_config"]["samples"]


def test_the_worked_example_is_a_puzzle_and_right_at_every_statement():
    rows = generate_puzzles(d=2, N=5, rho=50, num_puzzles=3, seed=7).to_pylist()
    (row,) = [row for row in rows if row["puzzle"] == EXAMPLE["puzzle"]]
    steps = read_steps(EXAMPLE["answer"], row)
    assert (steps.read, steps.first_error) == (True, None)
    assert EXAMPLE["answer"].endswith(f" {solve(row['puzzle'])} shirt.")


def test_the_example_is_an_earlier_turn_and_the_response_is_begun(server, tmp_path):
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
    assert not {"outcome", "finish_reason"} & shown.keys()
    assert all(float(value) >= 0 for value in shown.values())


def test_examples_without_any_are_refused():
    (task,) = (
        manager(cogniload={"d": 1, "N": 5, "rho": 50, "num_puzzles": 1})
        .load(["cogniload_mini"])["tasks"]
        .values()
    )
    task.set_config("num_fewshot", 1)
    with pytest.raises(ValueError, match="cogniload_mini: --num_fewshot 1 is refused"):
        task.build_all_requests(rank=0, world_size=1)


def test_a_design_asks_with_a_prompt_of_ones_own(tmp_path):
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
    (prompts,) = tmp_path.glob("state/block-*.jsonl")
    assert prompts.read_text("utf-8").count(json.dumps(EXAMPLE["answer"])[1:-1]) == 64
