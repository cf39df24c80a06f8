"""The documentation is built from docstrings and pages: their examples and links are true."""

import doctest
import sys
from importlib import import_module
from pathlib import Path

import pytest
from command_line import run
from lxml import html
from source_tree import ROOT, modules


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "mkdocs", "build", "--site-dir", out, cwd=ROOT)
    return out


def test_every_module_has_its_reference_and_every_page_its_place(site):
    names = {path.parent.name for path in site.glob("api/*/index.html")}
    assert names == {*modules()}
    for page in ("CONTRIBUTING", "docs/architecture", "recipes", "docs/notebooks/threshold"):
        assert (site / page / "index.html").is_file()
    reference = html.parse(site / "api/cogniload_gen.cogniload.score/index.html")
    assert reference.xpath("//*[@id='cogniload_gen.cogniload.score.score_response']")


def test_every_picture_has_a_text_and_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        tree = html.parse(page)
        assert all(picture.get("alt") for picture in tree.xpath("//article//img"))
        loaded = tree.xpath("//script/@src | //img/@src | //link[@rel='stylesheet']/@href")
        assert not [address for address in loaded if address.startswith(("http", "//"))]


def test_the_examples_in_docstrings_are_what_comes():
    packages = ("cogniload_gen", "cogniload_dataset", "cogniload_analysis")
    names = [name for name in modules() if name.partition(".")[0] in packages]
    found = {name: doctest.testmod(import_module(name)) for name in names}
    assert not [name for name, results in found.items() if results.failed]
    assert sum(results.attempted for results in found.values()) > 60
