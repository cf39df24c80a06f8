"""`cogniload eval` with a model that vLLM serves."""

import json

import vllm
from real_model import MODEL

from cogniload_analysis import read_samples
from cogniload_cli import main

PUZZLES = {"d": [1, 2, 3], "N": 5, "rho": [10, 50, 90], "num_puzzles": 2, "context_budget": 1024}


def test_the_analysis_reads_a_run_and_the_version_of_vllm_is_recorded(server, model, tmp_path):
    model_args = (
        f"model={MODEL},base_url={server}/v1/chat/completions,num_concurrent=2,"
        f"tokenizer_backend=huggingface,tokenizer={model}"
    )
    command = [
        *("eval", "--output_path", str(tmp_path), "--tasks", "cogniload_mini"),
        *("--model", "local-chat-completions", "--model_args", model_args),
        *("--metadata", json.dumps({"cogniload": PUZZLES}), "--apply_chat_template"),
    ]
    assert main(command) == 0
    (file,) = tmp_path.rglob("samples_*.jsonl")
    found = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert len({sample["doc"]["id"] for sample in found}) == len(found) == 18
    assert all(s["prompt_tokens"] == s["backend_prompt_tokens"] > 100 for s in found)
    assert set(read_samples(tmp_path)["id"]) == {sample["doc"]["id"] for sample in found}
    (results,) = tmp_path.rglob("results_*.json")
    assert json.loads(results.read_bytes())["vllm_version"] == vllm.__version__
