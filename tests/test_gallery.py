"""The pages' pictures are those that their script draws now."""

import re
import sys
from html import unescape

from command_line import run
from source_tree import ROOT

from cogniload_analysis.report.compare_runs import explain_results
from cogniload_analysis.report.write import write_report

PICTURES = ROOT / "docs/pictures"


def words_of(picture):
    """The texts of a picture in order, whatever their place."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", picture.read_text("utf-8"), re.DOTALL)
    return " ".join(unescape(" ".join(texts)).split())


def test_the_recordings_are_what_the_commands_write_and_every_picture_is_shown(tmp_path):
    names = ("compare", "plan")  # the report itself is tested elsewhere
    run(sys.executable, PICTURES / "draw.py", tmp_path, *names)
    for picture in (f"{name}.svg" for name in names):
        assert words_of(tmp_path / picture) == words_of(PICTURES / picture), "renew it by draw.py"
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    shown = re.findall(r"pictures/(\w+\.svg)", "".join(page.read_text("utf-8") for page in pages))
    assert {path.name for path in PICTURES.glob("*.svg")} == {*shown}


def test_the_readme_says_what_the_stored_run_of_the_demo_gives(tmp_path):
    run, lines = ROOT / "examples/small", []
    write_report({"small-reasoner": run}, tmp_path, say=lines.append)
    cause = explain_results([run, run / "why"])[0]
    assert f"{lines[0]}\n  {cause}\n" in (ROOT / "README.md").read_text("utf-8")
