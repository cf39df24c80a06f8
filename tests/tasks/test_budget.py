"""The shared budget: pure parts, and what lm-eval's models say of their windows and tokens."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lm_eval.api.instance import Instance
from lm_eval.models.api_models import JsonChatStr

from cogniload_gen.responses.context_budget import (
    SMALLEST_BUDGET,
    Share,
    check_context_budget,
    check_fit,
    response_limit,
)
from lm_eval_tasks.budget import (
    LIMIT_NAMES,
    check_window,
    context_window,
    count_prompt_tokens,
    count_response_tokens,
    limit_response,
    share_budget,
)
from lm_eval_tasks.lm_eval_private import model_under_evaluation


class Words:
    """A tokenizer whose tokens are words, with the methods of a Hugging Face one that are used."""

    def __call__(self, text, add_special_tokens=True):
        return {"input_ids": ["<s>"] * add_special_tokens + text.split()}

    def apply_chat_template(self, messages, *, tokenize, add_generation_prompt):
        assert not tokenize and add_generation_prompt
        return " ".join(["<user>", *(message["content"] for message in messages), "<assistant>"])


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
    return Instance(
        "generate_until",
        {"id": "p", "context_budget": budget},
        (prompt, {"until": [], **generation}),
        0,
    )


CHAT = JsonChatStr('[{"role": "user", "content": "a b c"}]')


@given(st.integers(0, 200_000), st.integers(SMALLEST_BUDGET, 200_000))
def test_a_limit_is_a_step_that_fits(prompt_tokens, budget):
    limit, step = response_limit(prompt_tokens, budget), min(budget // 32, 1024)
    assert limit % step == 0
    assert 0 <= budget - prompt_tokens - limit < step


@given(st.integers(SMALLEST_BUDGET, 32_768))
def test_limits_are_few(budget):
    limits = {response_limit(n, budget) for n in range(0, budget, max(1, budget // 4096))}
    assert len(limits) <= 32 + 1


def test_a_long_prompt_may_fill_its_budget_but_for_a_short_response():
    """As FACTOR's of 128,000 tokens, in the window of 131,072 that most long models have."""
    assert response_limit(129_000, 131_072) == 2048
    assert response_limit(130_048, 131_072) == 1024


def test_the_paper_s_longest_prompts_lose_less_than_a_sixteenth():
    assert response_limit(17_000, 32_768) > 15 / 16 * (32_768 - 17_000)


@pytest.mark.parametrize("budget", [SMALLEST_BUDGET - 1, 0, -1, 2048.0, "32768", None, True])
def test_a_wrong_budget_is_refused(budget):
    with pytest.raises(ValueError, match=f"context_budget .* at least {SMALLEST_BUDGET}") as error:
        check_context_budget(budget)
    assert repr(budget) in str(error.value)


def test_outside_an_evaluation_there_is_no_model():
    assert model_under_evaluation() is None


def test_prompts_are_counted_as_the_backend_encodes_them():
    assert count_prompt_tokens(TextModel(), "a b c") == 4  # with its special token
    assert count_prompt_tokens(ChatModel(), CHAT) == 5  # rendered, which has the special tokens
    assert count_response_tokens(TextModel(), "a b c") == 3
    assert count_response_tokens(ChatModel(), "a b c") == 3


@pytest.mark.parametrize("model", [
    None,
    SimpleNamespace(),
    SimpleNamespace(tok_encode=str.split),
    SimpleNamespace(tok_encode=str.split, tokenizer=None),
])  # fmt: skip
@pytest.mark.parametrize("prompt", ["a b c", CHAT])
def test_without_a_tokenizer_nothing_is_counted(model, prompt):
    assert count_prompt_tokens(model, prompt) is None


def test_a_chat_needs_a_tokenizer_with_a_template():
    model = SimpleNamespace(tok_encode=str.split, tokenizer=object())
    assert count_prompt_tokens(model, CHAT) is None


def test_only_models_that_cut_have_a_window():
    assert context_window(TextModel()) == 4096
    assert context_window(ChatModel()) is None
    assert context_window(None) is None


def test_a_window_below_the_budget_is_refused():
    check_window("task", TextModel(), [request(budget=4096)])
    check_window("task", ChatModel(), [request(budget=32768)])
    with pytest.raises(ValueError, match=r"task: the model takes 4096 tokens .* 4097"):
        check_window("task", TextModel(), [request(budget=4096), request(budget=4097)])


def test_an_estimate_is_marked():
    assert share_budget(None, request("He is 12, or so.")) == Share(8, 3968, counted=False)
    assert share_budget(None, request(CHAT)) == Share(3, 3968, counted=False)
    assert share_budget(TextModel(), request()) == Share(4, 3968, counted=True)


@pytest.mark.parametrize("name", LIMIT_NAMES)
def test_a_limit_that_was_asked_for_only_lowers(name):
    assert share_budget(TextModel(), request(**{name: 100})).response_limit == 100
    assert share_budget(TextModel(), request(**{name: 100_000})).response_limit == 3968


def test_a_request_has_one_limit():
    limited = request(max_tokens=7, max_new_tokens=8, temperature=0.6)
    limit_response(limited, 128)
    assert limited.args[1] == {"until": [], "temperature": 0.6, "max_gen_toks": 128}


def test_a_document_that_does_not_fit_is_named():
    check_fit("task", [request().doc], {"p": Share(3900, 128, counted=True)})
    with pytest.raises(ValueError) as error:
        check_fit("task", [request().doc], {"p": Share(4000, 0, counted=True)})
    assert str(error.value) == (
        "task: 1 of 1 documents do not fit: p has 4000 prompt tokens, "
        "and its context_budget of 4096 must leave 128 for the response"
    )
