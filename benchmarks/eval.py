"""What lm-eval and `cogniload eval` take outside of the model: `python benchmarks/eval.py`.

Both commands evaluate the same puzzles, end to end, their results and samples on disk: the paper's
grid by a model that answers at once (lm-eval's `dummy`), or what the arguments of `lm_eval run`
that are given say, such as a served model.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from machine import machine, timed

from lm_eval_tasks.links import TASKS

AT_ONCE = ("--model", "dummy", "--tasks", "cogniload")


def main(arguments: Sequence[str]) -> None:
    """Print the times of both, and documents a second."""
    plain = ("lm_eval", "run", "--include_path", str(TASKS), "--log_samples")
    blocks = ("cogniload_gen", "eval")
    offline = os.environ | {"HF_HUB_OFFLINE": "1"}  # else both wait for a Hub that is not reached
    with tempfile.TemporaryDirectory() as folder:
        for name, command in (("lm_eval", plain), ("cogniload eval", blocks)):
            out = Path(folder, name)
            line = [sys.executable, "-m", *command, *arguments, "--output_path", str(out)]
            with timed() as took:
                subprocess.run(line, check=True, capture_output=True, env=offline)
            (samples,) = out.rglob("samples_*.jsonl")
            with samples.open("rb") as lines:
                documents = sum(1 for _ in lines)
            print(
                f"{name:15} {took.wall:6.1f} s, {documents / took.wall:7,.1f} documents/s of "
                f"{documents:,}; {took.processor:5.1f} s of processor time"
            )
    print(machine())


if __name__ == "__main__":
    main(sys.argv[1:] or AT_ONCE)
