"""What the tests of the lm-eval tasks share; published rows have a cache of their own."""

import pytest
from harness import lm_eval_random_state  # noqa: F401 (a fixture of every test)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
