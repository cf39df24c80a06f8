"""The documentation is built from the docstrings and the pages, and no link in it is broken."""

import pytest
from build_docs import Anchors, broken_links, build
from harness import random_state_put_back


def test_it_is_built_without_a_broken_link(tmp_path):
    with random_state_put_back():  # a library may seed its generators when it is imported
        assert build(tmp_path / "docs") == []
    module = tmp_path / "docs" / "api" / "cogniload_gen" / "cogniload" / "score.html"
    assert "score_response" in Anchors(module.read_text("utf-8")).places
    index = Anchors((tmp_path / "docs" / "index.html").read_text("utf-8"))
    assert {"README.html", "CONTRIBUTING.html", "docs/architecture.html"} <= {*index.links}


@pytest.mark.parametrize(
    ("link", "is_broken"),
    [
        ("other.html", False),
        ("other.html#place", False),
        ("#here", False),
        ("data.csv", False),
        ("https://example.com/anything", False),
        ("missing.html", True),
        ("other.html#elsewhere", True),
        ("#elsewhere", True),
        ("folder", True),
        ("../page.html", True),
    ],
)
def test_a_broken_link_is_seen(tmp_path, link, is_broken):
    (tmp_path / "page.html").write_text(f'<h1 id="here">Page</h1><a href="{link}">link</a>')
    (tmp_path / "other.html").write_text('<h2 id="place">Other</h2>')
    (tmp_path / "data.csv").touch()
    (tmp_path / "folder").mkdir()
    assert broken_links(tmp_path) == ([f"page.html links to {link}"] if is_broken else [])
