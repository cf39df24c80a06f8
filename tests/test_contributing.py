"""CONTRIBUTING.md, the workflows and the architecture page name what there is."""

import re
import subprocess

import pytest
import yaml
from source_tree import ROOT

from cogniload_gen import __version__

GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
WORKFLOWS = [path.read_text("utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")]
LINES = re.findall(r"^      - run: (.*)$", "\n".join(WORKFLOWS), re.M)


def test_every_make_command_is_a_target():
    named = {*re.findall(r"`make ([a-z-]+)", GUIDE)}
    named |= {line.removeprefix("make ") for line in LINES if line.startswith("make ")}
    assert {"test", "docs", "release"} <= named <= TARGETS


def test_every_file_that_the_workflows_name_is_there():
    paths = re.findall(r"(?:tests|\.ci)/[\w./]+", " ".join(LINES))
    assert len(paths) > 5
    assert all((ROOT / path).exists() for path in paths)


@pytest.mark.parametrize("step", re.findall(r"^\d+\. (.*?)(?=^\d+\. |^## |\Z)", GUIDE, re.M | re.S))
def test_every_line_that_code_goes_below_is_there(step):
    for line in re.findall(r"below\s+`([^`]+)`", step):
        path = re.search(r"\]\(([^)]+)\)", step)[1]
        assert line in (ROOT / path).read_text("utf-8"), path


def test_what_is_published_was_tried_and_no_other_job_may_publish():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    publish = jobs.pop("publish")
    assert (publish["needs"], jobs["try"]["needs"]) == ("try", "build")
    assert publish["if"] == "github.ref_type == 'tag'"
    assert publish["permissions"] == {"id-token": "write"}
    assert not any("permissions" in job for job in jobs.values())


def test_the_citation_and_the_changelog_are_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## (\S+)", changes, re.M)[1] in (__version__, "Unreleased")


def test_every_link_of_every_page_leads_to_a_file():
    pages = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    ).stdout.split()
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)", (ROOT / page).read_text("utf-8")):
            is_there = (ROOT / page).parent.joinpath(target).exists()
            assert re.match("https?:|mailto:", target) or is_there, (page, target)
