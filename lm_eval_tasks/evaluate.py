"""`cogniload eval`: an evaluation by lm-eval, in blocks that a crash leaves whole.

lm-eval writes its results when all is done. Here it evaluates a block of documents at a time, in
one process that loads the model once (`blocks.py`); a block's samples are on the disk before the
next begins (`state.py`), and lm-eval's own aggregation makes one result set of all blocks, in its
layout (`result_set.py`). Shards are processes that evaluate every Nth block.
"""

import os
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from lm_eval.api.model import LM
from lm_eval.api.registry import get_model
from lm_eval.api.task import Task
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers.utils import add_env_info, add_tokenizer_info, get_commit_from_path
from lm_eval.tasks.manager import TaskDict

from lm_eval_tasks.arguments import arguments_of, read_configuration
from lm_eval_tasks.blocks import evaluate_blocks
from lm_eval_tasks.budget import SharedBudgetTask
from lm_eval_tasks.plan import (
    describe,
    describe_model,
    documents_of,
    load_tasks,
    plain,
    refuse_another,
)
from lm_eval_tasks.progress import each_warning_once
from lm_eval_tasks.responses import keep_what_is_said
from lm_eval_tasks.result_set import merge, print_results, write_results
from lm_eval_tasks.server import check_server, fill_every_slot, vllm_version
from lm_eval_tasks.state import Block, State, cut_in_blocks

BLOCK_SIZE = 350
"""Documents: 40 blocks of the paper's grid, which 2, 4, 5, 8, 10 and 20 shards share evenly."""


def run(given: Namespace, others: Sequence[str]) -> None:
    """`cogniload eval`, whose arguments are ours in `given`, and lm-eval's in `others`."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # as lm-eval's own command does
    alone = (given.config, given.shard, given.block_size, *others)
    if given.merge and any(argument is not None for argument in alone):
        raise ValueError("--merge takes its folders and --output_path, and nothing else")
    try:
        with each_warning_once():
            if given.merge:
                print_results(merge(given.merge, given.output_path or given.merge[0]))
            else:
                config, ours = read_configuration(given, others)
                evaluate(config, **ours)
    except ImportError as error:  # what a task needs, or another lm-eval (`internals.py`)
        raise ValueError(error) from error


def evaluate(
    config: EvaluatorConfig, *, folder: Path, shard: tuple[int, int], block_size: int | None
) -> None:
    """Evaluates the blocks of a shard that are not done; the whole, when done, is merged."""
    arguments, free = arguments_of(config)
    state, start = State(folder / "state"), time.time()
    begun = state.read_run()
    size = block_size or (begun or {}).get("block_size", BLOCK_SIZE)
    loaded = load_tasks(arguments, config.include_path)
    now = describe(arguments, loaded["tasks"], size)
    if begun:
        refuse_another(folder, begun, now)
    blocks = cut_in_blocks(documents_of(loaded["tasks"], arguments), size)
    index, shards = shard
    mine = blocks[index - 1 :: shards]
    with state.hold(mine) as lock:
        state.clean(map(state.file, mine))
        if not all(state.file(block).exists() for block in mine):
            model = load_model(config)
            served = check_server(model, largest_budget(loaded["tasks"]))
            now["model"] = describe_model(model, config.apply_chat_template, served)

            def begin() -> None:
                """Says what is begun, or finds that it is the same that another process began."""
                with lock.setup():
                    begun = state.read_run()
                    if begun:
                        refuse_another(folder, begun, now)
                    else:
                        state.clean([state.run])
                        state.write_run(now | {"recorded": recorded(model, free, start)})

            if begun:
                refuse_another(folder, begun, now)
            evaluate_blocks(model, config, loaded["tasks"], state, mine, begin)
    finish(folder, state, loaded, blocks, shard)


def finish(
    folder: Path, state: State, loaded: TaskDict, blocks: Sequence[Block], shard: tuple[int, int]
) -> None:
    """Prints what a shard leaves to others, or the results of the whole."""
    index, shards = shard
    if shards > 1:
        left = sum(not state.file(block).exists() for block in blocks)
        print(f"shard {index}/{shards} is done; of all {len(blocks)} blocks, {left} are left")
        return
    where = dict.fromkeys((block.number for block in blocks), state)
    print_results(write_results(folder, state.read_run(), loaded, blocks, where))


def load_model(config: EvaluatorConfig) -> LM:
    """The model, in lm-eval's backend; ValueError if it can't be loaded."""
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
    """The largest context_budget, in tokens, of the tasks' documents; 0 if they have none."""
    columns = (task.eval_docs for task in tasks.values() if isinstance(task, SharedBudgetTask))
    return max((max(documents["context_budget"]) for documents in columns), default=0)


def recorded(model: LM, free: dict, start: float) -> dict:
    """What else lm-eval's results tell of a run that began at `start`, in seconds."""
    told = {"date": start, "arguments": free, "git_hash": get_commit_from_path(Path.cwd())}
    told["vllm_version"] = vllm_version(model)
    add_env_info(told)
    if hasattr(model, "tok_encode"):
        add_tokenizer_info(told, model)
    return plain(told)
