"""A size at which every command takes seconds; random state is put back, since trainers seed it."""

import pytest
from experiments import read_size
from harness import random_state_put_back


@pytest.fixture(autouse=True)
def random_state():
    with random_state_put_back():
        yield


@pytest.fixture(scope="session")
def micro():
    """The tiny size with less of everything."""
    size = read_size("tiny")
    return size | {
        "puzzles": {"max_N": 3, "max_filler": 20, "pretraining": 48, "post_training": 32}
        | {"compare": True},
        "training": size["training"]
        | {"batch": 8, "pack_length": 160, "num_train_epochs": 1}
        | {"warmup_steps": 1, "save_steps": 2, "logging_steps": 2},
        "test": {"max_N": 4, "puzzles": 2, "contexts": [0, 20]}
        | {"attempts": 2, "method": "likelihood"},
    }
