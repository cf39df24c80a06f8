"""What the tests of the lm-eval tasks share."""

import pytest
from harness import random_state_put_back


@pytest.fixture(autouse=True)
def global_random_state_is_left_alone():
    """In place of the one for all tests: lm-eval seeds and draws from the global generators."""
    with random_state_put_back():
        yield
