"""Puzzles on the cores of this machine, or by Slurm, with datatrove:

    pip install . datatrove
    python with_datatrove.py OUT puzzles.yaml           # this machine
    python with_datatrove.py OUT puzzles.yaml slurm     # on a login node: it calls sbatch

Rank r of n makes the files r, r + n, r + 2n, ... of OUT, a folder that all nodes see. Killed, the
same line goes on: all ranks run again, and skip the files that are whole.
"""

import os
import sys
from functools import partial
from pathlib import Path

import yaml
from datatrove.executor import LocalPipelineExecutor, SlurmPipelineExecutor

from cogniload_gen.shards import puzzle_files

TASKS = 1000  # Slurm: the most jobs that share the files


def make(_, rank, world_size, *, out, puzzles):
    """A step of datatrove's: the files of a rank. To Slurm it goes without this file's imports."""
    from cogniload_gen.shards import puzzle_files

    files = puzzle_files(out, **puzzles)
    for number in range(rank, len(files), world_size):
        files.make(number)
    files.finish()  # whichever rank is the last completes the manifest


if __name__ == "__main__":
    out, puzzles = Path(sys.argv[1]).resolve(), yaml.safe_load(Path(sys.argv[2]).read_text("utf-8"))
    files = puzzle_files(out, **puzzles)
    logs = f"{out}-logs"  # beside OUT, which holds puzzles alone, and says itself what is done
    settings = {"pipeline": [partial(make, out=out, puzzles=puzzles)], "logging_dir": logs}
    settings |= {"skip_completed": False}
    if sys.argv[3:] == ["slurm"]:
        SlurmPipelineExecutor(
            tasks=min(TASKS, len(files)),
            time="04:00:00",
            partition="cpu",  # what `sinfo` calls yours
            mem_per_cpu_gb=2,
            venv_path=f"{sys.prefix}/bin/activate",
            job_name="cogniload",
            slurm_logs_folder=f"{logs}/slurm",
            **settings,
        ).run()
    else:
        cores = os.cpu_count() or 1
        LocalPipelineExecutor(tasks=cores, workers=cores, **settings).run()
        print(f"{files.finish()} of {len(files)} files are in {out}")
