"""How fast folders of files are made and proven: `python benchmarks/shards.py`.

The command with one process and with two, on 40,040 puzzles of the paper's grid, and what that is
for 10^8. Seconds of cores stand beside the clock, which other work on the machine slows.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
from machine import machine, timed

FILES = 4
PUZZLES = 10**8
GRID = ("--split", "train", "--num-puzzles", "286", "--rows-per-file", "10010")
COMMAND = (sys.executable, "-m", "cogniload_cli")


def main() -> None:
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        one = ("generate", f"{folder}/one/", "--d", "1", "--N", "1", "--rho", "50")
        print(f"100 smallest puzzles, start included: {run(one).wall:.1f} s")
        for shards in (1, 2):
            out = f"{folder}/{shards}"
            command = ("generate", f"{out}/", *GRID, "--shard")
            took = run(*((*command, f"{i}/{shards}") for i in range(1, shards + 1)))
            files = sorted(Path(out).glob("*.parquet"))
            assert len(files) == FILES
            rows = sum(pq.read_metadata(file).num_rows for file in files)
            size = sum(file.stat().st_size for file in files)
            text = sum(pq.read_table(file, columns=["puzzle"]).nbytes for file in files)
            print(
                f"{shards} processes: {rows:,} puzzles in {took.wall:.1f} s, {took.processor:.1f} "
                f"s of cores: {rows / took.wall:,.0f} puzzles/s; text {text / 1e6:.0f} MB, files "
                f"{size / 1e6:.0f} MB"
            )
        many = PUZZLES / rows
        print(
            f"{PUZZLES:,} puzzles: {took.processor * many / 3600:.1f} core-hours, "
            f"text {text * many / 1e12:.2f} TB, files {size * many / 1e9:.0f} GB"
        )
        for name, command in (
            ("all whole", ("generate", f"{out}/", *GRID)),
            ("verify --sample 1%", ("verify", out, "--sample", "1%")),
        ):
            took = run(command)
            print(f"{name}: {took.wall:.1f} s, {took.processor:.1f} s of cores")


def run(*commands: tuple[str, ...]) -> SimpleNamespace:
    """Run commands side by side; return the seconds that passed, and those of processors."""
    with timed() as took:
        started = [
            subprocess.Popen((*COMMAND, *arguments), stdout=subprocess.DEVNULL)
            for arguments in commands
        ]
        assert [process.wait() for process in started] == [0] * len(started)
    return took


if __name__ == "__main__":
    main()
