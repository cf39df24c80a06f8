"""What the tests of the lm-eval tasks share."""

import random
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from lm_eval.api.model import LM
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


class Scripted(LM):
    """A model of lm-eval that says what a function of a request says; `asked` has it by the id."""

    loglikelihood = loglikelihood_rolling = None

    def __init__(self, respond):
        super().__init__()
        self.respond, self.asked = respond, {}

    def generate_until(self, requests):
        """Return the responses."""
        self.asked |= {
            each.doc["id"]: (each.args[0], each.args[1]["max_gen_toks"]) for each in requests
        }
        return [self.respond(each) for each in requests]
