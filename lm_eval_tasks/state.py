"""An evaluation on disk: what was begun, and the blocks of samples that are done, each file whole.

    state/run.json           what was begun, as `plan.py` describes it: made before the first block
    state/lock               held by byte: byte 0 while run.json is made, byte k while block k is
    state/block-00003.jsonl  the samples of block 3, a line each, as lm-eval writes them

A block's file takes its name once it is written and flushed to the disk: what has a name is done.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from reprlib import Repr
from typing import BinaryIO

from cogniload_gen.files import whole_file

PARTS = dict.fromkeys(("versions", "arguments", "tasks", "model", "recorded"), dict)
PARTS |= {"block_size": int}
"""What run.json says of what was begun, and of which type each is."""

BRIEF = Repr()
BRIEF.maxstring = BRIEF.maxother = 60


@dataclass(frozen=True, slots=True)
class Block:
    """Documents of one task, by index: block `number`, from 1, of an evaluation."""

    number: int
    task: str
    documents: tuple[int, ...]


def cut_in_blocks(documents: dict[str, Iterable[int]], size: int) -> list[Block]:
    """The blocks of an evaluation: `size` documents of a task each, the rest in its last."""
    cuts = [
        (task, tuple(indices[start : start + size]))
        for task, indices in documents.items()
        for start in range(0, len(indices), size)
    ]
    return [Block(number, *cut) for number, cut in enumerate(cuts, start=1)]


@dataclass(frozen=True, slots=True)
class State:
    """The folder of an evaluation's state."""

    folder: Path

    @property
    def run(self) -> Path:
        """The file that says what was begun."""
        return self.folder / "run.json"

    def file(self, block: Block) -> Path:
        """The file of a block; it exists once the block is done."""
        return self.folder / f"block-{block.number:05}.jsonl"

    def read_run(self) -> dict | None:
        """What was begun; None if nothing was. ValueError if the file is none of this version."""
        try:
            begun = json.loads(self.run.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise ValueError(f"{self.run} must be what cogniload eval wrote: {error}") from None
        said = begun if isinstance(begun, dict) else {}
        wrong = [part for part, kind in PARTS.items() if not isinstance(said.get(part), kind)]
        if wrong:
            raise ValueError(
                f"{self.run} must be what this version of cogniload eval wrote: "
                f"{wrong[0]} is missing or of another type"
            )
        return begun

    def write_run(self, run: dict) -> None:
        """Writes what is begun; FileExistsError if something was."""
        write_lines(self.run, [json.dumps(run, indent=2).encode()])

    def write_block(self, block: Block, lines: Iterable[bytes]) -> None:
        """Writes a block's samples; FileExistsError if it is done."""
        write_lines(self.file(block), lines)

    def read_block(self, block: Block) -> Iterator[tuple[bytes, dict]]:
        """A done block's samples: each line, and what it says.

        ValueError, at the latest after the last, unless they are those of the block's documents.
        """
        found = set()
        with self.file(block).open("rb") as lines:
            for line in lines:
                try:
                    sample = json.loads(line)
                    found.add(sample["doc_id"])
                except (ValueError, TypeError, KeyError, RecursionError):
                    break
                if not line.endswith(b"\n"):
                    break
                yield line, sample
            else:
                if found == set(block.documents):
                    return
        raise ValueError(
            f"{self.file(block)} must hold the samples of the documents {block.documents[0]} to "
            f"{block.documents[-1]} of {block.task}: delete it, and the block is evaluated again"
        )

    def clean(self, files: Iterable[Path]) -> None:
        """Removes what processes that were killed left of files that this process alone writes."""
        for file in files:
            for leftover in self.folder.glob(f".{file.name}.*.part"):
                leftover.unlink(missing_ok=True)

    @contextmanager
    def hold(self, blocks: Iterable[Block]) -> Iterator["Lock"]:
        """Keeps other processes from the blocks; the system lets go of them when this one ends.

        ValueError if another process, of whatever shard, evaluates one of them; OSError where
        files can't be locked.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("ab") as file:
            lock = Lock(file)
            for block in blocks:
                if not lock.take(block.number):
                    raise ValueError(
                        f"{self.folder.parent}: another process is evaluating block {block.number}"
                    )
            yield lock


@dataclass(frozen=True, slots=True)
class Lock:
    """Bytes of an open file that other processes can't take; children do not inherit them."""

    file: BinaryIO

    def take(self, byte: int) -> bool:
        """Takes a byte, if no other process has it: whether it did."""
        try:
            fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except (BlockingIOError, PermissionError):
            return False
        except OSError as error:  # network file systems, some of which have no locks
            reason = f"{error.strerror}: name an --output_path on a file system with file locks"
            raise OSError(error.errno, reason, self.file.name) from None
        return True

    @contextmanager
    def setup(self) -> Iterator[None]:
        """Holds byte 0, after waiting for it: one process at a time."""
        fcntl.lockf(self.file, fcntl.LOCK_EX, 1, 0)
        try:
            yield
        finally:
            fcntl.lockf(self.file, fcntl.LOCK_UN, 1, 0)


def write_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Writes a file that is whole, and on the disk, before it has its name.

    OSError names the file, also for a full disk.
    """
    try:
        with whole_file(path) as temporary, temporary.open("wb") as file:
            for line in lines:
                file.write(line)
            file.flush()
            os.fsync(file.fileno())
        flush_folder(path.parent)
    except OSError as error:
        if error.errno is None:  # says itself which file and why
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def flush_folder(folder: Path) -> None:
    """Puts the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def differences(begun: dict, now: dict, path: str = "") -> list[str]:
    """Where two descriptions of a run differ, each as "NAME VALUE, now VALUE"."""
    if isinstance(begun, dict) and isinstance(now, dict):
        return [
            difference
            for name in dict.fromkeys([*begun, *now])
            for difference in differences(begun.get(name), now.get(name), f"{path}.{name}")
        ]
    if begun == now:
        return []
    return [f"{path.lstrip('.')} {BRIEF.repr(begun)}, now {BRIEF.repr(now)}"]
