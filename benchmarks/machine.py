"""What every benchmark prints beside its figures: the machine, and the memory that it took."""

import os
import platform
import resource
from pathlib import Path


def machine() -> str:
    """Processor, cores, Python."""
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    name = cpu[0].split(":")[1].strip() if cpu else platform.processor()
    cores = len(os.sched_getaffinity(0))
    return f"{name}, {cores} of {os.cpu_count()} cores, Python {platform.python_version()}"


def peak_memory() -> str:
    """The most memory that this process has held."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB"
