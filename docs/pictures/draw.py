"""Draw the gallery's pictures from the examples: figures of a report, and recordings of commands.

    python docs/pictures/draw.py [FOLDER [NAME ...]]

The figures are those of `cogniload report examples/real`; a recording is a command's own output.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[2]
FIGURES = {"why": "why_01_*", "breaks": "breaks_01_*", "budgets": "budgets"}
"""The figures of the report, by their names in the gallery."""

LONGEST, LINES = 124, 10
"""Characters of a recorded line, and lines of a recording."""

REAL = "examples/real"
QWEN, SMOL = f"{REAL}/Qwen2.5-Coder-1.5B-Instruct", f"{REAL}/SmolLM2-135M-Instruct"
RECORDINGS = {
    "report": f"report {REAL} --out report",
    "compare": f"compare {QWEN} {SMOL}",
    "plan": "plan --detect 0.05 --like Qwen3-8B --price 0.4,1.6",
}
"""The commands that are recorded, by their names in the gallery."""


def run(command: str) -> str:
    """Return what a command of `cogniload` writes to standard output."""
    line = [Path(sys.executable).with_name("cogniload"), *shlex.split(command)]
    return subprocess.run(line, check=True, capture_output=True, encoding="utf-8").stdout  # noqa: S603


def record(name: str, command: str, output: str) -> str:
    """Return a terminal that shows a command with the first lines of its output, as SVG."""
    console = Console(record=True, width=LONGEST, file=StringIO())
    lines = output.rstrip().split("\n")[:LINES]
    console.print(Text(f"$ cogniload {command}\n", style="bold"), Text("\n".join(lines)), sep="")
    drawn = console.export_svg(title="cogniload", unique_id=name)
    return re.sub(r"@font-face \{.*?\n    \}\n", "", drawn, flags=re.DOTALL)  # from elsewhere


def draw(folder: Path, names: Sequence[str] = (*RECORDINGS, *FIGURES)) -> None:
    """Write pictures into a folder: every one, or recordings that are named."""
    with TemporaryDirectory() as work:
        (Path(work) / "examples").symlink_to(ROOT / "examples")
        os.chdir(work)
        for name in names:
            if name in RECORDINGS:
                picture = record(name, RECORDINGS[name], run(RECORDINGS[name]))
            else:
                (figure,) = Path("report/figures").glob(f"{FIGURES[name]}.svg")
                picture = figure.read_text("utf-8")
            (folder / f"{name}.svg").write_text(picture, "utf-8")
        os.chdir(ROOT)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if sys.argv[1:] else Path(__file__).parent).resolve()
    draw(folder, sys.argv[2:] or (*RECORDINGS, *FIGURES))
