"""Peak memory of programs that tests run."""

PEAK = (
    "def peak():\n"
    "    status = open('/proc/self/status').read()\n"
    "    return 1024 * int(status.split('VmHWM:')[1].split()[0])\n"
)
"""Source of a function: the bytes that its process has held at most.

The resource module's figure is at least that of the process which started this one.
"""
