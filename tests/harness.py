"""What the tests of the lm-eval tasks share."""

import random
from pathlib import Path

import numpy as np
import pytest
from lm_eval.tasks import TaskManager

import lm_eval_tasks

TASKS = Path(lm_eval_tasks.__file__).parent


@pytest.fixture(autouse=True)
def global_random_state_is_left_alone():
    """In place of conftest's: lm-eval seeds and draws from global generators, here undone."""
    python, numpy = random.getstate(), np.random.get_state()
    yield
    random.setstate(python)
    np.random.set_state(numpy)


def manager(include_path=TASKS, **metadata):
    """lm-eval's task manager for our tasks alone: reading all of its own takes seconds."""
    return TaskManager(include_path=str(include_path), include_defaults=False, metadata=metadata)
