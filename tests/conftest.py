"""What holds for every test: no Hub, a cache of its own, global random state left alone.

And each ends, its children with it.
"""

import os
import random
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
# two workers, each with a thread per core, wait for each other: 44 s of fits became 580 s
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="cogniload-tests-")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

UNCHECKED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
# the same examples each time, however slow the machine is
settings.register_profile(
    "cogniload", deadline=None, derandomize=True, suppress_health_check=UNCHECKED
)
settings.register_profile(
    "fuzz", settings.get_profile("cogniload"), derandomize=False, print_blob=True
)
settings.load_profile("cogniload")

ON_LINUX = [
    "analysis/test_read.py", "analysis/test_report.py",
    "ground/test_shards.py", "runner/*", "test_cli.py",
    "test_files.py", "test_frozen.py", "training/*", "with_*/*",
]  # fmt: skip
"""Tests that send signals, bound memory, or name devices: other systems leave them out."""

collect_ignore_glob = [] if sys.platform == "linux" else ON_LINUX


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """End the processes that a test's body started, also if it failed before it ended them."""
    before = set(descendants(os.getpid()))
    try:
        return (yield)
    finally:
        kill(set(descendants(os.getpid())) - before)


def descendants(process: int) -> Iterator[int]:
    """Yield a process's children and theirs, but for those that serve every later test."""
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # it has ended
            for child in map(int, children.read_text().split()):
                if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes():
                    yield child
                    yield from descendants(child)


def kill(processes):
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@pytest.fixture(autouse=True)
def global_random_state_is_left_alone():
    """Nothing here draws from, or seeds, the global generators of Python and numpy."""
    before = random.getstate(), np.random.get_state()[1].tolist()
    yield
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder that is the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def tokenizer_folder(tmp_path_factory):
    """A folder with the small real model's tokenizer, as Hugging Face saves it."""
    from real_model import save_tokenizer

    return save_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Yield a browser for all tests of a module, which are skipped without one, but not in CI."""
    from browser import Browser, find_browser

    if find_browser() is None:
        if "CI" in os.environ:
            pytest.fail("chromium is not installed: apt-get install chromium")
        pytest.skip("chromium is not installed")
    with Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running
