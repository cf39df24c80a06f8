"""The benchmarks are programs that no other test runs: each still finds what it imports."""

import runpy
from pathlib import Path

import pytest
from harness import random_state_put_back

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.stem)
def test_it_finds_what_it_imports(file, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    with random_state_put_back():  # a library may seed its generators when it is imported
        runpy.run_path(str(file))
