"""Puzzles on the cores of this machine, or by Slurm, with datatrove:

    pip install . datatrove
    python with_datatrove.py OUT puzzles.yaml           # this machine
    python with_datatrove.py OUT puzzles.yaml slurm     # on a login node: it calls sbatch

Rank r of n makes the files r, r + n, r + 2n, ... of OUT, a folder that all nodes see, as `cogniload
generate OUT/` does. Killed, the same line makes what is missing.
"""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from datatrove.executor import LocalPipelineExecutor, SlurmPipelineExecutor


def make(_: object, rank: int, world_size: int, *, out: Path, parameters: dict[str, Any]) -> None:
    """A step of datatrove: the files of a rank. To Slurm it goes without this file's imports."""
    from cogniload_gen.shards import puzzle_files

    files = puzzle_files(out, **parameters)
    for number in range(rank, len(files), world_size):
        files.make(number)
    files.finish()  # whichever rank is the last completes the manifest


if __name__ == "__main__":
    out, parameters = Path(sys.argv[1]).resolve(), yaml.safe_load(Path(sys.argv[2]).read_text())
    steps, logs = [partial(make, out=out, parameters=parameters)], f"{out}-logs"
    how = {"pipeline": steps, "logging_dir": logs, "skip_completed": False}
    if sys.argv[3:] == ["slurm"]:
        about = {"time": "04:00:00", "partition": "cpu", "mem_per_cpu_gb": 2, "tasks": 100}
        SlurmPipelineExecutor(job_name="cogniload", **about, **how).run()
    else:
        LocalPipelineExecutor(tasks=os.cpu_count() or 1, workers=os.cpu_count() or 1, **how).run()
