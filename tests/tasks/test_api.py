"""The tasks against a server of the OpenAI kind on loopback, by lm-eval's own API models."""

import pytest
from completion_server import serving
from eval_command import url_of
from harness import manager
from lm_eval import simple_evaluate
from transformers import AutoTokenizer

pytestmark = pytest.mark.slow

PUZZLES = {"d": [1, 3], "N": 20, "rho": [10, 50], "num_puzzles": 1, "context_budget": 4096}


@pytest.fixture
def server():
    """A server that always answers "I don't know."."""
    with serving() as running:
        running.reply, running.instead = (lambda _: "I don't know."), {"usage": None}
        yield running


def evaluate(
    server, kind, tokenizer, *, chat, task="cogniload_mini", puzzles=PUZZLES, **model_args
):
    """The samples of a run by one of lm-eval's own API models."""
    path, model = {
        "chat": ("chat/completions", "local-chat-completions"),
        "completions": ("completions", "local-completions"),
    }[kind]
    model_args |= {"model": "m", "base_url": url_of(server, path)}
    model_args |= {"tokenizer_backend": "huggingface", "tokenizer": str(tokenizer)}
    tasks = {"tasks": [task], "task_manager": manager(cogniload=puzzles)}
    options = {"apply_chat_template": chat, "bootstrap_iters": 1}
    found = simple_evaluate(model, model_args=model_args, **tasks, **options)
    return found["samples"][task]


def test_chat_completions(server, tokenizer_folder):
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    samples = evaluate(server, "chat", tokenizer_folder, chat=True)
    sent = {request["messages"][0]["content"]: request for request in server.requests}
    assert {sample["doc"]["puzzle"] for sample in samples} == set(sent)
    for sample in samples:
        request = sent[sample["doc"]["puzzle"]]
        options = {"tokenize": False, "add_generation_prompt": True}
        rendered = tokenizer.apply_chat_template(request["messages"], **options)
        assert sample["prompt_tokens"] == len(tokenizer(rendered)["input_ids"])
        assert sample["response_tokens"] == 5
        assert request["max_tokens"] == 64


@pytest.mark.parametrize("chat", [True, False])
def test_completions(server, tokenizer_folder, chat):
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    samples = evaluate(server, "completions", tokenizer_folder, chat=chat, max_length=8192)
    sent = {tokenizer.decode(request["prompt"][0]): request for request in server.requests}
    assert {sample["arguments"][0][0] for sample in samples} == set(sent)
    for sample in samples:
        assert sample["prompt_tokens"] == len(sent[sample["arguments"][0][0]]["prompt"][0])


@pytest.mark.parametrize("kind", ["chat", "completions"])
def test_a_repeated_prompt_has_other_seeds_each_time(server, tokenizer_folder, kind):
    """As that of `again`: a server that honours one seed would repeat its answer."""
    puzzles = {"d": 1, "N": 4, "rho": 50, "num_puzzles": 2, "context_budget": 4096}
    given = {
        "chat": kind == "chat",
        "task": "cogniload_twins",
        "puzzles": puzzles,
        "max_length": 8192,
    }
    runs = []
    for _ in range(2):
        server.requests.clear()
        evaluate(server, kind, tokenizer_folder, **given)
        runs.append(sorted((str(sent.get("messages") or sent["prompt"]), sent["seed"])
                           for sent in server.requests))  # fmt: skip
    assert runs[0] == runs[1]
    assert len({seed for _, seed in runs[0]}) == len(runs[0]) > len({text for text, _ in runs[0]})
