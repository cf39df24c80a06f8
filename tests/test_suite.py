"""The test suite itself: it ends, with what it started, also where a test's process dies."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from source_tree import ROOT

FLAGS = re.search(r"^test:.*\n.*pytest (.*)", (ROOT / "Makefile").read_text("utf-8"), re.M)[1]

TESTS = """
import os, signal, subprocess, sys
from pathlib import Path

SLEEP = [sys.executable, "-c", "input()"]

def start(name):
    child = subprocess.Popen(SLEEP, stdin=subprocess.PIPE)
    Path(__file__).with_name(name).write_text(str(child.pid))
    os.kill(child.pid, signal.SIGSTOP)

def test_that_leaves_a_stopped_child():
    start("of_a_test")

def test_that_kills_its_process():
    start("of_a_dead_process")
    os._exit(1)

def test_that_never_runs():
    pass
"""


def is_running(process: str) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False


def test_a_dead_worker_ends_the_run_with_its_tests_name_and_its_children(tmp_path):
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "--rootdir", tmp_path, *FLAGS.split(), tmp_path]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "crashed while running 'test_it.py::test_that_kills_its_process'" in run.stdout
    assert "1 failed, 1 passed" in run.stdout
    children = [tmp_path.joinpath(name).read_text() for name in ("of_a_test", "of_a_dead_process")]
    assert not any(map(is_running, children))
