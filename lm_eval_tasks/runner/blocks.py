"""A model and blocks of documents -> the blocks' samples on the disk, one after the other.

lm-eval's `evaluate` is called for a block at a time. The model has been loaded once.
"""

import json
import os
import random
from collections import defaultdict
from collections.abc import Sequence
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

import lm_eval.evaluator
import numpy as np
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.task import Task
from lm_eval.utils import handle_non_serializable, sanitize_list, set_torch_seed
from tqdm import tqdm

from cogniload_gen.files.run_folder import Block, RunSpec
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.runner.caps import Spending
from lm_eval_tasks.runner.client import server_errors
from lm_eval_tasks.runner.progress import Progress
from lm_eval_tasks.runner.search import Search
from lm_eval_tasks.runner.store import Lock, Store


@dataclass(frozen=True)
class Evaluator:
    """A loaded model with its tasks, and the store that takes the samples of blocks.

    Until a block of the run is done, nothing is begun. `shard` is the name I/N of this process;
    `unsafe_code` is lm-eval's `confirm_run_unsafe_code`.
    """

    model: LM
    run: RunSpec
    tasks: dict[str, Task]
    store: Store
    lock: Lock
    shard: str
    unsafe_code: bool
    spending: Spending

    def evaluate_blocks(self, mine: Sequence[Block]) -> None:
        """Evaluate the blocks that are not done, up to a cap; each is written before the next."""
        done = [block for block in mine if self.store.is_done(block)]
        pending = [block for block in mine if block not in done]
        for task in self.tasks.values():
            make_ready_for_blocks(task)
        self.check_prompts(pending)
        with Progress([len(block.documents) for block in mine]) as progress:
            for block in done:
                progress.add_done(sample for _, sample in self.store.read_block(block))
            progress.start_now()
            self.model.set_cache_hook(progress)
            for block in pending:
                if self.spent(self.run.blocks(), progress):
                    break
                progress.add_block(self.finish_block(block))
        for task in self.tasks.values():
            del task.doc_iterator, task.aggregation

    def evaluate_search(self, search: Search, *, wait: bool) -> None:
        """Evaluate the blocks that a design asks for, until it is done or others have the rest.

        A cap ends it, too. `wait` is as for `Search.take_block`.
        """
        (task,) = self.tasks.values()
        make_ready_for_blocks(task)
        self.check_prompts([Block(1, search.task.name, tuple(range(len(task.eval_docs))))])
        search.hand_documents(self.tasks)
        make_ready_for_blocks(task)
        with Progress([search.design.settings.budget]) as progress:
            progress.done = progress.bar.n = len(search.design.told)
            if search.known:
                progress.say(f"continuing: {search.design.line}")
            self.model.set_cache_hook(progress)
            while not self.spent(search.blocks, progress):
                block = search.take_block(self.lock, progress.say, wait=wait)
                if block is None:
                    break
                progress.count(self.finish_block(block))
                search.catch_up()
                progress.say(search.design.line)
        del task.doc_iterator, task.aggregation

    def spent(self, blocks: Sequence[Block], progress: Progress) -> bool:
        """Return whether a cap is reached, and say which."""
        if reason := self.spending.reason_to_stop(blocks):
            progress.say(f"stopped: {reason}")
        return reason is not None

    def finish_block(self, block: Block) -> list[dict[str, Any]]:
        """Evaluate a block and write it; return its samples."""
        start = monotonic()
        server = getattr(self.model, "base_url", None), getattr(self.model, "timeout", 0)
        with server_errors(*server):
            samples = self.evaluate_block(self.model, block)
        seconds = round(monotonic() - start, 3)
        lines, run = list(map(sample_line, samples)), self.store.begin(self.run, self.lock)
        self.store.write_block(block, lines, run, shard=self.shard, seconds=seconds)
        return samples

    def check_prompts(self, blocks: Sequence[Block]) -> None:
        """Have each budget refuse what it can't hold, before the first block is evaluated."""
        silent = Silent(self.model)
        shared = [b for b in blocks if isinstance(self.tasks[b.task], SharedBudgetTask)]
        for block in tqdm(shared, desc="checking prompts", unit="block", disable=None, leave=False):
            with suppress(Prepared):
                self.evaluate_block(silent, block)

    def evaluate_block(self, model: Any, block: Block) -> list[dict[str, Any]]:
        """Return the samples of a block, from lm-eval.

        The seeds depend on the block, so it is evaluated alike whatever was evaluated before it.
        """
        task, arguments = self.tasks[block.task], self.run.arguments
        generators = (random.seed, np.random.seed, set_torch_seed, task.set_fewshot_seed)
        for seed, sow in zip(arguments.seed or (), generators, strict=False):
            if seed is not None:
                sow(seed + block.number - 1)
        # its progress bars go nowhere
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
            results = lm_eval.evaluator.evaluate(
                lm=model,
                task_dict={"tasks": {block.task: task}},
                samples={block.task: list(block.documents)},
                bootstrap_iters=0,
                system_instruction=arguments.system_instruction,
                apply_chat_template=arguments.apply_chat_template,
                fewshot_as_multiturn=bool(arguments.fewshot_as_multiturn),
                confirm_run_unsafe_code=self.unsafe_code,
            )
        samples: list[dict[str, Any]] = results["samples"][block.task]
        return samples


def make_ready_for_blocks(task: Task) -> None:
    """Have a task read the documents of a block alone, and leave the metrics to the merge."""
    documents = task.eval_docs

    @lru_cache(maxsize=1)  # lm-eval asks for a block's twice
    def read(samples: tuple[int, ...]) -> list[dict[str, Any]]:
        return [documents[i] for i in samples]

    task.doc_iterator = lambda *, samples, **_: enumerate(map(dict, read(tuple(samples))))
    task.aggregation = lambda: defaultdict(lambda: len)


class Prepared(Exception):  # noqa: N818  (no error)
    """Ends an evaluation whose requests were prepared."""


class Silent:
    """A model that lm-eval prepares every request for, and that answers none."""

    def __init__(self, model: LM) -> None:
        self.model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def generate_until(self, _requests: list[Instance]) -> None:
        """Answer nothing."""
        raise Prepared


def sample_line(sample: dict[str, Any]) -> bytes:
    """Return a line of lm-eval's samples_*.jsonl, as its EvaluationTracker writes it."""
    written = sample | {
        "target": str(sample["target"]),
        "arguments": {
            f"gen_args_{i}": {f"arg_{j}": part for j, part in enumerate(request)}
            for i, request in enumerate(sample["arguments"])
        },
        "resps": sanitize_list(sample["resps"]),
        "filtered_resps": sanitize_list(sample["filtered_resps"]),
    }
    line = json.dumps(written, default=handle_non_serializable, ensure_ascii=False) + "\n"
    # half of an emoji, where a limit cut a response, can't be UTF-8: it becomes its JSON escape
    return line.encode("utf-8", "backslashreplace")
