"""What holds for every test: no Hub, a cache of its own, global random state left alone."""

import os
import random
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
# two workers, each with a thread per core, wait for each other: 44 s of fits became 580 s
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="cogniload-tests-")

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("cogniload", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("cogniload")


@pytest.fixture(autouse=True)
def global_random_state_is_left_alone():
    """Nothing here draws from, or seeds, the global generators of Python and numpy."""
    before = random.getstate(), np.random.get_state()[1].tolist()
    yield
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


@pytest.fixture(scope="session")
def tokenizer_folder(tmp_path_factory):
    """A folder with the small real model's tokenizer, as Hugging Face saves it."""
    from real_model import save_tokenizer  # noqa: PLC0415 (it takes seconds, and few tests need it)

    return save_tokenizer(tmp_path_factory.mktemp("tokenizer"))
