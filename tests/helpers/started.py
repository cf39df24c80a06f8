"""Servers that tests start as processes of their own."""

import json
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest


def wait_for(process: subprocess.Popen, url: str, log: Path, *, within: float) -> None:
    """Returns once the URL answers; fails, with the log's end, if the process ends or is late."""
    latest = time.monotonic() + within
    while process.poll() is None and time.monotonic() < latest:
        with suppress(URLError, TimeoutError, ConnectionError), urlopen(url, timeout=5):  # noqa: S310
            return
        time.sleep(0.5)
    said = log.read_text(errors="replace")[-3000:]
    pytest.fail(f"{process.args[0]} did not come up:\n{said}")


def ask(url, prompt, **decoding):
    """Return the message that a server of chats answers a prompt with."""
    asked = {"messages": [{"role": "user", "content": prompt}], "max_tokens": 64} | decoding
    content = json.dumps(asked).encode()
    request = Request(f"{url}/v1/chat/completions", content, {"Content-Type": "application/json"})  # noqa: S310
    with urlopen(request) as answer:  # noqa: S310
        return json.load(answer)["choices"][0]["message"]


def read_of(samples):
    """Return what is read of each sample by its name, wherever its reasoning stands."""
    names = ("acc", "acc_uncut", "overflow", "outcome", "ending", "steps_read", "finish_reason")
    return {
        name: [sample[name] for name in names]
        + [(sample.get("reasoning") or "").strip(), sample.get("response_tokens")]
        for name, sample in samples.items()
    }
