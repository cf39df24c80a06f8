"""Puzzles on a Ray cluster, or on the cores of this machine, with Ray Data:

    pip install . 'ray[data]'
    python with_ray.py OUT puzzles.yaml                 # this machine, or RAY_ADDRESS's cluster
    ray job submit --working-dir . -- python with_ray.py /shared/OUT puzzles.yaml

A task makes a file of OUT, a folder that all nodes see. Ray gives the task of a lost node to
another one. Killed, the same line goes on: files that are whole are skipped.
"""

import sys
from pathlib import Path

import pyarrow as pa
import ray
import yaml

from cogniload_gen.shards import puzzle_files


def make(numbers, *, out, puzzles):
    """A function for `map_batches`: from files' numbers to their rows."""
    files = puzzle_files(out, **puzzles)
    return pa.table({"rows": [files.make(number) for number in numbers["id"].to_pylist()]})


if __name__ == "__main__":
    out, puzzles = Path(sys.argv[1]).resolve(), yaml.safe_load(Path(sys.argv[2]).read_text("utf-8"))
    files = puzzle_files(out, **puzzles)
    ray.init(include_dashboard=False)
    numbers = ray.data.range(len(files), override_num_blocks=len(files))  # a task for each file
    options = {"batch_format": "pyarrow", "fn_kwargs": {"out": out, "puzzles": puzzles}}
    rows = numbers.map_batches(make, **options).sum("rows")
    print(f"{files.finish()} of {len(files)} files with {rows} puzzles are in {out}")
