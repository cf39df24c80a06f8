"""A killed command goes on: nothing is lost, doubled or changed."""

from random import Random

import pytest
from harness import lm_eval_random_state, random_state_put_back  # noqa: F401 (every test's fixture)
from kills import NAMES, kills
from test_chains import processes_start_at_once  # noqa: F401 (every test's fixture)


@pytest.fixture(scope="module")
def running(processes_start_at_once):  # noqa: F811
    with random_state_put_back(), kills() as killing:
        yield killing


@pytest.mark.parametrize("name", NAMES)
def test_a_killed_command_goes_on(running, name):
    running.kill(name, Random(name))  # noqa: S311
