"""`cogniload eval` gives the samples and the results of plain lm-eval."""

import json

import pytest
from completion_server import respond
from eval_command import PUZZLES, arguments, command, done_blocks, model_args, read
from harness import manager
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker

from lm_eval_tasks.runner.blocks import sample_line


@pytest.mark.parametrize("concurrent", [1, 4])
def test_results_are_those_of_lm_eval_without_blocks(server, tmp_path, undisturbed, concurrent):
    tracker = EvaluationTracker(output_path=str(tmp_path))
    plain = simple_evaluate(
        "local-chat-completions",
        model_args=json.loads(model_args(server, num_concurrent=concurrent)),
        tasks=["cogniload_mini"],
        task_manager=manager(cogniload=PUZZLES),
        apply_chat_template=True,
        fewshot_as_multiturn=True,
        evaluation_tracker=tracker,
    )
    samples = plain.pop("samples")
    tracker.save_results_aggregated(results=plain, samples=samples)
    tracker.save_results_samples(task_name="cogniload_mini", samples=samples["cogniload_mini"])
    theirs, our = read(tmp_path), undisturbed
    assert our[1] == theirs[1]
    assert 0 < our[0]["results"]["cogniload_mini"]["acc,none"] < 1
    same = ("results", "n-samples", "versions", "n-shot", "higher_is_better", "group_subtasks")
    also = ("task_hashes", "model_name", "model_name_sanitized", "model_source")
    for part in (*same, *also):
        assert our[0][part] == theirs[0][part], part
    assert theirs[0].keys() - {"transformers_version", "upper_git_hash"} <= our[0].keys()
    assert theirs[0]["config"].keys() <= our[0]["config"].keys()


def test_several_tasks_are_those_of_lm_eval(server, tmp_path):
    server.window = 4096
    tasks = ["factor_symbolic_mini", "cogniload_mini", "factor_realistic_mini"]
    asked = {"tasks": tasks, "task_manager": manager(), "apply_chat_template": True, "limit": 8}
    settings = json.loads(model_args(server))
    plain = simple_evaluate("local-chat-completions", model_args=settings, **asked)
    settings = ["--tasks", *tasks, "--limit", "8"]
    assert command(*arguments(server, tmp_path, *settings, puzzles={}))[0] == 0
    (results,) = tmp_path.rglob("results_*.json")
    assert json.loads(results.read_bytes())["results"] == plain["results"]
    assert len(done_blocks(tmp_path)) == 3 * 2
    for task in tasks:
        (file,) = tmp_path.rglob(f"samples_{task}_*.jsonl")
        told = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        lines = [sample_line(sample) for sample in plain["samples"][task]]
        assert lines == file.read_bytes().splitlines(keepends=True)
        assert all(s["prompt_tokens"] == s["backend_prompt_tokens"] for s in told)


def test_samples_have_what_the_server_said(undisturbed):
    results, samples = undisturbed
    assert results["vllm_version"] == "0.99.0"
    for sample in samples:
        said = respond(sample["doc"]["puzzle"])
        assert sample["resps"] == [[said]]
        assert sample["finish_reason"] == "stop"
        words = len(sample["doc"]["puzzle"].split())
        assert sample["prompt_tokens"] == sample["backend_prompt_tokens"] == words
        assert sample["response_tokens"] == len(said.split())


def test_hidden_reasoning_counts(server, tmp_path):
    """A response of two words that took all its tokens was cut."""
    server.instead = {"usage": {"prompt_tokens": 90, "completion_tokens": 64}}
    assert command(*arguments(server, tmp_path))[0] == 0
    _, samples = read(tmp_path)
    assert {sample["outcome"] for sample in samples} == {"wrong_max_context"}
