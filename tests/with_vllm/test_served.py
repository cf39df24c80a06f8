"""The tasks by lm-eval's own command, to the analysis, with a model that vLLM serves."""

import json
import os
import re
import subprocess
import sys

import pytest
from harness import TASKS, manager

from lm_eval_tasks.demo import MODEL

MINI = ("cogniload_mini", "factor_symbolic_mini", "factor_realistic_mini")
LIMIT = 4
"""Puzzles of each task: one core without bfloat16 writes some ten tokens a second."""


def lm_eval(server, out, tasks, backend, path, *arguments, **model_args):
    """Runs lm-eval on tasks with a backend; the samples that it wrote into `out`, by task."""
    model_args |= {"model": MODEL, "base_url": server.url + path, "num_concurrent": 32}
    model_args |= {"tokenizer_backend": "huggingface", "tokenizer": server.model}
    command = [
        *(sys.executable, "-m", "lm_eval", "run", "--include_path", TASKS),
        *("--tasks", ",".join(tasks), "--apply_chat_template", "--model", backend),
        *("--model_args", ",".join(f"{name}={value}" for name, value in model_args.items())),
        *("--output_path", out, "--log_samples", *arguments),
    ]
    ran = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    samples = {}
    for task in tasks:
        (file,) = out.rglob(f"samples_{task}_*.jsonl")
        samples[task] = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return samples


@pytest.fixture(scope="module")
def chat(server, tmp_path_factory):
    """The samples of a run on the first puzzles of the mini tasks, by chat."""
    out, backend = tmp_path_factory.mktemp("chat"), "local-chat-completions"
    limit = ("--limit", str(LIMIT))
    return lm_eval(server, out, MINI, backend, "/v1/chat/completions", *limit)


@pytest.mark.parametrize("task", MINI)
def test_every_document_is_answered_and_counted_as_the_server_counts(chat, task):
    samples = chat[task]
    (loaded,) = manager().load([task])["tasks"].values()
    first = list(loaded.eval_docs["id"])[:LIMIT]
    assert sorted(sample["doc"]["id"] for sample in samples) == sorted(first)
    for sample in samples:
        assert sample["resps"][0][0]
        assert sample["prompt_tokens"] == sample["backend_prompt_tokens"] > 50
        cut = sample["response_tokens"] == loaded.config.generation_kwargs["max_gen_toks"]
        assert sample["finish_reason"] == ("length" if cut else "stop")
        if cut:
            assert sample["outcome"].endswith("max_context")


def test_each_request_asks_for_what_its_prompt_leaves_of_the_budget(server, long_puzzles, tmp_path):
    """By completions, whose prompts lm-eval renders and sends as tokens."""
    before = server.log.stat().st_size
    found = lm_eval(
        *(server, tmp_path, ["cogniload_mini"], "local-completions", "/v1/completions"),
        *("--metadata", json.dumps({"cogniload": long_puzzles})),
        *("--gen_kwargs", "max_gen_toks=1024"),
        max_length=2048,
    )
    received = server.log.read_bytes()[before:].decode(errors="replace")
    limits = [int(limit) for limit in re.findall(r"params: .* max_tokens=(\d+)", received)]
    samples = found["cogniload_mini"]
    assert len(samples) == 6
    assert sorted(limits) == sorted((1024 - s["prompt_tokens"]) // 32 * 32 for s in samples)
    assert len(set(limits)) > 2
    for sample in samples:
        assert sample["prompt_tokens"] == sample["backend_prompt_tokens"]
        assert sample["prompt_tokens"] + sample["response_tokens"] <= 1024
