"""A real vLLM on the CPU: the small real model as a folder that vLLM loads, and a server of it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from harness import lm_eval_random_state  # noqa: F401 (a fixture of every test)
from real_model import MODEL, MODEL_FILE, wheel_folder
from started import wait_for

os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
# one thread, wherever there is a free core: others would wait for each other by spinning
os.environ |= {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"}

collect_ignore_glob = [] if find_spec("vllm") else ["test_*.py"]

WINDOW = 8192
"""Tokens, of the served model."""

START_WITHIN, STOP_WITHIN = 3600, 600
"""Seconds, on however busy a machine. On two free cores vLLM starts in 15 to 50, stops in 5."""


@pytest.fixture
def long_puzzles() -> dict:
    """Parameters of six puzzles whose prompts leave 50 to 500 tokens of their budget of 1024."""
    return {"d": [1, 3], "N": 30, "rho": 50, "num_puzzles": 3, "context_budget": 1024}


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """The folder: what the model's GGUF file holds, in float32, and its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    folder = tmp_path_factory.mktemp("models") / MODEL
    gguf = {"pretrained_model_name_or_path": wheel_folder(), "gguf_file": MODEL_FILE}
    weights = {"quantization_config": GgufConfig(dequantize=True), "dtype": torch.float32}
    AutoModelForCausalLM.from_pretrained(**gguf, **weights).save_pretrained(folder)
    AutoTokenizer.from_pretrained(**gguf).save_pretrained(folder)
    return folder


@pytest.fixture
def server(model, tmp_path) -> Iterator[str]:
    """The address of a server of the model."""
    with serve(model, tmp_path / "log") as url:
        yield url


@pytest.fixture(name="serve", scope="session")
def serving():
    """What serves a folder's model, with more arguments than its own."""
    return serve


@contextmanager
def serve(model: Path, log: Path, *more: str) -> Iterator[str]:
    """Yields the address of `vllm serve` on a free port of loopback; it ends with its children."""
    with socket.socket() as held, log.open("wb") as output:
        # held to the end, so that nobody else is given it; vLLM too binds with SO_REUSEADDR
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        command = [
            *(Path(sys.executable).with_name("vllm"), "serve", model),
            *("--host", "127.0.0.1", "--port", port, "--served-model-name", MODEL),
            *("--dtype", "float32", "--max-model-len", WINDOW, "--enforce-eager", *more),
        ]
        process = subprocess.Popen(
            [*map(str, command)], stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(process, f"{url}/health", log, within=START_WITHIN)
            yield url
        finally:
            stop(process)


def stop(process: subprocess.Popen) -> None:
    """Ends a process with all of its group: asked first, then made to."""
    for demand in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, demand)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_WITHIN)
