"""The documentation is built from the docstrings and the pages, and no link in it is broken."""

import subprocess
import sys
from pathlib import Path

import pytest
from lxml import html
from source_tree import ROOT, modules


def build(root: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", out]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("site")
    built = build(ROOT, out)
    assert built.returncode == 0, built.stderr
    return out


def test_every_module_has_its_reference_and_every_page_its_place(site):
    names = {path.parent.name for path in site.glob("api/*/index.html")}
    assert names == {*modules()}
    for page in ("CONTRIBUTING", "docs/architecture", "docs/glossary", "recipes/cuda"):
        assert (site / page / "index.html").is_file()
    reference = html.parse(site / "api/cogniload_gen.cogniload.score/index.html")
    assert reference.xpath("//*[@id='cogniload_gen.cogniload.score.score_response']")


def test_every_picture_has_a_text_and_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        tree = html.parse(page)
        assert all(picture.get("alt") for picture in tree.xpath("//article//img"))
        loaded = tree.xpath("//script/@src | //img/@src | //link[@rel='stylesheet']/@href")
        assert not [address for address in loaded if address.startswith(("http", "//"))]


@pytest.mark.parametrize(("targets", "is_broken"), [
    ("docs/other.md docs/other.md#a-place #here docs data.csv https://example.com/anything", False),
    ("missing.md", True),
    ("docs/other.md#elsewhere", True),
    ("missing.py", True),
])  # fmt: skip
def test_a_broken_link_fails_the_build(tmp_path, targets, is_broken):
    (tmp_path / "docs").mkdir()
    links = " ".join(f"[`a` link]({target})" for target in targets.split())
    for name, text in {
        "mkdocs.yml": (ROOT / "mkdocs.yml").read_text("utf-8").partition("nav:")[0],
        "docs/hooks.py": (ROOT / "docs/hooks.py").read_text("utf-8"),
        "docs/other.md": "# Other\n\n## A place\n",
        "docs/README.md": "# Docs\n",
        "README.md": f"# Start\n\n## Here\n\n{links}\n",
        "data.csv": "a,b\n",
    }.items():
        (tmp_path / name).write_text(text, "utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    built = build(tmp_path, tmp_path / "site")
    assert (built.returncode != 0) == is_broken, built.stderr
