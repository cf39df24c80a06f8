"""What benchmarks share: the machine's name, the time and the memory that something took."""

import os
import platform
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace


def machine(most: int | None = None) -> str:
    """Processor, cores, Python; from now on this process uses the first `most` cores alone."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:most])
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    name = cpu[0].split(":")[1].strip() if cpu else platform.processor()
    cores = len(os.sched_getaffinity(0))
    return f"{name}, {cores} of {os.cpu_count()} cores, Python {platform.python_version()}"


def peak_memory() -> str:
    """The most memory that this process has held."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB"


@contextmanager
def timed(name: str = "", clock: str = "wall") -> Iterator[SimpleNamespace]:
    """Yield what gets the seconds that pass within: `wall`, and `processor` with its children's.

    With a `name`, print those of the `clock`, and the most memory held until then.
    """
    took = SimpleNamespace()
    start, before = time.perf_counter(), sum(os.times()[:4])
    yield took
    took.wall, took.processor = time.perf_counter() - start, sum(os.times()[:4]) - before
    if name:
        seconds = getattr(took, clock)
        print(f"{name:28} {seconds:6.1f} s, peak memory {peak_memory()}", flush=True)
