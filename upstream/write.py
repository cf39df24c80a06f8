"""Write what other projects ask for from the sources here; README.md says what each home is.

python upstream/write.py build/upstream
"""

import argparse
import re
import shutil
import subprocess
from pathlib import Path

import yaml

from cogniload_gen import __version__

HERE = Path(__file__).parent
ROOT = HERE.parent

ROWS = {
    "cogniload": "Logic puzzles whose difficulty, length and distraction are set independently.",
    "factor": "Chains of variable definitions in filler text of any length.",
}
"""What lm-evaluation-harness's list of tasks says of each folder."""

FUNCTION = r"!function ([\w.]+)\.(\w+)"
LINK = r"\[([^]]*)\]\((?!http)[^)]*\)"
"""A YAML's module and function, and a link within this repository."""


def main() -> None:
    """Write every home."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--repository", default="https://github.com/owner/cogniload")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.out, ignore_errors=True)
    for benchmark in ROWS:
        write_lm_eval(arguments.out / "lm-evaluation-harness/lm_eval/tasks", benchmark)
    write_register(arguments.out / "inspect_evals/register/cogniload", arguments.repository)
    environment = arguments.out / "prime-intellect/environments/cogniload_puzzles"
    for path in filter(Path.is_file, (HERE / "prime-intellect").iterdir()):
        write(environment / path.name, path.read_text("utf-8").replace("0.0.0", __version__))
    print(f"{arguments.out}: {sum(path.is_file() for path in arguments.out.rglob('*'))} files")


def write(path: Path, text: str) -> None:
    """Write a file in a folder that may not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def write_lm_eval(tasks: Path, benchmark: str) -> None:
    """Write a folder of tasks whose functions stand in its `utils.py`, and its row of the list."""
    source, functions = ROOT / "lm_eval_tasks" / benchmark, set[tuple[str, str]]()
    for path in source.glob("*.yaml"):
        text = path.read_text("utf-8")
        functions.update(re.findall(FUNCTION, text))
        write(tasks / benchmark / path.name, re.sub(FUNCTION, r"!function utils.\2", text))
    lines = ['"""The functions of the YAMLs: pip install cogniload[eval] brings them."""\n']
    lines += sorted(f"from {module} import {name} as {name}" for module, name in functions)
    write(tasks / benchmark / "utils.py", "\n".join(lines) + "\n")
    about = re.sub(LINK, r"\1", (source / "README.md").read_text("utf-8"))
    checklist = (HERE / "checklist.txt").read_text("utf-8")
    about = about.replace("### Changelog", f"{checklist}\n### Changelog")
    write(tasks / benchmark / "README.md", about)
    row = f"| [{benchmark}]({benchmark}/README.md) | {ROWS[benchmark]} | English |\n"
    write(tasks / f"README.row-{benchmark}.md", row)


def write_register(folder: Path, repository: str) -> None:
    """Write the entry of Inspect Evals' register: the tasks, and the commit that has them."""
    command = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="ascii")  # noqa: S603
    entry = yaml.safe_load((ROOT / "inspect_tasks" / "eval.yaml").read_text("utf-8"))
    entry["source"] = {"repository_url": repository, "repository_commit": commit.stdout.strip()}
    entry["source"]["maintainers"] = entry["contributors"]
    write(folder / "eval.yaml", yaml.safe_dump(entry, sort_keys=False, width=100))


if __name__ == "__main__":
    main()
