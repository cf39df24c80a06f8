"""`cogniload eval`'s evaluation by lm-eval, in blocks that a crash leaves whole.

lm-eval writes its results when all is done. Here it evaluates a block of documents at a time, in
one process that loads the model once (`blocks.py`); a block's samples are on the disk before the
next begins (`state.py`), and lm-eval's own aggregation makes one result set of all blocks, in its
layout (`results.py`). Shards are processes that evaluate every Nth block. `command.py` is where the
command begins.
"""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers.utils import add_env_info, add_tokenizer_info, get_commit_from_path
from lm_eval.tasks.manager import TaskDict

from cogniload_gen.extras import require
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.responses import keep_what_is_said
from lm_eval_tasks.runner.arguments import arguments_of, read_configuration
from lm_eval_tasks.runner.begun import Run
from lm_eval_tasks.runner.blocks import evaluate_blocks, evaluate_search
from lm_eval_tasks.runner.client import fill_every_slot
from lm_eval_tasks.runner.credentials import hidden, public
from lm_eval_tasks.runner.cut import Block, cut_in_blocks
from lm_eval_tasks.runner.plan import (
    describe,
    describe_model,
    documents_of,
    ids_of,
    load_tasks,
    plain,
    refuse_another,
)
from lm_eval_tasks.runner.progress import each_warning_once
from lm_eval_tasks.runner.results import merge, print_results, write_results
from lm_eval_tasks.runner.server import check_server, vllm_version
from lm_eval_tasks.runner.state import State
from lm_eval_tasks.runner.until import BLOCK_SIZE as BLOCK_SIZE_UNTIL
from lm_eval_tasks.runner.until import Search, Until

BLOCK_SIZE = 350
"""Documents: 40 blocks of the paper's grid, which 2, 4, 5, 8, 10 and 20 shards share evenly."""


def run(given: Namespace, others: Sequence[str]) -> None:
    """Run `cogniload eval`, whose arguments are ours in `given`, and lm-eval's in `others`."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # as lm-eval's own command does
    try:
        with hidden({}), each_warning_once():
            if given.merge:
                out = given.output_path or given.merge[0]
                print_results(merge(given.merge, out))
                say_next(f"cogniload report {out} --out {out / 'report'}")
            else:
                config, ours = read_configuration(given, others)
                if config.model == "vllm":
                    require("--model vllm", "vllm", ["vllm"])
                with hidden(config.model_args):
                    evaluate(config, **ours)
    except ImportError as error:  # what a task needs, or another lm-eval (`internals.py`)
        raise ValueError(error) from error
    except RecursionError:
        raise ValueError("an argument or a file is nested too deeply") from None


def say_next(command: str) -> None:
    """Write the command that usually follows to standard error."""
    print(f"next: {command}", file=sys.stderr)


def evaluate(
    config: EvaluatorConfig,
    *,
    folder: Path,
    shard: tuple[int, int],
    block_size: int | None,
    until: Until | None,
) -> None:
    """Evaluate the blocks of a shard that are not done; the whole, when done, is merged."""
    arguments, free = arguments_of(config)
    if until:
        arguments["until"] = until
    state, start = State(folder / "state"), time.time()
    begun = state.read_run()
    usual = BLOCK_SIZE_UNTIL if until else BLOCK_SIZE
    size = block_size or (begun or {}).get("block_size", usual)
    loaded = load_tasks(arguments | {"gen_kwargs": config.gen_kwargs}, config.include_path)
    tasks = loaded["tasks"]
    now = describe(arguments, tasks, size)
    if begun:
        refuse_another(folder, begun, now)
    search = Search(state, now) if until else None
    index, shards = shard
    if search:
        blocks = search.blocks
        mine = search.catch_up()
    else:
        blocks = cut_in_blocks(documents_of(tasks, arguments), size, ids_of(tasks))
        mine = blocks[index - 1 :: shards]
    with state.hold([] if search else mine) as lock:
        if not search:
            state.clean(mine)
        if not all(state.is_done(block) for block in mine):
            model = load_model(config)
            served = check_server(model, largest_budget(tasks))
            now["model"] = describe_model(model, config.apply_chat_template, served)

            def begin() -> Run:
                """Say what is begun, or find that it is the same that another process began."""
                with lock.setup():
                    begun = state.read_run()
                    if begun:
                        refuse_another(folder, begun, now)
                        return begun
                    state.clean_file(state.run)
                    told = recorded(model, free, start)
                    begun = now | {"recorded": told, "digests": "sha256"}
                    state.write_run(begun)
                    return begun

            if begun:
                refuse_another(folder, begun, now)
            name = f"{index}/{shards}"
            if search:
                take = partial(search.take_block, lock, wait=shards > 1)
                evaluate_search(model, config, tasks, state, search, take, begin, name)
            else:
                evaluate_blocks(model, config, tasks, state, mine, begin, name)
    if search:
        tasks[search.asked.name].dataset["test"] = search.documents()
        print("\n".join(search.design.summary()))
    finish(folder, state, loaded, blocks, shard)


def finish(
    folder: Path, state: State, loaded: TaskDict, blocks: Sequence[Block], shard: tuple[int, int]
) -> None:
    """Print what a shard leaves to others, or the results of the whole; then the next command."""
    index, shards = shard
    if shards > 1:
        left = sum(not state.is_done(block) for block in blocks)
        print(f"shard {index}/{shards} is done; of all {len(blocks)} blocks, {left} are left")
        say_next(f"cogniload eval --merge {folder}" + (", when all are done" if left else ""))
        return
    where = dict.fromkeys((block.number for block in blocks), state)
    print_results(write_results(folder, state.begun(), loaded, blocks, where))
    say_next(f"cogniload report {folder} --out {folder / 'report'}")


def load_model(config: EvaluatorConfig) -> LM:
    """Return the model, in lm-eval's backend; ValueError if it can't be loaded."""
    sizes = {name: getattr(config, name) for name in ("batch_size", "max_batch_size", "device")}
    try:
        model = get_model(config.model).create_from_arg_obj(config.model_args, sizes)
    except Exception as error:  # every backend fails in its own way
        raise ValueError(f"{config.model}: {error or type(error).__name__}") from error
    if model.world_size > 1:
        raise ValueError(f"--shard takes the place of {model.world_size} processes in one run")
    keep_what_is_said(model)
    fill_every_slot(model)
    return model


def largest_budget(tasks: dict[str, Task]) -> int:
    """Return the largest context_budget of the tasks' documents, in tokens; 0 if none has one."""
    columns = (task.eval_docs for task in tasks.values() if isinstance(task, SharedBudgetTask))
    return max((max(documents["context_budget"]) for documents in columns), default=0)


def recorded(model: LM, free: dict[str, Any], start: float) -> dict[str, Any]:
    """Return what else lm-eval's results tell of a run that began at `start`, in seconds."""
    told: dict[str, Any] = {
        "date": start,
        "arguments": free,
        "git_hash": get_commit_from_path(Path.cwd()),
    }
    told["vllm_version"] = vllm_version(model)
    add_env_info(told)
    if hasattr(model, "tok_encode"):
        add_tokenizer_info(told, model)
    shown: dict[str, Any] = public(plain(told))
    return shown
