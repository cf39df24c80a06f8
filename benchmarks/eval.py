"""What lm-eval and `cogniload eval` take outside of the model: `python benchmarks/eval.py`.

Both commands evaluate the same puzzles, end to end, their results and samples on disk: the paper's
grid by a model that answers at once (lm-eval's `dummy`), or what the arguments of `lm_eval run`
that are given say, such as a served model.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from machine import machine

from lm_eval_tasks.links import TASKS

AT_ONCE = ("--model", "dummy", "--tasks", "cogniload")


def seconds(*command: str) -> tuple[float, float]:
    """Wall and processor time of a command of Python's, which must succeed; it is not heard."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    offline = os.environ | {"HF_HUB_OFFLINE": "1"}  # else both wait for a Hub that is not reached
    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True, env=offline)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main(arguments: Sequence[str]) -> None:
    """Print the times of both, and documents a second."""
    plain = ("lm_eval", "run", "--include_path", str(TASKS), "--log_samples")
    blocks = ("cogniload_gen", "eval")
    with tempfile.TemporaryDirectory() as folder:
        for name, command in (("lm_eval", plain), ("cogniload eval", blocks)):
            out = Path(folder, name)
            wall, processor = seconds(*command, *arguments, "--output_path", str(out))
            (samples,) = out.rglob("samples_*.jsonl")
            with samples.open("rb") as lines:
                documents = sum(1 for _ in lines)
            print(
                f"{name:15} {wall:6.1f} s, {documents / wall:7,.1f} documents/s of {documents:,}; "
                f"{processor:5.1f} s of processor time"
            )
    print(machine())


if __name__ == "__main__":
    main(sys.argv[1:] or AT_ONCE)
