"""An evaluation on disk, as one process of several writes it: each file whole, each block once.

The layout is that of `cogniload_gen.files.run_folder`, and beside it

    state/lock                held by byte: byte 0 while results are made, byte k while block k is

A block's file takes its name once it is written and flushed to the disk: what has a name is done.
Its digest is written before it, so that a block of another run, or one that changed, is noticed.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from cogniload_gen.files.run_folder import Block, RunFolder, RunSpec
from cogniload_gen.files.whole import (
    make_inner_folder,
    open_to_append,
    remove_leftovers,
    whole_file,
)
from lm_eval_tasks.runner.byte_locks import lock_byte, unlock_byte


class Store(RunFolder):
    """The folder of an evaluation's state, to be read and written."""

    __slots__ = ()

    def write_run(self, run: RunSpec) -> None:
        """Write what is begun; FileExistsError if something was."""
        remove_leftovers(self.run)
        write_lines(self.run, [json.dumps(run.facts, indent=2).encode()])

    def begin(self, run: RunSpec, lock: "Lock") -> RunSpec:
        """Write what is begun, unless another process began the same; return it."""
        with lock.setup():
            begun = self.read_run()
            if begun is None:
                self.write_run(run)
                return run
        begun.refuse_another(self.folder.parent, run)
        return begun

    def write_block(
        self, block: Block, lines: Sequence[bytes], run: RunSpec, *, shard: str, seconds: float
    ) -> None:
        """Write a block's samples and their digest; FileExistsError if the block is done.

        The digest also says which shard, "I/N", evaluated the block, and in how many seconds.
        """
        digest = {
            "sha256": sha256(b"".join(lines)).hexdigest(),
            "run": run.identity,
            "documents": len(block.documents),
            "shard": shard,
            "seconds": seconds,
        }
        write_lines(self.digest(block), [json.dumps(digest).encode()], force=True)
        write_lines(self.file(block), lines)

    def clean(self, block: Block) -> None:
        """Remove what killed processes left of the files of a block that this process holds."""
        remove_leftovers(self.file(block))
        remove_leftovers(self.digest(block))

    @contextmanager
    def hold(self, blocks: Iterable[Block]) -> Iterator["Lock"]:
        """Keep other processes from the blocks; the system lets go of them when this one ends.

        What killed processes left of the blocks' files is removed. ValueError if another process,
        of whatever shard, evaluates one of them; OSError where files can't be locked.
        """
        make_inner_folder(self.folder)
        with open_to_append(self.folder / "lock") as file:
            lock = Lock(file)
            for block in blocks:
                if not lock.take(block.number):
                    raise ValueError(
                        f"{self.folder.parent}: another process is evaluating block {block.number}"
                    )
                self.clean(block)
            yield lock


@dataclass(frozen=True, slots=True)
class Lock:
    """Bytes of an open file that other processes can't take; children do not inherit them."""

    file: BinaryIO

    def take(self, byte: int) -> bool:
        """Take a byte, if no other process has it; return whether it did."""
        with self.errors():
            try:
                lock_byte(self.file, byte)
            except (BlockingIOError, PermissionError):
                return False
        return True

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Say what to do about a file system, such as some of a network, that has no locks."""
        try:
            yield
        except OSError as error:
            reason = f"{error.strerror}: name an --output_path on a file system with file locks"
            raise OSError(error.errno, reason, self.file.name) from None

    @contextmanager
    def setup(self) -> Iterator[None]:
        """Hold byte 0, after waiting for it: one process at a time."""
        with self.errors():
            lock_byte(self.file, 0, wait=True)
        try:
            yield
        finally:
            unlock_byte(self.file, 0)


def write_lines(path: Path, lines: Iterable[bytes], *, force: bool = False) -> None:
    """Write a file that is whole, and on the disk, before it has its name.

    FileExistsError if there is one, unless `force`. OSError names the file, also for a full disk.
    """
    if os.path.lexists(path) and not force:
        raise FileExistsError(f"{path} exists: another process has written it")
    with whole_file(path, force=force) as temporary, temporary.open("wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    if os.name != "posix":  # Windows opens no folders
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the names in it
    finally:
        os.close(folder)
