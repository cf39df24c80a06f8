"""Each engine makes the same 100,000 puzzles by its recipe, bit for bit those of the command."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml

RECIPES = Path(__file__).parents[2] / "recipes" / "generation"
GRID = {"d": 3, "N": 10, "rho": 50, "num_puzzles": 100_000, "rows_per_file": 10_000}


@pytest.fixture(scope="session")
def expected(tmp_path_factory) -> dict[str, str]:
    """The SHA-256 of every file that the command writes, by one process."""
    folder = tmp_path_factory.mktemp("command") / "out"
    options = [word for name, value in GRID.items() for word in (f"--{name}", str(value))]
    run(sys.executable, "-m", "cogniload_cli", "generate", f"{folder}/", *options)
    found = digests(folder)
    assert len(found) == 11
    return found


def run(*command: str | Path, **environment: str) -> str:
    settings = {"env": os.environ | environment, "capture_output": True, "text": True}
    ran = subprocess.run(command, check=False, **settings)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout


def digests(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def recipe(tmp_path):
    """A function from an engine to the command that makes the puzzles in the folder out/."""

    def command(engine: str, *more: str, grid=GRID) -> list[str | Path]:
        puzzles = tmp_path / "puzzles.yaml"
        puzzles.write_text(yaml.safe_dump(grid))
        return [sys.executable, RECIPES / f"with_{engine}.py", tmp_path / "out", puzzles, *more]

    return command


def test_datatrove_on_this_machine_killed_half_way(expected, recipe, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(recipe("datatrove"), start_new_session=True)
    while len(list(out.glob("*.parquet"))) < 4:
        assert process.poll() is None
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    there = {path: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
    assert 4 <= len(there) < 10
    run(*recipe("datatrove"))
    assert digests(out) == expected
    kept = [path for path, written in there.items() if path.stat().st_mtime_ns == written]
    assert len(kept) >= len(there) - 2  # of the last, one in each process, the digest may lack


SBATCH = """#!/bin/bash
script="${@: -1}"
last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' "$script")
for task in $(seq 0 "$last"); do
  export SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_JOB_ID=7 SLURM_NODELIST=here SLURM_NNODES=1
  SLURM_NODEID=0 bash "$script" >&2 </dev/null || exit
done
echo "Submitted batch job 7"
"""
SRUN = """#!/bin/bash
while [ "$1" != launch_pickled_pipeline ]; do shift; done
exec "$@"
"""


def test_datatrove_by_the_scripts_that_it_gives_to_slurm(expected, recipe, tmp_path):
    """No Slurm is here: its commands are stand-ins that run an array's tasks one by one."""
    slurm = tmp_path / "bin"
    slurm.mkdir()
    for name, text in (("sbatch", SBATCH), ("srun", SRUN), ("scontrol", "#!/bin/sh\necho here\n")):
        (slurm / name).write_text(text)
        (slurm / name).chmod(0o755)
    two_files = GRID | {"num_puzzles": 20_000}
    run(*recipe("datatrove", "slurm", grid=two_files), PATH=f"{slurm}:{os.environ['PATH']}")
    made = digests(tmp_path / "out")
    for i in (0, 1):
        assert made[f"test-0000{i}-of-00002.parquet"] == expected[f"test-0000{i}-of-00010.parquet"]
    assert "files" in json.loads((tmp_path / "out" / "manifest.json").read_text())


def test_ray_data_on_a_local_cluster(expected, recipe, tmp_path):
    """With a scheduler, an object store and workers, which end with the recipe.

    Its folder is its own, so that no other cluster of this machine is found; sockets in it have
    short names.
    """
    with TemporaryDirectory(prefix="ray-") as folder:
        limit = {"RAY_DEFAULT_OBJECT_STORE_MAX_MEMORY_BYTES": str(200 << 20)}
        said = run(*recipe("ray"), **limit, RAY_TMPDIR=folder, RAY_USAGE_STATS_ENABLED="0")
    assert "10 of 10 files with 100000 puzzles are in " in said
    assert digests(tmp_path / "out") == expected
