"""The file in which rewards are kept by level: scoring writes it, whoever chooses puzzles reads it.

Both may be processes of their own, on machines that share a disk. A line is written at once and
whole.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Success(NamedTuple):
    """What one response earned: the id of its trace, the level of its puzzle, the reward."""

    trace: str
    level: int
    reward: float


def write_success(path: Path, success: Success) -> None:
    """Add a line to the file, which is created if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        file.write(f"{json.dumps(success._asdict())}\n".encode())


class SuccessReader:
    """Reads what the file has got since it was last read; a trace that was scored again, once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place = 0
        self.seen: set[str] = set()

    def read(self) -> Iterator[Success]:
        """Yield what is new, in the order in which it was written."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self.place)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self.place += len(line)
                success = Success(**json.loads(line))
                if success.trace not in self.seen:
                    self.seen.add(success.trace)
                    yield success
