"""Puzzles and answers on a Ray cluster, or on the cores of this machine, with Ray Data:

    pip install '.[eval]' 'ray[data]'
    python with_ray.py puzzles OUT puzzles.yaml     # the files of `cogniload generate OUT/`
    python with_ray.py answers OUT eval.yaml 64     # those of `cogniload eval --shard I/64`
    ray job submit --working-dir . -- python with_ray.py answers /shared/OUT eval.yaml 64

OUT is a folder that all nodes see. Ray gives the task of a lost node to another one, which goes on
with what is there; so does the same line after a kill. eval.yaml is a file of `cogniload eval
--config`: with `model: vllm` each task loads the model on GPUs of its own (--gpus 1), and with a
server's address it asks there. Then `cogniload eval --merge OUT` and `report` are as ever.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import ray
import yaml

from cogniload_gen import benchmarks
from cogniload_gen.shards import puzzle_files

_ROWS = 10_000


def puzzles(dataset: str = "cogniload", **parameters: Any) -> ray.data.Dataset:
    """Return a grid as Ray reads it, 10,000 rows a block, without files."""
    source = benchmarks.datasets()[dataset].puzzles(**parameters)
    rows = len(source.selection)

    def make(starts: pa.Table) -> Iterator[pa.Table]:
        for start in starts["id"].to_pylist():
            yield from source.tables(start * _ROWS, min(rows, (start + 1) * _ROWS))

    blocks = -(-rows // _ROWS)
    numbers = ray.data.range(blocks, override_num_blocks=blocks)
    return numbers.map_batches(make, batch_format="pyarrow")


def make_file(numbers: pa.Table, *, out: Path, parameters: dict[str, Any]) -> pa.Table:
    """Make the files of some numbers; those that are whole stay."""
    files = puzzle_files(out, **parameters)
    return pa.table({"rows": [files.make(number) for number in numbers["id"].to_pylist()]})


def answer(numbers: pa.Table, *, out: Path, settings: dict[str, Any], shards: int) -> pa.Table:
    """Answer the shards of some numbers; what is answered stays."""
    from lm_eval_tasks import Evaluation

    for number in numbers["id"].to_pylist():
        Evaluation(**settings).run(out, shard=f"{number + 1}/{shards}")
    return numbers


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["puzzles", "answers"])
    parser.add_argument("out", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("shards", type=int, nargs="?", default=1)
    parser.add_argument("--gpus", type=float, default=0, help="of a task")
    words = parser.parse_args()
    out, given = words.out.resolve(), yaml.safe_load(words.file.read_text("utf-8"))
    ray.init(include_dashboard=False)
    how = {"batch_size": 1, "batch_format": "pyarrow", "num_gpus": words.gpus}
    if words.what == "puzzles":
        files = puzzle_files(out, **given)
        tasks = ray.data.range(len(files), override_num_blocks=len(files))
        made = tasks.map_batches(make_file, fn_kwargs={"out": out, "parameters": given}, **how)
        print(f"{made.sum('rows')} puzzles in {files.finish()} of {len(files)} files are in {out}")
    else:
        about = {"out": out, "settings": given, "shards": words.shards}
        tasks = ray.data.range(words.shards, override_num_blocks=words.shards)
        done = tasks.map_batches(answer, fn_kwargs=about, **how).count()
        print(f"{done} shards are answered: cogniload eval --merge {out}")
