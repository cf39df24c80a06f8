"""What lm-eval and `cogniload eval` take outside of the model: `python benchmarks/eval.py`.

Both commands evaluate the paper's grid, end to end, by a model that answers at once (lm-eval's
`dummy`): 14,000 puzzles, their results and their samples on disk.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import machine

from cogniload_gen.tasks import TASKS

DOCUMENTS = 14_000
MODEL = ("--model", "dummy", "--tasks", "cogniload")


def seconds(*command: str) -> tuple[float, float]:
    """Wall and processor time of a command of Python's, which must succeed; it is not heard."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", *command], check=True, capture_output=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Print the times of both, and documents a second."""
    with tempfile.TemporaryDirectory() as folder:
        plain = ("lm_eval", "run", "--include_path", str(TASKS), "--log_samples", *MODEL)
        blocks = ("cogniload_gen.cli", "eval", *MODEL)
        took = {
            "lm_eval": seconds(*plain, "--output_path", str(Path(folder, "plain"))),
            "cogniload eval": seconds(*blocks, "--output_path", str(Path(folder, "blocks"))),
        }
        for name, (wall, processor) in took.items():
            print(
                f"{name:15} {wall:6.1f} s, {DOCUMENTS / wall:5,.0f} documents/s; "
                f"{processor:5.1f} s of processor time"
            )
    print(machine())


if __name__ == "__main__":
    main()
