"""The documents that are asked for -> the blocks that are evaluated one after the other."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lm_eval_tasks.runner.begun import Run


@dataclass(frozen=True, slots=True)
class Block:
    """Documents of one task, by index: block `number`, from 1, of an evaluation.

    `ids` are the documents' own, in the same order; empty if they have none.
    """

    number: int
    task: str
    documents: tuple[int, ...]
    ids: tuple[str, ...] = ()


def cut_in_blocks(
    documents: Mapping[str, Sequence[int]],
    size: int,
    ids: Mapping[str, Sequence[str]] | None = None,
) -> list[Block]:
    """Return the blocks of an evaluation: `size` documents of a task each, the rest in its last.

    A run with --until has its blocks from `until.Search` instead.
    """
    blocks: list[Block] = []
    for task, indices in documents.items():
        named = (ids or {}).get(task, ())
        for start in range(0, len(indices), size):
            cut = tuple(indices[start : start + size])
            own = tuple(named[index] for index in cut) if named else ()
            blocks.append(Block(len(blocks) + 1, task, cut, own))
    return blocks


def indices_of(
    task: str, count: int, limit: float | None, samples: Mapping[str, Sequence[int]] | None
) -> Sequence[int]:
    """Return the indices of a task's `count` documents that --limit or --samples ask for, in order.

    A limit below 1 is a share of the documents, as in lm-eval.
    """
    if samples and task in samples:
        return sorted(set(samples[task]))
    if limit is None:
        return range(count)
    return range(count)[: math.ceil(count * limit) if limit < 1 else int(limit)]


def blocks_of(run: Run) -> list[Block]:
    """Return the blocks of a run that was begun, from what its run.json says alone."""
    given = run["arguments"]
    documents = {
        task: indices_of(task, told["documents"], given["limit"], given["samples"])
        for task, told in run["tasks"].items()
    }
    return cut_in_blocks(documents, run["block_size"])
