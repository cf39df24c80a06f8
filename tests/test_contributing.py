"""What CONTRIBUTING.md, the workflows, the citation and the changelog name is there."""

import re

import yaml
from source_tree import ROOT

from cogniload_gen import __version__

WORKFLOWS = [path.read_text("utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")]
LINES = re.findall(r"^      - run: (.*)$", "\n".join(WORKFLOWS), re.M)


def test_every_make_command_is_a_target_and_every_file_of_the_workflows_is_there():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    named = {*re.findall(r"`make ([a-z-]+)", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))}
    named |= {line.removeprefix("make ") for line in LINES if line.startswith("make ")}
    assert {"test", "docs", "release"} <= named <= targets
    paths = re.findall(r"(?:tests|\.ci)/[\w./]+", " ".join(LINES))
    assert len(paths) > 5
    assert all((ROOT / path).exists() for path in paths)


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
    assert re.search(r"^## (\S+)", changes, re.M)[1] == __version__
