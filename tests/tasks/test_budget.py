"""The shared budget: pure parts, and what lm-eval's models say of their windows and tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lm_eval.api.instance import Instance
from lm_eval.models.api_models import JsonChatStr

from cogniload_gen.context_budget import SMALLEST_BUDGET, Share, prompt_counter, response_limit
from lm_eval_tasks.budget import LIMITS, check_window, limit_response, share_budget


class Words:
    """A tokenizer whose tokens are words, with the methods of a Hugging Face one that are used."""

    chat_template = None

    def __call__(self, text, add_special_tokens=True, verbose=True):
        return {"input_ids": ["<s>"] * add_special_tokens + text.split()}

    def apply_chat_template(self, messages, *, tokenize, add_generation_prompt):
        assert not tokenize and add_generation_prompt
        return " ".join(["<user>", *(message["content"] for message in messages), "<assistant>"])


@pytest.mark.parametrize(("template", "tokens"), [(None, 3), ("{{ messages }}", 4)])
def test_a_chat_template_brings_its_own_special_tokens(monkeypatch, template, tokens):
    prompt_counter.cache_clear()
    monkeypatch.setattr(Words, "chat_template", template)
    monkeypatch.setattr("cogniload_gen.tokens.load_tokenizer", lambda _: Words())
    assert prompt_counter("words")("two words", 1024).prompt_tokens == tokens
    prompt_counter.cache_clear()


class TextModel:
    """An lm-eval model that encodes text itself, as hf and vllm do."""

    tokenizer = Words()
    max_length = 4096

    def tok_encode(self, text, add_special_tokens=True):
        return self.tokenizer(text, add_special_tokens=add_special_tokens)["input_ids"]


class ChatModel:
    """An lm-eval model of the chat-completions kind: the server renders and encodes."""

    tokenizer = Words()
    tokenized_requests = False
    max_length = 2047

    def tok_encode(self, text, **_):
        return text


def request(prompt="a b c", budget=4096, **generation):
    doc = {"id": "p", "context_budget": budget}
    return Instance("generate_until", doc, (prompt, {"until": [], **generation}), 0)


CHAT = JsonChatStr('[{"role": "user", "content": "a b c"}]')


@given(st.integers(0, 200_000), st.integers(SMALLEST_BUDGET, 200_000))
def test_a_limit_is_a_step_that_fits(prompt_tokens, budget):
    limit, step = response_limit(prompt_tokens, budget), min(budget // 32, 1024)
    assert limit % step == 0
    assert 0 <= budget - prompt_tokens - limit < step


def test_limits_are_few_and_lose_little():
    """Even of FACTOR's 128,000 tokens in the window of 131,072 that most long models have."""
    for budget in (SMALLEST_BUDGET, 5000, 32_768):
        prompts = range(0, budget, max(1, budget // 4096))
        assert len({response_limit(tokens, budget) for tokens in prompts}) <= 32 + 1
    assert response_limit(129_000, 131_072) == 2048
    assert response_limit(130_048, 131_072) == 1024
    assert response_limit(17_000, 32_768) > 15 / 16 * (32_768 - 17_000)


def test_a_window_below_the_budget_is_refused():
    check_window("task", TextModel(), [request(budget=4096)])
    check_window("task", ChatModel(), [request(budget=32768)])
    with pytest.raises(ValueError, match=r"task: the model takes 4096 tokens .* 4097"):
        check_window("task", TextModel(), [request(budget=4096), request(budget=4097)])


def test_an_estimate_is_marked():
    assert share_budget(None, request("He is 12, or so.")) == Share(8, 3968, counted=False)
    assert share_budget(None, request(CHAT)) == Share(3, 3968, counted=False)
    assert share_budget(TextModel(), request()) == Share(4, 3968, counted=True)
    scored = Share(8, 3968, counted=False).scored(None, 3)
    assert (scored["prompt_tokens"], scored["context_budget"]) == (None, 3976)
    assert Share(8, 3968, counted=True).scored(9, 3)["prompt_tokens"] == 8  # whoever else counts


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_that_was_asked_for_only_lowers(name):
    assert share_budget(TextModel(), request(**{name: 100})).response_limit == 100
    assert share_budget(TextModel(), request(**{name: 100_000})).response_limit == 3968


def test_a_request_has_one_limit():
    limited = request(max_tokens=7, max_new_tokens=8, temperature=0.6)
    limit_response(limited, 128)
    assert limited.args[1] == {"until": [], "temperature": 0.6, "max_gen_toks": 128}
