"""Mistakes that new users made: each is one line, in their words, that says what to do instead."""

import re

import pytest
from command_line import refusal
from refusals import refused
from stored import cases

from cogniload_cli import main
from cogniload_dataset import load_dataset
from cogniload_gen import generate_puzzles, score
from cogniload_gen.rewards import answer_reward
from cogniload_gen.tokens import load_tokenizer


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with three files, and nothing else."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results_1.json").write_text("{\n}\n")
    (tmp_path / "text.csv").touch()
    (tmp_path / "bad.yaml").write_text("modle: hf\noutput_path: out\n")


@pytest.mark.parametrize(("words", "said"), cases(__file__)["refusals"])
def test_a_mistake_is_answered_in_the_user_s_words(words, said, capsys, tmp_path):
    files = {*tmp_path.iterdir()}
    assert re.search(said, refusal(capsys, *words.split()))
    assert {*tmp_path.iterdir()} == files


def test_what_works_is_not_refused(tmp_path, caplog):
    words = ["--N", "10,20", "30", "--rho", "0.25", "--num-puzzles", "1"]
    assert main(["generate", "new/folder/x.jsonl", "--d", "1", *words]) == 0
    assert len((tmp_path / "new/folder/x.jsonl").read_text().splitlines()) == 3
    assert "rho is a percentage" in caplog.text


def test_mistakes_in_python():
    row = generate_puzzles(1, 5, 50, num_puzzles=1).to_pylist()[0]
    with pytest.raises((ConnectionError, FileNotFoundError)) as raised:
        load_dataset("cognilod", d=1)
    assert raised.value.__notes__ == ["Puzzles are made by the name 'cogniload'."]
    for counts, said in (
        ({"context_budget": "32k"}, "context_budget must be a number of tokens, got '32k'"),
        ({"prompt_tokens": -1}, "prompt_tokens must be a number of tokens, got -1"),
        ({"tokens": 5}, "score takes .*; got 'tokens'"),
    ):
        with refused(said):
            score("Mary is here.", row, **counts)
    with refused("tokenizer must be a folder or a name, got ./no-such, where nothing is"):
        load_tokenizer("./no-such")
    with refused("unless remove_unused_columns=False"):
        answer_reward(["a"], prompts=["b"])
    with refused("puzzle must have a value for each completion, got 2 for 1 completions"):
        answer_reward(["a"], puzzle=2 * [row["puzzle"]])
