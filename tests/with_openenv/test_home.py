"""OpenEnv's own importer, validator and wrapper take what `make upstream` writes for it."""

import subprocess
import sys
from pathlib import Path

import pytest
from openenv.core.env_server.mcp_types import CallToolAction
from source_tree import ROOT

from cogniload_gen.benchmarks import datasets


def run(*words, cwd):
    ran = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The environment that the importer makes of the folder, and where."""
    folder = tmp_path_factory.mktemp("openenv")
    run(sys.executable, "upstream/write.py", folder / "up", cwd=ROOT)
    command = Path(sys.executable).with_name("openenv")
    given = ("--name", "cogniload_env", "--output-dir", folder)
    assert "verifiers" in run(command, "import", folder / "up/openenv", *given, cwd=folder)
    assert "PASS  static.manifest" in run(command, "validate", "cogniload_env", cwd=folder)
    sys.path.insert(0, str(folder))
    from cogniload_env.server.cogniload_env_environment import CogniloadEnvironment

    yield CogniloadEnvironment()
    sys.path.remove(str(folder))


def test_it_has_the_puzzles_of_the_grid(imported):
    splits = {each["name"]: each["type"] for each in imported.list_splits()}
    assert splits == {"train": "train", "eval": "validation"}
    rows = datasets()["cogniload"].puzzles(num_puzzles=1, split="train").table().to_pylist()
    assert imported.num_tasks("train") == len(rows) == 140
    assert [task["info"]["id"] for task in imported.list_tasks("train")] == [r["id"] for r in rows]
    seen = imported.reset(split="train", index=7).metadata["prompt"]
    assert [message["content"] for message in seen] == [rows[7]["puzzle"]]


@pytest.mark.parametrize("right", [True, False])
def test_an_answer_has_its_reward(imported, right):
    row = imported.reset(split="train", index=3).metadata["task_spec"]["info"]
    value = next(it for it in row["options"] if (it == row["answer"]) == right)
    said = {"completion": f"In the end, {row['poi']} has {value}."}
    found = imported.step(CallToolAction(tool_name="submit", arguments=said))
    assert (found.reward, found.done) == (float(right), True)
