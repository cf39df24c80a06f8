"""`cogniload eval` with lm-eval's own vLLM backend, which runs the engine itself."""

import gc
import json
from pathlib import Path

import pytest
import vllm

from cogniload_cli import main


@pytest.fixture
def generated(monkeypatch):
    """The prompts' tokens and the sampling parameters that the engine was given."""
    calls = []
    generate = vllm.LLM.generate

    def record(self, prompts, sampling_params, **settings):
        ids = [prompt["prompt_token_ids"] for prompt in prompts]
        calls.extend(zip(ids, sampling_params, strict=True))
        return generate(self, prompts, sampling_params, **settings)

    monkeypatch.setattr(vllm.LLM, "generate", record)
    yield calls
    gc.collect()  # the engine's processes end with the last reference to it


def test_a_recipe_s_run_by_the_engine(model, long_puzzles, generated, tmp_path):
    """Whole prompts with the rest of the budget, at the tightest window that is allowed, itself.

    A recipe as it is written, but for what makes its model and its puzzles small.
    """
    recipe = Path(__file__).parents[2] / "recipes" / "Qwen3-1.7B.yaml"
    small = {"pretrained": str(model), "dtype": "float32", "max_model_len": 1024}
    command = [
        *("eval", "--config", recipe, "--output_path", tmp_path),
        *("--tasks", "cogniload_mini", "--metadata", json.dumps({"cogniload": long_puzzles})),
        *("--model_args", json.dumps(small | {"enforce_eager": True})),
        *("--gen_kwargs", "temperature=0.6,top_p=0.95,top_k=20,max_gen_toks=1024"),
    ]
    assert main([str(argument) for argument in command]) == 0
    (file,) = tmp_path.rglob("samples_*.jsonl")
    samples = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    limits = {len(ids): asked.max_tokens for ids, asked in generated}
    assert len(samples) == len(generated) == 6
    assert len(set(limits.values())) > 2
    for sample in samples:
        prompt = sample["prompt_tokens"]
        assert sample["backend_prompt_tokens"] == prompt
        assert limits[prompt] == (1024 - prompt) // 32 * 32
        assert 0 < sample["response_tokens"] <= limits[prompt]
        cut = sample["response_tokens"] == limits[prompt]
        assert (sample["finish_reason"] == "length") == cut
    decoding = {(asked.temperature, asked.top_p, asked.top_k) for _, asked in generated}
    assert decoding == {(0.6, 0.95, 20)}
