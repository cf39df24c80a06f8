"""A model and blocks of documents -> their samples on the disk, one block after the other.

lm-eval's `evaluate` is called for a block at a time. The model has been loaded once.
"""

import json
import os
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, suppress
from functools import lru_cache
from pathlib import Path

import lm_eval.evaluator
import numpy as np
from lm_eval.api.model import LM
from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.utils import handle_non_serializable, sanitize_list, set_torch_seed
from tqdm import tqdm

from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.progress import Progress
from lm_eval_tasks.server import server_errors
from lm_eval_tasks.state import Block, State


def evaluate_blocks(
    model: LM,
    config: EvaluatorConfig,
    tasks: dict[str, Task],
    state: State,
    mine: Sequence[Block],
    begin: Callable[[], None],
) -> None:
    """Evaluates those blocks of `mine` that are not done; each is on the disk before the next.

    `begin` is called before a block is written: until one is done, nothing is begun.
    """
    done = [block for block in mine if state.file(block).exists()]
    pending = [block for block in mine if block not in done]
    for task in tasks.values():
        make_ready_for_blocks(task)
    check_prompts(model, config, tasks, pending)
    with Progress(sum(len(block.documents) for block in mine)) as progress:
        for block in done:
            progress.add_done(sample for _, sample in state.read_block(block))
        model.set_cache_hook(progress)
        for block in pending:
            with server_errors(getattr(model, "base_url", None)):
                samples = evaluate_block(model, config, tasks[block.task], block)
            begin()
            state.write_block(block, map(sample_line, samples))
            progress.add_block(samples)
    for task in tasks.values():
        del task.doc_iterator, task.aggregation


def make_ready_for_blocks(task: Task) -> None:
    """Has a task read the documents of a block alone, and leave the metrics to the merge."""
    documents = task.eval_docs

    @lru_cache(maxsize=1)  # lm-eval asks for a block's twice
    def read(samples: tuple[int, ...]) -> list[dict]:
        return [documents[i] for i in samples]

    task.doc_iterator = lambda *, samples, **_: enumerate(map(dict, read(tuple(samples))))
    task.aggregation = lambda: defaultdict(lambda: len)


def check_prompts(
    model: LM, config: EvaluatorConfig, tasks: dict[str, Task], blocks: Sequence[Block]
) -> None:
    """Has each budget refuse what it can't hold, before the first block is evaluated."""
    shared = [block for block in blocks if isinstance(tasks[block.task], SharedBudgetTask)]
    for block in tqdm(shared, desc="checking prompts", unit="block", disable=None, leave=False):
        with suppress(Prepared):
            evaluate_block(Silent(model), config, tasks[block.task], block)


class Prepared(Exception):  # noqa: N818  (no error)
    """Ends an evaluation whose requests were prepared."""


class Silent:
    """A model that lm-eval prepares every request for, and that answers none."""

    def __init__(self, model: LM) -> None:
        self.model = model

    def __getattr__(self, name: str) -> object:
        return getattr(self.model, name)

    def generate_until(self, _requests: list) -> None:
        """No words."""
        raise Prepared


def evaluate_block(model: LM, config: EvaluatorConfig, task: Task, block: Block) -> list[dict]:
    """The samples of a block, from lm-eval.

    The seeds are of the block, so that it is evaluated alike whatever was evaluated before it.
    """
    generators = (random.seed, np.random.seed, set_torch_seed, task.set_fewshot_seed)
    for seed, sow in zip(config.seed or (), generators, strict=False):
        if seed is not None:
            sow(seed + block.number - 1)
    with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):  # its progress bars
        results = lm_eval.evaluator.evaluate(
            lm=model,
            task_dict={"tasks": {block.task: task}},
            samples={block.task: list(block.documents)},
            bootstrap_iters=0,
            system_instruction=config.system_instruction,
            apply_chat_template=config.apply_chat_template,
            fewshot_as_multiturn=bool(config.fewshot_as_multiturn),
            confirm_run_unsafe_code=config.confirm_run_unsafe_code,
        )
    return results["samples"][block.task]


def sample_line(sample: dict) -> bytes:
    """A line of lm-eval's samples_*.jsonl, as its EvaluationTracker writes it."""
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
