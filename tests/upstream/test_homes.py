"""What `make upstream` writes does what each project asks for, in the versions installed here."""

import json
import re
import shutil
import sys
from pathlib import Path

import lm_eval
import pytest
import yaml
from command_line import run
from source_tree import ROOT


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    out = tmp_path_factory.mktemp("homes") / "upstream"
    options = ["--repository", "https://example.org/a/b"]
    said = run(sys.executable, "upstream/write.py", out, *options, cwd=ROOT)
    assert said.startswith(f"{out}: ")
    return out


@pytest.fixture(scope="module")
def harness(homes, tmp_path_factory):
    """An installed lm-eval whose tree has our folders, and no other tasks, to be quick."""
    folder = tmp_path_factory.mktemp("harness")
    installed = Path(lm_eval.__file__).parent

    def other_tasks(where, names):
        inner = [name for name in names if (Path(where) / name).is_dir()]
        return inner if Path(where) == installed / "tasks" else ["__pycache__"]

    shutil.copytree(installed, folder / "lm_eval", ignore=other_tasks)
    written = homes / "lm-evaluation-harness" / "lm_eval" / "tasks"
    shutil.copytree(written, folder / "lm_eval" / "tasks", dirs_exist_ok=True)
    return folder


CHECKS = """
import sys
from itertools import islice
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
import lm_eval
assert lm_eval.__file__.startswith(sys.argv[1]), lm_eval.__file__
manager = TaskManager()
print("all", *sorted(manager.all_tasks))
names = [name for name in manager.all_tasks if name.endswith("_mini")]
for name, task in manager.load(names)["tasks"].items():
    task.download(task.config.dataset_kwargs)
    assert task.dataset is not None
    assert not task.has_training_docs() and not task.has_validation_docs()
    assert task.has_test_docs() and task._config["test_split"] is not None
    assert not task.should_decontaminate()
    docs = list(islice(task.test_docs(), 10))
    texts = [task.doc_to_text(doc) for doc in docs]
    assert all(isinstance(text, str) and text and not text[-1].isspace() for text in texts)
    assert all(task.doc_to_target(doc) for doc in docs)
    task.build_all_requests(rank=0, limit=10, world_size=1)
    assert len(task.instances) == 10
results = simple_evaluate("dummy", tasks=names, limit=4, bootstrap_iters=0)["results"]
print("acc", *(f"{name}={results[name]['acc,none']}" for name in sorted(names)))
"""


def test_the_harness_with_our_folders_in_its_tree_runs_their_tasks(harness):
    """The checks are those of lm-evaluation-harness's own tests/test_tasks.py."""
    environment = {"PYTHONPATH": str(harness), "HF_HUB_OFFLINE": "1", "PATH": ""}
    said = run(sys.executable, "-c", CHECKS, harness, cwd=harness, env=environment)
    lines = dict(line.split(" ", 1) for line in said.splitlines() if line[:4] in ("all ", "acc "))
    ours = [
        yaml.load(path.read_text("utf-8"), Names)  # noqa: S506
        for path in task_files()
    ]
    named = {each.get("task") if "group" not in each else each["group"] for each in ours} - {None}
    assert set(lines["all"].split()) == named
    assert len(named) > 20
    assert lines["acc"].count("=") == 3


class Names(yaml.SafeLoader):
    """Reads the functions that YAMLs name as their names."""


Names.add_constructor("!function", lambda _, node: node.value)


def task_files():
    return sorted((ROOT / "lm_eval_tasks").glob("*/*.yaml"))


def test_the_register_has_our_tasks_at_a_commit_and_inspect_finds_each(homes):
    entry = yaml.safe_load((homes / "inspect_evals/register/cogniload/eval.yaml").read_text())
    assert entry["source"]["repository_url"] == "https://example.org/a/b"
    assert re.fullmatch("[0-9a-f]{40}", entry["source"]["repository_commit"])
    assert entry["external_assets"] == []
    listed = run(
        sys.executable, "-m", "inspect_ai", "list", "tasks", "inspect_tasks", cwd=ROOT
    ).split()
    for task in entry["tasks"]:
        assert f"{task['task_path']}@{task['name']}" in listed


def test_the_lint_of_inspect_evals_has_no_failure():
    pytest.importorskip("inspect_evals_lint")
    command = [sys.executable, "-m", "inspect_evals_lint", "--task", "inspect_tasks/tasks.py"]
    report = json.loads(run(*command, "--output-format", "json", cwd=ROOT))
    assert report["passed"]
    assert report["summary"]["fail"] == 0
    assert report["summary"]["pass"] > 15
