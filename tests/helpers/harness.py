"""What the tests of the lm-eval tasks share."""

import json
import os
import random
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from lm_eval.tasks import TaskManager

import lm_eval_tasks

TASKS = Path(lm_eval_tasks.__file__).parent


@contextmanager
def random_state_put_back():
    """Undo what lm-eval does to the global generators of Python and numpy, which it seeds."""
    python, numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


@pytest.fixture(autouse=True, name="global_random_state_is_left_alone")
def lm_eval_random_state():
    """In place of the one for all tests: lm-eval seeds and draws from the global generators."""
    with random_state_put_back():
        yield


def manager(include_path=TASKS, **metadata):
    """lm-eval's task manager for our tasks alone: reading all of its own takes seconds."""
    return TaskManager(include_path=str(include_path), include_defaults=False, metadata=metadata)


def lm_eval_cli(out, *arguments):
    """Runs lm-eval's own command line: the results, and each task's samples, that it wrote."""
    command = [sys.executable, "-m", "lm_eval", "run", "--include_path", TASKS, *arguments]
    subprocess.run(
        [*command, "--output_path", out, "--log_samples"],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        cwd=out,
        check=True,
        capture_output=True,
    )
    strictly = {"parse_constant": pytest.fail}  # NaN and Infinity are no JSON
    (results,) = out.rglob("results_*.json")
    found = json.loads(results.read_text(encoding="utf-8"), **strictly)
    samples = {
        task: [
            json.loads(line, **strictly) for line in file.read_text(encoding="utf-8").splitlines()
        ]
        for task in found["results"]
        for file in out.rglob(f"samples_{task}_2*.jsonl")
    }
    return found, samples
