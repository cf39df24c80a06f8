"""Train, hold out, curve: the page's own commands in a row, with fewer updates and puzzles."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from harness import lm_eval_random_state  # noqa: F401 (every test's fixture)
from source_tree import ROOT

PAGE = (ROOT / "docs/curve.md").read_text("utf-8")
SMALLER = {
    "--steps 400 --save 100": "--steps 4 --save 2 --batch 16 --tokens 60",
    "--num-puzzles 100": "--num-puzzles 4",
    "100 200 300 400": "2 4",
    "step-400": "step-4",
    "recipes/training/cogniload/held_out.yaml": "held_out.yaml",
}


def commands():
    """The commands of the page's blocks, one a line, without the installation."""
    blocks = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    assert len(lines) == 10
    return lines[1:]


def smaller(lines):
    """The commands with fewer updates and puzzles."""
    text = "\n".join(lines)
    for usual, small in SMALLER.items():
        text = text.replace(usual, small)
    return text.splitlines()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The folder in which the commands ran, each after the other, and their exit codes."""
    folder, codes = tmp_path_factory.mktemp("curve"), []
    for name in ("recipes", "lm_eval_tasks"):
        (folder / name).symlink_to(ROOT / name)
    held_out = (ROOT / "recipes/training/cogniload/held_out.yaml").read_text("utf-8")
    fewer = held_out.replace("num_puzzles: 100", "num_puzzles: 15").replace("16, 24, 32", "16")
    (folder / "held_out.yaml").write_text(fewer, "utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    about = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    for line in smaller(commands()):
        done = subprocess.run(
            ["bash", "-c", line], cwd=folder, env=about, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr, done.stderr[-3000:]
        codes.append((line, done.returncode, done.stdout))
    return folder, codes


def test_each_command_of_the_page_does_its_work(ran):
    _, codes = ran
    wrong = [(line, code) for line, code, _ in codes if code and "cogniload gate" not in line]
    assert not wrong
    (verdict,) = [code for line, code, _ in codes if "cogniload gate" in line]
    assert verdict in (0, 1, 3, 5)  # what a gate says of so few puzzles


def test_the_curve_has_each_checkpoint_on_the_validation_split(ran):
    folder, _ = ran
    found = pd.read_csv(folder / "runs/curve/tables/checkpoints.csv")
    assert [*found["x"]] == [0, 2, 4]
    splits = set()
    for file in (folder / "runs/eval").rglob("samples_*.jsonl"):
        ids = [json.loads(line)["doc"]["id"] for line in file.read_text("utf-8").splitlines()]
        assert len(ids) == 75
        splits |= {id.split("-")[2] for id in ids}
    assert splits == {"validation"}
    (test,) = (folder / "runs/test").rglob("samples_*.jsonl")
    assert '"id": "cogniload-v1-test-' in test.read_text("utf-8")


def test_the_static_mix_is_of_the_train_split_and_both_trainings_kept_what_they_need(ran):
    folder, _ = ran
    mix = [json.loads(line) for line in (folder / "runs/mix.jsonl").read_text().splitlines()]
    assert {row["id"].split("-")[2] for row in mix} == {"train"}
    assert all(row["prompt"][0]["content"] == row["puzzle"] for row in mix)
    state = json.loads((folder / "runs/grpo/checkpoint-4/frontier.json").read_text("utf-8"))
    assert state["means"]["groups"] == 8  # four updates of two groups
    assert not (folder / "runs/static/checkpoint-4/frontier.json").exists()
    assert (folder / "runs/static/final/model.safetensors").is_file()
