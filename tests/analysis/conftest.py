"""What the tests of the analysis share."""

import os

import pytest
from browser import Browser, find_browser

from cogniload_analysis.display import figures


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if find_browser() is None:
        if "CI" in os.environ:
            pytest.fail("chromium is not installed: apt-get install chromium")
        pytest.skip("chromium is not installed")
    with Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the figures empty, which takes most of a report's time, where a test needs none."""
    monkeypatch.setattr(figures, "save_figure", lambda *_: b"<svg/>")
