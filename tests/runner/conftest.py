"""What the tests of `cogniload eval` share: a server, a finished run and a small model."""

import multiprocessing
from functools import partial

import pytest
import torch
from completion_server import serving
from eval_command import (
    arguments,
    command,
    processes_start_at_once,  # noqa: F401 (every test's fixture)
    read,
)
from harness import lm_eval_random_state, random_state_put_back  # noqa: F401 (every test's fixture)
from lm_eval.tasks import TaskManager
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.trainers import WordLevelTrainer
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from cogniload_gen import generate_puzzles


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def children_end_with_their_test():
    """Also those that are stopped, where an assert fails before the test has ended them."""
    yield
    for child in multiprocessing.active_children():
        child.kill()
        child.join()


@pytest.fixture
def few_tasks(monkeypatch):
    """As if lm-eval had no task of its own: reading its thousands takes seconds."""
    some = partial(TaskManager, include_defaults=False)
    monkeypatch.setattr("lm_eval.tasks.TaskManager", some)
    return some


@pytest.fixture(scope="session")
def undisturbed_folder(tmp_path_factory):
    """The folder of a run that nothing disturbs, and that no test may change."""
    out = tmp_path_factory.mktemp("undisturbed")
    with serving() as server, random_state_put_back():
        assert command(*arguments(server, out))[0] == 0
    return out


@pytest.fixture(scope="session")
def undisturbed(undisturbed_folder):
    """The results and the samples of that run."""
    return read(undisturbed_folder)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """A folder with a random model of two layers, and a tokenizer of words."""
    folder = tmp_path_factory.mktemp("tiny")
    texts = generate_puzzles([1, 3], [5, 20], 50, num_puzzles=20)["puzzle"].to_pylist()
    words = Tokenizer(WordLevel(unk_token="<unk>"))  # noqa: S106
    words.pre_tokenizer = Whitespace()
    words.train_from_iterator(texts, WordLevelTrainer(special_tokens=["<unk>", "</s>"]))
    PreTrainedTokenizerFast(
        tokenizer_object=words, **{"unk_token": "<unk>", "eos_token": "</s>", "pad_token": "</s>"}
    ).save_pretrained(folder)
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 2048}
    heads = {"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2}
    config = LlamaConfig(vocab_size=words.get_vocab_size(), **sizes, **heads)
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
