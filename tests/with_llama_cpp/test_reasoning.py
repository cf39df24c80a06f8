"""A model that reasons: llama.cpp's server parts its reasoning from the response, or it does not.

A grammar has the small model reason, and a template tells the server how it does.
"""

import json
import os
import socket
import subprocess
from contextlib import contextmanager

import pytest
from eval_command import read
from real_model import MODEL, MODEL_FILE, wheel_folder
from started import ask, read_of, wait_for

from cogniload_cli import main

PUZZLES = {"d": [1, 3], "N": 5, "rho": [10, 90], "num_puzzles": 2}

GRAMMAR = 'root ::= "<think>" [a-z ,]{20,60} "</think>" [a-zA-Z ]{5,30} "."'
DECODING = {"temperature": 0, "grammar": GRAMMAR}

TEMPLATE = """\
{%- for message in messages -%}
{{- '<|im_start|>' + message.role + '\\n' -}}
{%- if message.reasoning_content -%}
{{- '<think>' + message.reasoning_content + '</think>' -}}
{%- endif -%}
{{- message.content + '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
"""

START_WITHIN, STOP_WITHIN = 600, 60
"""Seconds, on however busy a machine."""


@contextmanager
def serve(folder, way):
    """Yields the address of a server that formats reasoning in a way."""
    template, log = folder / "template.jinja", folder / f"{way}.log"
    template.write_text(TEMPLATE, "utf-8")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    command = [
        *(os.environ["LLAMA_SERVER"], "--model", wheel_folder() / MODEL_FILE, "--alias", MODEL),
        *("--host", "127.0.0.1", "--port", port, "--ctx-size", 4096, "--parallel", 1),
        *("--jinja", "--chat-template-file", template, "--reasoning-format", way),
    ]
    with log.open("wb") as output:
        process = subprocess.Popen([*map(str, command)], stdout=output, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(process, f"{url}/health", log, within=START_WITHIN)
        yield url
    finally:
        process.terminate()
        process.wait(STOP_WITHIN)


def run(url, out, limit):
    settings = {"model": MODEL, "base_url": f"{url}/v1/chat/completions"}
    command = [
        *("eval", "--output_path", out, "--tasks", "cogniload_mini", "--apply_chat_template"),
        *("--model", "local-chat-completions", "--model_args", json.dumps(settings)),
        *("--metadata", json.dumps({"cogniload": PUZZLES})),
        *("--gen_kwargs", json.dumps(DECODING | {"max_gen_toks": limit})),
    ]
    assert main([*map(str, command)]) == 0
    return {sample["doc"]["id"]: sample for sample in read(out)[1]}


@pytest.mark.parametrize("limit", [64, 8])
def test_a_server_s_format_changes_nothing(tmp_path, limit):
    """Nor where the limit cuts the reasoning."""
    said, runs = [], []
    for way in ("none", "deepseek"):
        with serve(tmp_path, way) as url:
            runs.append(run(url, tmp_path / way, limit))
            said.append(ask(url, "Is the hat blue?", **DECODING))
    inline, apart = said
    before, _, after = inline["content"].removeprefix("<think>").partition("</think>")
    assert apart["reasoning_content"].strip() == before.strip() != ""
    assert apart["content"].strip() == after.strip()
    assert read_of(runs[0]) == read_of(runs[1])
    assert all(sample["reasoning"] for sample in runs[1].values())
    assert not any("<think>" in sample["resps"][0][0] for sample in runs[1].values())
