"""An evaluation by `cogniload eval` as its folder holds it: what was begun, and the blocks done.

    state/run.json            what was begun: a `RunSpec`, made before the first block
    state/block-00003.jsonl   the samples of block 3, a line each, as lm-eval writes them
    state/digest-00003.json   the SHA-256 of that file, the run that it is of, and how it was made

Whoever goes on with a run, shows how far it is, merges it or reports on it reads it here. Nothing
in the folder is trusted: a file that is damaged, or of another run, is named.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from reprlib import Repr
from reprlib import repr as brief
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta, Struct

from cogniload_gen.files.inputs import LARGEST, read_whole

IDENTITY = ("arguments", "versions", "block_size", "tasks")
"""The parts of a run that are known before a model is loaded, and that a block's digest binds."""

HASHES = ("doc_hash", "prompt_hash", "target_hash")
SAMPLE = {"doc_id": int, "metrics": list, "filter": str, **dict.fromkeys(HASHES, str)}
"""What a sample holds besides its metrics."""

BRIEF = Repr()
BRIEF.maxstring = BRIEF.maxother = 60

MOST_DOCUMENTS = 10**6
"""Of all tasks of a run: its blocks are listed in memory, however few the folder holds."""

Indices = Annotated[list[Annotated[int, Meta(ge=0)]], Meta(min_length=1)]


class Arguments(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """lm-eval's arguments that say what is evaluated, without credentials, and our --until."""

    model: str
    model_args: dict[str, Any]
    tasks: Annotated[list[str], Meta(min_length=1)]
    metadata: dict[str, Any]
    gen_kwargs: dict[str, Any]
    apply_chat_template: bool | str
    system_instruction: str | None
    num_fewshot: int | None
    fewshot_as_multiturn: bool | None
    limit: Annotated[int, Meta(gt=0)] | Annotated[float, Meta(gt=0, le=1e308)] | None
    samples: dict[str, Indices] | None
    seed: Annotated[list[int | None], Meta(min_length=4, max_length=4)] | None
    until: dict[str, Any] | None = None


class TaskSpec(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A task's version and its documents: how many, and the SHA-256 of their ids, if any."""

    version: str = ""
    ids: str | None = None
    documents: Annotated[int, Meta(ge=0)]


class FreeArguments(Struct, frozen=True):
    """The arguments that may change when a run is continued: where and how fast."""

    model_args: dict[str, Any]
    include_path: str | None


class Recorded(Struct, frozen=True):
    """What results say of the run besides: when it began, in seconds, and its free arguments."""

    date: float
    arguments: FreeArguments


@dataclass(frozen=True, slots=True)
class Block:
    """Documents of one task, by index: block `number`, from 1, of an evaluation.

    `ids` are the documents' own, in the same order; empty where they are not known.
    """

    number: int
    task: str
    documents: tuple[int, ...]
    ids: tuple[str, ...] = ()


class RunSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an evaluation is of, and with which model: run.json is its encoding.

    `model` and `recorded` are empty until the model is loaded.
    """

    versions: dict[str, Any]
    arguments: Arguments
    block_size: Annotated[int, Meta(ge=1)]
    tasks: Annotated[dict[str, TaskSpec], Meta(min_length=1)]
    model: dict[str, Any]
    recorded: dict[str, Any]
    digests: str | None = None

    @classmethod
    def read(cls, content: object) -> Self:
        """Return the run that JSON-like values describe; ValueError if they describe none."""
        try:
            run = msgspec.convert(content, cls)
        except msgspec.ValidationError as error:
            raise ValueError(error) from None
        documents = sum(task.documents for task in run.tasks.values())
        if documents > MOST_DOCUMENTS:
            raise ValueError(f"a run takes at most {MOST_DOCUMENTS:,} documents, got {documents:,}")
        return run

    @property
    def facts(self) -> dict[str, Any]:
        """The run as JSON-like values."""
        return dict(msgspec.to_builtins(self))

    @property
    def identity(self) -> str:
        """The SHA-256 of what is evaluated, as far as it is known without the model."""
        facts = self.facts
        known = json.dumps({part: facts[part] for part in IDENTITY}, sort_keys=True)
        return sha256(known.encode()).hexdigest()

    @property
    def model_args(self) -> dict[str, Any]:
        """All arguments of the model, also those that may change."""
        return self.arguments.model_args | dict(self.recorded["arguments"]["model_args"])

    @property
    def until(self) -> dict[str, Any]:
        """What results say of --until: its settings, its design and its prior; {} without."""
        if self.arguments.until is None:
            return {}
        names = [name for name in ("design", "prior") if name in self.versions]
        return self.arguments.until | {name: self.versions[name] for name in names}

    def blocks(self, ids: Mapping[str, Sequence[str]] | None = None) -> list[Block]:
        """Return the blocks of the run, with the documents' ids of the tasks that `ids` holds.

        A run with --until has no blocks before its design asks for them.
        """
        if self.arguments.until is not None:
            return []
        limit, samples = self.arguments.limit, self.arguments.samples
        tasks = self.tasks.items()
        documents = {name: indices_of(name, task.documents, limit, samples) for name, task in tasks}
        return cut_in_blocks(documents, self.block_size, ids)

    def refuse_another(self, folder: Path, now: "RunSpec") -> None:
        """Raise ValueError, with both values, if this run, begun in a folder, is not the one `now`.

        Facts of the model that only one of the two knows (the Hub was not reached) are not
        compared.
        """
        known = sorted(self.model.keys() & now.model.keys())
        begun, facts = (
            {part: run.facts[part] for part in IDENTITY}
            | {"model": {name: run.model[name] for name in known}}
            for run in (self, now)
        )
        if changes := differences(begun, facts):
            hint = "give what it was begun with, or another --output_path"
            raise ValueError(f"{folder} was begun with {'; '.join(changes[:3])}: {hint}")


def differences(begun: Any, now: Any, path: str = "") -> list[str]:
    """Return where two descriptions of a run differ, each as "NAME VALUE, now VALUE"."""
    if isinstance(begun, dict) and isinstance(now, dict):
        return [
            difference
            for name in dict.fromkeys([*begun, *now])
            for difference in differences(begun.get(name), now.get(name), f"{path}.{name}")
        ]
    if begun == now:
        return []
    return [f"{path.lstrip('.')} {BRIEF.repr(begun)}, now {BRIEF.repr(now)}"]


def cut_in_blocks(
    documents: Mapping[str, Sequence[int]],
    size: int,
    ids: Mapping[str, Sequence[str]] | None = None,
) -> list[Block]:
    """Return the blocks of documents: `size` of a task each, the rest in the task's last."""
    blocks: list[Block] = []
    for task, indices in documents.items():
        names = (ids or {}).get(task, ())
        for start in range(0, len(indices), size):
            cut = tuple(indices[start : start + size])
            own = tuple(names[index] for index in cut) if names else ()
            blocks.append(Block(len(blocks) + 1, task, cut, own))
    return blocks


def indices_of(
    task: str, count: int, limit: float | None, samples: Mapping[str, Sequence[int]] | None
) -> Sequence[int]:
    """Return the indices of a task's `count` documents that --limit or --samples choose, in order.

    A limit below 1 is a share of the documents, as in lm-eval.
    """
    if samples and task in samples:
        return sorted(set(samples[task]))
    if limit is None:
        return range(count)
    return range(count)[: math.ceil(count * limit) if limit < 1 else int(limit)]


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder "state" of an evaluation, to be read."""

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
        """Return whether a block's name is taken, also by a link that leads nowhere."""
        return os.path.lexists(self.file(block))

    def read_run(self) -> RunSpec | None:
        """Return what was begun; None if nothing was.

        ValueError if the file is not of this version, or is lost: then nobody knows what the
        blocks beside it are of.
        """
        try:
            run = RunSpec.read(json.loads(read_whole(self.run)))
            msgspec.convert(run.recorded, Recorded)
        except FileNotFoundError:
            if any(self.folder.glob("block-*.jsonl")):
                lost = (
                    "is missing, and without it nobody knows of which run the blocks beside it are"
                )
                hint = "put it back, or name another --output_path"
                raise ValueError(f"{self.run} {lost}: {hint}") from None
            return None
        except (ValueError, RecursionError, msgspec.ValidationError) as error:
            what = "must be what this version of cogniload eval wrote"
            raise ValueError(f"{self.run} {what}: {error}") from None
        return run

    def begun(self) -> RunSpec:
        """Return what was begun; ValueError if nothing was."""
        run = self.read_run()
        if run is None:
            folder = self.folder.parent
            raise ValueError(f"{folder} must hold an evaluation by cogniload eval: none is begun")
        return run

    def done_blocks(self, run: RunSpec) -> list[Block]:
        """Return the blocks that are done, without the ids of their documents.

        ValueError if the samples of a run with --until are not of documents in their order.
        """
        if run.arguments.until is None:
            return [block for block in run.blocks() if self.is_done(block)]
        (task, *_), blocks, first = run.tasks, [], 0
        for file in sorted(self.folder.glob("block-*.jsonl")):
            if not file.stem[6:].isdecimal():
                continue
            samples = map(sample_of, _lines(file))
            indices = {sample["doc_id"] if sample else -1 for sample in samples}
            documents = range(min(indices, default=0), max(indices, default=-1) + 1)
            if not 0 < len(indices) == documents.stop - documents.start or documents[0] < first:
                raise ValueError(f"{file} must hold samples of the documents from {first} on")
            blocks.append(Block(int(file.stem[6:]), task, tuple(documents)))
            first = documents[-1] + 1
        return blocks

    def read_digest(self, block: Block) -> dict[str, Any] | None:
        """Return what the digest of a block says, {} if it can't be read; None if there is none.

        Blocks of an earlier version have no digest.
        """
        try:
            digest = json.loads(read_whole(self.digest(block)))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            return {}
        return digest if isinstance(digest, dict) else {}

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
        for number, line in enumerate(_lines(path), start=1):
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
        why = self._wrong_digest(block, digest.hexdigest())
        if why:
            raise damage(why)

    def _wrong_digest(self, block: Block, sha: str) -> str | None:
        """Return what the digest of a block's file says is wrong with it; None if nothing is."""
        digest, run, name = self.read_digest(block), self.read_run(), self.digest(block).name
        if run is None or (digest is None and run.digests is None):  # of an earlier version
            return None
        if digest is None:
            return f"{name} is missing"
        if not {"run", "sha256"} <= digest.keys():
            return f"{name} is damaged"
        if digest["run"] != run.identity:
            return f"{name} is of another run"
        return None if digest["sha256"] == sha else "it has changed since it was written"


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a regular file; one longer than LARGEST comes in pieces without end."""
    if path.is_file():
        with path.open("rb") as file:
            yield from iter(lambda: file.readline(LARGEST), b"")


def sample_of(line: bytes) -> dict[str, Any] | None:
    """Return what a whole line says, if it is a sample of lm-eval's."""
    if not line.endswith(b"\n"):
        return None
    try:
        sample = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(sample, dict):
        return None
    typed = all(type(sample.get(name)) is kind for name, kind in SAMPLE.items())
    named = typed and all(isinstance(name, str) and name in sample for name in sample["metrics"])
    return sample if named else None


def id_of(sample: dict[str, Any]) -> object:
    """Return the id of a sample's document; None if it has none."""
    document = sample.get("doc")
    return document.get("id") if isinstance(document, dict) else None
