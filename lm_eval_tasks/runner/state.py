"""An evaluation on disk: what was begun, and the blocks of samples that are done, each file whole.

    state/run.json            what was begun, as `plan.py` describes it: made before the first block
    state/lock                held by byte: byte 0 while results are made, byte k while block k is
    state/block-00003.jsonl   the samples of block 3, a line each, as lm-eval writes them
    state/digest-00003.json   the SHA-256 of that file, the run that it is of, and how it was made

A block's file takes its name once it is written and flushed to the disk: what has a name is done.
Its digest is written before it, so that a block of another run, or one that changed, is found out.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from reprlib import repr as brief
from typing import Any, BinaryIO

from cogniload_gen.files.whole import make_inner_folder, open_to_append, whole_file
from lm_eval_tasks.runner.begun import SHAPE, Run, identity, wrong_detail, wrong_part
from lm_eval_tasks.runner.cut import Block

SAMPLE = {"metrics": list, "filter": str, "doc_hash": str, "prompt_hash": str, "target_hash": str}
"""What a sample holds besides its `doc_id` and its metrics."""

LARGEST_LINE = 64 * 2**20
"""Bytes of a sample's line, and of run.json."""


@dataclass(frozen=True, slots=True)
class State:
    """The folder of an evaluation's state."""

    folder: Path

    @property
    def run(self) -> Path:
        """The file that says what was begun."""
        return self.folder / "run.json"

    def file(self, block: Block) -> Path:
        """Return the file of a block; it exists once the block is done."""
        return self.folder / f"block-{block.number:05}.jsonl"

    def digest(self, block: Block) -> Path:
        """Return the file that says what the file of a block holds."""
        return self.folder / f"digest-{block.number:05}.json"

    def is_done(self, block: Block) -> bool:
        """Return whether a block's name is taken, be it by a link that leads nowhere."""
        return os.path.lexists(self.file(block))

    def read_run(self) -> Run | None:
        """Return what was begun; None if nothing was.

        ValueError if the file is none of this version, or is lost: then nobody knows what the
        blocks beside it are of.
        """
        try:
            begun: Run = json.loads(read_bounded(self.run))
        except FileNotFoundError:
            if any(self.folder.glob("block-*.jsonl")):
                raise ValueError(
                    f"{self.run} is missing, and without it nobody knows of which run the blocks "
                    "beside it are: put it back, or name another --output_path"
                ) from None
            return None
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{self.run} must be what cogniload eval wrote: {error}") from None
        wrong = wrong_part(begun, SHAPE) or wrong_detail(begun)
        if wrong:
            raise ValueError(
                f"{self.run} must be what this version of cogniload eval wrote: "
                f"{wrong} is missing or of another type"
            )
        return begun

    def begun(self) -> Run:
        """Return what was begun; ValueError if nothing was."""
        run = self.read_run()
        if run is None:
            folder = self.folder.parent
            raise ValueError(f"{folder} must hold an evaluation by cogniload eval: none is begun")
        return run

    def write_run(self, run: Run) -> None:
        """Write what is begun; FileExistsError if something was."""
        write_lines(self.run, [json.dumps(run, indent=2).encode()])

    def write_block(
        self, block: Block, lines: Sequence[bytes], run: Run, *, shard: str, seconds: float
    ) -> None:
        """Write a block's samples and their digest; FileExistsError if the block is done.

        The digest also says which shard, "I/N", evaluated the block, and in how many seconds.
        """
        digest = sha256()
        for line in lines:
            digest.update(line)
        told = {
            "sha256": digest.hexdigest(),
            "run": identity(run),
            "documents": len(block.documents),
            "shard": shard,
            "seconds": seconds,
        }
        write_lines(self.digest(block), [json.dumps(told).encode()], force=True)
        write_lines(self.file(block), lines)

    def read_digest(self, block: Block) -> dict[str, Any] | None:
        """Return what is told of a block's file, {} if that can't be read; None if there is none.

        Blocks of an earlier version have no digest.
        """
        try:
            told = json.loads(read_bounded(self.digest(block)))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            return {}
        return told if isinstance(told, dict) else {}

    def read_block(self, block: Block) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Yield a done block's samples: each line, and what it says.

        ValueError, at the latest after the last, unless they are those of the block's documents,
        each once, in the file that this run wrote.
        """
        known = dict(zip(block.documents, block.ids or block.documents, strict=True))
        seen: set[tuple[int, str]] = set()
        digest, path = sha256(), self.file(block)

        def damage(why: str) -> ValueError:
            return ValueError(
                f"{path} must hold the samples of the documents {block.documents[0]} to "
                f"{block.documents[-1]} of {block.task}: delete it, and the block is evaluated "
                f"again ({why})"
            )

        if not path.is_file():
            raise damage("it is no file")
        with path.open("rb") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(LARGEST_LINE), b""), start=1):
                sample = sample_of(line)
                if sample is None:
                    raise damage(f"line {number} is no sample")
                index, key = sample["doc_id"], (sample["doc_id"], sample["filter"])
                if key in seen:
                    raise damage(f"line {number} repeats document {index}")
                if index not in known:
                    raise damage(f"line {number} is of document {brief(index)}")
                if block.ids and id_of(sample) != known[index]:
                    raise damage(f"line {number} is not of {known[index]}, its document {index}")
                seen.add(key)
                digest.update(line)
                yield line, sample
        missing = known.keys() - {index for index, _ in seen}
        if missing:
            raise damage(f"document {min(missing)} is missing")
        why = self.wrong_digest(block, digest.hexdigest())
        if why:
            raise damage(why)

    def wrong_digest(self, block: Block, digest: str) -> str | None:
        """Return what the digest of a block's file finds wrong with it; None if all is right."""
        told, run = self.read_digest(block), self.read_run()
        if run is None or (told is None and "digests" not in run):  # of an earlier version
            return None
        if told is None:
            return f"{self.digest(block).name} is missing"
        if not {"run", "sha256"} <= told.keys():
            return f"{self.digest(block).name} is damaged"
        if told["run"] != identity(run):
            return f"{self.digest(block).name} is of another run"
        return None if told["sha256"] == digest else "it has changed since it was written"

    def clean(self, blocks: Iterable[Block]) -> None:
        """Remove what killed processes left of the files of blocks that this process holds."""
        for block in blocks:
            self.clean_file(self.file(block))
            self.clean_file(self.digest(block))

    def clean_file(self, file: Path) -> None:
        """Remove what killed processes left of a file that this process alone writes."""
        for leftover in self.folder.glob(f".{file.name}.*.part"):
            leftover.unlink(missing_ok=True)

    @contextmanager
    def hold(self, blocks: Iterable[Block]) -> Iterator["Lock"]:
        """Keep other processes from the blocks; the system lets go of them when this one ends.

        ValueError if another process, of whatever shard, evaluates one of them; OSError where
        files can't be locked.
        """
        make_inner_folder(self.folder)
        with open_to_append(self.folder / "lock") as file:
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
        """Take a byte, if no other process has it; return whether it did."""
        with self.errors():
            try:
                fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
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
            fcntl.lockf(self.file, fcntl.LOCK_EX, 1, 0)
        try:
            yield
        finally:
            fcntl.lockf(self.file, fcntl.LOCK_UN, 1, 0)


def sample_of(line: bytes) -> dict[str, Any] | None:
    """Return what a whole line says, if it is a sample of lm-eval's."""
    if not line.endswith(b"\n"):
        return None
    try:
        sample = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(sample, dict) or type(sample.get("doc_id")) is not int:
        return None
    if not all(isinstance(sample.get(name), kind) for name, kind in SAMPLE.items()):
        return None
    named = all(isinstance(name, str) and name in sample for name in sample["metrics"])
    return sample if named else None


def id_of(sample: dict[str, Any]) -> object:
    """Return the id of a sample's document; None if it has none."""
    document = sample.get("doc")
    return document.get("id") if isinstance(document, dict) else None


def read_bounded(path: Path) -> bytes:
    """Return a file of at most LARGEST_LINE bytes; ValueError for a larger one, or no file."""
    if path.exists() and not path.is_file():
        raise ValueError("it is no file")
    with path.open("rb") as file:
        read = file.read(LARGEST_LINE + 1)
    if len(read) > LARGEST_LINE:
        raise ValueError(f"it has more than {LARGEST_LINE // 2**20} MiB")
    return read


def write_lines(path: Path, lines: Iterable[bytes], *, force: bool = False) -> None:
    """Write a file that is whole, and on the disk, before it has its name.

    FileExistsError if there is one, unless `force`. OSError names the file, also for a full disk.
    """
    if os.path.lexists(path) and not force:
        raise FileExistsError(f"{path} exists: another process has written it")
    try:
        with whole_file(path, force=force) as temporary, temporary.open("wb") as file:
            for line in lines:
                file.write(line)
            file.flush()
            os.fsync(file.fileno())
        flush_folder(path.parent)
    except OSError as error:
        written = str(error.filename or ".part").endswith(".part")
        if error.errno is None or not written:  # says itself which file and why
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def flush_folder(folder: Path) -> None:
    """Put the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
