"""A folder of a run is data: nothing in it is imported, whatever its run.json names."""

import json
from functools import partial

import pytest
from eval_command import command, error_of
from lm_eval.tasks import TaskManager

from lm_eval_tasks.runner import run as run_module

TASK = """
task: evil
custom_dataset: !function evil.f
process_results: !function evil.f
"""


@pytest.fixture(autouse=True)
def only_our_tasks(monkeypatch):
    """lm-eval's thousands, which take ten seconds to read, are left out."""
    some = partial(TaskManager, include_defaults=False)
    monkeypatch.setattr("lm_eval.tasks.TaskManager", some)


@pytest.fixture
def planted(half, monkeypatch):
    """Return a function that puts arguments into run.json, beside a task with code of its own."""
    folder, described = half / "evil", half / "state" / "run.json"
    folder.mkdir()
    (folder / "evil.yaml").write_text(TASK)
    ran = f"import pathlib\npathlib.Path({str(folder / 'ran')!r}).touch()\n"
    ran += "def f(**_): raise ValueError('evil')\n"
    (folder / "evil.py").write_text(ran)
    monkeypatch.chdir(half)

    def plant(include_path=folder, **changes):
        run = json.loads(described.read_bytes())
        run["recorded"]["arguments"]["include_path"] = str(include_path)
        run["arguments"] |= changes
        described.write_text(json.dumps(run))
        return folder / "ran"

    return plant


@pytest.mark.parametrize(
    "task",
    ["evil", "{}/evil.yaml", "{}/*.yaml", "evil.yaml", "{}", "cogniload_mini, {}/evil.yaml,x"],
)
@pytest.mark.parametrize("include_path", ["{}", ""])
def test_no_code_of_a_folder_is_run(planted, half, monkeypatch, task, include_path):
    folder = half / "evil"
    if task == "evil.yaml":
        monkeypatch.chdir(folder)
    ran = planted(include_path.format(folder), tasks=[task.format(folder)])
    assert "evil" in error_of("eval", "--merge", half)
    command("eval", "--status", half)
    command("report", half, "--out", half / "report")
    assert not ran.exists()


def test_the_command_itself_may_name_the_folder(planted, half):
    ran = planted(tasks=["evil"])
    error_of("eval", "--merge", half, "--include_path", half / "evil")
    assert ran.exists()


def test_what_a_folder_names_reaches_our_tasks_alone(planted, half, monkeypatch):
    """Tasks of others may load a model or a tokenizer, and its code, by their metadata."""
    planted(metadata={"cogniload": {"N": 20}, "tokenizer": "evil/model"})
    read = []

    def load_tasks(_arguments, _include_path, metadata, _adaptive):
        read.append(metadata)
        raise ValueError("loaded")

    monkeypatch.setattr(run_module, "load_tasks", load_tasks)
    assert error_of("eval", "--merge", half).startswith("loaded")
    assert read == [{"cogniload": {"N": 20}}]
