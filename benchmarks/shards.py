"""How fast folders of files are made and proven: `python benchmarks/shards.py`.

The command with one process and with two, on 40,040 puzzles of the paper's grid, and what that is
for 10^8. Seconds of cores stand beside the clock, which other work on the machine slows.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
from machine import machine

FILES = 4
PUZZLES = 10**8
GRID = ("--split", "train", "--num-puzzles", "286", "--rows-per-file", "10010")
COMMAND = (sys.executable, "-m", "cogniload_gen")


def main() -> None:
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        one = ("generate", f"{folder}/one/", "--d", "1", "--N", "1", "--rho", "50")
        print(f"100 smallest puzzles, start included: {timed(one)[0]:.1f} s")
        for shards in (1, 2):
            out = f"{folder}/{shards}"
            command = ("generate", f"{out}/", *GRID, "--shard")
            wall, cores = timed(*((*command, f"{i}/{shards}") for i in range(1, shards + 1)))
            files = sorted(Path(out).glob("*.parquet"))
            assert len(files) == FILES
            rows = sum(pq.read_metadata(file).num_rows for file in files)
            size = sum(file.stat().st_size for file in files)
            text = sum(pq.read_table(file, columns=["puzzle"]).nbytes for file in files)
            print(
                f"{shards} processes: {rows:,} puzzles in {wall:.1f} s, {cores:.1f} s of cores: "
                f"{rows / wall:,.0f} puzzles/s; text {text / 1e6:.0f} MB, files {size / 1e6:.0f} MB"
            )
        many = PUZZLES / rows
        print(
            f"{PUZZLES:,} puzzles: {cores * many / 3600:.1f} core-hours, "
            f"text {text * many / 1e12:.2f} TB, files {size * many / 1e9:.0f} GB"
        )
        for name, command in (
            ("all whole", ("generate", f"{out}/", *GRID)),
            ("verify --sample 1%", ("verify", out, "--sample", "1%")),
        ):
            wall, cores = timed(command)
            print(f"{name}: {wall:.1f} s, {cores:.1f} s of cores")


def timed(*commands: tuple[str, ...]) -> tuple[float, float]:
    """Run commands side by side; the seconds that passed, and those of processors."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    started = [
        subprocess.Popen((*COMMAND, *arguments), stdout=subprocess.DEVNULL)
        for arguments in commands
    ]
    assert [process.wait() for process in started] == [0] * len(started)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


if __name__ == "__main__":
    main()
