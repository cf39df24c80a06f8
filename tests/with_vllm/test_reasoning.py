"""A model that reasons: vLLM parts its reasoning from the response, or lm-eval does, or neither."""

import gc
import json
from pathlib import Path

import pytest
from eval_command import read
from real_model import MODEL
from started import ask, read_of

from cogniload_cli import main

PUZZLES = {"d": [1, 3], "N": 5, "rho": [10, 50, 90], "num_puzzles": 2, "context_budget": 1024}
DECODING = {"max_gen_toks": 64, "temperature": 0, "presence_penalty": 2, "until": ["."]}
"""Its first sentence is the reasoning; the penalty and the stop keep a second end from coming."""

ASKED = {"model": MODEL, "temperature": 0, "presence_penalty": 2, "stop": ["."]}


@pytest.fixture(scope="module")
def thinker(model, tmp_path_factory) -> Path:
    """The folder of the model that writes </think> where the other would end its first sentence."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tmp_path_factory.mktemp("thinker") / MODEL
    tokenizer = AutoTokenizer.from_pretrained(model)
    tokenizer.add_tokens(["<think>", "</think>"])  # not special: those are left out of a text
    weights = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    weights.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    rows = weights.get_input_embeddings().weight.data  # of the output too
    end, dot, begin = tokenizer.convert_tokens_to_ids(["</think>", ".", "<think>"])
    rows[end], rows[begin] = 1.02 * rows[dot], 0
    weights.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def run(out, *model, **decoding):
    """The samples of a run, by document."""
    command = [
        *("eval", "--output_path", out, "--tasks", "cogniload_mini", "--apply_chat_template"),
        *("--metadata", json.dumps({"cogniload": PUZZLES})),
        *("--gen_kwargs", json.dumps(DECODING | decoding), *model),
    ]
    assert main([*map(str, command)]) == 0
    return {sample["doc"]["id"]: sample for sample in read(out)[1]}


def of_server(url, out):
    settings = {"model": MODEL, "base_url": f"{url}/v1/chat/completions"}
    return run(out, "--model", "local-chat-completions", "--model_args", json.dumps(settings))


def test_a_server_s_parser_changes_nothing(thinker, serve, tmp_path):
    with serve(thinker, tmp_path / "log") as url:
        inline = of_server(url, tmp_path / "inline")
        prompt = next(iter(inline.values()))["doc"]["puzzle"]
        whole = ask(url, prompt, **ASKED)
    with serve(thinker, tmp_path / "parsing", "--reasoning-parser", "deepseek_r1") as url:
        apart = of_server(url, tmp_path / "apart")
        parted = ask(url, prompt, **ASKED)
    before, _, after = whole["content"].partition("</think>")
    assert before.strip()
    assert parted["reasoning"].strip() == before.strip()
    assert (parted["content"] or "").strip() == after.strip()
    ended = [name for name, sample in inline.items() if "</think>" in sample["resps"][0][0]]
    assert len(ended) > len(inline) / 2
    ours, theirs = ({name: run[name] for name in ended} for run in (apart, inline))
    assert read_of(ours) == read_of(theirs)
    for name in inline.keys() - ended:  # what never ends is all reasoning, says this parser
        assert apart[name]["reasoning"].strip() == inline[name]["resps"][0][0].strip()
        assert apart[name]["resps"] == [[""]]
    assert not any("</think>" in sample["resps"][0][0] for sample in apart.values())


def test_what_lm_eval_splits_off_is_kept(thinker, tmp_path):
    """By the engine in this process, with lm-eval's `think_end_token` and without."""
    settings = {"pretrained": str(thinker), "dtype": "float32", "max_model_len": 1024}
    runs = []
    for ends in ({}, {"think_end_token": "</think>"}):
        given = json.dumps(settings | {"enforce_eager": True} | ends)
        words = ("--model", "vllm", "--model_args", given)
        # a stop would end the reasoning, but that lm-eval keeps it from an engine that reasons
        runs.append(run(tmp_path / str(len(runs)), *words, until=[]))
        gc.collect()  # the engine's processes end with the last reference to it
    inline, apart = runs
    assert read_of(apart) == read_of(inline)
    ended = [name for name, sample in inline.items() if "</think>" in sample["resps"][0][0]]
    assert len(ended) > len(inline) / 2
    assert all(apart[name]["reasoning"] for name in ended)
    assert not any("</think>" in sample["resps"][0][0] for sample in apart.values())
