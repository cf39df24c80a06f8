"""Write what other projects ask for from the sources here; README.md says what each home is.

python upstream/write.py build/upstream
"""

import argparse
import shutil
import subprocess
from pathlib import Path

import yaml

from cogniload_gen import __version__
from cogniload_gen.shards import configuration_of

HERE = Path(__file__).parent
ROOT = HERE.parent

TASKS = {"cogniload": 100, "cogniload_lite": 10}
"""The tasks for lm-evaluation-harness, and their puzzles in each cell of the paper's grid."""

ROW = (
    "| [cogniload](cogniload/README.md) | Logic puzzles whose difficulty, length and distraction "
    "are set independently. | English |\n"
)
"""What lm-evaluation-harness's list of tasks says."""


def main() -> None:
    """Write every home."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--repository", default="https://github.com/owner/cogniload")
    text = "the Hub's repository of the paper's puzzles, as cogniload push made it"
    parser.add_argument("--dataset", default="user/cogniload", help=text)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.out, ignore_errors=True)
    tasks = arguments.out / "lm-evaluation-harness/lm_eval/tasks"
    write_lm_eval(tasks, arguments.repository, arguments.dataset)
    write_register(arguments.out / "inspect_evals/register", arguments.repository)
    environment = arguments.out / "prime-intellect/environments/cogniload_puzzles"
    for path in filter(Path.is_file, (HERE / "prime-intellect").iterdir()):
        write(environment / path.name, path.read_text("utf-8").replace("0.0.0", __version__))
    print(f"{arguments.out}: {sum(path.is_file() for path in arguments.out.rglob('*'))} files")


def write(path: Path, text: str) -> None:
    """Write a file in a folder that may not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def write_lm_eval(tasks: Path, repository: str, dataset: str) -> None:
    """Write the tasks of published puzzles, whose scorer needs the standard library alone."""
    source, folder = HERE / "lm-evaluation-harness", tasks / "cogniload"
    for name, puzzles in TASKS.items():
        text = (source / "cogniload.yaml").read_text("utf-8").replace("user/cogniload", dataset)
        text = text.replace("task: cogniload", f"task: {name}")
        configuration = configuration_of("cogniload", num_puzzles=puzzles).name
        write(folder / f"{name}.yaml", text.replace("CONFIGURATION", configuration))
    shutil.copy(source / "utils.py", folder)
    about = (source / "README.md").read_text("utf-8").replace("REPOSITORY", repository)
    write(folder / "README.md", about)
    write(tasks / "README.row.md", ROW)


def write_register(folder: Path, repository: str) -> None:
    """Write the entries of Inspect Evals' register, one a task, and what its form asks for.

    The form, which writes the entry itself, takes the paper's page and the task's line.
    """
    command = ["git", "rev-parse", "HEAD"]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="ascii")  # noqa: S603
    commit, addresses = said.stdout.strip(), []
    held = yaml.safe_load((HERE / "register.yaml").read_text("utf-8"))
    path, everyone = held.pop("task_path"), held.pop("contributors")
    shared = {"contributors": everyone, "tags": held.pop("tags")}
    source = {"repository_url": repository, "repository_commit": commit, "maintainers": everyone}
    code = (ROOT / path).read_text("utf-8").splitlines()
    for paper in held.values():
        tasks, about = paper.pop("tasks"), " ".join(paper.pop("about").split())
        for name, (variant, samples) in tasks.items():
            task = {"name": name, "task_path": path, "dataset_samples": samples}
            title = f"{paper['common_title']} ({variant})"
            entry = {"full_title": title, **paper, "description": about, **shared}
            entry |= {"tasks": [task], "source": source}
            text = yaml.safe_dump(entry, sort_keys=False, width=10_000, allow_unicode=True)
            write(folder / name / "eval.yaml", text)
            line = code.index(f'@task(name="cogniload/{name}")') + 1
            addresses.append(f"{name}: {repository}/blob/{commit}/{path}#L{line}")
    write(folder / "addresses.txt", "\n".join(addresses) + "\n")


if __name__ == "__main__":
    main()
