"""Ray and datatrove on this machine make and ask what the commands do, also after a kill."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
import yaml
from eval_command import command, url_of
from harness import lm_eval_random_state  # noqa: F401 (every test's fixture)
from planted_model import Model
from planted_server import Face, serving
from source_tree import ROOT

RECIPES = ROOT / "recipes" / "clusters"
GRID = {"d": 3, "N": 10, "rho": 50, "num_puzzles": 60_000, "rows_per_file": 10_000}


def start(*words):
    given = [sys.executable, *map(str, words)]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(given, start_new_session=True, **how)


def said(process):
    out, _ = process.communicate(timeout=900)
    assert process.returncode == 0, out[-3000:]
    return out


def digests(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file()
    }


def written(file, held):
    file.write_text(yaml.safe_dump(held), "utf-8")
    return file


@pytest.mark.parametrize("engine", ["ray", "datatrove"])
def test_an_engine_makes_the_files_of_the_command(tmp_path, engine):
    options = [word for name, value in GRID.items() for word in (f"--{name}", str(value))]
    assert command("generate", f"{tmp_path}/expected/", *options)[0] == 0
    what = ["puzzles"] * (engine == "ray")
    words = RECIPES / f"with_{engine}.py", *what, tmp_path / "out"
    words = *words, written(tmp_path / "puzzles.yaml", GRID)
    killed = start(*words)
    while not [*tmp_path.glob("out/*.parquet")]:
        assert killed.poll() is None, killed.communicate()[0][-3000:]
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    said(start(*words))
    assert digests(tmp_path / "out") == digests(tmp_path / "expected")


READ = """
import sys
sys.path.insert(0, sys.argv[1])
from with_ray import puzzles
from cogniload_gen import generate_puzzles
grid = {"d": [1, 3], "N": 10, "rho": 50, "num_puzzles": 7_000}
ids = [row["id"] for row in puzzles(**grid).select_columns("id").take_all()]
assert sorted(ids) == sorted(generate_puzzles(**grid)["id"].to_pylist())
"""


def test_ray_reads_a_grid_without_files():
    said(start("-c", READ, RECIPES))


def test_ray_asks_every_puzzle_once_though_a_worker_is_killed(tmp_path):
    puzzles = {"d": [1], "N": [5, 10], "rho": [50], "num_puzzles": 300}
    with serving(Face(), Model((("each", 1),), limit=16)) as server:
        settings = {
            "model": "local-chat-completions",
            "model_args": {"model": "solver", "base_url": url_of(server), "num_concurrent": 8},
            "apply_chat_template": True,
            "tasks": ["cogniload"],
            "metadata": {"cogniload": puzzles},
        }
        file, out = written(tmp_path / "eval.yaml", settings), tmp_path / "out"
        running = start(RECIPES / "with_ray.py", "answers", out, file, 4)
        while len(server.answered) < 100:
            assert running.poll() is None, running.communicate()[0][-3000:]
            time.sleep(0.05)
        # one of Ray's workers, which holds a shard
        held = next(filter(None, (path.read_text().split() for path in out.glob("state/lock-*"))))
        os.kill(int(held[0]), signal.SIGKILL)
        assert "4 shards are answered" in said(running)
        prompts = Counter(each.prompt for each in server.answered)
        assert len(prompts) == 600
        assert sum(prompts.values()) <= 600 + 8  # what was under way is asked again
    assert command("eval", "--merge", out)[0] == 0
    (results,) = out.glob("*/results_*.json")
    assert json.loads(results.read_bytes())["n-samples"]["cogniload"]["effective"] == 600
    lines = [json.loads(line) for file in out.glob("*/samples_*") for line in file.open()]
    assert len({line["doc"]["id"] for line in lines}) == len(lines) == 600
