"""`cogniload eval` with a model that vLLM serves: killed, continued, sharded and merged."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import vllm

from cogniload_analysis import read_samples
from lm_eval_tasks.demo import MODEL

PUZZLES = {"d": [1, 2, 3], "N": 5, "rho": [10, 50, 90], "num_puzzles": 2, "context_budget": 1024}
COUNT = 18


def evaluation(server, out, task, parameters, *arguments):
    """Each puzzle is answered greedily and alone: company changes digits."""
    model_args = (
        f"model={MODEL},base_url={server.url}/v1/chat/completions,num_concurrent=1,"
        f"tokenizer_backend=huggingface,tokenizer={server.model}"
    )
    return [
        *(Path(sys.executable).with_name("cogniload"), "eval", "--output_path", out),
        *("--model", "local-chat-completions", "--model_args", model_args),
        *("--tasks", task, "--metadata", json.dumps({task.split("_")[0]: parameters})),
        *("--apply_chat_template", *arguments),
    ]


def command(server, out, *arguments):
    return evaluation(server, out, "cogniload_mini", PUZZLES, *arguments)


def finish(*arguments):
    """Runs a command to its end; what it printed."""
    ran = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def answered(out):
    """How many answers are on the disk."""
    return sum(file.read_bytes().count(b"\n") for file in out.glob("state/answers-*.jsonl"))


def samples(out):
    """The sample of each puzzle in the one result set below a folder."""
    (file,) = out.rglob("samples_*.jsonl")
    lines = file.read_text(encoding="utf-8").splitlines()
    found = {sample["doc"]["id"]: sample for sample in map(json.loads, lines)}
    assert len(found) == len(lines) == COUNT
    assert all(s["prompt_tokens"] == s["backend_prompt_tokens"] > 100 for s in found.values())
    return found


@pytest.fixture(scope="module")
def undisturbed(server, tmp_path_factory):
    """The folder of a run that nothing interrupts."""
    out = tmp_path_factory.mktemp("undisturbed")
    finish(*command(server, out))
    return out


def test_the_analysis_reads_a_run_and_the_version_of_vllm_is_recorded(undisturbed):
    assert set(read_samples(undisturbed)["id"]) == set(samples(undisturbed))
    (results,) = undisturbed.rglob("results_*.json")
    assert json.loads(results.read_bytes())["vllm_version"] == vllm.__version__


def test_a_killed_run_continues_to_the_same_samples(server, undisturbed, tmp_path):
    for answers in (3, 12):
        process = subprocess.Popen(command(server, tmp_path), stderr=subprocess.DEVNULL)
        while answered(tmp_path) < answers:
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait()
        assert answers <= answered(tmp_path) < COUNT
    finish(*command(server, tmp_path))
    assert samples(tmp_path) == samples(undisturbed)
