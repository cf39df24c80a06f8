"""The gallery's pictures are those that its script draws now."""

import re
import subprocess
import sys
from html import unescape

from source_tree import ROOT

PICTURES = ROOT / "docs/pictures"


def words_of(picture):
    """The texts of a picture in order, whatever their place."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", picture.read_text("utf-8"), re.DOTALL)
    return " ".join(unescape(" ".join(texts)).split())


def test_the_recordings_are_what_the_commands_write_and_every_picture_is_shown(tmp_path):
    subprocess.run([sys.executable, PICTURES / "draw.py", tmp_path], check=True)
    drawn = {picture.name: words_of(picture) for picture in tmp_path.iterdir()}
    for name in ("report.svg", "compare.svg", "plan.svg"):
        assert drawn[name] == words_of(PICTURES / name), "renew it by docs/pictures/draw.py"
        assert "http" not in (PICTURES / name).read_text("utf-8").replace("www.w3.org", "")[200:]
    assert "It fails because of" in drawn["report.svg"]
    page = (ROOT / "docs/gallery.md").read_text("utf-8")
    assert {*drawn, "ranking.svg"} == {*re.findall(r"pictures/(\w+\.svg)", page)}
