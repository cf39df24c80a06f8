"""Draw the pages' pictures from the examples: figures of a report, and recordings of commands.

    python docs/pictures/draw.py [FOLDER [NAME ...]]

The figures are those of `cogniload report examples/real`, and of examples/small a threshold and its
cause side by side; a recording is a command's own output.
"""

import os
import re
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

from cogniload_analysis.analyses import ANALYSES
from cogniload_analysis.display.drawing import render
from cogniload_analysis.display.figures import Figure
from cogniload_analysis.report.write import build_parts
from cogniload_analysis.samples.read import read_benchmarks

ROOT = Path(__file__).parents[2]
REAL = "examples/real"
QWEN, SMOL = f"{REAL}/Qwen2.5-Coder-1.5B-Instruct", f"{REAL}/SmolLM2-135M-Instruct"
RECORDINGS = {
    "report": f"report {REAL} --out report",
    "compare": f"compare {QWEN} {SMOL}",
    "plan": "plan --detect 0.05 --like Qwen3-8B --price 0.4,1.6",
}
FIGURES = {"why": "why_01_*", "breaks": "breaks_01_*", "budgets": "budgets"}
"""The commands that are recorded, and the report's figures, by the names of their pictures."""

LONGEST, LINES = 124, 10
"""Characters of a recorded line, and lines of a recording."""


def record(name: str) -> str:
    """Return a terminal that shows a command with the first lines of its output, as SVG."""
    line = [Path(sys.executable).with_name("cogniload"), *shlex.split(RECORDINGS[name])]
    ran = subprocess.run(line, check=True, capture_output=True, encoding="utf-8")  # noqa: S603
    console = Console(record=True, width=LONGEST, file=StringIO())
    lines = "\n".join(ran.stdout.replace(f"{ROOT}/", "").split("\n")[:LINES]).rstrip()
    console.print(Text(f"$ cogniload {RECORDINGS[name]}\n", style="bold"), Text(lines), sep="")
    drawn = console.export_svg(title="cogniload", unique_id=name)
    return re.sub(r"@font-face \{.*?\n    \}\n", "", drawn, flags=re.DOTALL)  # from elsewhere


def draw_threshold() -> str:
    """Return how much a small model solves, and which change cures its failures, as SVG."""
    (part,) = build_parts(read_benchmarks("examples/small", ANALYSES))
    both = [figure for name, figure in part.figures.items() if name.startswith(("adap", "why"))]
    panels = [figure.panels[0] for figure in sorted(both, key=lambda figure: figure.name)]
    return render(Figure("threshold", "", panels, legends="inside")).svg.decode()


if __name__ == "__main__":
    folder = Path(sys.argv[1] if sys.argv[1:] else Path(__file__).parent).resolve()
    with TemporaryDirectory() as work:
        (Path(work) / "examples").symlink_to(ROOT / "examples")
        os.chdir(work)
        for name in sys.argv[2:] or (*RECORDINGS, *FIGURES, "threshold"):
            if name == "threshold":
                picture = draw_threshold()
            elif name in RECORDINGS:
                picture = record(name)
            else:
                (figure,) = Path("report/figures").glob(f"{FIGURES[name]}.svg")
                picture = figure.read_text("utf-8")
            (folder / f"{name}.svg").write_text(picture, "utf-8")
        os.chdir(ROOT)
