"""Benchmarks and studies are programs that no other test runs: each finds what it imports."""

import runpy
from pathlib import Path

import pytest
from harness import random_state_put_back

ROOT = Path(__file__).parents[1]
FILES = sorted([*ROOT.glob("benchmarks/*.py"), *ROOT.glob("studies/*.py")])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_finds_what_it_imports(file, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")  # of both, for what they say of the machine
    monkeypatch.syspath_prepend(ROOT / "studies")
    with random_state_put_back():  # a library may seed its generators when it is imported
        runpy.run_path(str(file))
