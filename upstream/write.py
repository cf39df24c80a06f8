"""Write what other projects ask for from the sources here; README.md says what each home is.

python upstream/write.py build/upstream
"""

import argparse
import json
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

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
    write_gym(arguments.out / "nemo-gym")
    write_register(arguments.out / "inspect_evals/register", arguments.repository)
    environment = arguments.out / "prime-intellect/environments/cogniload_puzzles"
    for path in filter(Path.is_file, (HERE / "prime-intellect").iterdir()):
        write(environment / path.name, path.read_text("utf-8").replace("0.0.0", __version__))
    request = (HERE / "huggingface.js/pull-request.md").read_text("utf-8")
    request = request.replace("REPOSITORY", arguments.repository)
    write(arguments.out / "huggingface.js/pull-request.md", request)
    for path in (HERE / "openenv").iterdir():
        text = path.read_text("utf-8").replace("0.0.0", __version__)
        write(arguments.out / "openenv" / path.name, text)
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


def write_gym(root: Path) -> None:
    """Write the environment and the resources server of NeMo Gym, with cases for its checks."""
    environment, server = root / "environments/cogniload", root / "resources_servers/cogniload"
    places = {
        "manifest.yaml": environment / "manifest.yaml", "config.yaml": environment / "config.yaml",
        "prepare.py": environment / "prepare.py", "README.md": environment / "README.md",
        "app.py": server / "app.py", "server.yaml": server / "configs/cogniload.yaml",
        "test_app.py": server / "tests/test_app.py",
    }  # fmt: skip
    for name, place in places.items():
        write(place, (HERE / "nemo-gym" / name).read_text("utf-8").replace("0.0.0", __version__))
    for folder in (environment, server, server / "tests"):
        write(folder / "__init__.py", "# SPDX-License-Identifier: Apache-2.0\n")
    write(server / "README.md", (environment / "README.md").read_text("utf-8"))
    write(server / "requirements.txt", f"nemo-gym[dev]\ncogniload>={__version__}\n")
    prepare = runpy.run_path(str(environment / "prepare.py"))["prepare"]
    (environment / "data").mkdir()
    rows = prepare(environment / "data/example.jsonl", d=[1, 3, 5], N=20, rho=50, num_puzzles=2)
    first = json.loads(rows.read_text("utf-8").splitlines()[0])
    row = first["row"]
    other = next(value for value in row["options"] if value != row["answer"])
    cases = [
        {"name": kind, "kind": kind, "request": first | {"response": _response(row, value)}}
        | {"expected_reward": float(value == row["answer"])}
        for kind, value in (
            ("full_reward", row["answer"]), ("zero_reward", other), ("determinism", row["answer"])
        )
    ]  # fmt: skip
    missing = {"name": "no response", "kind": "malformed", "request": first}
    cases.append(missing | {"expected_error": "response"})
    lines = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases)
    write(server / "tests/verifier_cases.jsonl", lines)


def _response(row: dict[str, Any], value: str) -> dict[str, Any]:
    """Return a response of OpenAI's Responses API that answers a puzzle with a value."""
    text = {"type": "output_text", "text": f"{row['poi']} ends with {value}.", "annotations": []}
    about = {"id": "message", "type": "message", "role": "assistant", "status": "completed"}
    held = {"id": "response", "created_at": 0, "model": "fixture", "object": "response"}
    tools = {"parallel_tool_calls": False, "tool_choice": "none", "tools": []}
    return held | {"output": [about | {"content": [text]}]} | tools


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
