"""The tasks with lm-eval's own vLLM backend, which runs the engine itself."""

import gc

import pytest
import vllm
from harness import global_random_state_is_left_alone, manager  # noqa: F401
from lm_eval import simple_evaluate


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


def test_whole_prompts_with_the_rest_of_the_budget_reach_the_engine(model, long_puzzles, generated):
    """At the tightest window that is allowed, the budget itself."""
    found = simple_evaluate(
        "vllm",
        model_args={
            "pretrained": str(model),
            "dtype": "bfloat16",
            "max_model_len": 1024,
            "enforce_eager": True,
        },
        batch_size="auto",
        tasks=["cogniload_mini"],
        task_manager=manager(cogniload=long_puzzles),
        gen_kwargs={"max_gen_toks": 1024},
        apply_chat_template=True,
        bootstrap_iters=1,
    )
    samples = found["samples"]["cogniload_mini"]
    limits = {len(ids): asked.max_tokens for ids, asked in generated}
    assert len(samples) == len(generated) == 6
    assert len(set(limits.values())) > 2
    for sample in samples:
        prompt = sample["prompt_tokens"]
        assert sample["backend_prompt_tokens"] == prompt
        assert limits[prompt] == (1024 - prompt) // 32 * 32
        assert 0 < sample["response_tokens"] <= limits[prompt]
        assert (sample["finish_reason"] == "length") == (
            sample["response_tokens"] == limits[prompt]
        )
    assert all(asked.temperature == 0 for _, asked in generated)
