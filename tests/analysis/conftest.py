"""What the tests of the analysis share."""

import pytest
from lm_eval_layout import BETA, SMALL, make_samples, write_factor_runs, write_run

from cogniload_analysis.display import drawing

DECAYS = {
    ("symbolic", 0): (-0.04, 0.43),
    ("symbolic", 4000): (-0.049, -0.02),
    ("symbolic", 64000): (-0.05, -0.711),
    ("realistic", 0): (-0.1, 0.2),
    ("realistic", 4000): (-0.12, 0.1),
}


@pytest.fixture(scope="session")
def simulated(tmp_path_factory):
    """A model with both benchmarks, and one with FACTOR at two contexts and several attempts."""
    folder = tmp_path_factory.mktemp("simulated")
    write_factor_runs(folder, "org/whole", DECAYS)
    two = {("symbolic", 0): (-0.08, 0.48), ("symbolic", 8000): (-0.1, 0.34)}
    write_factor_runs(folder, "org/tries", two, puzzles=4, attempts=8)
    write_run(folder, "org/whole", make_samples(BETA, 3, 1, grid=SMALL))
    write_run(folder, "org/other", make_samples(BETA, 3, 2, grid=SMALL))
    return folder


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the figures empty, which takes most of a report's time, where a test needs none."""
    monkeypatch.setattr(drawing, "save_figure", lambda *_: b"<svg />")
