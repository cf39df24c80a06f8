"""`cogniload tasks --link`, into a copy of lm-eval: the one that is installed is left alone.

Tests that link tasks into one installation would see each other's links.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import lm_eval
import pytest

from lm_eval_tasks.tasks import TASKS


@pytest.fixture
def lm_eval_copy(tmp_path):
    """The folder of an lm-eval without tasks of its own, and the environment that imports it."""
    installed, copy = Path(lm_eval.__file__).parent, tmp_path / "packages" / "lm_eval"
    (copy / "tasks").mkdir(parents=True)
    for part in installed.iterdir():
        if part.name != "tasks":
            (copy / part.name).symlink_to(part)
    for module in (installed / "tasks").glob("*.py"):
        shutil.copy(module, copy / "tasks")
    return copy, os.environ | {"PYTHONPATH": str(copy.parent)}


def run(environment, *arguments):
    command = [sys.executable, "-m", *arguments]
    ran = subprocess.run(command, env=environment, capture_output=True, check=False, text=True)
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.slow
def test_lm_eval_finds_linked_tasks(lm_eval_copy):
    copy, environment = lm_eval_copy
    folder = copy / "tasks" / TASKS.name
    tasks = ("cogniload_cli", "tasks")
    assert run(environment, *tasks, "--link") == (0, f"linked {folder}\n", "")
    (folder / "of_an_older_release.yaml").symlink_to("gone.yaml")
    assert run(environment, *tasks, "--link") == (0, f"linked {folder}\n", "")
    assert all(link.is_file() for link in folder.iterdir())
    assert "cogniload_lite" in run(environment, "lm_eval", "ls", "tasks")[1]
    assert run(environment, *tasks, "--unlink") == (0, f"unlinked {folder}\n", "")
    assert not folder.exists()
    assert run(environment, *tasks, "--unlink")[:2] == (2, "")
    assert "cogniload_lite" not in run(environment, "lm_eval", "ls", "tasks")[1]
