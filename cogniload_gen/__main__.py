"""The `cogniload` command and `python -m cogniload_gen`, which may be stopped at any moment."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> int:
    """Run the command: what it has half-written goes as it ends, also by Ctrl-C or SIGTERM."""
    signal.signal(signal.SIGINT, end_at_once)
    from cogniload_gen import commands  # noqa: PLC0415  (it may take a moment)

    return commands.main(begin=raise_signals)


def raise_signals() -> None:
    """Let a signal raise an exception, for what has begun to clean up after itself."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, end)


def end_at_once(number: int, _: FrameType | None) -> NoReturn:
    """End the program, which has begun nothing; an exception would be lost in some imports."""
    sys.stderr.write("cogniload: interrupted\n")
    sys.stderr.flush()
    os._exit(128 + number)


def end(number: int, _: FrameType | None) -> NoReturn:
    """End the program, as an exception does it, with the exit code of a signal."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
