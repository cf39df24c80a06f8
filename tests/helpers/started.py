"""Servers that tests start as processes of their own."""

import subprocess
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

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
